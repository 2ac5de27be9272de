// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/scale.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "machine/memory_info.hpp"
#include "net/transports/inproc.hpp"
#include "remote/worker_port.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/command.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

constexpr std::uint64_t k_adds = 1000;

double scale_resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  if (!(file >> size >> resident))
    throw error(errc::system, "/proc/self/statm cannot be read, so memory cannot be measured");
  return static_cast<double>(resident * machine::page_size());
}

// A node whose workers have no threads: the measuring thread polls for them.
class still_node {
public:
  still_node(const net::inproc_world& world, std::uint32_t node, std::uint32_t nodes, unsigned workers)
      : bases_(nodes), element_(std::make_unique<std::uint64_t>(0)) {
    bases_[node] = reinterpret_cast<std::byte*>(element_.get());
    context_.node = node;
    context_.nodes = nodes;
    context_.bases = bases_.data();
    sched::pool_options options;
    options.workers = workers;
    remote::node_ports::setup s;
    s.context = &context_;
    s.workers = workers;
    s.segment_bytes = sizeof(std::uint64_t);
    pool_ = std::make_unique<sched::pool>(options);
    const double before = scale_resident_bytes();
    transport_ = world.connect(node);
    s.transport = transport_.get();
    ports_ = std::make_unique<remote::node_ports>(s);
    ports_bytes_ = scale_resident_bytes() - before;
    for (unsigned w = 0; w < workers; ++w) ports_->attach(pool_->at(w));
  }

  sched::worker& worker() noexcept { return pool_->at(0); }
  remote::node_ports& ports() noexcept { return *ports_; }
  remote::worker_port& port() noexcept { return ports_->at(0); }
  std::uint64_t element() const noexcept { return *element_; }
  double ports_bytes() const noexcept { return ports_bytes_; }

  void send_adds(std::uint32_t to) {
    using namespace shoal::detail;
    for (std::uint64_t i = 0; i < k_adds; ++i)
      *room_for(port(), to, 1).cursor++ = header(operation(verb::add, element::u64), 1, 0);
    port().flush(aggregate::reason::asked);
  }

private:
  std::unique_ptr<net::transport> transport_;
  std::vector<std::byte*> bases_;
  std::unique_ptr<std::uint64_t> element_;
  detail::node_context context_;
  std::unique_ptr<sched::pool> pool_;
  std::unique_ptr<remote::node_ports> ports_;
  double ports_bytes_ = 0;
};

template <class Action>
double ns_each(double seconds, const Action& action) {
  constexpr std::uint64_t k_batch = 64;
  const std::uint64_t start_ns = base::now_ns();
  const auto least_ns = static_cast<std::uint64_t>(seconds * 1e9);
  std::uint64_t done = 0, spent_ns = 0;
  do {
    for (std::uint64_t i = 0; i < k_batch; ++i) action();
    done += k_batch;
    spent_ns = base::now_ns() - start_ns;
  } while (spent_ns < least_ns);
  return static_cast<double>(spent_ns) / static_cast<double>(done);
}

}  // namespace

scale_costs measure_scale(std::uint32_t nodes, unsigned workers, double seconds) {
  const net::inproc_world world({.nodes = nodes, .workers = workers});
  scale_costs costs;
  still_node other(world, nodes - 1, nodes, workers);
  still_node me(world, 0, nodes, workers);
  costs.resident_bytes = me.ports_bytes();
  const double made = scale_resident_bytes();
  me.send_adds(nodes - 1);
  other.send_adds(0);
  const auto exchange = [&] {
    for (int turn = 0; turn < 4; ++turn) {
      me.ports().poll(me.worker());
      other.ports().poll(other.worker());
    }
  };
  exchange();
  costs.used_bytes = costs.resident_bytes + scale_resident_bytes() - made;
  remote::settling nothing;
  bool quiet = !me.port().in_flight();
  costs.wait_ns = ns_each(seconds, [&] { quiet &= nothing.begin(me.port()); });
  costs.idle_ns = ns_each(seconds, [&] { quiet &= !me.ports().flush(me.worker()); });
  me.send_adds(nodes - 1);
  costs.poll_ns = ns_each(seconds, [&] { me.ports().poll(me.worker()); });
  const bool waited = me.port().in_flight();
  exchange();
  costs.correct = quiet && waited && !me.port().in_flight() && other.element() == 2 * k_adds && me.element() == k_adds;
  return costs;
}

namespace {

struct scale_options {
  measuring_options measuring;
  std::vector<std::uint32_t> nodes{2, 64, 256, 1024};
  unsigned workers = 1;
};

int run_scale(const scale_options& options) {
  report result("shoal bench scale: what nodes cost that are known and not used");
  result.parameter("nodes", fmt::format("{}", fmt::join(options.nodes, ",")));
  result.parameter("workers", options.workers);
  result.begin(options.measuring);
  progress line(static_cast<std::size_t>(options.measuring.repeat) * options.nodes.size());
  std::size_t done = 0;
  for (int round = 0; round < options.measuring.repeat; ++round)
    for (const std::uint32_t n : options.nodes) {
      line.show(done++, fmt::format("{} nodes", n));
      const scale_costs c = measure_scale(n, options.workers, options.measuring.seconds);
      const auto name = [n](const char* what) { return fmt::format("{}_{}", what, n); };
      const double pairs = static_cast<double>(n) * options.workers;
      result.record(name("poll_ns"), "ns", c.poll_ns);
      result.record(name("wait_ns"), "ns", c.wait_ns);
      result.record(name("idle_ns"), "ns", c.idle_ns);
      result.record(name("kib_of_ports"), "KiB", c.resident_bytes / 1024);
      result.record(name("kib_of_ports_in_use"), "KiB", c.used_bytes / 1024);
      result.record(name("bytes_per_peer_and_worker"), "B", c.resident_bytes / pairs);
      result.check("executed", c.correct, fmt::format("with {} nodes", n));
    }
  line.clear();
  return result.finish(options.measuring);
}

}  // namespace

subcommand_body declare_scale(CLI::App& app) {
  auto options = std::make_shared<scale_options>();
  options->measuring.seconds = 0.05;
  app.add_option("--nodes", options->nodes, "numbers of nodes that are known")
      ->delimiter(',')
      ->check(CLI::Range(2, 16384));
  app.add_option("-w,--workers", options->workers, "workers of each node")->check(CLI::Range(1, 64));
  add_measuring_options(app, options->measuring);
  return [options] { return run_scale(*options); };
}

}  // namespace shoal::bench
