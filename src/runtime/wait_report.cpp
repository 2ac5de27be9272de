// SPDX-License-Identifier: Apache-2.0
#include "runtime/wait_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "base/table.hpp"
#include "runtime/body_name.hpp"

namespace shoal::runtime {
namespace {

using detail::wait_kind;
using sched::waiting_task;

std::string counted(std::int64_t n, const char* one, const char* many) {
  return n < 0 ? many : fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string awaited_text(const char* what, const waiting_task& t) {
  return t.awaited.empty() ? fmt::format("{} {}", what, t.object) : fmt::format("{} '{}'", what, t.awaited);
}

std::string waits_for(const waiting_task& t) {
  const auto number = reinterpret_cast<std::uintptr_t>(t.object);
  switch (t.why) {
    case wait_kind::mutex: return fmt::format("the mutex {}", t.object);
    case wait_kind::condition: return fmt::format("the condition_variable {}", t.object);
    case wait_kind::semaphore: return fmt::format("the semaphore {}", t.object);
    case wait_kind::shared_mutex: return fmt::format("the shared_mutex {}", t.object);
    case wait_kind::barrier: return fmt::format("the barrier {}", t.object);
    case wait_kind::latch: return fmt::format("the latch {}", t.object);
    case wait_kind::children: return counted(t.missing, "task that it has spawned", "tasks that it has spawned");
    case wait_kind::graph: return counted(t.missing, "task of a graph or flow", "tasks of a graph or flow");
    case wait_kind::operations:
      if (t.missing <= 0) return "calls or remote loops";  // their number is not known at every moment
      return counted(t.missing, "call or remote loop", "calls or remote loops");
    case wait_kind::future: return awaited_text("the future", t);
    case wait_kind::promise: return awaited_text("the promise", t);
    case wait_kind::loop: return "its loop";
    case wait_kind::reply: return fmt::format("a reply of node {}", number);
    case wait_kind::settling: return "its asynchronous operations";
    case wait_kind::room: return fmt::format("room in a buffer for node {}", number);
    case wait_kind::credit: return fmt::format("node {} to begin earlier calls", number);
    case wait_kind::transfer: return "a transfer by the network";
    case wait_kind::collective: return "the other members of its team";
    case wait_kind::message:
    case wait_kind::thread: return t.of_rank.waits_for;
    case wait_kind::stack: return "a stack of the size that it asked for";
    case wait_kind::time: return "a time, or an event until then";
    case wait_kind::lock: return fmt::format("the lock {}", t.object);
    case wait_kind::blocking: return "a blocking call or a file";
    default: return "a wake-up";
  }
}

// A task that waits for a future knows who fills it only if that one waits for a future, too.
void find_fillers(std::vector<waiting_task>& tasks) {
  std::map<const void*, const void*> filler;
  for (const waiting_task& t : tasks)
    for (const void* state : t.fills) filler[state] = t.stack;
  for (waiting_task& t : tasks)
    if (t.why == wait_kind::future && t.held_by == nullptr)
      if (const auto at = filler.find(t.object); at != filler.end()) t.held_by = at->second;
}

// A mutex of a task that has ended without unlocking it is held by nobody who could. `still`: as in describe_waits().
void find_ended_holders(sched::wait_survey& found, bool still) {
  std::map<const void*, std::uint64_t> numbers;
  for (const waiting_task& t : found.tasks) numbers[t.stack] = t.number;
  const bool all_known = still && found.silent.empty() && found.waiting == found.tasks.size();
  for (waiting_task& t : found.tasks) {
    if (t.why != wait_kind::mutex || t.held_by == nullptr) continue;
    const auto at = numbers.find(t.held_by);
    t.holder_ended = at != numbers.end() ? at->second != t.holder_number : all_known;
    if (t.holder_ended) t.held_by = nullptr;
  }
}

struct named_task {
  std::string task;
  std::string spawned_in;
};

named_task name_task(const waiting_task& t, machine::symbols& names) {
  if (t.code == nullptr) return {"the main task", {}};
  const std::string symbol = names.name_of(t.code);
  body_name found = symbol.empty() ? body_name{machine::symbols::place_of(t.code), {}} : name_body(symbol);
  if (!t.name.empty()) found.body = fmt::format("'{}'", t.name);
  return {std::move(found.body), std::move(found.spawned_in)};
}

std::string held_by(const waiting_task& t, const std::map<const void*, const named_task*>& by_stack) {
  if (t.why == wait_kind::promise) return "whoever has the promise";
  if (t.holder_ended) return "a task that has ended";
  if (t.held_by == nullptr) return t.why == wait_kind::future ? "a task that can run, a coroutine, or a promise" : "";
  if (t.held_by == t.stack) return "itself";
  const auto found = by_stack.find(t.held_by);
  return found != by_stack.end() ? found->second->task : "a task that can run";
}

// Each as one sentence. Only whoever waits for exactly one task is followed.
std::vector<std::string> find_cycles(const std::vector<waiting_task>& tasks, const std::vector<named_task>& names) {
  std::map<const void*, std::size_t> by_stack;
  for (std::size_t i = 0; i < tasks.size(); ++i) by_stack[tasks[i].stack] = i;
  std::vector<std::size_t> seen_from(tasks.size(), tasks.size());  // the walk that was here first
  std::vector<std::string> found;
  for (std::size_t first = 0; first < tasks.size() && found.size() < k_most_cycles; ++first) {
    std::size_t at = first;
    bool ends = false;
    while (!ends && seen_from[at] == tasks.size()) {
      seen_from[at] = first;
      const auto next = by_stack.find(tasks[at].held_by);
      ends = tasks[at].held_by == nullptr || next == by_stack.end();
      if (!ends) at = next->second;
    }
    if (ends || seen_from[at] != first) continue;
    std::string text = names[at].task;
    std::size_t member = at;
    do {
      text += fmt::format(" waits for {}", waits_for(tasks[member]));
      member = by_stack.at(tasks[member].held_by);
      text +=
          fmt::format(" of {}{}", member == at && tasks[at].held_by == tasks[at].stack ? "itself" : names[member].task,
                      member == at ? "" : ", which");
    } while (member != at);
    found.push_back(std::move(text));
  }
  return found;
}

// Tabs separate fields and line feeds rows.
std::string plain(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return text;
}

template <class Number>
bool read(std::string_view text, Number& into) {
  const auto end = text.data() + text.size();
  const auto got = std::from_chars(text.data(), end, into);
  return got.ec == std::errc{} && got.ptr == end;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace

node_waits describe_waits(std::uint32_t node, unsigned workers, sched::wait_survey found, machine::symbols& names,
                          bool still) {
  find_fillers(found.tasks);
  find_ended_holders(found, still);
  std::map<const void*, named_task> known;  // by code, for tasks without a name
  std::vector<named_task> tasks;
  tasks.reserve(found.tasks.size());
  std::map<const void*, const named_task*> by_stack;
  for (const waiting_task& t : found.tasks) {
    auto at = known.find(t.code);
    if (at == known.end() || !t.name.empty()) {
      tasks.push_back(name_task(t, names));
      if (t.name.empty()) known.emplace(t.code, tasks.back());
    } else {
      tasks.push_back(at->second);
    }
    by_stack[t.stack] = &tasks.back();
  }
  node_waits result{node,
                    workers,
                    static_cast<unsigned>(found.silent.size()),
                    found.waiting,
                    {},
                    describe_ranks(found.tasks, [&](const void* c) { return names.call_at(c); }),
                    find_cycles(found.tasks, tasks)};
  if (result.ranks.size() > k_most_rows) result.ranks.resize(k_most_rows);
  if (!result.ranks.empty()) return result;
  using key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<key, wait_row> rows;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    wait_row row;
    row.node = node;
    row.task = tasks[i].task;
    row.spawned_in = tasks[i].spawned_in;
    row.waits_for = waits_for(found.tasks[i]);
    row.held_by = held_by(found.tasks[i], by_stack);
    row.waited_ns = found.tasks[i].waited_ns;
    const auto [at, is_new] = rows.try_emplace(key{row.task, row.spawned_in, row.waits_for, row.held_by}, row);
    if (is_new) continue;
    ++at->second.tasks;
    at->second.waited_ns = std::max(at->second.waited_ns, row.waited_ns);
  }
  for (auto& [unused, row] : rows) result.rows.push_back(std::move(row));
  std::ranges::sort(result.rows, std::ranges::greater{}, &wait_row::waited_ns);
  if (result.rows.size() > k_most_rows) result.rows.resize(k_most_rows);
  return result;
}

std::uint64_t ranks_of(std::span<const node_waits> nodes) {
  std::uint64_t count = 0;
  for (const node_waits& n : nodes)
    for (const rank_waits& r : n.ranks) count += r.ranks.size();
  return count;
}

std::string to_text(std::span<const node_waits> nodes) {
  std::string text;
  for (const node_waits& n : nodes) {
    text += fmt::format("node\t{}\t{}\t{}\t{}\n", n.node, n.workers, n.silent, n.waiting);
    for (const wait_row& r : n.rows)
      text += fmt::format("row\t{}\t{}\t{}\t{}\t{}\t{}\n", r.tasks, r.waited_ns, plain(r.task), plain(r.spawned_in),
                          plain(r.waits_for), plain(r.held_by));
    for (const rank_waits& r : n.ranks) {
      text += "ranks";
      for (std::string& field : fields_of(r)) text += '\t' + plain(std::move(field));
      text += '\n';
    }
    for (const std::string& c : n.cycles) text += fmt::format("cycle\t{}\n", plain(c));
  }
  return text;
}

std::optional<std::vector<node_waits>> parse_waits(std::string_view text) {
  std::vector<node_waits> nodes;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto fields = split(line, '\t');
    if (fields[0] == "node" && fields.size() == 5) {
      node_waits n;
      if (!read(fields[1], n.node) || !read(fields[2], n.workers) || !read(fields[3], n.silent) ||
          !read(fields[4], n.waiting))
        return std::nullopt;
      nodes.push_back(std::move(n));
    } else if (fields[0] == "row" && fields.size() == 7 && !nodes.empty() && nodes.back().rows.size() < k_most_rows) {
      wait_row r;
      r.node = nodes.back().node;
      if (!read(fields[1], r.tasks) || !read(fields[2], r.waited_ns)) return std::nullopt;
      r.task = fields[3];
      r.spawned_in = fields[4];
      r.waits_for = fields[5];
      r.held_by = fields[6];
      nodes.back().rows.push_back(std::move(r));
    } else if (fields[0] == "ranks" && !nodes.empty() && nodes.back().ranks.size() < k_most_rows) {
      auto ranks = parse_rank_waits(std::span(fields).subspan(1));
      if (!ranks) return std::nullopt;
      nodes.back().ranks.push_back(std::move(*ranks));
    } else if (fields[0] == "cycle" && fields.size() == 2 && !nodes.empty() &&
               nodes.back().cycles.size() < k_most_cycles) {
      nodes.back().cycles.emplace_back(fields[1]);
    } else {
      return std::nullopt;
    }
  }
  return nodes;
}

std::string table_of(std::span<const node_waits> nodes, std::size_t most) {
  std::vector<const wait_row*> rows;
  std::vector<rank_waits> ranks;
  std::uint64_t waiting = 0;
  std::string notes;
  for (const node_waits& n : nodes) {
    ranks.insert(ranks.end(), n.ranks.begin(), n.ranks.end());
    for (const wait_row& r : n.rows) rows.push_back(&r);
    waiting += n.waiting;
    for (const std::string& c : n.cycles) notes += fmt::format("\n  in a cycle: {}", c);
    if (n.silent != 0)
      notes += fmt::format("\n  node {}: {} of {} workers did not answer; each runs one task for long", n.node,
                           n.silent, n.workers);
  }
  if (!ranks.empty()) return rank_table(std::move(ranks), most) + notes;
  if (rows.empty()) return "  no task waits" + notes;
  std::ranges::stable_sort(rows, std::ranges::greater{}, &wait_row::waited_ns);
  if (rows.size() > most) rows.resize(most);
  base::table table({"node", "tasks", "task", "spawned in", "waits for", "held by", "since"});
  std::uint64_t shown = 0;
  for (const wait_row* r : rows) {
    shown += r->tasks;
    const auto or_dash = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
    table.add({fmt::to_string(r->node), fmt::to_string(r->tasks), r->task, or_dash(r->spawned_in), r->waits_for,
               or_dash(r->held_by), base::short_duration(r->waited_ns)});
  }
  std::string text = table.text();
  if (shown < waiting) text += fmt::format("\n  and {} more tasks that wait", waiting - shown);
  return text + notes;
}

}  // namespace shoal::runtime
