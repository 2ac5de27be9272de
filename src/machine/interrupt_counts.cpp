// SPDX-License-Identifier: Apache-2.0
#include "machine/interrupt_counts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>

namespace shoal::machine {
namespace {

std::string read_text(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

std::string_view next_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t end = std::min(line.find(' ', begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

bool to_number(std::string_view word, std::uint64_t& value) {
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  return failed == std::errc() && end == word.data() + word.size();
}

// "           CPU0       CPU3": which column is whose.
std::vector<std::size_t> read_columns(std::string_view head) {
  std::vector<std::size_t> columns;
  for (std::string_view word = next_word(head); !word.empty(); word = next_word(head)) {
    std::uint64_t number = 0;
    if (word.starts_with("CPU") && to_number(word.substr(3), number)) columns.push_back(number);
  }
  return columns;
}

// Of a device the last word is its name; " 36:  0  84603 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0".
std::string name_of_line(std::string_view label, std::string_view rest, std::string_view prefix) {
  std::uint64_t number = 0;
  if (!prefix.empty() || rest.empty()) return fmt::format("{}{}", prefix, label);
  if (!to_number(label, number)) return std::string(rest);
  return std::string(rest.substr(rest.rfind(' ') + 1));
}

void read_table(std::string_view text, std::string_view prefix, std::vector<interrupt_count>& counts) {
  const std::vector<std::size_t> columns = read_columns(next_line(text));
  if (columns.empty()) return;
  const std::size_t processors = *std::ranges::max_element(columns) + 1;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    std::string_view label = next_word(line);
    if (!label.ends_with(':')) continue;
    label.remove_suffix(1);
    interrupt_count one;
    one.by_processor.assign(processors, 0);
    std::size_t column = 0;
    std::string_view rest = line;
    for (std::uint64_t value = 0; column < columns.size() && to_number(next_word(line), value); rest = line)
      one.by_processor[columns[column++]] = value;
    if (column < columns.size()) continue;  // a counter of the whole machine, as ERR
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    one.name = name_of_line(label, rest, prefix);
    counts.push_back(std::move(one));
  }
}

}  // namespace

interrupt_counts parse_interrupt_counts(std::string_view interrupts, std::string_view softirqs, std::string_view stat,
                                        long ticks_per_second) {
  interrupt_counts all;
  read_table(interrupts, "", all.counts);
  read_table(softirqs, "softirq ", all.counts);
  while (!stat.empty()) {
    std::string_view line = next_line(stat);
    const std::string_view label = next_word(line);
    std::uint64_t processor = 0;
    if (!label.starts_with("cpu") || !to_number(label.substr(3), processor)) continue;
    std::uint64_t steal = 0;  // the eighth: user nice system idle iowait irq softirq steal
    for (int i = 0; i < 8; ++i)
      if (!to_number(next_word(line), steal)) steal = 0;
    if (all.steal_ns.size() <= processor) all.steal_ns.resize(processor + 1);
    all.steal_ns[processor] = steal * (1'000'000'000 / static_cast<std::uint64_t>(ticks_per_second));
  }
  return all;
}

interrupt_counts interrupt_counts::now() {
  return parse_interrupt_counts(read_text("/proc/interrupts"), read_text("/proc/softirqs"), read_text("/proc/stat"),
                                ::sysconf(_SC_CLK_TCK));
}

interrupt_counts interrupt_counts::since(const interrupt_counts& before) const {
  const auto minus = [](std::vector<std::uint64_t> later, const std::vector<std::uint64_t>& earlier) {
    for (std::size_t i = 0; i < later.size() && i < earlier.size(); ++i) later[i] -= std::min(later[i], earlier[i]);
    return later;
  };
  interrupt_counts added;
  added.steal_ns = minus(steal_ns, before.steal_ns);
  for (const interrupt_count& one : counts) {
    const auto at = std::ranges::find(before.counts, one.name, &interrupt_count::name);
    interrupt_count difference = one;
    if (at != before.counts.end()) difference.by_processor = minus(one.by_processor, at->by_processor);
    if (std::ranges::any_of(difference.by_processor, [](std::uint64_t n) { return n != 0; }))
      added.counts.push_back(std::move(difference));
  }
  return added;
}

}  // namespace shoal::machine
