// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/locks.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>
#include <memory>

#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "machine/topology.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

struct locks_options {
  measuring_options measuring{.repeat = 3, .seconds = 0.25, .json = {}};
  lock_load load;
  std::vector<unsigned> threads{4};
  std::vector<std::string> kinds;
  std::string wait = "adaptive";
  std::string picture;
  bool unpinned = false;
};

struct measured {
  std::string kind;
  unsigned threads;
};

void record(report& result, const std::string& name, const lock_result& r) {
  const auto put = [&](std::string_view what, std::string_view unit, double value) {
    if (!std::isnan(value)) result.record(fmt::format("{}.{}", what, name), unit, value);
  };
  put("ns_per_acquisition", "ns", r.ns_per_acquisition);
  put("wait_p50_us", "us", r.metered.wait_p50_ns / 1e3);
  put("wait_p99_us", "us", r.metered.wait_p99_ns / 1e3);
  put("wait_max_us", "us", r.metered.wait_max_ns / 1e3);
  put("bias_core", "", r.metered.bias_core);
  put("bias_package", "", r.metered.bias_package);
  if (r.metered.contended != 0) put("handover_us", "us", r.metered.handover_p50_ns / 1e3);
  put("starvation_us", "us", r.metered.longest_starvation_ns / 1e3);
  put("most_passed", "", static_cast<double>(r.metered.most_passed));
}

// The medians of what was recorded.
lock_row row(const report& result, const measured& m, const std::string& name) {
  const auto value = [&](std::string_view what) {
    const metric* found = result.find_metric(fmt::format("{}.{}", what, name));
    return found == nullptr ? std::nan("") : found->median();
  };
  return {m.kind,
          m.threads,
          value("ns_per_acquisition"),
          value("wait_p50_us"),
          value("wait_p99_us"),
          value("wait_max_us"),
          value("bias_core"),
          value("bias_package")};
}

std::string cell(double value) {
  if (std::isnan(value)) return "-";
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
}

std::string table(const std::vector<lock_row>& rows) {
  std::string text = fmt::format("{:<14}{:>8}{:>12}{:>12}{:>12}{:>12}{:>11}{:>14}\n", "medians", "threads", "ns each",
                                 "wait p50 us", "p99", "max", "bias core", "bias package");
  for (const lock_row& r : rows)
    text += fmt::format("{:<14}{:>8}{:>12}{:>12}{:>12}{:>12}{:>11}{:>14}\n", r.kind, r.threads,
                        cell(r.ns_per_acquisition), cell(r.wait_p50_us), cell(r.wait_p99_us), cell(r.wait_max_us),
                        cell(r.bias_core), cell(r.bias_package));
  return text;
}

std::vector<measured> all_of(const locks_options& options) {
  std::vector<measured> all;
  for (const unsigned threads : options.threads) {
    if (threads == 1 && options.kinds.empty()) all.push_back({"bare", 1});
    if (options.kinds.empty())
      for (const auto kind : lock_kinds()) all.push_back({std::string(kind), threads});
    for (const std::string& kind : options.kinds) all.push_back({kind, threads});
  }
  return all;
}

int run_locks(const locks_options& options) {
  lock_load load = options.load;
  load.wait = parse_wait_kind(options.wait);
  load.seconds = options.measuring.seconds / 2;  // measured twice: with the meter, and without
  for (const std::string& kind : options.kinds)
    if (kind != "bare") make_lock(kind);
  require_writable(options.picture, "the picture");
  const auto machine = machine::topology::discover();
  if (!options.unpinned)
    for (const machine::processor& p : machine.processors()) {
      load.pus.push_back(p.pu);
      if (options.load.packages.empty()) load.packages.push_back(p.package);
    }
  report result("shoal bench locks: threads that acquire one lock repeatedly");
  result.parameter("wait", options.wait);
  result.parameter("threads", fmt::format("{}", fmt::join(options.threads, ",")));
  result.parameter("processors", machine.usable_processors());
  result.parameter("pinned", !options.unpinned);
  result.parameter("inside", load.inside);
  result.parameter("outside", load.outside);
  result.parameter("low", load.low);
  result.parameter("bound", load.bound ? std::to_string(*load.bound) : "for each kind");
  result.parameter("packages", fmt::format("{}", fmt::join(load.packages, ",")));
  result.begin(options.measuring);
  const auto all = all_of(options);
  // With several numbers of threads, the metric names contain the number.
  const auto name = [&](const measured& m) {
    return options.threads.size() > 1 ? fmt::format("{}.{}", m.kind, m.threads) : m.kind;
  };
  progress line(all.size() * static_cast<std::size_t>(options.measuring.repeat));
  std::size_t done = 0;
  for (int repetition = 0; repetition < options.measuring.repeat; ++repetition)
    for (const measured& m : all) {
      line.show(done++, fmt::format("{} with {} threads", m.kind, m.threads));
      load.threads = m.threads;
      const lock_result r = measure_lock(m.kind, load);
      record(result, name(m), r);
      result.check("excludes", r.correct, r.correct ? "the data guarded by each lock is correct" : name(m));
    }
  line.clear();
  std::vector<lock_row> rows;
  for (const measured& m : all) rows.push_back(row(result, m, name(m)));
  const int status = result.finish(options.measuring);
  std::fputs(("\n" + table(rows)).c_str(), options.measuring.json == "-" ? stderr : stdout);
  if (!options.picture.empty()) {
    std::ofstream file(options.picture);
    file << locks_picture(rows, options.wait);
    if (!file.flush())
      throw error(errc::system, fmt::format("cannot write the picture to '{}'; is the disk full?", options.picture));
  }
  return status;
}

}  // namespace

subcommand_body declare_locks(CLI::App& app) {
  auto options = std::make_shared<locks_options>();
  add_measuring_options(app, options->measuring);
  app.add_option("--threads", options->threads, "number of threads; several numbers are measured in turn")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  app.add_option("--wait", options->wait, fmt::format("wait policy: {}", fmt::join(wait_kinds(), ", ")))
      ->capture_default_str();
  app.add_option("--kinds", options->kinds, fmt::format("kinds of locks (all): {}", fmt::join(lock_kinds(), ", ")))
      ->delimiter(',');
  app.add_option("--inside", options->load.inside, "cache lines written while the lock is held")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--outside", options->load.outside, "iterations of a pausing loop between two acquisitions")
      ->capture_default_str();
  app.add_option("--low", options->load.low, "number of threads of the low-priority class")->capture_default_str();
  app.add_option("--bound", options->load.bound,
                 "how often a waiter may be bypassed: bounded (512), hierarchical, message (64)");
  app.add_option("--packages", options->load.packages,
                 "the package of each thread, repeated if shorter, as in 0,0,1,1 (default: the machine's)")
      ->delimiter(',')
      ->check(CLI::Range(0, 1023));
  app.add_flag("--unpinned", options->unpinned,
               "threads may move; otherwise they are pinned to the processors in turn");
  app.add_option("--picture", options->picture, "write rates, waiting times and biases as a picture (SVG)")
      ->type_name("FILE");
  return [options] { return run_locks(*options); };
}

}  // namespace shoal::bench
