// SPDX-License-Identifier: Apache-2.0
#include "array/memory_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "machine/memory_info.hpp"

namespace shoal::array {
namespace {

using machine::describe_bytes;

constexpr std::size_t k_most_text_bytes = 11'000;  // an answer has 12000
constexpr std::size_t k_most_word_bytes = 96;      // of a name, a place

// All that is summed, in the order of the text.
template <class Usage, class F>
void for_each_number(Usage& u, const F& f) {
  f(u.array_count);
  f(u.array_huge_bytes);
  for (auto* a : {&u.arrays, &u.tables, &u.copies, &u.blocks}) {
    f(a->bytes);
    f(a->most_bytes);
  }
  f(u.stacks);
  f(u.stack_resident_bytes);
  f(u.stack_huge_bytes);
  f(u.stack_committed_bytes);
  f(u.stack_reserved_bytes);
  f(u.buffer_resident_bytes);
  f(u.buffer_reserved_bytes);
  f(u.waiting_bytes);
  f(u.waiting_limit_bytes);
  f(u.registrations);
  f(u.registered_bytes);
}

std::string plain(std::string_view text) {
  std::string one(text.substr(0, k_most_word_bytes));
  std::ranges::replace_if(
      one, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return one;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto got = std::from_chars(text.data(), text.data() + text.size(), number);
  return got.ec == std::errc{} && got.ptr == text.data() + text.size();
}

bool read_usage(const std::vector<std::string_view>& fields, memory_usage& use) {
  std::size_t next = 3;
  bool whole = fields.size() > 3 && read(fields[1], use.nodes) && read(fields[2], use.usable_bytes);
  for_each_number(use, [&](std::uint64_t& n) { whole = whole && next < fields.size() && read(fields[next++], n); });
  return whole && next == fields.size();
}

std::string now_and_most(const memory_amount& a) {
  return fmt::format("{:>10}  {:>10} at most so far", describe_bytes(a.bytes), describe_bytes(a.most_bytes));
}

}  // namespace

void merge_holders(std::vector<memory_holder>& to, std::vector<memory_holder> more) {
  std::ranges::move(more, std::back_inserter(to));
  const auto key = [](const memory_holder& h) { return std::tie(h.what, h.name, h.place); };
  std::ranges::sort(to, {}, key);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (kept > 0 && key(to[kept - 1]) == key(to[i])) {
      add(to[kept - 1].memory, to[i].memory);
      to[kept - 1].count += to[i].count;
    } else if (kept++ != i) {
      to[kept - 1] = std::move(to[i]);
    }
  }
  to.resize(kept);
  std::ranges::stable_sort(to, std::ranges::greater{}, [](const memory_holder& h) { return h.memory.bytes; });
  if (to.size() > memory_usage::k_most_holders) to.resize(memory_usage::k_most_holders);
}

void add(memory_usage& to, const memory_usage& other) {
  std::vector<std::uint64_t> numbers;
  for_each_number(other, [&numbers](const std::uint64_t& n) { numbers.push_back(n); });
  std::size_t next = 0;
  for_each_number(to, [&](std::uint64_t& n) { n += numbers[next++]; });
  to.nodes += other.nodes;
  to.usable_bytes = std::min(to.usable_bytes, other.usable_bytes);
  merge_holders(to.holders, other.holders);
}

std::string to_text(const memory_usage& use) {
  std::string text = fmt::format("memory\t{}\t{}", use.nodes, use.usable_bytes);
  for_each_number(use, [&text](const std::uint64_t& n) { text += fmt::format("\t{}", n); });
  text += '\n';
  for (std::size_t i = 0; i < std::min(use.holders.size(), memory_usage::k_most_holders); ++i) {
    const memory_holder& h = use.holders[i];
    const std::string line = fmt::format("holder\t{}\t{}\t{}\t{}\t{}\t{}\n", h.count, h.memory.bytes,
                                         h.memory.most_bytes, plain(h.what), plain(h.name), plain(h.place));
    if (text.size() + line.size() > k_most_text_bytes) break;
    text += line;
  }
  return text;
}

std::optional<memory_usage> parse_memory(std::string_view text) {
  std::optional<memory_usage> use;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto fields = split(line, '\t');
    if (fields[0] == "memory" && !use) {
      use.emplace();
      if (!read_usage(fields, *use)) return std::nullopt;
    } else if (fields[0] == "holder" && use && fields.size() == 7 &&
               use->holders.size() < memory_usage::k_most_holders) {
      memory_holder h;
      if (!read(fields[1], h.count) || !read(fields[2], h.memory.bytes) || !read(fields[3], h.memory.most_bytes))
        return std::nullopt;
      h.what = fields[4];
      h.name = fields[5];
      h.place = fields[6];
      use->holders.push_back(std::move(h));
    } else {
      return std::nullopt;
    }
  }
  return use;
}

std::string describe(const memory_holder& h) {
  std::string text = h.name.empty() ? h.what : fmt::format("'{}', {}", h.name, h.what);
  if (!h.place.empty()) text += ", made at " + h.place;
  return text;
}

}  // namespace shoal::array

namespace shoal {

std::string describe(const memory_usage& use) {
  using array::now_and_most;
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += fmt::format("  {:<18}{}\n", name, value);
  };
  line("global arrays",
       now_and_most(use.arrays) + fmt::format(", {} parts; {} on pages of 2 MiB or more", use.array_count,
                                              machine::describe_bytes(use.array_huge_bytes)));
  line("containers", now_and_most(use.tables));
  line("checkpoint copies", now_and_most(use.copies));
  line(
      "stacks",
      fmt::format("{:>10}  resident, of {} committed and {} reserved; {} made so far; {} on pages of 2 MiB or "
                  "more",
                  machine::describe_bytes(use.stack_resident_bytes), machine::describe_bytes(use.stack_committed_bytes),
                  machine::describe_bytes(use.stack_reserved_bytes), use.stacks,
                  machine::describe_bytes(use.stack_huge_bytes)));
  line("task blocks", now_and_most(use.blocks));
  line("buffers", fmt::format("{:>10}  resident, of {} reserved", machine::describe_bytes(use.buffer_resident_bytes),
                              machine::describe_bytes(use.buffer_reserved_bytes)));
  line("cannot be sent yet", fmt::format("{:>10}  of {} allowed", machine::describe_bytes(use.waiting_bytes),
                                         machine::describe_bytes(use.waiting_limit_bytes)));
  if (use.registrations != 0)
    line("registered", fmt::format("{:>10}  {} times, by network libraries",
                                   machine::describe_bytes(use.registered_bytes), use.registrations));
  line("still usable", fmt::format("{:>10}", machine::describe_bytes(use.usable_bytes)));
  for (const memory_holder& h : use.holders)
    text += fmt::format("  {:>10}  {}{}\n", machine::describe_bytes(h.memory.bytes), array::describe(h),
                        h.count == 1 ? "" : fmt::format(" ({} parts)", h.count));
  text.pop_back();
  return text;
}

}  // namespace shoal
