// SPDX-License-Identifier: Apache-2.0
// Converts the plan of a job and its values to text and back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <sstream>

#include "bench/micro/domains.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

constexpr std::array<std::string_view, 6> k_names = {"put", "get", "send", "add", "adds", "add_one"};

[[noreturn]] void refuse(std::string_view what) {
  throw error(errc::invalid_argument, fmt::format("'{}' is not a parameter of a job of shoal bench domains", what));
}

template <class T>
T number(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) refuse(text);
  return value;
}

domains_op op_of(std::string_view name) {
  for (std::size_t i = 0; i < k_names.size(); ++i)
    if (k_names[i] == name) return static_cast<domains_op>(i);
  refuse(name);
}

template <class Each>
void each_word(std::string_view list, Each each) {
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    each(list.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

std::string_view domains_op_name(domains_op op) noexcept { return k_names[static_cast<std::size_t>(op)]; }

std::string domains_plan::text() const {
  std::vector<std::string_view> names;
  for (const domains_op op : ops) names.push_back(domains_op_name(op));
  return fmt::format("ops={} bytes={} initiators={} window={} seconds={} pinned={}", fmt::join(names, ","),
                     fmt::join(bytes, ","), initiators, window, seconds, pinned ? 1 : 0);
}

domains_plan domains_plan::parse(const std::string& text) {
  domains_plan p;
  p.bytes.clear();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == word.npos) refuse(word);
    const std::string name = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (name == "ops")
      each_word(value, [&](std::string_view one) { p.ops.push_back(op_of(one)); });
    else if (name == "bytes")
      each_word(value, [&](std::string_view one) { p.bytes.push_back(number<std::uint32_t>(one)); });
    else if (name == "initiators")
      p.initiators = number<unsigned>(value);
    else if (name == "window")
      p.window = number<unsigned>(value);
    else if (name == "seconds")
      p.seconds = number<double>(value);
    else if (name == "pinned")
      p.pinned = number<unsigned>(value) != 0;
    else
      refuse(word);
  }
  if (p.ops.empty() || p.initiators == 0 || p.window == 0 || !(p.seconds > 0)) refuse(text);
  return p;
}

std::string domains_value::text() const {
  return fmt::format("{} {} {} {} {} {}", domains_op_name(op), bytes, latency_us, mops, correct ? 1 : 0, said);
}

domains_value domains_value::parse(const std::string& text) {
  std::istringstream words(text);
  std::string name;
  domains_value v;
  int right = 0;
  if (!(words >> name >> v.bytes >> v.latency_us >> v.mops >> right)) refuse(text);
  v.op = op_of(name);
  v.correct = right == 1;
  words.get();
  std::getline(words, v.said);
  return v;
}

std::string domains_setup::name() const {
  switch (what) {
    case kind::threads: return fmt::format("domains_{}", count);
    case kind::processes: return fmt::format("processes_{}", count);
    case kind::shared: return "shared_context";
    case kind::mask: break;
  }
  return fmt::format("mask_{}", count);
}

std::string domains_setup::title() const {
  switch (what) {
    case kind::threads: return fmt::format("D = {}", count);
    case kind::processes: return count == 1 ? "1 process" : fmt::format("{} processes", count);
    case kind::shared: return "shared context";
    case kind::mask: break;
  }
  return fmt::format("mask {}", count);
}

}  // namespace shoal::bench
