// SPDX-License-Identifier: Apache-2.0
#include "trace/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "trace/message_key.hpp"
#include "trace/node_clocks.hpp"

namespace shoal::trace {
namespace {

class word_list {
public:
  explicit word_list(std::vector<std::string>& words) : words_(words) {}
  std::uint32_t of(const std::string& word) {
    const auto [at, is_new] = numbers_.try_emplace(word, static_cast<std::uint32_t>(words_.size()));
    if (is_new) words_.push_back(word);
    return at->second;
  }

private:
  std::vector<std::string>& words_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

struct message_end {
  std::uint32_t track;
  double ns;
  std::uint64_t bytes;
};

// A task that has begun.
struct running {
  std::uint32_t name = 0;
  std::uint32_t call = 0;  // in which it is; 0: none
  std::uint64_t call_begin = 0;
  bool is_labelled = false;     // by the program
  bool is_nameless = false;     // its begin is not in the trace
  std::size_t first_slice = 0;  // if so: the first that may be its
};
struct waiting_task {
  wait_slice wait;
  running task;
  std::size_t last_slice = 0;  // behind those before the wait
};

activity activity_of(worker_state s) {
  switch (s) {
    case worker_state::running: return activity::runtime;
    case worker_state::parked: return activity::parked;
    case worker_state::messages: return activity::messages;
    case worker_state::looking:
    case worker_state::stealing:
    case worker_state::spinning: return activity::looking;
  }
  return activity::runtime;
}

class maker {
public:
  explicit maker(const std::vector<node_trace>& nodes) : nodes_(nodes), words_(line_.words) {}

  timeline run() {
    if (nodes_.empty()) return std::move(line_);
    clocks_ = aligned_clocks(nodes_);
    double first = std::numeric_limits<double>::infinity();
    double last = -first;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      first = std::min(first, clocks_[n].ns(nodes_[n].begin.ticks));
      last = std::max(last, clocks_[n].ns(nodes_[n].end.ticks));
    }
    first_ = first;
    line_.program = nodes_.front().form.program;
    line_.begin_raw_ns = static_cast<std::uint64_t>(first);
    line_.length_ns = static_cast<std::uint64_t>(std::max(last - first, 1.0));
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      line_.nodes = std::max(line_.nodes, nodes_[n].form.node + 1);
      if (!nodes_[n].is_whole) line_.unfinished.push_back(nodes_[n].form.node);
      line_.clock_shift_ns.push_back(clocks_[n].shift);
      for (std::uint32_t w = 0; w < nodes_[n].workers.size(); ++w) read_worker(n, w);
    }
    join_messages();
    join_samples();
    return std::move(line_);
  }

private:
  std::uint64_t ns(std::size_t n, std::uint64_t ticks) const {
    return static_cast<std::uint64_t>(std::max(0.0, clocks_[n].ns(ticks) - first_));
  }
  std::uint32_t code_name(std::size_t n, std::uint64_t address) {
    if (n != cached_node_) cached_.clear();
    cached_node_ = n;
    const auto [known, is_new] = cached_.try_emplace(address, 0);
    if (is_new) known->second = find_code_name(n, address);
    return known->second;
  }
  std::uint32_t find_code_name(std::size_t n, std::uint64_t address) {
    if (address == 0) return words_.of("the main task");
    const auto at = nodes_[n].code.find(address);
    if (at != nodes_[n].code.end()) return words_.of(at->second);
    if (const code_image* const i = nodes_[n].image_at(address); i != nullptr) return words_.of(i->place_of(address));
    return words_.of(fmt::format("code at {:#x}", address));
  }
  std::uint32_t event_name(std::size_t n, std::uint32_t number) {
    const auto at = nodes_[n].names.find(number);
    return words_.of(at != nodes_[n].names.end() ? at->second : "(no name)");
  }

