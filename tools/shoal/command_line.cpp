// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <regex>

#include "base/log.hpp"
#include "base/setting_value.hpp"
#include "machine/descriptor.hpp"
#include "runtime/job.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/launcher_options.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

constexpr const char* k_footer =
    "Example:\n"
    "  shoal info\n"
    "  shoal bench --list\n"
    "\n"
    "Every subcommand has --help with an example; `shoal help bench` is `shoal bench --help`.\n"
    "Exit status: 0 success; 1 a check or a run failed; 2 wrong usage or bad input.";

// The innermost subcommand on the command line: an unknown word belongs to it.
const CLI::App& innermost(const CLI::App& app) {
  std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : innermost(*named.back());
}

// For example "shoal bench limits".
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  auto every = [](const CLI::App*) { return true; };
  for (const CLI::App* sub : app.get_subcommands(every)) names.push_back(sub->get_name());
  return names;
}

// The error message for an unknown word.
std::string unknown_word(const CLI::App& app, const std::string& word) {
  bool option = word.starts_with('-');
  std::vector<std::string> names = option ? option_names(app) : subcommand_names(app);
  std::string kind = "subcommand";
  if (option) {
    kind = "option";
  } else if (names.empty()) {
    kind = "argument";
  } else if (app.get_parent() != nullptr) {
    kind = "name";
  }
  std::string name = word.substr(0, word.find('='));
  std::string nearest(base::nearest_name(name, std::vector<std::string_view>(names.begin(), names.end())));
  std::string advice = nearest.empty() ? fmt::format("`{} --help` lists them", full_name(app))
                                       : fmt::format("did you mean '{}'?", nearest);
  return fmt::format("unknown {} '{}' after '{}'; {}", kind, name, full_name(app), advice);
}

// CLI11 says of a word that is no number that it is not in range.
std::string plain_words(const std::string& text) {
  static const std::regex of_range("(.*): Value (.*) not in range (.*) to (.*)");
  std::smatch parts;
  if (!std::regex_match(text, parts, of_range)) return text;
  static const std::regex needless_zeros("\\.?0+$");
  const auto limit = [](const std::string& number) {
    return number.find('.') == std::string::npos ? number : std::regex_replace(number, needless_zeros, "");
  };
  const std::string value = parts[2];
  const std::string limits = fmt::format("{} to {}", limit(parts[3]), limit(parts[4]));
  const char* const digits = parts[3].str().find('.') == std::string::npos ? "0123456789" : ".0123456789";
  if (value.find_first_not_of(digits, value.starts_with('-') ? 1 : 0) == std::string::npos)
    return fmt::format("{} is {}; it must be in {}", parts[1].str(), value, limits);
  return fmt::format("{} takes a number from {}, written in digits, and '{}' is none", parts[1].str(), limits, value);
}

int wrong_usage(const CLI::App& app, const CLI::ParseError& problem) {
  const CLI::App& inner = innermost(app);
  std::string message;
  if (dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr) {
    // Words may remain unparsed at any level; the outermost level has the first of them.
    for (const CLI::App* level = &inner; level != nullptr; level = level->get_parent()) {
      std::vector<std::string> words = level->remaining(false);
      if (!words.empty()) message = unknown_word(*level, words.front());
    }
  }
  if (message.empty()) message = fmt::format("{}; see `{} --help`", plain_words(problem.what()), full_name(inner));
  base::write_line("", message);
  return k_wrong_usage;
}

int status_of(errc code) {
  switch (code) {
    case errc::invalid_argument:
    case errc::bad_input:
    case errc::not_found: return k_wrong_usage;
    default: return k_failed;
  }
}

// "help bench spawn" is "bench spawn --help". A name that there is not stays alone, and is refused.
std::vector<std::string> with_help_as_option(const CLI::App& app, std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    const auto named = at->get_subcommands([&word](const CLI::App* one) { return one->get_name() == word; });
    if (named.empty()) return words;
    at = named.front();
  }
  words.emplace_back("--help");
  return words;
}

// For `shoal mpirun`, which people know from other launchers.
std::vector<std::string> in_own_form(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || (words.front() != "mpirun" && words.front() != "mpiexec")) return words;
  return with_own_options(*app.get_subcommand(words.front()), words);
}

int parse_and_run(const std::vector<std::string>& given) {
  CLI::App app("Shoal runs programs made of very many small tasks, on one machine or a cluster.", "shoal");
  app.set_version_flag("--version", "shoal " SHOAL_VERSION);
  app.footer(k_footer);
  app.require_subcommand(0, 1);  // further words are its own, whatever they are: mpicc -o sort sort.c
  offered all = offer(app, subcommands());
  const std::vector<std::string> arguments = in_own_form(app, with_help_as_option(app, given));
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 expects reverse order
  try {
    app.parse(reversed);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& problem) {
    return wrong_usage(app, problem);
  }
  return run_chosen(all, [&app] {
    std::cerr << app.help();
    return k_wrong_usage;
  });
}

// The message for output that did not arrive; empty: all of it has been written.
std::string unwritten_output() {
  errno = 0;
  std::cout.flush();
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (written) return {};
  return fmt::format("standard output could not be written{}, so the output is not complete; write to another place",
                     errno != 0 ? fmt::format(" ({})", std::strerror(errno)) : std::string());
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) noexcept {
  machine::open_standard_descriptors();
  int status = k_failed;
  std::string message;
  try {
    status = parse_and_run(arguments);
  } catch (const error& problem) {
    message = problem.what();
    status = status_of(problem.code());
  } catch (const std::bad_alloc&) {
    base::write_line("", "out of memory; use a smaller problem, or raise the memory limit");
  } catch (const std::exception& problem) {
    message = runtime::describe_failure(problem);
  }
  // What is printed lies in a buffer until here; so only now is it known whether it could be written.
  if (const std::string lost = unwritten_output(); !lost.empty()) {
    message = lost;
    if (status == k_done) status = k_failed;
  }
  if (!message.empty()) base::write_line("", message);
  return status;
}

}  // namespace shoal::tools
