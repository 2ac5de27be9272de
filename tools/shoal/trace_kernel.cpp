// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/trace_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>

#include "noise/summary.hpp"
#include "shoal/error.hpp"

namespace shoal::tools {
namespace {

constexpr std::string_view k_head = "shoal kernel events 1";

// The text up to the next `end`, which is taken away with it.
std::string_view cut(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view found = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return found;
}

template <class Number>
bool read_number(std::string_view text, Number& to) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), to);
  return failed == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::vector<kernel_part> kernel_parts(const noise::measurement& m) {
  std::vector<kernel_part> all;
  for (const noise::interruption& i : m.record.interruptions)
    for (const noise::interruption_part& p : i.parts)
      all.push_back(
          {static_cast<std::uint32_t>(i.thread), p.begin_ns, p.ns, noise::describe(p.what, p.detail, m.words)});
  return all;
}

std::string kernel_text(std::span<const kernel_part> parts) {
  std::string text = fmt::format("{}\n", k_head);
  for (const kernel_part& p : parts) {
    std::string name = p.name;  // has the name of a program, which may be anything
    std::ranges::replace_if(
        name, [](char c) { return c == '\t' || c == '\n'; }, ' ');
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\n", p.thread, p.begin_ns, p.ns, name);
  }
  return text;
}

std::vector<kernel_part> read_kernel_text(std::string_view text, const std::string& path) {
  if (cut(text, '\n') != k_head)
    throw error(errc::bad_input, fmt::format("{} has no events of the kernel of this version; remove it", path));
  std::vector<kernel_part> all;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    kernel_part& p = all.emplace_back();
    const bool is_read = read_number(cut(line, '\t'), p.thread) && read_number(cut(line, '\t'), p.begin_ns) &&
                         read_number(cut(line, '\t'), p.ns);
    if (!is_read || line.empty())
      throw error(errc::bad_input,
                  fmt::format("{}, line {}: this is no event of the kernel; remove the file", path, all.size() + 1));
    p.name = line;
  }
  return all;
}

void add_kernel_parts(trace::timeline& t, std::span<const kernel_part> parts) {
  for (const kernel_part& p : parts) trace::add_kernel_slice(t, p.thread, p.begin_ns, p.ns, p.name);
  for (trace::track& one : t.tracks) std::ranges::stable_sort(one.kernel, {}, &trace::kernel_slice::begin_ns);
}

}  // namespace shoal::tools
