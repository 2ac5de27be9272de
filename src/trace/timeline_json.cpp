// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <iterator>
#include <set>

#include "trace/timeline_output.hpp"

namespace shoal::trace {
namespace {

constexpr std::array<const char*, k_activities> k_names = {"task",     "runtime", "looking for work",
                                                           "messages", "parked",  "not known"};

// Numbers of lines from here on are those of tasks that call libraries.
constexpr std::uint32_t k_first_caller = 1'000'000;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out + "\"";
}

// Times in microseconds, as the format wants them.
double us(std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; }

}  // namespace

std::string timeline_json(const timeline& t) {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const auto end = std::back_inserter(out);
  std::vector<std::string> words;
  for (const std::string& w : t.words) words.push_back(quoted(w));
  for (const track& one : t.tracks) {
    if (one.worker == 0)
      fmt::format_to(end,
                     "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{0},\"args\":{{\"name\":\"node {0}\"}}}},\n",
                     one.node);
    fmt::format_to(
        end, "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"worker {}\"}}}},\n",
        one.node, one.worker, one.worker);
    for (const slice& s : one.slices) {
      if (s.what == activity::runtime) continue;
      fmt::format_to(
          end, "{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f}}},\n",
          s.what == activity::task ? "task" : "idle",
          s.what == activity::task ? words[s.name] : quoted(k_names[static_cast<std::size_t>(s.what)]), one.node,
          one.worker, us(s.begin_ns), us(s.end_ns - s.begin_ns));
    }
    for (const kernel_slice& k : one.kernel)
      fmt::format_to(
          end, "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f}}},\n",
          words[k.name], one.node, one.worker, us(k.begin_ns), us(k.ns));
    // Calls of a task follow one another, also where it waits in them while others run: a line for each task.
    std::set<std::uint32_t> callers;
    for (const call_slice& c : one.calls) {
      if (callers.insert(c.name).second)
        fmt::format_to(end,
                       "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}},\n",
                       one.node, k_first_caller + c.name, words[c.name]);
      fmt::format_to(
          end, "{{\"ph\":\"X\",\"cat\":\"call\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f}}},\n",
          words[c.call], one.node, k_first_caller + c.name, us(c.begin_ns), us(c.end_ns - c.begin_ns));
    }
    // Regions may overlap tasks in any way: they are on lines of their own.
    std::uint64_t id = 0;
    for (const region_slice& r : one.regions) {
      const std::uint64_t key = (std::uint64_t{one.node} << 48) | (std::uint64_t{one.worker} << 32) | ++id;
      for (const auto& [phase, at] : {std::pair{"b", r.begin_ns}, {"e", r.end_ns}})
        fmt::format_to(
            end,
            "{{\"ph\":\"{}\",\"cat\":\"region\",\"name\":{},\"pid\":{},\"tid\":{},\"id\":\"{:#x}\",\"ts\":{:.3f}}},\n",
            phase, words[r.name], one.node, one.worker, key, us(at));
    }
    for (const mark_moment& m : one.marks)
      fmt::format_to(end,
                     "{{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"mark\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f},"
                     "\"args\":{{\"value\":{}}}}},\n",
                     words[m.name], one.node, one.worker, us(m.at_ns), m.value);
  }
  std::uint64_t number = 0;
  for (const message& m : t.messages) {
    ++number;
    const track& from = t.tracks[m.from];
    const track& to = t.tracks[m.to];
    fmt::format_to(
        end,
        "{{\"ph\":\"s\",\"cat\":\"message\",\"name\":\"message\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f}}},\n",
        number, from.node, from.worker, us(m.sent_ns));
    fmt::format_to(end,
                   "{{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"message\",\"name\":\"message\",\"id\":{},\"pid\":{},\"tid\":{"
                   "},\"ts\":{:.3f}}},\n",
                   number, to.node, to.worker, us(m.received_ns));
  }
  fmt::format_to(end, "{{\"ph\":\"M\",\"name\":\"program\",\"pid\":0,\"args\":{{\"name\":{}}}}}\n]}}\n",
                 quoted(t.program));
  return out;
}

}  // namespace shoal::trace