  void read_worker(std::size_t n, std::uint32_t w) {
    const node_trace& node = nodes_[n];
    const auto number = static_cast<std::uint32_t>(line_.tracks.size());
    track& t = line_.tracks.emplace_back();
    t.node = node.form.node;
    t.worker = w;
    t.left_out = node.left_out[w];
    t.thread = w < node.threads.size() ? node.threads[w] : 0;
    t.machine = node.form.machine;
    const bool begin_is_lost = t.left_out > 0 && node.form.overwrite;
    const bool end_is_lost = t.left_out > 0 && !node.form.overwrite;
    std::vector<running> stack;                               // what runs, and what it has interrupted
    std::unordered_map<std::uint32_t, waiting_task> waiting;  // by stack
    std::vector<region_slice> open;
    slice now;
    now.what = activity::unknown;
    const auto change = [&](std::uint64_t at, activity what, const running& of) {
      now.end_ns = at;
      if (now.end_ns > now.begin_ns) t.slices.push_back(now);
      now = {at, at, what, of.name, of.call};
    };
    const auto go_on = [&](std::uint64_t at) {
      if (stack.empty())
        change(at, activity::runtime, {});
      else
        change(at, activity::task, stack.back());
    };
    // Something that only a running task does is met, and none is known: it ran since the last event that tells.
    const auto open_task = [&](std::uint64_t at) {
      if (!stack.empty()) return;
      running& r = stack.emplace_back();
      r.name = words_.of("a task that began before the trace");
      r.is_nameless = true;
      r.first_slice = t.slices.size();
      if (now.what != activity::unknown && now.what != activity::runtime) go_on(at);
      now.what = activity::task;
      now.name = r.name;
    };
    std::uint64_t first_at = 0;
    std::uint64_t last_at = 0;
    bool is_first = true;
    for (const event& e : node.workers[w]) {
      const std::uint64_t at = ns(n, e.ticks);
      if (std::exchange(is_first, false)) {
        now.begin_ns = first_at = at;
        // What was before in this trace is written over.
        if (begin_is_lost) t.slices.push_back({ns(n, node.begin.ticks), at, activity::unknown});
      }
      last_at = at;
      switch (e.kind) {
        case event_kind::task_begin:
          ++t.tasks;
          stack.push_back({code_name(n, e.value)});
          go_on(at);
          break;
        case event_kind::task_name:
          open_task(at);  // as the main task, which has begun before the trace
          if (stack.back().is_labelled) break;
          stack.back().name = code_name(n, e.value);
          stack.back().is_nameless = false;
          // What has just begun has had this name from the start.
          if (now.what == activity::task) now.name = stack.back().name;
          break;
        case event_kind::task_label:
          open_task(at);
          stack.back().name = event_name(n, e.number);
          if (std::exchange(stack.back().is_nameless, false)) now.name = stack.back().name;
          stack.back().is_labelled = true;
          go_on(at);
          break;
        case event_kind::task_resume: {
          running r{code_name(n, e.value)};
          if (const auto from = waiting.find(e.number); from != waiting.end()) {
            waiting_task& before = from->second;
            if (before.task.is_nameless) {
              for (std::size_t i = before.task.first_slice; i < before.last_slice; ++i)
                if (t.slices[i].what == activity::task && t.slices[i].name == before.task.name)
                  t.slices[i].name = r.name;
              before.wait.name = before.task.name = r.name;
              before.task.is_nameless = false;
            }
            if (before.task.is_labelled || before.task.call != 0) r = before.task;
            from->second.wait.end_ns = at;
            t.waits.push_back(from->second.wait);
            waiting.erase(from);
          }
          stack.push_back(r);
          go_on(at);
          break;
        }
        case event_kind::task_end:
          open_task(at);
          stack.pop_back();
          go_on(at);
          break;
        case event_kind::task_wait: {
          const auto why = node.waits.find(e.small);
          open_task(at);
          const running r = stack.back();
          const std::uint32_t reason =
              r.call != 0 ? r.call : words_.of(why != node.waits.end() ? why->second : "unknown");
          stack.pop_back();
          go_on(at);
          waiting[e.number] = {{at, at, r.name, reason, r.call != 0 ? 0 : e.value}, r, t.slices.size()};
          break;
        }
        case event_kind::state:
          stack.clear();  // it has nothing to run
          change(at, activity_of(static_cast<worker_state>(e.small)), {});
          break;
        case event_kind::steal: ++t.steals; break;
        case event_kind::region_begin: open.push_back({at, at, event_name(n, e.number)}); break;
        case event_kind::region_end: {
          const std::uint32_t name = event_name(n, e.number);
          const auto last =
              std::find_if(open.rbegin(), open.rend(), [&](const region_slice& r) { return r.name == name; });
          if (last == open.rend()) {
            if (begin_is_lost) t.regions.push_back({first_at, at, name});
            break;
          }
          last->end_ns = at;
          t.regions.push_back(*last);
          open.erase(std::next(last).base());
          break;
        }
        case event_kind::call_begin:
          if (now.what == activity::unknown) open_task(at);
          if (stack.empty()) break;
          stack.back().call = event_name(n, e.number);
          stack.back().call_begin = at;
          go_on(at);
          break;
        case event_kind::call_end:
          if (now.what == activity::unknown) open_task(at);
          if (stack.empty() || stack.back().call == 0) break;
          t.calls.push_back({stack.back().call_begin, at, stack.back().name, stack.back().call});
          stack.back().call = 0;
          go_on(at);
          break;
        case event_kind::send:
        case event_kind::receive:
        case event_kind::reply_send:
        case event_kind::reply_receive:
        case event_kind::mail_send:
        case event_kind::mail_receive: {
          const named_end end = *end_of_message(t.node, w, e);
          auto& both = ends_[end.key];
          (end.is_send ? both.first : both.second) = {number, clocks_[n].ns(e.ticks), e.value >> 32};
          break;
        }
        case event_kind::mark: t.marks.push_back({at, event_name(n, e.number), e.value}); break;
        case event_kind::none: break;
      }
    }
    std::uint64_t end = ns(n, node.end.ticks);
    if (end_is_lost) change(last_at, activity::unknown, {});
    change(end, activity::unknown, {});
    if (end_is_lost) end = last_at;
    for (auto& [key, one] : waiting) {
      one.wait.end_ns = std::max(one.wait.begin_ns, end);
      t.waits.push_back(one.wait);
    }
    for (region_slice& r : open) {
      r.end_ns = std::max(r.begin_ns, end);
      t.regions.push_back(r);
    }
    std::ranges::stable_sort(t.waits, {}, &wait_slice::end_ns);
  }

