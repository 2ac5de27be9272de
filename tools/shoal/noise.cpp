// SPDX-License-Identifier: Apache-2.0
// shoal noise: what takes time from programs here, how often and how long: of processors, or of a program that it runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/log.hpp"
#include "bench/real_range.hpp"
#include "bench/report.hpp"
#include "machine/program_end.hpp"
#include "machine/signals.hpp"
#include "machine/topology.hpp"
#include "noise/injection.hpp"
#include "noise/measurement.hpp"
#include "noise/summary.hpp"
#include "noise/text.hpp"
#include "runtime/profile_report.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/noise_injection.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

struct noise_options {
  double seconds = 10;
  double quantum_us = 1000;
  double detour_ns = 500;
  bool fixed_work = false;
  bool no_events = false;
  unsigned ring_mb = 8;
  std::size_t explain = 0;
  std::vector<std::string> processors;
  std::string page;
  std::string raw;
  std::string json;
  std::vector<std::string> program;
};

// "3" or "2-5".
std::vector<unsigned> processors_of(const std::vector<std::string>& texts) {
  constexpr unsigned k_most = 1U << 16;
  std::vector<unsigned> all;
  for (const std::string& text : texts) {
    const auto refuse = [&] {
      throw error(errc::invalid_argument,
                  fmt::format("--processors {}: give numbers or ranges of them, as in 0,2-5", text));
    };
    const char* const end = text.data() + text.size();
    unsigned first = 0;
    auto [at, failed] = std::from_chars(text.data(), end, first);
    unsigned last = first;
    if (failed == std::errc() && at != end && *at == '-') {
      const auto second = std::from_chars(at + 1, end, last);
      at = second.ptr;
      failed = second.ec;
    }
    if (failed != std::errc() || at != end || last < first || last > k_most) refuse();
    for (unsigned p = first; p <= last; ++p) all.push_back(p);
  }
  return all;
}

noise::measurement_request request_of(const noise_options& o) {
  noise::measurement_request r;
  const auto machine = machine::topology::discover();
  for (const machine::processor& p : machine.processors()) r.all_processors.push_back(p.pu);
  std::ranges::sort(r.all_processors);
  r.processors = o.processors.empty() ? r.all_processors : processors_of(o.processors);
  std::ranges::sort(r.processors);
  r.processors.erase(std::unique(r.processors.begin(), r.processors.end()), r.processors.end());
  for (const unsigned p : r.processors)
    if (std::ranges::find(r.all_processors, p) == r.all_processors.end())
      throw error(errc::invalid_argument,
                  fmt::format("there is no processor {} for this process; it may use {}", p, machine.affinity()));
  r.how = o.fixed_work ? noise::method::fixed_work : noise::method::fixed_time;
  r.seconds = o.seconds;
  r.quantum_ns = static_cast<std::uint64_t>(o.quantum_us * 1e3);
  r.detour_ns = static_cast<std::uint64_t>(o.detour_ns);
  r.events = !o.no_events;
  r.ring_bytes = std::size_t{o.ring_mb} << 20;
  r.program = o.program;
  return r;
}

void record(bench::report& result, const noise::measurement& m) {
  for (const noise::quanta_result& q : m.series) {
    const noise::lost_shares s = noise::shares_of(q, m.record.interruptions);
    result.record("lost_share", "%", s.lost * 100);
    result.record("slower_share", "%", s.slower * 100);
    result.record("detours_per_second", "1/s",
                  static_cast<double>(q.detours.size()) / (static_cast<double>(q.measured_ns()) * 1e-9));
    if (!m.has_events) continue;
    result.record("kernel_share", "%", s.kernel * 100);
    result.record("unattributed_share", "%", s.unattributed * 100);
    const noise::explanation e = noise::explained_share(noise::explain(q, m.record.interruptions));
    if (e.detours_ns > 0) result.record("explained_share", "%", (1 - e.nothing_ns / e.detours_ns) * 100);
  }
  if (!m.has_events) return;
  const noise::class_times times = noise::times_by_class(m.record.interruptions);
  const auto time = static_cast<double>(m.record.runnable_ns());
  for (std::size_t c = 0; c < noise::k_classes && time > 0; ++c) {
    if (static_cast<noise::noise_class>(c) == noise::noise_class::unattributed) continue;
    std::string name(noise::k_class_names[c]);
    std::ranges::replace(name, ' ', '_');
    std::erase(name, '/');
    result.record(name + "_share", "%", times[c] / time * 100);
  }
  result.record("kernel_events", "", static_cast<double>(m.marks));
  result.record("kernel_events_lost", "", static_cast<double>(m.record.lost));
}

