// SPDX-License-Identifier: Apache-2.0
#include "runtime/rank_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <span>
#include <vector>

#include "machine/touched_bytes.hpp"
#include "runtime/profile_report.hpp"
#include "trace/ranks_profile.hpp"

namespace shoal::runtime {
namespace {

// A line of /proc/self/status, in bytes.
std::uint64_t memory_of_process(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name)) return std::stoull(line.substr(name.size() + 1)) * 1024;
  return 0;
}

trace::rank_row row_of(const rank::rank_profile& p, int world, double per_second) {
  const auto seconds = [&](std::uint64_t ticks) { return static_cast<double>(ticks) / per_second; };
  trace::rank_row row;
  row.rank = world;
  const std::uint64_t copies = std::min(p.copy_ticks, p.call_ticks);
  const std::uint64_t waits = std::min(p.wait_ticks, p.call_ticks - copies);
  row.compute_seconds = seconds(p.ticks - std::min(p.call_ticks, p.ticks));
  row.copy_seconds = seconds(copies);
  row.wait_seconds = seconds(waits);
  row.library_seconds = seconds(p.call_ticks - copies - waits);
  row.calls = p.calls;
  row.copied_bytes = p.copied_bytes;
  row.longest_receives = p.longest_receives;
  row.longest_messages = p.longest_messages;
  row.stack_bytes = p.stack_bytes;
  for (const auto& [name, w] : p.by_function) {
    row.waits.push_back({std::string(name), w.count, seconds(w.ticks), seconds(w.ready_ticks)});
    row.ready_seconds += seconds(w.ready_ticks);
  }
  row.ready_seconds = std::min(row.ready_seconds, row.wait_seconds);
  for (const auto& [to, m] : p.sent_to) row.sent.push_back({to, m.count, m.bytes});
  return row;
}

std::string picture_file(const std::string& json) {
  constexpr std::string_view k_ending = ".json";
  return (json.ends_with(k_ending) ? json.substr(0, json.size() - k_ending.size()) : json) + ".svg";
}

unsigned workers_of(const rank::job_ranks& ranks) {
  std::set<const sched::worker*> all;
  for (int i = 0; i < ranks.size_here(); ++i) all.insert(&ranks.at(i).home);
  return static_cast<unsigned>(all.size());
}

}  // namespace

rank_report::rank_report(const rank::job_ranks& of, rank_profile_wish wish, std::size_t stack_bytes)
    : ranks_(of),
      wish_(std::move(wish)),
      stack_bytes_(stack_bytes),
      bytes_before_(memory_of_process("VmRSS:")),
      profile_(of) {
  // At start, so that nobody computes for an hour first.
  if (!wish_.file.empty() && of.form().node == 0) write_whole_file(wish_.file, "the profile", "");
  rank::the_profile = &profile_;
}

rank_report::~rank_report() { rank::the_profile = nullptr; }

void rank_report::end(rank::rank_state& r, const void* frame) noexcept {
  rank::rank_profile& p = profile_.at(r);
  p.end(r);
  try {
    p.stack_bytes = machine::touched_bytes_below(frame, stack_bytes_);
  } catch (const std::bad_alloc&) {  // then it is not known
  }
}

std::string rank_report::own_text() const {
  trace::ranks_profile mine;
  mine.processes.push_back({static_cast<unsigned>(ranks_.size_here()), workers_of(ranks_), bytes_before_,
                            memory_of_process("VmHWM:"), wish_.copy_bytes, wish_.shared_bytes, wish_.copy_mappings});
  const double per_second = rank::profile_ticks_per_second();
  for (int i = 0; i < ranks_.size_here(); ++i)
    mine.ranks.push_back(row_of(profile_.at(i), ranks_.at(i).world, per_second));
  return trace::ranks_text(mine);
}

void rank_report::report(team& nodes) {
  rank::the_profile = nullptr;
  const std::string mine = own_text();
  const auto all = nodes.gather(std::span<const char>(mine), 0);
  if (nodes.rank() != 0) return;
  trace::ranks_profile together;
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    const auto text = all.of(n);
    trace::add_ranks_text(together, {text.data(), text.size()});
  }
  const std::string table = trace::ranks_table(together);
  std::fwrite(table.data(), 1, table.size(), stderr);
  if (wish_.file.empty()) return;
  write_whole_file(wish_.file, "the profile", trace::ranks_json(together));
  write_whole_file(picture_file(wish_.file), "the profile", trace::ranks_picture(together));
}

}  // namespace shoal::runtime
