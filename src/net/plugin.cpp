// SPDX-License-Identifier: Apache-2.0
#include "net/plugin.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <shoal/error.hpp>

#include "machine/environment.hpp"
#include "machine/images.hpp"
#include "machine/library.hpp"
#include "machine/process.hpp"

namespace shoal::net {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_mpi_prefix = "mpi_";
constexpr std::array<std::string_view, 3> k_mpis = {"mpi_openmpi", "mpi_mpich", "mpi_custom"};

constexpr std::string_view k_file_prefix = "libshoal_net_";

std::string file_name(std::string_view name) { return fmt::format("{}{}.so", k_file_prefix, name); }

std::string find_file(std::string_view name, std::span<const std::string> folders) {
  for (const std::string& folder : folders) {
    std::error_code problem;
    const fs::path path = fs::path(folder) / file_name(name);
    if (!folder.empty() && fs::is_regular_file(path, problem)) return fs::absolute(path).string();
  }
  return "";
}

struct package_names {
  std::string_view plugin, library, to_build, to_run;
};
constexpr package_names k_packages[] = {
    {"ucx", "UCX", "libucx-dev", "libucx0"},
    {"mpi_openmpi", "Open MPI", "libopenmpi-dev and openmpi-bin", "libopenmpi3"},
    {"mpi_mpich", "MPICH", "libmpich-dev and mpich", "libmpich12"},
    {"mpi", "an MPI library", "libopenmpi-dev and openmpi-bin, or libmpich-dev and mpich", "libopenmpi3 or libmpich12"},
};

const package_names* packages_of(std::string_view name) {
  const auto* found = std::find_if(std::begin(k_packages), std::end(k_packages),
                                   [name](const package_names& p) { return p.plugin == name; });
  return found == std::end(k_packages) ? nullptr : found;
}

[[noreturn]] void refuse_absent(std::string_view name, std::span<const std::string> folders) {
  const package_names* const packages = packages_of(name);
  const std::string what_to_do =
      packages == nullptr
          ? "Shoal brings ucx, mpi_openmpi and mpi_mpich where these libraries were there to build it with"
          : fmt::format(
                "Shoal was built without {}: `./dev build --with networks` in its source installs the library "
                "(Debian: {}) and builds for it",
                packages->library, packages->to_build);
  throw error(errc::not_found, fmt::format("there is no transport plugin {} in {}; {}",
                                           name == "mpi" ? "libshoal_net_mpi_*.so" : file_name(name),
                                           fmt::join(folders, ", "), what_to_do));
}

// "mpi" is one of several.
std::string choose(std::string_view name, std::span<const std::string> folders) {
  if (name != "mpi") return std::string(name);
  if (const std::string_view launcher = mpi_of_launcher(); !launcher.empty())
    return std::string(k_mpi_prefix) + std::string(launcher);
  for (const std::string_view mpi : k_mpis)
    if (!find_file(mpi, folders).empty()) return std::string(mpi);
  refuse_absent(name, folders);
}

// Two MPI libraries have the same functions.
void refuse_second_mpi(const std::string& name) {
  const std::string any = std::string(k_file_prefix) + std::string(k_mpi_prefix);
  for (const machine::image& image : machine::loaded_images()) {
    const std::string loaded = fs::path(image.path).filename().string();
    if (!loaded.starts_with(any) || loaded == file_name(name)) continue;
    throw error(errc::unsupported, fmt::format("this process has loaded {} already, and a process has room for one MPI "
                                               "library; use {} in a process of its own",
                                               loaded, name));
  }
}

void set_default(const char* variable, const char* value) {
  if (std::getenv(variable) == nullptr) machine::set_variable(variable, value);
}

// UCX, on which MPI libraries may stand too, reads these while it is loaded. Faults are Shoal's business, which tells a
// stack's overflow by them.
void leave_signals_alone() {
  set_default("UCX_HANDLE_ERRORS", "none");
  set_default("UCX_ERROR_SIGNALS", "");
  set_default("UCX_DEBUG_SIGNO", "0");
#if defined(SHOAL_TSAN) || defined(SHOAL_ASAN)
  set_default("UCX_MEM_EVENTS", "no");  // its hooks in the C library call into a sanitizer whose thread has ended
#endif
}

void* load(const std::string& name, const std::string& path) {
  try {
    // The parts that an MPI library loads itself take its functions from where all can see them.
    // Ranks of fine-grain MPI have functions of the same names, which mean another library.
    return machine::load_library(path, name.starts_with(k_mpi_prefix), "MPIX_Yield");
  } catch (const error& reason) {
    const package_names* const packages = packages_of(name);
    throw error(errc::unsupported,
                fmt::format("the transport plugin {} cannot be loaded: {}; {}", path, reason.what(),
                            packages == nullptr ? "install the library it needs"
                                                : fmt::format("install {} (Debian: {}), or choose another transport",
                                                              packages->library, packages->to_run)));
  }
}

}  // namespace

std::string_view mpi_of_launcher() noexcept {
  const auto has = [](const char* variable) { return std::getenv(variable) != nullptr; };
  if (has("OMPI_COMM_WORLD_SIZE")) return "openmpi";
  if (has("HYDI_CONTROL_FD") || has("PMI_PORT") || (has("PMI_RANK") && has("PMI_SIZE") && !has("PMIX_RANK")))
    return "mpich";
  return "";
}

bool has_plugin(std::string_view name, std::span<const std::string> folders) {
  if (name != "mpi") return !find_file(name, folders).empty();
  if (!mpi_of_launcher().empty()) return has_plugin(choose(name, folders), folders);
  return std::any_of(k_mpis.begin(), k_mpis.end(), [&](std::string_view mpi) { return has_plugin(mpi, folders); });
}

const net_plugin& load_plugin(std::string_view name, std::span<const std::string> folders) {
  const std::string chosen = choose(name, folders);
  const std::string path = find_file(chosen, folders);
  if (path.empty()) refuse_absent(chosen, folders);
  if (chosen.starts_with(k_mpi_prefix)) refuse_second_mpi(chosen);
  leave_signals_alone();
  const auto* const plugin =
      static_cast<const net_plugin*>(machine::find_symbol(load(chosen, path), k_net_plugin_symbol));
  if (plugin == nullptr)
    throw error(errc::mismatch,
                fmt::format("{} is no transport plugin of Shoal: it has no {}; remove it, or build Shoal "
                            "again",
                            path, k_net_plugin_symbol));
  // Of another interface only the number can be read.
  if (plugin->interface != k_net_interface)
    throw error(errc::mismatch,
                fmt::format("{} was built for interface {} of Shoal's networks, this Shoal has {}; build "
                            "and install both together",
                            path, plugin->interface, k_net_interface));
  if (std::strcmp(plugin->version, SHOAL_VERSION) != 0)
    throw error(errc::mismatch,
                fmt::format("{} was built for Shoal {}, this is Shoal {}; build and install both together", path,
                            plugin->version, SHOAL_VERSION));
  return *plugin;
}

}  // namespace shoal::net
