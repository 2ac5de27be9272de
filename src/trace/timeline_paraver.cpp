// SPDX-License-Identifier: Apache-2.0
// Paraver's format: a node of Shoal is a task with a thread for each worker; all counts begin at 1. States: what workers
// are at; events of type 1: the task that runs, of type 2: the region, of type 3: the call of a library that it is in;
// communications: messages.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "trace/timeline_output.hpp"

namespace shoal::trace {
namespace {

constexpr int k_task_type = 60000001;
constexpr int k_region_type = 60000002;
constexpr int k_call_type = 60000003;

// Paraver's usual numbers: 0 idle, 1 running, 5 synchronization, 7 scheduling, 12 others.
int state_of(activity a) {
  switch (a) {
    case activity::task: return 1;
    case activity::runtime: return 7;
    case activity::looking: return 5;
    case activity::messages: return 12;
    case activity::parked: return 0;
  }
  return 0;
}

struct record {
  std::uint64_t at;
  int order;  // states, then events, then communications
  std::string text;
};

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
  std::vector<record> records;
  for (const track& one : t.tracks) {
    const std::string me = who(one);
    for (const slice& s : one.slices) {
      records.push_back({s.begin_ns, 0, fmt::format("1:{}:{}:{}:{}\n", me, s.begin_ns, s.end_ns, state_of(s.what))});
      if (s.what != activity::task) continue;
      records.push_back({s.begin_ns, 1, fmt::format("2:{}:{}:{}:{}\n", me, s.begin_ns, k_task_type, s.name)});
      records.push_back({s.end_ns, 1, fmt::format("2:{}:{}:{}:0\n", me, s.end_ns, k_task_type)});
      if (s.call == 0) continue;
      records.push_back({s.begin_ns, 1, fmt::format("2:{}:{}:{}:{}\n", me, s.begin_ns, k_call_type, s.call)});
      records.push_back({s.end_ns, 1, fmt::format("2:{}:{}:{}:0\n", me, s.end_ns, k_call_type)});
    }
    for (const region_slice& r : one.regions) {
      records.push_back({r.begin_ns, 1, fmt::format("2:{}:{}:{}:{}\n", me, r.begin_ns, k_region_type, r.name)});
      records.push_back({r.end_ns, 1, fmt::format("2:{}:{}:{}:0\n", me, r.end_ns, k_region_type)});
    }
  }
  for (const message& m : t.messages)
    records.push_back({m.sent_ns, 2,
                       fmt::format("3:{}:{}:{}:{}:{}:{}:{}:1\n", who(t.tracks[m.from]), m.sent_ns, m.sent_ns,
                                   who(t.tracks[m.to]), m.received_ns, m.received_ns, m.bytes)});
  std::ranges::stable_sort(
      records, [](const record& a, const record& b) { return std::pair(a.at, a.order) < std::pair(b.at, b.order); });
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
  for (const record& r : records) files.prv += r.text;
  files.pcf =
      "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n"
      "0    Parked\n1    Task\n5    Looking for work\n7    Runtime\n12   Messages\n\nSTATES_COLOR\n"
      "0    {117,195,255}\n1    {0,0,255}\n5    {235,0,0}\n7    {255,146,24}\n12   {172,174,41}\n\n";
  for (const auto& [type, name] : {std::pair{k_task_type, "Task"}, {k_region_type, "Region"}, {k_call_type, "Call"}}) {
    files.pcf += fmt::format("EVENT_TYPE\n0    {}    {}\nVALUES\n0   End\n", type, name);
    for (std::size_t i = 1; i < t.words.size(); ++i) files.pcf += fmt::format("{}   {}\n", i, t.words[i]);
    files.pcf += "\n";
  }
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
