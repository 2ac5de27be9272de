// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/kernel_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.hpp"
#include "bench/progress.hpp"
#include "bench/traffic.hpp"
#include "machine/memory_info.hpp"
#include "runtime/job.hpp"
#include "shoal/on.hpp"

namespace shoal::tools {
namespace {

template <class F>
double seconds_of(const F& f) {
  const std::uint64_t started_ns = base::now_ns();  // virtual on a simulated machine
  f();
  return static_cast<double>(base::now_ns() - started_ns) * 1e-9;
}

int measure(const kernel_options& o, kernel_case& kernel) {
  bench::require_writable(o.json, "the result");
  std::FILE* const out = o.json == "-" ? stderr : stdout;
  bench::progress bar(static_cast<std::size_t>(o.repeat) + 1);
  bar.show(0, "making the data");
  const double construction_s = seconds_of([&] { kernel.construct(); });
  bar.clear();
  bench::report r(kernel.name());
  kernel.describe(r);
  r.parameter("nodes", node_count());
  r.parameter("workers", worker_count());
  r.parameter("direct", o.job.direct);
  r.parameter("form", o.form);
  r.parameter("seed", o.seed);
  fmt::print(out, "{}", r.parameters_text());
  std::fflush(out);
  for (int i = 0; i < o.repeat; ++i) {
    bar.show(static_cast<std::size_t>(i) + 1, fmt::format("run {} of {}", i + 1, o.repeat));
    kernel.reset();
    const bench::traffic_counts before = bench::traffic_so_far();
    std::uint64_t items = 0;
    const double seconds = seconds_of([&] { items = kernel.run(); });
    r.record("rate", fmt::format("M {}/s", kernel.item()), static_cast<double>(items) / seconds * 1e-6);
    r.record("time_s", "s", seconds);
    kernel.record(r);
    if (node_count() > 1) bench::record_traffic(r, before, bench::traffic_so_far());
    if (!o.validate) continue;
    bar.show(static_cast<std::size_t>(i) + 1, fmt::format("checking run {}", i + 1));
    const std::string wrong = kernel.verify();
    r.check("validated", wrong.empty(), wrong.empty() ? "the result of every run is right" : wrong);
  }
  bar.clear();
  r.record("construction_s", "s", construction_s);
  bench::measuring_options end;
  end.json = o.json;
  return r.finish(end);
}

}  // namespace

void add_kernel_options(CLI::App& app, kernel_options& options) {
  app.add_option("--form", options.form, "fast, or simple (what a user would write first)")
      ->check(CLI::IsMember({"fast", "simple"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the random numbers")->capture_default_str();
  app.add_option("--repeat", options.repeat, "number of runs")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  app.add_flag("--validate,!--no-validate", options.validate, "check the result of every run (default: yes)");
  app.add_option("--json", options.json, "write the result as one JSON object to FILE, or - for standard output")
      ->type_name("FILE");
  bench::add_job_options(app, options.job);
}

int run_kernel(const kernel_options& options, const std::function<std::unique_ptr<kernel_case>()>& make) {
  if (!runtime::is_launched()) bench::require_writable(options.json, "the result");
  return bench::run_as_job(options.job, [&] {
    const auto kernel = make();
    return measure(options, *kernel);
  });
}

void require_kernel_memory(const kernel_options& options, std::uint64_t bytes, const std::string& what) {
  bench::job_options job = options.job;
  if (runtime::is_launched()) job.nodes = 1;
  machine::require_memory(bytes + bench::runtime_bytes(job), what);
}

}  // namespace shoal::tools
