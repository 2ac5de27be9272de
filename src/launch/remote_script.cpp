// SPDX-License-Identifier: Apache-2.0
#include "launch/remote_script.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

#include "shoal/error.hpp"

namespace shoal::launch {

std::string shell_words(std::span<const std::string> words) {
  constexpr std::string_view k_plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%^";
  std::string text;
  for (const std::string& w : words) {
    if (!text.empty()) text += ' ';
    text += w.empty() || w.find_first_not_of(k_plain) != w.npos ? quoted(w) : w;
  }
  return text;
}

std::string quoted(const std::string& word) {
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

std::vector<std::string> remote_command(const std::string& remote_shell, const std::string& host) {
  std::vector<std::string> words;
  std::istringstream in(remote_shell);
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) throw error(errc::invalid_argument, "--remote-shell names no program; ssh is usual");
  words.push_back(host);
  // Reads as many bytes as the first line says, and not one of what comes after.
  words.emplace_back("exec /bin/sh -c 'read -r n; eval \"$(dd bs=1 count=$n 2>/dev/null)\"'");
  return words;
}

std::string remote_input(const remote_program& program) {
  std::string script =
      fmt::format("cd {0} || {{ echo {1} >&2; exit 126; }}\n", quoted(program.folder),
                  quoted(fmt::format("shoal: the host {} has no folder {}", program.host, program.folder)));
  for (const std::string& variable : program.environment) {
    const auto equals = variable.find('=');
    script += fmt::format("export {}={}\n", variable.substr(0, equals), quoted(variable.substr(equals + 1)));
  }
  std::string command;
  for (const std::string& word : program.arguments) command.append(" ").append(quoted(word));
  // A session of its own, so that what the program starts is killed with it. A shell that is told to end by a signal
  // goes on waiting: the program hears of it through the hub. The outer shell may be killed at any moment, as when the
  // launcher on this machine is; so another one starts the program and what watches for the end of the input.
  const std::string wait_for_it =
      "wait $p 2>/dev/null\n"
      "r=$?\n"
      "while [ $r -gt 128 ] && kill -0 $p 2>/dev/null; do wait $p 2>/dev/null; r=$?; done\n";
  script += fmt::format(
      "exec 3<&0\n"
      "trap : INT TERM HUP\n"
      "s=\n"
      "if command -v setsid >/dev/null; then s=setsid; fi\n"
      "(\n"
      "trap : INT TERM HUP\n"
      "$s{0} </dev/null 3<&- &\n"
      "p=$!\n"
      "{{ while read -r x <&3; do :; done; kill -KILL -$p || kill -KILL $p; }} >/dev/null 2>&1 &\n"
      "w=$!\n"
      "exec 3<&- </dev/null\n"
      "{1}"
      "kill -KILL $w 2>/dev/null\n"
      "exit $r\n"
      ") &\n"
      "p=$!\n"
      "exec 3<&- </dev/null\n"
      "{1}"
      "exit $r\n",
      command, wait_for_it);
  return fmt::format("{}\n{}", script.size(), script);
}

}  // namespace shoal::launch
