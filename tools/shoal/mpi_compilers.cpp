// SPDX-License-Identifier: Apache-2.0
// shoal mpicc, mpicxx, mpif90: the system's compilers, with what a program needs so that a process can load many private
// copies of it: it is a shared object that can also be started. SHOAL_MPI_CC, SHOAL_MPI_CXX and SHOAL_MPI_FC name other
// compilers. Everything is passed on; -show prints the command, -showme:compile and its kind parts of it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/remote_script.hpp"
#include "machine/process.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/fortran_modules.hpp"
#include "tools/shoal/mpi_paths.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

struct compiler {
  const char* variable;
  const char* standard;
  const char* package;  // Debian's
};

enum class linked { nothing, library, program };

linked what_is_linked(const std::vector<std::string>& words) {
  constexpr std::string_view k_no_link[] = {
      "-c", "-S",        "-E",           "-M",           "-MM", "-fsyntax-only",
      "-r", "--version", "-dumpversion", "-dumpmachine", "-v",  "-print-search-dirs"};
  bool has_input = false;
  bool is_library = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& w = words[i];
    if (std::ranges::find(k_no_link, w) != std::end(k_no_link) || w.starts_with("-print-") || w.starts_with("--print-"))
      if (w != "-v") return linked::nothing;
    is_library = is_library || w == "-shared";
    if (w == "-o" || w == "-x" || w == "-I" || w == "-L" || w == "-include")
      ++i;
    else if (w == "-" || !w.starts_with('-'))
      has_input = true;
  }
  if (!has_input) return linked::nothing;
  return is_library ? linked::library : linked::program;
}

// The program, and options that belong to it: "ccache gcc".
using compiler_words = std::vector<std::string>;

compiler_words words_of(const std::string& text) {
  if (std::filesystem::exists(machine::find_program(text))) return {text};  // its name may have blanks
  std::istringstream in(text);
  compiler_words words{std::istream_iterator<std::string>(in), {}};
  if (words.empty()) words.push_back(text);
  return words;
}

// Throws: which program there is not, and what to do.
void check_is_there(const compiler_words& program, const compiler& which, bool is_chosen) {
  if (std::filesystem::exists(machine::find_program(program.front()))) return;
  if (is_chosen)
    throw error(errc::not_found, fmt::format("{} names {}, and there is no such program; name a compiler of the GNU or "
                                             "clang kind there, or unset it for {}",
                                             which.variable, program.front(), which.standard));
  throw error(errc::not_found, fmt::format("there is no {} in PATH; install it (Debian's package {}), or name another "
                                           "compiler in {}",
                                           which.standard, which.package, which.variable));
}

// What the compiler prints for -print-file-name=NAME.
std::string file_of_compiler(const compiler_words& compiler, const std::string& name) {
  const std::string command = launch::shell_words(compiler) + " -print-file-name=" + name;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> room;
  while (from != nullptr && std::fgets(room.data(), room.size(), from.get()) != nullptr) text += room.data();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty() || text == name)
    throw error(errc::not_found, fmt::format("{} does not know where {} is; it is no compiler of the GNU or clang kind",
                                             launch::shell_words(compiler), name));
  return text;
}

// Whether the compiler knows an option: it says so before it looks at any source.
bool has_option(const compiler_words& compiler, const std::string& option) {
  return std::system(
             fmt::format("{} {} -fsyntax-only -x f95 /dev/null >/dev/null 2>&1", launch::shell_words(compiler), option)
                 .c_str()) == 0;
}

// Whether a compiler of Fortran is asked for C alone, as CMake does to learn its macros (-x c): options of Fortran are
// warnings there.
bool compiles_c_alone(const std::vector<std::string>& words) {
  constexpr std::string_view k_c[] = {".c", ".cc", ".cpp", ".cxx", ".C"};
  bool has_c = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view w = words[i];
    if (w.starts_with("-x")) {
      const std::string_view behind = i + 1 < words.size() ? std::string_view(words[i + 1]) : "f95";
      return !(w.size() > 2 ? w.substr(2) : behind).starts_with('f');
    }
    const std::string_view ending = w.substr(std::min(w.rfind('.'), w.size()));
    if (w.starts_with('-') || ending.empty()) continue;
    if (ending.starts_with(".f") || ending.starts_with(".F")) return false;
    has_c = has_c || std::ranges::find(k_c, ending) != std::end(k_c);
  }
  return has_c;
}

