// SPDX-License-Identifier: Apache-2.0
#include "tune/trial.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <csignal>
#include <nlohmann/json.hpp>
#include <regex>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "machine/descriptor.hpp"
#include "machine/process.hpp"
#include "shoal/error.hpp"

namespace shoal::tune {
namespace {

constexpr std::size_t k_most_output = 64U << 20;

std::string placeholder(const parameter& p) { return "{" + p.name + "}"; }

std::string upper(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

std::string read_from_start(int file) {
  std::string text;
  std::array<char, 65536> part;
  for (off_t at = 0; text.size() < k_most_output;) {
    const ssize_t got = ::pread(file, part.data(), part.size(), at);
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
    at += got;
  }
  return text;
}

// The last line that says something: programs print their errors at the end.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

std::optional<double> number_of(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_object() && value.contains("median") && value["median"].is_number())
    return value["median"].get<double>();
  return std::nullopt;
}

std::optional<double> find_in_json(const std::string& name, const std::string& output) {
  // Other text may be printed before the object.
  for (std::size_t at = output.find('{'); at != std::string::npos; at = output.find('{', at + 1)) {
    const auto object =
        nlohmann::json::parse(output.begin() + static_cast<std::ptrdiff_t>(at), output.end(), nullptr, false);
    if (!object.is_object()) continue;
    if (object.contains("metrics") && object["metrics"].contains(name)) return number_of(object["metrics"][name]);
    if (object.contains(name)) return number_of(object[name]);
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

figure parse_figure(const std::string& text) {
  constexpr std::string_view k_json = "json:";
  figure f;
  if (text == "time") return f;
  f.smaller_is_better = false;
  if (text.starts_with(k_json)) {
    f.is = figure::kind::json;
    f.text = text.substr(k_json.size());
    if (f.text.empty()) throw error(errc::invalid_argument, "json: needs the name of a metric, as in json:mteps");
    return f;
  }
  f.is = figure::kind::pattern;
  f.text = text;
  try {
    if (std::regex(text).mark_count() == 0)
      throw error(errc::invalid_argument,
                  fmt::format("'{0}' has no group: write the number in parentheses, as in '([0-9.]+) MTEPS'", text));
  } catch (const std::regex_error& e) {
    throw error(errc::invalid_argument, fmt::format("'{}' is no regular expression: {}", text, e.what()));
  }
  return f;
}

std::optional<double> find_figure(const figure& f, const std::string& output) {
  if (f.is == figure::kind::json) return find_in_json(f.text, output);
  std::smatch found;
  if (f.is != figure::kind::pattern || !std::regex_search(output, found, std::regex(f.text))) return std::nullopt;
  const std::string text = found[1];
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

void check_command(const space& s, const std::vector<std::string>& command) {
  if (command.empty()) throw error(errc::invalid_argument, "give the program after --");
  for (const parameter& p : s.parameters()) {
    if (p.kind != parameter_kind::argument) continue;
    const auto names = [&](const std::string& a) { return a.find(placeholder(p)) != std::string::npos; };
    if (std::ranges::none_of(command, names))
      throw error(
          errc::invalid_argument,
          fmt::format("the command does not use the parameter {0}: write {{{0}}} where its value belongs, or give "
                      "it by --setting or --environment",
                      p.name));
  }
  static const std::regex k_name("\\{([A-Za-z_][A-Za-z_0-9]*)\\}");
  for (const std::string& a : command)
    for (std::sregex_iterator at(a.begin(), a.end(), k_name); at != std::sregex_iterator(); ++at)
      if (std::ranges::none_of(s.parameters(), [&](const parameter& p) { return p.name == (*at)[1]; }))
        throw error(errc::invalid_argument, fmt::format("the command names {}, which is no parameter", at->str()));
}

command_line command_at(const space& s, const point& p, const std::vector<std::string>& command) {
  command_line c;
  c.arguments = command;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const parameter& one = s.parameters()[i];
    const std::string& value = one.values[p[i]];
    switch (one.kind) {
      case parameter_kind::argument: break;
      case parameter_kind::environment: c.environment.push_back(one.name + "=" + value); break;
      case parameter_kind::setting: c.environment.push_back("SHOAL_" + upper(one.name) + "=" + value); break;
    }
    for (std::string& a : c.arguments) replace_all(a, placeholder(one), value);
  }
  return c;
}

program_end run_program(const command_line& c, double limit_seconds, int interruption) {
  const machine::descriptor output(machine::open_memory_file("output"));
  const machine::descriptor errors(machine::open_memory_file("errors"));
  if (!output.open() || !errors.open())
    throw error(errc::system, fmt::format("no file in memory for what the program prints: {}",
                                          std::generic_category().message(errno)));
  machine::spawn_request request;
  request.arguments = c.arguments;
  request.environment = c.environment;
  request.standard_output = output.number();
  request.standard_error = errors.number();
  const std::uint64_t begin = base::now_ns();
  machine::child_process program = machine::spawn(request);
  const std::array<int, 1> its_end{program.descriptor()};
  const std::array<int, 2> ends{program.descriptor(), interruption};
  const std::array<int, 1> interruptions{interruption};
  program_end end;
  constexpr double k_years = 1e9;  // seconds
  const bool is_limited = limit_seconds > 0 && limit_seconds < k_years;
  const int first = machine::wait_any(ends, is_limited ? static_cast<std::int64_t>(limit_seconds * 1e9) : -1);
  if (first != 0) {
    end.stopped = first < 0;
    program.kill(SIGTERM);
    if (machine::wait_any(its_end, 2'000'000'000) < 0) program.kill(SIGKILL);
  }
  const machine::exit_status status = program.reap();
  // Ctrl-C ends the program, too, perhaps before it was noticed here.
  end.interrupted = interruption >= 0 && machine::wait_any(interruptions, 0) == 0;
  end.seconds = static_cast<double>(base::now_ns() - begin) * 1e-9;
  end.output = read_from_start(output.number());
  end.errors = read_from_start(errors.number());
  if (end.interrupted) {
    end.stopped = false;
    end.why_not = "interrupted";
  } else if (end.stopped) {
    end.why_not = fmt::format("stopped after {:.2f} s", end.seconds);
  } else if (!status.clean()) {
    const std::string why = last_line(end.errors);
    end.why_not = machine::describe(status) + (why.empty() ? "" : ": " + why);
  }
  return end;
}

trial_end run_trial(const command_line& c, const figure& f, double limit_seconds, int interruption) {
  program_end ran = run_program(c, limit_seconds, interruption);
  trial_end end;
  end.stopped = ran.stopped;
  end.interrupted = ran.interrupted;
  end.errors = std::move(ran.errors);
  end.why_not = std::move(ran.why_not);
  if (end.stopped) {
    if (f.is == figure::kind::time) end.value = ran.seconds;
    return end;
  }
  if (!end.why_not.empty()) return end;
  end.value = f.is == figure::kind::time ? std::optional(ran.seconds) : find_figure(f, ran.output);
  if (!end.value) end.why_not = fmt::format("it has printed no figure '{}'", f.text);
  if (end.value && !(*end.value > 0)) {
    end.why_not = fmt::format("its figure {} is not above 0", *end.value);
    end.value.reset();
  }
  return end;
}

}  // namespace shoal::tune
