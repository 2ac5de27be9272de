// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/mpi_paths.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "shoal/error.hpp"

namespace shoal::tools {

mpi_paths find_mpi() {
  namespace fs = std::filesystem;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path built = here / "lib";
  const fs::path installed = (here / ".." / SHOAL_LIBRARY_FOLDER).lexically_normal();
  mpi_paths found;
  if (fs::exists(built / "libmpi_abi.so"))
    found = {SHOAL_SOURCE_DIR "/include/mpi-abi", built.string(), (built / "shoal-mpi-start.o").string(),
             (built / "shoal-mpi-host").string(), (built / "shoal-start-gdb.py").string()};
  else
    found = {(here / ".." / "include" / "mpi-abi").lexically_normal().string(), installed.string(),
             (installed / "shoal" / "shoal-mpi-start.o").string(), (installed / "shoal" / "shoal-mpi-host").string(),
             (installed / "shoal" / "shoal-start-gdb.py").string()};
  for (const std::string& file :
       {found.include + "/mpi.h", found.library + "/libmpi_abi.so", found.start, found.host, found.gdb})
    if (!fs::exists(file))
      throw error(errc::not_found,
                  fmt::format("{} is missing: install Shoal as a whole, or build it (./dev build)", file));
  return found;
}

}  // namespace shoal::tools