// Fortran's MPI_IN_PLACE and its like are the library's, in all copies of a program; see src/rank/fortran/sentinels.hpp.
constexpr std::string_view k_shared_sentinels = "-Wl,--export-dynamic-symbol=mpi_fortran_sentinels_";

// The folders of mpif.h and of the modules; returns the second, or nothing if there are no modules.
std::string add_modules(std::vector<std::string>& command, const compiler_words& compiler, const std::string& sources) {
  std::string modules;
  command.push_back("-I" + sources);
  try {
    modules = fortran_modules(compiler, sources);
    command.push_back("-I" + modules);
  } catch (const error& e) {
    fmt::print(stderr, "shoal: {}\n", e.what());
  }
  return modules;
}

// What build systems ask for instead of a compilation, by the names that MPICH and Open MPI gave it.
enum class shown { nothing, command, compiler, compile, link, include_folders, library_folders, libraries };

shown take_shown(std::vector<std::string>& words) {
  constexpr std::pair<std::string_view, shown> k_options[] = {{"-show", shown::command},
                                                              {"-showme", shown::command},
                                                              {"-compile_info", shown::command},
                                                              {"-compile-info", shown::command},
                                                              {"-link_info", shown::command},
                                                              {"-link-info", shown::command},
                                                              {"-showme:command", shown::compiler},
                                                              {"-showme:compile", shown::compile},
                                                              {"-showme:link", shown::link},
                                                              {"-showme:incdirs", shown::include_folders},
                                                              {"-showme:libdirs", shown::library_folders},
                                                              {"-showme:libs", shown::libraries}};
  for (auto word = words.begin(); word != words.end(); ++word) {
    const std::string_view name = std::string_view(*word).substr(word->starts_with("--") ? 1 : 0);
    for (const auto& [option, what] : k_options) {
      if (name != option) continue;
      words.erase(word);
      return what;
    }
    if (name.starts_with("-showme:"))
      throw error(
          errc::invalid_argument,
          fmt::format("{}: there are -show and -showme:command, :compile, :link, :incdirs, :libdirs, :libs", *word));
  }
  return shown::nothing;
}

// For build systems, which take flags of the linker alone from here; their compiler adds Scrt1.o itself.
std::vector<std::string> link_flags(const mpi_paths& mpi) {
  return {"-Wl,-shared,-e,_start,-Bsymbolic,-z,defs," + mpi.start, "-L" + mpi.library, "-lmpi_abi",
          "-Wl,-rpath," + mpi.library};
}

int print_words(std::span<const std::string> words) {
  fmt::print("{}\n", launch::shell_words(words));
  return 0;
}

