// SPDX-License-Identifier: Apache-2.0
// The profile of ranks as lines of text, and as a JSON object.
#include <fmt/format.h>

#include <iterator>
#include <sstream>

#include "trace/ranks_profile.hpp"

namespace shoal::trace {
namespace {

void add_row_text(std::string& text, const rank_row& r) {
  fmt::format_to(std::back_inserter(text), "rank {} {} {} {} {} {} {} {} {} {} {}\n", r.rank, r.compute_seconds,
                 r.copy_seconds, r.library_seconds, r.wait_seconds, r.ready_seconds, r.calls, r.copied_bytes,
                 r.longest_receives, r.longest_messages, r.stack_bytes);
  for (const rank_wait& w : r.waits)
    fmt::format_to(std::back_inserter(text), "wait {} {} {} {}\n", w.count, w.seconds, w.ready_seconds, w.function);
  for (const rank_messages& m : r.sent)
    fmt::format_to(std::back_inserter(text), "sent {} {} {}\n", m.to, m.count, m.bytes);
}

std::string number(double value) { return fmt::format("{:.9g}", value); }

void add_rank_object(std::string& text, const rank_row& r) {
  fmt::format_to(std::back_inserter(text),
                 "    {{\"rank\": {}, \"seconds\": {}, \"compute_seconds\": {}, \"copy_seconds\": {}, "
                 "\"library_seconds\": {}, \"wait_seconds\": {}, \"ready_seconds\": {},\n     \"calls\": {}, "
                 "\"copied_bytes\": {}, \"longest_receives\": {}, \"longest_messages\": {}, \"stack_bytes\": {},\n"
                 "     \"waits\": {{",
                 r.rank, number(r.seconds()), number(r.compute_seconds), number(r.copy_seconds),
                 number(r.library_seconds), number(r.wait_seconds), number(r.ready_seconds), r.calls, r.copied_bytes,
                 r.longest_receives, r.longest_messages, r.stack_bytes);
  const char* comma = "";
  for (const rank_wait& w : r.waits) {
    fmt::format_to(std::back_inserter(text), "{}\"{}\": {{\"count\": {}, \"seconds\": {}, \"ready_seconds\": {}}}",
                   comma, w.function, w.count, number(w.seconds), number(w.ready_seconds));
    comma = ", ";
  }
  text += "},\n     \"sent\": [";
  comma = "";
  for (const rank_messages& m : r.sent) {
    fmt::format_to(std::back_inserter(text), "{}{{\"to\": {}, \"messages\": {}, \"bytes\": {}}}", comma, m.to, m.count,
                   m.bytes);
    comma = ", ";
  }
  text += "]}";
}

}  // namespace

std::string ranks_text(const ranks_profile& p) {
  std::string text;
  for (const rank_process& o : p.processes)
    fmt::format_to(std::back_inserter(text), "process {} {} {} {} {} {} {}\n", o.ranks, o.workers, o.bytes_before,
                   o.bytes_at_most, o.copy_bytes, o.shared_bytes, o.copy_mappings);
  for (const rank_row& r : p.ranks) add_row_text(text, r);
  return text;
}

void add_ranks_text(ranks_profile& p, std::string_view text) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "process") {
      rank_process& o = p.processes.emplace_back();
      in >> o.ranks >> o.workers >> o.bytes_before >> o.bytes_at_most >> o.copy_bytes >> o.shared_bytes >>
          o.copy_mappings;
    } else if (word == "rank") {
      rank_row& r = p.ranks.emplace_back();
      in >> r.rank >> r.compute_seconds >> r.copy_seconds >> r.library_seconds >> r.wait_seconds >> r.ready_seconds >>
          r.calls >> r.copied_bytes >> r.longest_receives >> r.longest_messages >> r.stack_bytes;
    } else if (word == "wait" && !p.ranks.empty()) {
      rank_wait& w = p.ranks.back().waits.emplace_back();
      in >> w.count >> w.seconds >> w.ready_seconds >> std::ws;
      std::getline(in, w.function);
    } else if (word == "sent" && !p.ranks.empty()) {
      rank_messages& m = p.ranks.back().sent.emplace_back();
      in >> m.to >> m.count >> m.bytes;
    }
  }
}

std::string ranks_json(const ranks_profile& p) {
  std::string text = fmt::format("{{\n  \"shoal\": \"{}\",\n  \"processes\": [\n", SHOAL_VERSION);
  const char* comma = "";
  for (const rank_process& o : p.processes) {
    fmt::format_to(std::back_inserter(text),
                   "{}    {{\"ranks\": {}, \"workers\": {}, \"bytes_before_ranks\": {}, \"bytes_at_most\": {}, "
                   "\"copy_bytes\": {}, \"shared_bytes\": {}, \"copy_mappings\": {}}}",
                   comma, o.ranks, o.workers, o.bytes_before, o.bytes_at_most, o.copy_bytes, o.shared_bytes,
                   o.copy_mappings);
    comma = ",\n";
  }
  text += "\n  ],\n  \"ranks\": [\n";
  comma = "";
  for (const rank_row& r : p.ranks) {
    text += comma;
    add_rank_object(text, r);
    comma = ",\n";
  }
  return text + "\n  ]\n}\n";
}

}  // namespace shoal::trace