int run_noise(const noise_options& o) {
  noise::measurement_request request = request_of(o);
  for (const std::string& file : {o.page, o.raw})
    if (!file.empty()) bench::require_writable(file, "the result");
  bench::measuring_options writing;
  writing.json = o.json;
  writing.repeat = 0;
  writing.seconds = o.program.empty() ? o.seconds : 0;
  bench::report result(o.program.empty() ? "shoal noise: what takes time from programs on these processors"
                                         : "shoal noise: what takes time from this program");
  if (o.program.empty()) {
    result.parameter("method", o.fixed_work ? "fixed work quantum" : "fixed time quantum");
    result.parameter("processors", request.processors.size());
    result.parameter("quantum_us", o.quantum_us);
  }
  result.begin(writing);
  const machine::interruption stop;
  request.stop = &stop;
  const noise::measurement m = noise::measure(request);
  if (stop.signal() != 0) base::write_line("", "interrupted: these are the results so far");
  std::FILE* const out = o.json == "-" ? stderr : stdout;
  std::fputs(noise::noise_text(m).c_str(), out);
  if (o.explain > 0) std::fputs(("\n" + noise::explained_text(m, o.explain)).c_str(), out);
  if (!o.page.empty()) {
    runtime::write_whole_file(o.page, "the report",
                              noise::noise_page(m, o.program.empty() ? "shoal noise" : o.program.front()));
    std::fprintf(out, "\nthe page is %s: open it in a browser\n", o.page.c_str());
  }
  if (!o.raw.empty()) runtime::write_whole_file(o.raw, "the series", noise::raw_text(m));
  record(result, m);
  const bool is_clean = !m.program_end || m.program_end->clean();
  if (m.program_end) result.check("program", is_clean, machine::describe(*m.program_end));
  if (!is_clean) base::write_line("", machine::describe_program(*m.program_end));
  const int written = o.json.empty() ? 0 : result.finish(writing);
  if (stop.signal() != 0) return machine::exit_status{0, stop.signal()}.shell_code();
  return is_clean ? written : m.program_end->shell_code();
}

}  // namespace

subcommand_body declare_noise(CLI::App& app) {
  auto o = std::make_shared<noise_options>();
  CLI::Option* const seconds = app.add_option("--seconds", o->seconds, "how long processors are measured")
                                   ->check(bench::real_range(0.01, 86400.0))
                                   ->capture_default_str();
  app.add_option("--processors", o->processors, "which ones, by the system's numbers, as in 0,2-5; default: all")
      ->delimiter(',');
  app.add_option("--quantum", o->quantum_us, "microseconds of a quantum")
      ->check(bench::real_range(10.0, 1e6))
      ->capture_default_str();
  app.add_flag("--fixed-work", o->fixed_work, "the same work in each quantum (FWQ), not the same time (FTQ)");
  app.add_option("--detour", o->detour_ns, "nanoseconds; a loss of time from there on is noted one by one")
      ->check(bench::real_range(50.0, 1e9))
      ->capture_default_str();
  app.add_flag("--no-events", o->no_events, "do not ask the kernel for its events");
  app.add_option("--ring-mb", o->ring_mb, "MiB of the kernel's memory for events, per processor; a power of two")
      ->check(CLI::IsMember({1, 2, 4, 8, 16, 32, 64, 128, 256}))
      ->capture_default_str();
  app.add_option("--explain", o->explain, "print the longest detours one by one, with their causes")
      ->expected(0, 1)
      ->default_str("20");
  app.add_option("--report", o->page, "write a page for a browser (HTML)")->type_name("FILE");
  app.add_option("--raw", o->raw, "write the series, the detours and the events as lines")->type_name("FILE");
  app.add_option("--json", o->json, "write the figures as JSON; - is standard output")->type_name("FILE");
  auto inject = std::make_shared<injection_request>();
  CLI::Option* const injecting =
      app.add_option("--inject", inject->events,
                     "run the program with delays at these events, and without, and compare: message, operation, "
                     "first_touch, quantum, replay")
          ->delimiter(',')
          ->check(CLI::IsMember(
              std::vector<std::string>(noise::k_injection_events.begin(), noise::k_injection_events.end())));
  app.add_option("--delays", inject->delays, "of --inject: the delays")
      ->delimiter(',')
      ->capture_default_str()
      ->needs(injecting);
  app.add_option("--kinds", inject->kinds, "of --inject: constant; uniform, from nothing to twice as much")
      ->delimiter(',')
      ->capture_default_str()
      ->needs(injecting);
  app.add_option("--recording", inject->recording, "of --inject: also the delays that shoal noise --raw has recorded")
      ->type_name("FILE")
      ->needs(injecting);
  app.add_option("--metric", inject->figure,
                 "of --inject: what is compared: time, json:NAME or a regular expression with a group")
      ->capture_default_str()
      ->needs(injecting);
  app.add_option("--borne", inject->borne_percent, "of --inject: percent of slowdown that are borne")
      ->check(bench::real_range(0.0, 1000.0))
      ->capture_default_str()
      ->needs(injecting);
  app.add_option("--repeat", inject->repeat, "of --inject: runs with each delay, in turn")
      ->check(CLI::Range(2, 10000))
      ->capture_default_str()
      ->needs(injecting);
  app.add_option("--seed", inject->seed, "of --inject: of the random delays")->capture_default_str()->needs(injecting);
  app.add_option("--picture", inject->picture, "of --inject: draw the slowdowns (SVG)")
      ->type_name("FILE")
      ->needs(injecting);
  app.add_option("program", o->program, "after --: a program to run and measure, with its arguments")
      ->excludes(seconds);
  app.positionals_at_end();
  return [o, inject] {
    if (inject->events.empty()) return run_noise(*o);
    inject->quantum_us = o->quantum_us;
    inject->json = o->json;
    inject->program = o->program;
    return run_injection(*inject);
  };
}

}  // namespace shoal::tools