int compile(const compiler& which, std::vector<std::string> words) {
  const char* const chosen = std::getenv(which.variable);
  const bool is_chosen = chosen != nullptr && *chosen != '\0';
  const compiler_words program = words_of(is_chosen ? chosen : which.standard);
  check_is_there(program, which, is_chosen);
  const shown show = take_shown(words);
  const mpi_paths mpi = find_mpi();
  const bool fortran = std::string_view(which.variable) == "SHOAL_MPI_FC";
  std::vector<std::string> flags;
  if (fortran && !compiles_c_alone(words)) {
    // With mpif.h, buffers of different types go to one procedure, which gfortran refuses since version 10. And its
    // handlers of signals would take the place of those that name the rank that has failed.
    for (const char* const option : {"-fno-backtrace", "-fallow-argument-mismatch"})
      if (has_option(program, option)) flags.emplace_back(option);
  }
  std::vector<std::string> command = program;
  command.insert(command.end(), flags.begin(), flags.end());  // in front: the user's own have the last word
  command.insert(command.end(), words.begin(), words.end());
  command.emplace_back("-fPIC");  // behind a -fPIE of the build system
  flags.emplace_back("-fPIC");
  const std::size_t before_folders = command.size();
  command.push_back("-I" + mpi.include);
  const std::string modules = fortran ? add_modules(command, program, mpi.include + "/fortran") : std::string();
  const std::span folders = std::span(command).subspan(before_folders);
  for (const std::string_view fixed : {"-static", "-static-pie"}) {
    if (std::ranges::find(words, fixed) != words.end())
      throw error(errc::invalid_argument,
                  fmt::format("programs for shoal mpirun are shared objects, of which a process loads a copy per rank; "
                              "leave {} out",
                              fixed));
  }
  for (const std::string_view wide : {"-fdefault-integer-8", "-i8"}) {
    if (fortran && std::ranges::find(words, wide) != words.end())
      throw error(
          errc::invalid_argument,
          fmt::format("{}: handles and counts of Fortran are integers of 4 bytes here; declare the program's own "
                      "large integers as integer(8) instead",
                      wide));
  }
  switch (show) {
    case shown::nothing: break;
    case shown::compiler: return print_words(program);
    case shown::compile: flags.insert(flags.end(), folders.begin(), folders.end()); return print_words(flags);
    case shown::link: return print_words(link_flags(mpi));
    case shown::libraries: return print_words(std::array<std::string, 1>{"mpi_abi"});
    case shown::library_folders: return print_words(std::span(&mpi.library, 1));
    case shown::include_folders: {
      std::vector<std::string> names;
      for (const std::string& f : folders) names.push_back(f.substr(2));  // behind -I
      return print_words(names);
    }
    case shown::command: {
      const std::vector<std::string> more = link_flags(mpi);
      command.insert(command.end(), more.begin(), more.end());
      return print_words(command);
    }
  }
  if (const linked what = what_is_linked(words); what == linked::library) {
    // For one that a program loads which knows nothing of MPI: a module of Python.
    for (const std::string& w : {"-L" + mpi.library, std::string("-lmpi_abi"), "-Wl,-rpath," + mpi.library})
      command.push_back(w);
  } else if (what == linked::program) {
    // In front, as compilers have it: it asks for main(), which may be in an archive, and no -x is about it.
    const std::string start = file_of_compiler(program, "Scrt1.o");
    std::erase_if(command, [](const std::string& w) { return w == "-pie" || w == "-no-pie"; });  // it is neither
    const auto behind = command.begin() + static_cast<std::ptrdiff_t>(program.size());
    command.insert(behind, {"-shared", mpi.start, start});
    for (const std::string& w : {std::string("-Wl,-e,_start,-Bsymbolic,-z,defs"), "-L" + mpi.library,
                                 std::string("-lmpi_abi"), "-Wl,-rpath," + mpi.library})
      command.push_back(w);
    if (fortran || std::ranges::find(words, "-lgfortran") != words.end()) command.emplace_back(k_shared_sentinels);
    // What programs refer to that pass handles to class(*).
    if (!modules.empty())
      command.insert(command.begin() + static_cast<std::ptrdiff_t>(program.size()), modules + "/mpi_f08.o");
  }
  machine::become(command, {});
}

subcommand_body declare(CLI::App& app, compiler which) {
  app.prefix_command();
  app.set_help_flag("--help", "print this help; behind another word, the compiler prints its own");
  app.footer(
      fmt::format("{}\n\nCalls {} ({} names another compiler) with every option, and adds what programs of MPI "
                  "need.\n-show prints the whole command; -showme:command, :compile, :link, :incdirs, :libdirs, "
                  ":libs parts of it, for build systems.",
                  app.get_footer(), which.standard, which.variable));
  return [&app, which] { return compile(which, app.remaining()); };
}

}  // namespace

subcommand_body declare_mpicc(CLI::App& app) { return declare(app, {"SHOAL_MPI_CC", "gcc", "gcc"}); }
subcommand_body declare_mpicxx(CLI::App& app) { return declare(app, {"SHOAL_MPI_CXX", "g++", "g++"}); }
subcommand_body declare_mpif90(CLI::App& app) { return declare(app, {"SHOAL_MPI_FC", "gfortran", "gfortran"}); }

}  // namespace shoal::tools
