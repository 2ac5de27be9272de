// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/domains.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "launch/launcher_signs.hpp"
#include "launch/world.hpp"
#include "machine/topology.hpp"
#include "net/plugin.hpp"
#include "runtime/job.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

using kind = domains_setup::kind;

struct domains_options {
  measuring_options measuring{.repeat = 5, .seconds = 0.01, .json = {}};
  std::string transport = "ucx";
  unsigned workers = 2;
  std::vector<unsigned> domains;  // empty: 1 .. workers
  std::vector<std::uint32_t> bytes{8, 512, 4096, 32768, 262144, 2097152};
  std::vector<unsigned> masks{0, 1, 7, 63, 511};
  std::vector<std::string> curves;  // empty: all
  unsigned window = 64;
  std::string memory = "network";  // only for the transport ucx
  double mpi_seconds = 0.05;
  std::string picture;
};

// A measured value of a set-up, and its name.
struct column {
  std::string name;
  std::string title;
};
struct row {
  std::string name;  // "put.8"
  std::string title;
};

std::string size_text(std::uint32_t bytes) {
  if (bytes >= 1U << 20 && bytes % (1U << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1024 && bytes % 1024 == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

std::string point(domains_op op, std::uint32_t bytes) { return fmt::format("{}.{}", domains_op_name(op), bytes); }

std::vector<domains_setup> all_setups(const domains_options& o) {
  const auto wanted = [&](std::string_view curve) {
    return o.curves.empty() || std::find(o.curves.begin(), o.curves.end(), curve) != o.curves.end();
  };
  std::vector<domains_setup> all;
  const auto add = [&](kind what, unsigned count) { all.push_back({what, count, o.workers}); };
  if (wanted("domains"))
    for (const unsigned d : o.domains) add(kind::threads, d);
  if (wanted("processes")) {
    add(kind::processes, 1);
    if (o.workers > 1) add(kind::processes, o.workers);
  }
  if (wanted("shared") && o.transport == "ucx") add(kind::shared, 1);
  if (wanted("masks"))
    for (const unsigned mask : o.masks) add(kind::mask, mask);
  return all;
}

domains_plan plan_of(const domains_options& o, const domains_setup& s) {
  domains_plan p;
  p.initiators = s.initiators();
  p.window = o.window;
  p.seconds = o.measuring.seconds;
  p.bytes = s.what == kind::mask ? std::vector<std::uint32_t>{8} : o.bytes;
  p.ops = {domains_op::put, domains_op::get, domains_op::send, domains_op::add, domains_op::adds, domains_op::add_one};
  return p;
}

double median(const report& r, std::string_view what, std::string_view point, std::string_view column) {
  const metric* found = r.find_metric(fmt::format("{}.{}.{}", what, point, column));
  return found == nullptr ? std::nan("") : found->median();
}

std::string cell(double value) {
  if (std::isnan(value)) return "-";
  if (value >= 100) return fmt::format("{:.0f}", value);
  return value >= 1 ? fmt::format("{:.2f}", value) : fmt::format("{:.4f}", value);
}

std::string table(const report& r, std::string_view title, const std::vector<row>& rows,
                  const std::vector<column>& columns) {
  if (columns.empty()) return {};
  std::string text = fmt::format("\n{:<24}", title);
  for (const column& c : columns) text += fmt::format("{:>16}", c.title);
  text += '\n';
  for (const auto& [what, unit] : {std::pair{"latency_us", "us"}, std::pair{"rate", "Mops/s"}})
    for (const row& one : rows) {
      std::string line = fmt::format("{:<17}{:>7}", one.title, unit);
      bool any = false;
      for (const column& c : columns) {
        const double value = median(r, what, one.name, c.name);
        any |= !std::isnan(value);
        line += fmt::format("{:>16}", cell(value));
      }
      if (any) text += line + '\n';
    }
  return text;
}

std::vector<row> all_rows(const std::vector<std::uint32_t>& bytes) {
  std::vector<row> rows;
  for (const domains_op op : {domains_op::put, domains_op::get, domains_op::send})
    for (const std::uint32_t b : bytes)
      rows.push_back({point(op, b), fmt::format("{} {}", domains_op_name(op), size_text(b))});
  rows.push_back({point(domains_op::add, 8), "add, waited for"});
  rows.push_back({point(domains_op::adds, 8), "adds together"});
  rows.push_back({point(domains_op::add_one, 8), "adds one by one"});
  return rows;
}

std::vector<column> columns_of(const std::vector<domains_setup>& setups, bool masks) {
  std::vector<column> all;
  for (const domains_setup& s : setups)
    if ((s.what == kind::mask) == masks) all.push_back({s.name(), s.title()});
  return all;
}

void record(report& r, const std::string& column, const domains_value& v) {
  const std::string name = point(v.op, v.bytes);
  if (v.latency_us > 0) r.record(fmt::format("latency_us.{}.{}", name, column), "us", v.latency_us);
  if (v.mops > 0) r.record(fmt::format("rate.{}.{}", name, column), "Mops/s", v.mops);
  r.check("memory", v.correct, v.said);
}

// MPI with the same number of threads and of processes; the smallest and the largest size.
std::vector<column> measure_mpi(report& r, const domains_options& o, const std::vector<mpi_program>& programs,
                                const std::vector<std::uint32_t>& sizes, const std::function<void(std::string)>& tell) {
  std::vector<column> columns;
  for (const mpi_program& p : programs)
    for (const bool threads : {true, false}) {
      const column c{fmt::format("{}_{}_{}", p.mpi, threads ? "threads" : "processes", o.workers),
                     fmt::format("{} {}{}", p.mpi, o.workers, threads ? " thr." : " proc.")};
      if (std::none_of(columns.begin(), columns.end(), [&](const column& k) { return k.name == c.name; }))
        columns.push_back(c);
      for (const std::uint32_t bytes : sizes) {
        tell(fmt::format("{} of {}: {}", p.program, c.title, size_text(bytes)));
        const mpi_value v = run_mpi_program(p, o.workers, threads, bytes, o.mpi_seconds);
        const std::string name = fmt::format("message.{}.{}", bytes, c.name);
        if (p.program == "latency")
          r.record("latency_us." + name, "us", v.latency_us);
        else
          r.record("rate." + name, "Mops/s", v.mops);
        r.check("mpi", v.correct,
                v.correct ? "the messages of the MPI programs were correct"
                          : fmt::format("{} of {} was wrong or ended early", p.program, c.title));
      }
    }
  return columns;
}

std::vector<domains_panel> panels(const report& r, const domains_options& o, const std::vector<domains_setup>& setups) {
  const auto values = [&](std::string_view what, const std::string& name, const std::vector<column>& columns) {
    std::vector<double> all;
    for (const column& c : columns) all.push_back(median(r, what, name, c.name));
    return all;
  };
  const auto panel = [&](std::string title, std::string_view what, const std::vector<column>& columns,
                         const std::vector<domains_op>& ops) {
    domains_panel p{std::move(title), {}, {}};
    for (const column& c : columns) p.places.push_back(c.title);
    for (const domains_op op : ops) {
      const std::uint32_t bytes = has_sizes(op) ? o.bytes.front() : 8;
      p.curves.push_back(
          {fmt::format("{} {}", domains_op_name(op), size_text(bytes)), values(what, point(op, bytes), columns)});
    }
    return p;
  };
  using enum domains_op;
  const auto plain = columns_of(setups, false);
  const auto masks = columns_of(setups, true);
  std::vector<domains_panel> all;
  if (!plain.empty()) {
    all.push_back(panel("latency in us, against domains", "latency_us", plain, {put, get, add}));
    all.push_back(panel("rate in Mops/s, all workers, against domains", "rate", plain, {put, get, adds, add_one}));
    for (const domains_op op : {put, send}) {
      domains_panel sizes{fmt::format("rate of {} in Mops/s, against size", domains_op_name(op)), {}, {}};
      for (const std::uint32_t b : o.bytes) sizes.places.push_back(size_text(b));
      for (const column& c : plain) {
        domains_curve curve{c.title, {}};
        for (const std::uint32_t b : o.bytes) curve.values.push_back(median(r, "rate", point(op, b), c.name));
        sizes.curves.push_back(std::move(curve));
      }
      all.push_back(std::move(sizes));
    }
  }
  if (!masks.empty()) all.push_back(panel("latency in us, against the mask", "latency_us", masks, {put, get, add}));
  return all;
}

void require_alone(const domains_options& o) {
  if (runtime::is_launched())
    throw error(errc::invalid_argument, "shoal bench domains starts its jobs itself: run it without a launcher");
  const std::string plugin = o.transport == "ucx" ? "ucx" : "mpi";
  if (!net::has_plugin(plugin, net::plugin_folders({})))
    net::load_plugin(plugin, net::plugin_folders({}));  // the error says what to install
  for (const unsigned d : o.domains)
    if (d == 0 || d > o.workers)
      throw error(errc::invalid_argument, fmt::format("--domains {}: from 1 to the {} workers", d, o.workers));
  for (const unsigned mask : o.masks)
    if ((mask & (mask + 1)) != 0)
      throw error(errc::invalid_argument, fmt::format("--masks {}: powers of two less 1: 0, 1, 3, 7 ...", mask));
  for (const std::uint32_t b : o.bytes)
    if (b % 8 != 0) throw error(errc::invalid_argument, fmt::format("--bytes {}: multiples of 8", b));
}

int run_domains(domains_options o) {
  if (const int status = serve_domains_job(); status >= 0) return status;
  if (o.domains.empty())
    for (unsigned d = 1; d <= o.workers; ++d) o.domains.push_back(d);
  require_alone(o);
  require_writable(o.picture, "the picture");
  const auto setups = all_setups(o);
  const bool beside = o.curves.empty() || std::find(o.curves.begin(), o.curves.end(), "mpi") != o.curves.end();
  const auto programs = beside ? find_mpi_programs() : std::vector<mpi_program>{};
  report r("shoal bench domains: workers over a network library");
  r.parameter("transport", o.transport);
  r.parameter("workers", o.workers);
  r.parameter("domains", fmt::format("{}", fmt::join(o.domains, ",")));
  r.parameter("bytes", fmt::format("{}", fmt::join(o.bytes, ",")));
  r.parameter("window", o.window);
  r.parameter("memory", o.transport == "ucx" ? o.memory : "node");
  r.parameter("masks", fmt::format("{}", fmt::join(o.masks, ",")));
  r.parameter("processors", machine::topology::discover().usable_processors());
  r.begin(o.measuring);

  const std::vector<std::uint32_t> sizes = o.bytes.size() == 1 ? o.bytes : std::vector{o.bytes.front(), o.bytes.back()};
  const auto repeats = static_cast<std::size_t>(o.measuring.repeat);
  progress line((setups.size() + programs.size() * 2 * sizes.size()) * repeats);
  std::size_t done = 0;
  bool one_sided = false;
  std::vector<column> mpi_columns;
  for (std::size_t repetition = 0; repetition < repeats; ++repetition) {
    for (const domains_setup& s : setups) {
      line.show(done++, s.title());
      const domains_outcome got =
          run_domains_job(s, plan_of(o, s), o.transport, o.transport == "ucx" && o.memory == "network");
      one_sided |= got.one_sided;
      for (const domains_value& v : got.values) record(r, s.name(), v);
    }
    mpi_columns = measure_mpi(r, o, programs, sizes, [&](const std::string& what) { line.show(done++, what); });
  }
  line.clear();
  const int status = r.finish(o.measuring);
  std::FILE* const out = o.measuring.json == "-" ? stderr : stdout;
  std::string text = table(r, "medians", all_rows(o.bytes), columns_of(setups, false)) +
                     table(r, "all through domain 0", all_rows({8}), columns_of(setups, true));
  text += fmt::format(
      "\nlatency: one operation at a time per worker, less is better; rate: all workers together, more is better. D = "
      "n: {} "
      "workers of one process share n domains; processes: one worker each. The last node is the target. "
      "send: a message that is copied there and acknowledged; adds are aggregated into messages\n",
      o.workers);
  std::vector<row> messages;
  for (const std::uint32_t b : sizes) messages.push_back({fmt::format("message.{}", b), "message " + size_text(b)});
  text += table(r, "MPI, THREAD_MULTIPLE", messages, mpi_columns);
  if (one_sided && o.memory == "network")
    text += "\nput and get reach memory that UCX has allocated; --memory node: memory as in other jobs\n";
  if (!setups.empty() && !one_sided)
    text += fmt::format("\ntransport {} has no one-sided operations: put and get are not measured\n", o.transport);
  if (beside && programs.empty())
    text += "\nMPI is not compared: bench/mpi was not built here (or there is no launcher mpirun)\n";
  std::fputs(text.c_str(), out);
  if (!o.picture.empty()) {
    std::ofstream file(o.picture);
    file << domains_picture(panels(r, o, setups), fmt::format("Domains over {}, {} workers", o.transport, o.workers));
    if (!file.flush())
      throw error(errc::system, fmt::format("cannot write the picture to '{}'; is the disk full?", o.picture));
  }
  return status;
}

}  // namespace

subcommand_body declare_domains(CLI::App& app) {
  auto o = std::make_shared<domains_options>();
  add_measuring_options(app, o->measuring);
  app.add_option("--transport", o->transport, "ucx or mpi")
      ->check(CLI::IsMember({"ucx", "mpi"}))
      ->capture_default_str();
  app.add_option("-w,--workers", o->workers, "number of concurrent threads or processes")
      ->check(CLI::Range(1U, 64U))
      ->capture_default_str();
  app.add_option("--domains", o->domains, "numbers of domains that the workers share (1 to workers)")->delimiter(',');
  app.add_option("--bytes", o->bytes, "sizes of put, get and send, multiples of 8 up to 8 MiB")
      ->delimiter(',')
      ->check(CLI::Range(8U, 8U << 20));
  app.add_option("--masks", o->masks, "poll masks with all messages through domain 0: powers of two less 1")
      ->delimiter(',')
      ->check(CLI::Range(0U, 65535U));
  app.add_option("--window", o->window, "one-sided operations in flight per worker")
      ->check(CLI::Range(1U, 65536U))
      ->capture_default_str();
  app.add_option(
         "--memory", o->memory,
         "network: UCX allocates the nodes' memory; on one machine it cannot access other memory without the help of "
         "the owner; node: memory as in other jobs")
      ->check(CLI::IsMember({"network", "node"}))
      ->capture_default_str();
  app.add_option("--curves", o->curves, "which (all): domains, processes, shared, masks, mpi")
      ->delimiter(',')
      ->check(CLI::IsMember({"domains", "processes", "shared", "masks", "mpi"}));
  app.add_option("--picture", o->picture, "write the curves as a picture (SVG)")->type_name("FILE");
  return [o] { return run_domains(*o); };
}

}  // namespace shoal::bench
