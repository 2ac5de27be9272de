// SPDX-License-Identifier: Apache-2.0
#include "runtime/job_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "array/memory_survey.hpp"
#include "machine/local_service.hpp"
#include "sched/stillness.hpp"
#include "sched/wait_survey.hpp"

namespace shoal::runtime {
namespace {

constexpr std::int64_t k_patience_ns = 300'000'000;  // with workers
constexpr std::size_t k_most_per_worker = 4096;      // tasks, described

}  // namespace

void job_state::add(const job_state& other) noexcept {
  still = still && other.still;
  version += other.version;
  outside += other.outside;
  starved |= other.starved;
  holds_back |= other.holds_back;
  whole = whole && other.whole;
}

std::string job_state::text() const {
  return fmt::format("{} {} {} {} {}", still ? 1 : 0, version, outside, starved ? 1 : 0, holds_back ? 1 : 0);
}

std::optional<job_state> job_state::parse(const std::string& text) {
  job_state s;
  int still = 0, starved = 0, held = 0;
  if (std::sscanf(text.c_str(), "%d %lu %lu %d %d", &still, &s.version, &s.outside, &starved, &held) != 5)
    return std::nullopt;
  s.still = still != 0;
  s.starved = starved != 0;
  s.holds_back = held != 0;
  return s;
}

job_state look_here(const watched_job& job, std::size_t others) {
  job_state all;
  all.still = true;
  all.outside = others;
  for (sched::pool* p : job.pools) {
    const sched::stillness s = sched::look_at(*p);
    all.add({s.still, s.version, s.outside, s.starved, s.holds_back});
  }
  return all;
}

job_state look_everywhere(const watched_job& job, const std::string& id, std::size_t others,
                          std::uint32_t& asked_first) {
  job_state all = look_here(job, others);
  for (std::uint32_t i = 0; i < job.processes.size() && all.still; ++i) {
    const auto n = static_cast<std::uint32_t>((i + asked_first) % job.processes.size());
    if (n == job.first_node) continue;
    std::optional<job_state> there;
    if (job.processes[n] != 0)
      if (const auto text = machine::ask(service_name(job.processes[n]), "still " + id, k_ask_ns))
        there = job_state::parse(*text);
    if (!there) {
      all.whole = false;
      continue;
    }
    all.add(*there);
    if (!there->still) asked_first = n;
  }
  return all;
}

std::vector<node_waits> waits_here(const watched_job& job, machine::symbols& names, std::uint64_t* cost_ns) {
  std::vector<node_waits> found;
  for (std::size_t i = 0; i < job.pools.size(); ++i) {
    sched::pool& p = *job.pools[i];
    const bool still = sched::look_at(p).still;
    sched::wait_survey survey = sched::take_wait_survey(p, k_most_per_worker, k_patience_ns);
    const std::uint64_t took_ns = survey.took_ns, begun_ns = p.executor().now_ns();
    found.push_back(
        describe_waits(job.first_node + static_cast<std::uint32_t>(i), p.size(), std::move(survey), names, still));
    if (cost_ns != nullptr) *cost_ns += took_ns + p.executor().now_ns() - begun_ns;
  }
  return found;
}

std::vector<node_waits> waits_everywhere(const watched_job& job, const std::string& id, std::string& missing) {
  machine::symbols names;
  std::vector<node_waits> all = waits_here(job, names);
  for (std::uint32_t n = 0; n < job.processes.size(); ++n) {
    if (n == job.first_node) continue;
    std::optional<std::vector<node_waits>> there;
    if (job.processes[n] != 0)
      if (const auto text = machine::ask(service_name(job.processes[n]), "waits " + id, k_ask_ns))
        there = parse_waits(*text);
    if (there)
      std::ranges::move(*there, std::back_inserter(all));
    else
      missing += fmt::format("\n  node {} cannot be asked", n);
  }
  return all;
}

std::vector<node_memory> memory_here(const watched_job& job) {
  std::vector<node_memory> all;
  for (std::size_t i = 0; i < job.pools.size(); ++i)
    all.push_back({job.first_node + static_cast<std::uint32_t>(i),
                   job.memory ? job.memory(i) : array::survey(*job.pools[i], nullptr, nullptr, true)});
  return all;
}

std::string service_name(int process) { return fmt::format("{}.sock", process); }

}  // namespace shoal::runtime
