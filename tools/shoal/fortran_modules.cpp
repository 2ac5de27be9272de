// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/fortran_modules.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

#include "launch/remote_script.hpp"
#include "machine/process.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/fortran_interfaces.hpp"

namespace shoal::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_sources[] = {
    "mpi.f90",           "mpi_f08.f90",         "mpi_values.inc", "mpi_handles.inc", "mpi_f08_handles.inc",
    "mpi_sentinels.inc", "mpi_f08_compare.inc", "mpi_sizeof.inc"};

std::string output_of(const std::string& command) {  // of the shell
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> room;
  while (from != nullptr && std::fgets(room.data(), room.size(), from.get()) != nullptr) text += room.data();
  return text;
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// FNV-1a: the same in all builds.
std::uint64_t digest(std::string_view text, std::uint64_t from) noexcept {
  for (const char c : text) from = (from ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return from;
}

fs::path cache() {
  const char* const chosen = std::getenv("XDG_CACHE_HOME");
  if (chosen != nullptr && *chosen == '/') return fs::path(chosen) / "shoal";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "shoal";
  throw error(errc::not_found, "no place for compiled Fortran modules: set HOME or XDG_CACHE_HOME to a folder");
}

void compile(std::span<const std::string> compiler, const std::string& sources, const fs::path& into,
             const std::string& name) {
  machine::spawn_request r;
  r.arguments.assign(compiler.begin(), compiler.end());
  r.arguments.insert(r.arguments.end(), {"-c", "-fPIC", "-ffree-line-length-none"});
  for (const std::string& w : {std::string("-J") + into.string(), "-I" + into.string(), "-I" + sources,
                               sources + "/" + name + ".f90", std::string("-o"), (into / (name + ".o")).string()})
    r.arguments.push_back(w);
  const machine::exit_status ended = machine::spawn(r).reap();
  if (!ended.clean())
    throw error(errc::unsupported, fmt::format("{} cannot compile the module {}: it {}; programs with mpif.h need none",
                                               launch::shell_words(compiler), name, machine::describe(ended)));
}

}  // namespace

std::string fortran_modules(std::span<const std::string> compiler, const std::string& sources) {
  const std::string interfaces = fortran_interfaces(fortran_module::mpi);
  const std::string interfaces_f08 = fortran_interfaces(fortran_module::mpi_f08);
  std::uint64_t key = digest(output_of(launch::shell_words(compiler) + " --version 2>/dev/null"), 0xcbf29ce484222325);
  for (const std::string_view part : {std::string_view(interfaces), std::string_view(interfaces_f08)})
    key = digest(part, key);
  for (const std::string_view file : k_sources) key = digest(content_of(fs::path(sources) / file), key);
  const fs::path made = cache() / fmt::format("fortran-{:016x}", key);
  if (fs::exists(made)) return made.string();
  // Under a name of its own first: several compilers may start at once.
  const fs::path making = made.string() + fmt::format(".{}", machine::own_pid());
  try {
    fs::create_directories(making);
    std::ofstream(making / "mpi_interfaces.inc") << interfaces;
    std::ofstream(making / "mpi_f08_interfaces.inc") << interfaces_f08;
    compile(compiler, sources, making, "mpi");
    compile(compiler, sources, making, "mpi_f08");
  } catch (const fs::filesystem_error& e) {
    throw error(errc::system, fmt::format("compiled Fortran modules cannot be kept: {}; set XDG_CACHE_HOME to a folder "
                                          "that can be written",
                                          e.what()));
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(making, ignored);
    throw;
  }
  std::error_code lost;  // another one was first
  fs::rename(making, made, lost);
  if (lost) fs::remove_all(making, lost);
  return made.string();
}

}  // namespace shoal::tools
