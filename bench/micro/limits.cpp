// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/limits.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/micro/limits/loops.hpp"
#include "bench/micro/limits/team.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

using namespace limits;

struct limits_options {
  measuring_options measuring;
  loop_options loop;
  std::uint64_t table_mb = 256;
  std::size_t buffer_kib = 16;
  std::vector<std::string> only;
};

// One line of the table.
struct measurement {
  std::string name;
  const char* unit;
  const char* check;
  std::function<measured()> run;
};

void add_random_access(std::vector<measurement>& all, const char* pages, word_range table,
                       const loop_options& options) {
  constexpr struct {
    const char* name;
    access kind;
    const char* check;
  } k_kinds[] = {{"update_plain", access::plain_update, "update_sums"},
                 {"update_atomic", access::atomic_update, "update_sums"},
                 {"read", access::read, "read_sums"}};
  for (const auto& k : k_kinds) {
    for (bool alone : {true, false}) {
      all.push_back(
          {fmt::format("{}_{}_{}", k.name, alone ? "1t" : "all", pages), "Mops/s", k.check, [=, kind = k.kind] {
             return random_access(kind, table, alone ? options.where.one : options.where.all, options);
           }});
    }
  }
}

std::vector<measurement> all_measurements(word_range small, word_range huge, word_range copy,
                                          const loop_options& options) {
  std::vector<measurement> all;
  add_random_access(all, "4k", small, options);
  add_random_access(all, "2m", huge, options);
  node_tables nodes{{huge.part(0, huge.count / 2), huge.part(huge.count / 2, huge.count / 2)}};
  all.push_back({"batched_update", "Mops/s", "batched_update_sums", [=] { return batched_update(nodes, options); }});
  all.push_back({"batched_read", "Mops/s", "batched_read_sums", [=] { return batched_read(nodes, options); }});
  all.push_back({fmt::format("batched_blocking_{}", options.tasks), "Mops/s", "batched_blocking_sums",
                 [=] { return batched_blocking(nodes, options); }});
  all.push_back(
      {"window_update", "Mops/s", "window_sums", [=] { return window_update(huge, options.where.all, options); }});
  all.push_back({"memcpy_1t", "GB/s", "copies", [=] { return copy_memory(copy, huge, options.where.one, options); }});
  all.push_back({"memcpy_all", "GB/s", "copies", [=] { return copy_memory(copy, huge, options.where.all, options); }});
  all.push_back({"pingpong_ns", "ns", "pingpong_rounds", [=] { return pingpong(options); }});
  all.push_back({"context_ns", "ns", "context_rounds", [=] { return context_switch(options); }});
  return all;
}

bool wanted(const std::vector<std::string>& only, const std::string& name) {
  return only.empty() || std::any_of(only.begin(), only.end(),
                                     [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

int run_limits(limits_options& options) {
  options.loop.where = choose_seats(machine::topology::discover());
  options.loop.seconds = options.measuring.seconds;
  options.loop.buffer_bytes = options.buffer_kib * 1024;
  std::uint64_t words = (options.table_mb << 20) / sizeof(std::uint64_t);
  word_table small(words, page_kind::small);
  word_table huge(words, page_kind::huge);
  word_table copy(words, page_kind::huge);
  std::vector<measurement> all = all_measurements(small.all(), huge.all(), copy.all(), options.loop);
  std::erase_if(all, [&](const measurement& one) { return !wanted(options.only, one.name); });
  if (all.empty()) {
    throw error(errc::invalid_argument, "no measurement has such a name; omit --only to see all names");
  }

  report result("shoal bench limits: limits of this machine, by plain loops without the runtime");
  result.parameter("table_mb", options.table_mb);
  result.parameter("table_2m_pages_mb", huge.memory().huge_bytes() >> 20);
  result.parameter("threads_all", options.loop.where.all.count());
  result.parameter("pinned", options.loop.where.all.pin);
  result.parameter("buffer_kib", options.buffer_kib);
  result.parameter("buffers", options.loop.buffers);
  result.parameter("prefetch", options.loop.prefetch);
  result.parameter("window", options.loop.window);
  result.parameter("tasks", options.loop.tasks);
  result.begin(options.measuring);

  // Repetitions are the outer loop, so that a disturbance of the machine affects all metrics.
  progress line(all.size() * static_cast<std::size_t>(options.measuring.repeat));
  std::size_t done = 0;
  for (int round = 0; round < options.measuring.repeat; ++round) {
    for (const measurement& one : all) {
      line.show(done++, one.name);
      measured value = one.run();
      result.record(one.name, one.unit, value.value);
      result.check(one.check, value.correct, value.correct ? "" : "first seen in " + one.name);
    }
  }
  line.clear();
  return result.finish(options.measuring);
}

}  // namespace

subcommand_body declare_limits(CLI::App& app) {
  auto options = std::make_shared<limits_options>();
  add_measuring_options(app, options->measuring);
  app.add_option("--table-mb", options->table_mb, "size of the table, MiB")
      ->capture_default_str()
      ->check(CLI::Range(1, 32768));
  app.add_option("--buffer-kib", options->buffer_kib, "size of a buffer of commands, KiB")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_option("--buffers", options->loop.buffers, "buffers in flight in each direction")
      ->capture_default_str()
      ->check(CLI::Range(2, 1024));
  app.add_option("--prefetch", options->loop.prefetch, "how many commands ahead the receiver prefetches")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  app.add_option("--window", options->loop.window, "operations deferred by window_update")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--tasks", options->loop.tasks, "tasks per node of the blocking loop")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--only", options->only, "measure only loops with one of these in the name")->delimiter(',');
  return [options] { return run_limits(*options); };
}

}  // namespace shoal::bench
