// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/collectives.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "base/clock.hpp"
#include "bench/job.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "machine/memory_info.hpp"
#include "shoal/on.hpp"
#include "shoal/spmd.hpp"

namespace shoal::bench {
namespace {

struct collectives_options {
  measuring_options measuring;
  job_options job;
  std::uint64_t bytes = 8;
};

// A member's data before an operation, and what must be there afterwards.
struct member_data {
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t> blocks;  // one for each member

  member_data(const team& t, std::size_t words) : values(words), blocks(words * t.size()) { fill(t); }
  void fill(const team& t) {
    std::ranges::fill(values, t.rank() + 1);
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = (t.rank() + 1) * 1000 + i / values.size();
  }
};

bool all_are(std::span<const std::uint64_t> values, std::uint64_t wanted) {
  return std::ranges::all_of(values, [wanted](std::uint64_t v) { return v == wanted; });
}
std::uint64_t sum_to(std::uint64_t n) { return n * (n + 1) / 2; }

struct operation {
  const char* name;
  // Runs it once. Returns whether the result is right if `check`.
  bool (*run)(team& t, member_data& d, bool check);
};

template <class Blocks, class Wanted>
bool blocks_are(const team& t, const Blocks& received, const Wanted& wanted) {
  const std::size_t words = received.size() / t.size();
  for (std::uint32_t r = 0; r < t.size(); ++r)
    if (!all_are(std::span(received).subspan(r * words, words), wanted(r))) return false;
  return true;
}

constexpr operation k_operations[] = {
    {"barrier",
     [](team& t, member_data&, bool) {
       t.barrier();
       return true;
     }},
    {"broadcast",
     [](team& t, member_data& d, bool check) {
       t.broadcast(std::span(d.values), 0);
       return !check || all_are(d.values, 1);
     }},
    {"reduce",
     [](team& t, member_data& d, bool check) {
       t.reduce(std::span(d.values), std::plus<>{}, 0);
       return !check || t.rank() != 0 || all_are(d.values, sum_to(t.size()));
     }},
    {"allreduce",
     [](team& t, member_data& d, bool check) {
       t.all_reduce(std::span(d.values), std::plus<>{});
       return !check || all_are(d.values, sum_to(t.size()));
     }},
    {"scan",
     [](team& t, member_data& d, bool check) {
       t.scan(std::span(d.values), std::plus<>{});
       return !check || all_are(d.values, sum_to(t.rank() + 1));
     }},
    {"allgather",
     [](team& t, member_data& d, bool check) {
       const auto all = t.all_gather(std::span(d.values));
       return !check || blocks_are(t, all.values, [](std::uint32_t r) { return r + 1; });
     }},
    {"alltoall",
     [](team& t, member_data& d, bool check) {
       const auto received = t.all_to_all(std::span(d.blocks));
       return !check || blocks_are(t, received, [&t](std::uint32_t r) { return (r + 1) * 1000 + t.rank(); });
     }},
};

// On node 0: what one of `rounds` runs takes.
double run_rounds(team& t, const operation& o, member_data& d, std::uint64_t rounds) {
  t.barrier();
  const std::uint64_t start_ns = base::now_ns();
  for (std::uint64_t i = 0; i < rounds; ++i) o.run(t, d, false);
  t.barrier();  // until all members have done theirs
  return static_cast<double>(base::now_ns() - start_ns) / 1e3 / static_cast<double>(rounds);
}

int run_collectives(const collectives_options& options) {
  report result("shoal bench collectives: collective operations over the nodes");
  result.parameter("nodes", node_count());
  result.parameter("bytes", options.bytes);
  result.parameter("transport", options.job.transport);
  result.begin(options.measuring);
  std::map<std::string, bool> right;
  progress line(static_cast<std::size_t>(options.measuring.repeat));
  for (int repetition = 0; repetition < options.measuring.repeat; ++repetition) {
    line.show(static_cast<std::size_t>(repetition), "all operations");
    for (const auto& one : measure_collectives(options.bytes, options.measuring.seconds / std::size(k_operations))) {
      result.record(one.name + "_us", "us", one.us);
      right.try_emplace(one.name, true).first->second &= one.right;
    }
  }
  line.clear();
  for (const auto& [name, holds] : right)
    result.check(name, holds, "a result before the timed runs and one after them were right on every node");
  return result.finish(options.measuring);
}

}  // namespace

std::vector<collective_time> measure_collectives(std::uint64_t bytes, double seconds) {
  return spmd([bytes, seconds](team& t) {
    member_data d(t, bytes / sizeof(std::uint64_t));
    std::vector<collective_time> times;
    for (const operation& o : k_operations) {
      const auto is_right = [&] {
        d.fill(t);
        return t.all_reduce(static_cast<int>(o.run(t, d, true)), [](int a, int b) { return a & b; }) != 0;
      };
      const bool right = is_right();
      constexpr std::uint64_t k_trial_rounds = 20;
      const double trial_us = run_rounds(t, o, d, k_trial_rounds);
      const auto rounds =
          t.broadcast(std::max(static_cast<std::uint64_t>(seconds * 1e6 / std::max(trial_us, 0.1)), k_trial_rounds));
      const double us = run_rounds(t, o, d, rounds);
      times.push_back({o.name, us, is_right() && right});
    }
    return times;
  });
}

subcommand_body declare_collectives(CLI::App& app) {
  auto options = std::make_shared<collectives_options>();
  add_measuring_options(app, options->measuring);
  add_job_options(app, options->job);
  app.add_option("--bytes", options->bytes,
                 "bytes of each node, or of each block where nodes exchange blocks; a multiple of 8")
      ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1} << 30))
      ->capture_default_str();
  return [options] {
    if (options->bytes % sizeof(std::uint64_t) != 0)
      throw error(errc::invalid_argument, fmt::format("--bytes {} is not a multiple of 8", options->bytes));
    if (options->job.nodes == 0) options->job.nodes = 2;
    // A node has its own data and what it gives to all others; all-gather and all-to-all make as much again, once.
    const std::uint64_t nodes = options->job.nodes;
    machine::require_memory(options->bytes * nodes * (2 + 3 * nodes) + runtime_bytes(options->job),
                            fmt::format("{} bytes for each of {} nodes to each", options->bytes, nodes));
    return run_as_job(options->job, [options] { return run_collectives(*options); });
  };
}

}  // namespace shoal::bench
