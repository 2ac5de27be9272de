// SPDX-License-Identifier: Apache-2.0
// Paraver's format: a node of Shoal is a task with a thread for each worker; all counts begin at 1. States: what workers
// are at; events of type 1: the task that runs, of type 2: the region, of type 3: the call of a library that it is in,
// of types 4 and 5: a mark and its value; communications: messages.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/timeline_output.hpp"

namespace shoal::trace {
namespace {

constexpr int k_task_type = 60000001;
constexpr int k_region_type = 60000002;
constexpr int k_call_type = 60000003;
constexpr int k_mark_type = 60000004;
constexpr int k_value_type = 60000005;

// Paraver's usual numbers: 0 idle, 1 running, 2 not created, 5 synchronization, 7 scheduling, 12 others.
int state_of(activity a) {
  switch (a) {
    case activity::task: return 1;
    case activity::runtime: return 7;
    case activity::looking: return 5;
    case activity::messages: return 12;
    case activity::parked: return 0;
    case activity::unknown: return 2;
  }
  return 0;
}

struct region_event {
  std::uint64_t at;
  std::uint32_t name;  // 0: its end
};

// The records of one kind of one worker, or all messages, in the order of time: so that they are merged, not sorted.
class source {
public:
  enum class kind : std::uint8_t { states, events, regions, marks, messages };

  source(kind is, const track* of, std::string who) : is_(is), of_(of), who_(std::move(who)) {
    if (is_ == kind::regions) {
      for (const region_slice& r : of->regions) {
        regions_.push_back({r.begin_ns, r.name});
        regions_.push_back({r.end_ns, 0});
      }
      std::ranges::stable_sort(regions_, {}, &region_event::at);
    }
    skip_others();
  }
  explicit source(const std::vector<message>& messages) : is_(kind::messages), messages_(&messages) {}

  bool has_more() const noexcept {
    switch (is_) {
      case kind::states:
      case kind::events: return next_ < of_->slices.size();
      case kind::regions: return next_ < regions_.size();
      case kind::marks: return next_ < of_->marks.size();
      case kind::messages: return next_ < messages_->size();
    }
    return false;
  }
  std::uint64_t at() const noexcept {
    switch (is_) {
      case kind::states: return of_->slices[next_].begin_ns;
      case kind::events: return ends_ ? of_->slices[next_].end_ns : of_->slices[next_].begin_ns;
      case kind::regions: return regions_[next_].at;
      case kind::marks: return of_->marks[next_].at_ns;
      case kind::messages: return (*messages_)[next_].sent_ns;
    }
    return 0;
  }
  /// At one time states come first, then events, then communications.
  int order() const noexcept { return is_ == kind::states ? 0 : is_ == kind::messages ? 2 : 1; }

  template <class Who>
  void write(std::string& to, const Who& who) {
    const auto out = std::back_inserter(to);
    switch (is_) {
      case kind::states: {
        const slice& s = of_->slices[next_++];
        fmt::format_to(out, "1:{}:{}:{}:{}\n", who_, s.begin_ns, s.end_ns, state_of(s.what));
        break;
      }
      case kind::events: write_event(to); break;
      case kind::regions: {
        const region_event& r = regions_[next_++];
        fmt::format_to(out, "2:{}:{}:{}:{}\n", who_, r.at, k_region_type, r.name);
        break;
      }
      case kind::marks: {
        const mark_moment& m = of_->marks[next_++];
        fmt::format_to(out, "2:{}:{}:{}:{}:{}:{}\n", who_, m.at_ns, k_mark_type, m.name, k_value_type, m.value);
        break;
      }
      case kind::messages: {
        const message& m = (*messages_)[next_++];
        fmt::format_to(out, "3:{}:{}:{}:{}:{}:{}:{}:1\n", who(m.from), m.sent_ns, m.sent_ns, who(m.to), m.received_ns,
                       m.received_ns, m.bytes);
        break;
      }
    }
  }

private:
  void write_event(std::string& to) {
    const slice& s = of_->slices[next_];
    const auto out = std::back_inserter(to);
    fmt::format_to(out, "2:{}:{}:{}:{}\n", who_, at(), k_task_type, ends_ ? 0 : s.name);
    if (s.call != 0) fmt::format_to(out, "2:{}:{}:{}:{}\n", who_, at(), k_call_type, ends_ ? 0 : s.call);
    if (!ends_) {
      ends_ = true;
      return;
    }
    ends_ = false;
    ++next_;
    skip_others();
  }
  // Only tasks have events.
  void skip_others() noexcept {
    while (is_ == kind::events && has_more() && of_->slices[next_].what != activity::task) ++next_;
  }