  void join_messages() {
    for (const auto& [key, both] : ends_) {
      const auto& [from, to] = both;
      if (from.bytes == 0 || to.bytes == 0) {
        ++line_.unmatched_messages;
        continue;
      }
      line_.messages.push_back({from.track, to.track, static_cast<std::uint64_t>(std::max(0.0, from.ns - first_)),
                                static_cast<std::uint64_t>(std::max(0.0, to.ns - first_)), from.bytes,
                                (std::get<2>(key) & k_reply) != 0});
    }
    std::ranges::sort(line_.messages, {}, &message::sent_ns);
  }

  // From the task on: what is around it is the worker's.
  void join_samples() {
    std::map<std::vector<std::uint32_t>, sampled_stack> all;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      line_.ns_without_stack += nodes_[n].ns_without_room;
      for (const node_trace::sampled_stack& s : nodes_[n].samples) {
        if (s.frames.empty()) continue;
        std::vector<std::uint32_t> names;
        for (auto f = s.frames.rbegin(); f != s.frames.rend(); ++f) names.push_back(code_name(n, *f));
        const auto is_worker = [this](std::uint32_t name) {
          return line_.words[name].starts_with("shoal::sched::worker::");
        };
        if (s.frames.size() == stack_sample::k_most_frames) {
          names.insert(names.begin(), words_.of("functions not shown"));
        } else if (const auto first = std::ranges::find_if(names, is_worker); first != names.end()) {
          // Stacks of a size of their own, as those of ranks, begin with the task.
          if (const auto body = std::find_if_not(first, names.end(), is_worker); body != names.end())
            names.erase(names.begin(), body);
          else
            names = {words_.of("the runtime"), names.back()};
        }
        sampled_stack& sum = all[names];
        sum.names = names;
        sum.count += s.count;
        sum.ns += s.ns;
      }
    }
    for (auto& [names, s] : all) line_.stacks.push_back(std::move(s));
  }

  const std::vector<node_trace>& nodes_;
  timeline line_;
  word_list words_;
  std::vector<node_clock> clocks_;
  std::map<message_key, std::pair<message_end, message_end>> ends_;
  double first_ = 0;
  std::size_t cached_node_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> cached_;  // names of code of that node
};

}  // namespace

timeline make_timeline(const std::vector<node_trace>& nodes) { return maker(nodes).run(); }

bool add_kernel_slice(timeline& t, std::uint32_t thread, std::uint64_t raw_ns, std::uint64_t ns,
                      const std::string& name) {
  if (thread == 0 || t.tracks.empty()) return false;
  const auto of = std::ranges::find_if(
      t.tracks, [&](const track& one) { return one.thread == thread && one.machine == t.tracks.front().machine; });
  if (of == t.tracks.end()) return false;
  if (raw_ns < t.begin_raw_ns || raw_ns - t.begin_raw_ns > t.length_ns) return true;  // before or after the trace
  const auto word = std::ranges::find(t.words, name);
  const auto number = static_cast<std::uint32_t>(word - t.words.begin());
  if (word == t.words.end()) t.words.push_back(name);
  of->kernel.push_back({raw_ns - t.begin_raw_ns, ns, number});
  return true;
}

}  // namespace shoal::trace