  kind is_;
  const track* of_ = nullptr;
  const std::vector<message>* messages_ = nullptr;
  std::string who_;
  std::vector<region_event> regions_;
  std::size_t next_ = 0;
  bool ends_ = false;  // the event at next_ is the end of its slice
};

std::string merged(std::vector<source> sources, const std::vector<std::string>& who) {
  const auto later = [&](std::size_t a, std::size_t b) {
    return std::tuple(sources[a].at(), sources[a].order(), a) > std::tuple(sources[b].at(), sources[b].order(), b);
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> next(later);
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i].has_more()) next.push(i);
  std::string text;
  while (!next.empty()) {
    const std::size_t i = next.top();
    next.pop();
    sources[i].write(text, [&](std::uint32_t number) -> const std::string& { return who[number]; });
    if (sources[i].has_more()) next.push(i);
  }
  return text;
}

}  // namespace

paraver_files timeline_paraver(const timeline& t, const std::string& date) {
  std::map<std::uint32_t, std::uint32_t> workers;  // of each node
  for (const track& one : t.tracks) workers[one.node] = std::max(workers[one.node], one.worker + 1);
  std::map<std::uint32_t, std::uint32_t> first_cpu;
  std::uint32_t cpus = 0;
  for (const auto& [node, n] : workers) {
    first_cpu[node] = cpus + 1;
    cpus += n;
  }
  std::map<std::uint32_t, std::uint32_t> task_number;
  for (const auto& [node, n] : workers) task_number.emplace(node, static_cast<std::uint32_t>(task_number.size() + 1));
  const auto who = [&](const track& one) {
    return fmt::format("{}:1:{}:{}", first_cpu[one.node] + one.worker, task_number[one.node], one.worker + 1);
  };
  std::vector<std::string> names;  // by track
  std::vector<source> sources;
  for (const track& one : t.tracks) {
    names.push_back(who(one));
    for (const source::kind k :
         {source::kind::states, source::kind::events, source::kind::regions, source::kind::marks})
      sources.emplace_back(k, &one, names.back());
  }
  sources.emplace_back(t.messages);
  paraver_files files;
  std::string nodes;
  std::string tasks;
  std::uint32_t n = 0;
  for (const auto& [node, w] : workers) {
    nodes += fmt::format("{}{}", n == 0 ? "" : ",", w);
    ++n;
    tasks += fmt::format("{}{}:{}", n == 1 ? "" : ",", w, n);
  }
  files.prv = fmt::format("#Paraver ({}):{}_ns:{}({}):1:{}({})\n", date, t.length_ns, workers.size(), nodes,
                          workers.size(), tasks);
  files.prv += merged(std::move(sources), names);
  files.pcf =
      "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n"
      "0    Parked\n1    Task\n2    Not known\n5    Looking for work\n7    Runtime\n12   Messages\n\nSTATES_COLOR\n"
      "0    {117,195,255}\n1    {0,0,255}\n2    {187,170,204}\n5    {235,0,0}\n7    {255,146,24}\n12   "
      "{172,174,41}\n\n";
  for (const auto& [type, name] :
       {std::pair{k_task_type, "Task"}, {k_region_type, "Region"}, {k_call_type, "Call"}, {k_mark_type, "Mark"}}) {
    files.pcf += fmt::format("EVENT_TYPE\n0    {}    {}\nVALUES\n0   End\n", type, name);
    for (std::size_t i = 1; i < t.words.size(); ++i) files.pcf += fmt::format("{}   {}\n", i, t.words[i]);
    files.pcf += "\n";
  }
  files.pcf += fmt::format("EVENT_TYPE\n0    {}    Value of the mark\n\n", k_value_type);
  files.row = fmt::format("LEVEL CPU SIZE {}\n", cpus);
  for (std::uint32_t c = 1; c <= cpus; ++c) files.row += fmt::format("CPU {}\n", c);
  files.row += fmt::format("\nLEVEL NODE SIZE {}\n", workers.size());
  for (const auto& [node, w] : workers) files.row += fmt::format("node {}\n", node);
  files.row += fmt::format("\nLEVEL THREAD SIZE {}\n", cpus);
  for (const auto& [node, w] : workers)
    for (std::uint32_t k = 0; k < w; ++k) files.row += fmt::format("node {} worker {}\n", node, k);
  return files;
}

}  // namespace shoal::trace
