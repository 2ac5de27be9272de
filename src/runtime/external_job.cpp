// SPDX-License-Identifier: Apache-2.0
// A job whose processes another launcher has started: they find each other, agree on what they talk through, and map
// each other's memory where they share a machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/counted.hpp"
#include "base/log.hpp"
#include "launch/control.hpp"
#include "launch/handshake.hpp"
#include "launch/launcher_signs.hpp"
#include "launch/local_launch.hpp"
#include "launch/rendezvous.hpp"
#include "machine/neighbourhood.hpp"
#include "machine/process.hpp"
#include "machine/process_limits.hpp"
#include "machine/topology.hpp"
#include "net/transports/shm.hpp"
#include "remote/code.hpp"
#include "runtime/hosted_nodes.hpp"
#include "runtime/neighbours.hpp"
#include "runtime/node.hpp"
#include "runtime/peer_watch.hpp"
#include "runtime/placement.hpp"
#include "runtime/service.hpp"
#include "runtime/start_limit.hpp"
#include "runtime/transports.hpp"
#include "sched/stack_overflow.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

// A network library may have some for each peer.
constexpr std::uint64_t k_peer_descriptors = 4;
constexpr std::uint64_t k_own_descriptors = 256;
constexpr std::string_view k_no_hub = "node 0 cannot begin the job: ";

// By the plugin of an MPI whose own launcher has started the processes.
class mpi_rendezvous final : public launch::rendezvous {
public:
  explicit mpi_rendezvous(const config& c) : plugin_(find_plugin(c, "mpi")) { plugin_.share({}, node_, nodes_); }
  const char* by() const noexcept override { return "MPI"; }
  std::uint32_t node() const noexcept override { return node_; }
  std::uint32_t nodes() const noexcept override { return nodes_; }
  bool one_machine() const noexcept override { return launch::shows_one_machine(); }
  std::string share(const std::string& word_of_node_0) override { return plugin_.share(word_of_node_0, node_, nodes_); }

private:
  const net::net_plugin& plugin_;
  std::uint32_t node_ = 0, nodes_ = 1;
};

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}
std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What a node sees of the job before it begins.
class external_nodes {
public:
  external_nodes(config& c, launch::rendezvous& through);

  /// The nodes' own descriptions, complete with what they share.
  void introduce();
  /// Maps what neighbours show; chooses the transport if that is left to us.
  void share_memory();
  std::unique_ptr<net::transport> open_transport();
  node_parts parts(std::unique_ptr<net::transport> transport);
  launch::control& control() noexcept { return *control_; }
  const std::shared_ptr<peer_watch>& watch() const noexcept { return watch_; }

  /// Executes a part of the start that may take long, or wait for others without limit, as libraries do: meanwhile this
  /// node gives signs of life, and ends if another is lost. The function does not use control().
  template <class Function>
  auto watched(Function&& function) {
    const service watching(*c_.executor, {}, watch_, node_);
    return function();
  }
  std::uint32_t node() const noexcept { return node_; }

private:
  std::string open_hub(bool one_machine);
  std::vector<visiting_card> exchange(const visiting_card& mine);
  std::string map_neighbours(bool rings);
  void choose_library();

  std::vector<std::vector<std::byte>> exchange_addresses(std::span<const std::byte> mine);

  config& c_;
  launch::rendezvous& through_;
  const std::uint32_t node_, nodes_;
  const machine::topology machine_ = machine::topology::discover();
  std::optional<launch::hub> hub_;
  std::optional<launch::control> control_;
  std::shared_ptr<peer_watch> watch_;
  std::uint64_t token_ = 0;
  std::optional<neighbours> all_;
  std::vector<machine::segment> segments_;  // by node; those of others only where they are mapped
  machine::segment world_;
  std::vector<std::byte*> bases_;
};

external_nodes::external_nodes(config& c, launch::rendezvous& through)
    : c_(c), through_(through), node_(through.node()), nodes_(through.nodes()) {
  machine::allow_descriptors(nodes_ * k_peer_descriptors + k_own_descriptors);
  std::string word = through.hub();
  if (word.empty()) {
    const start_limit limit(*c.executor, c.start_timeout_ns);
    if (node_ == 0) word = open_hub(through.one_machine());
    word = through.share(word);
    if (word.starts_with(k_no_hub)) throw error(errc::system, word);
  }
  const auto place = launch::hub_place::parse(word);
  constexpr std::string_view k_purpose = "messages";
  token_ = launch::siphash(launch::parse_secret(place.secret).value_or(launch::job_secret{}),
                           std::as_bytes(std::span(k_purpose)));
  control_.emplace(place, launch::control::identity{node_, nodes_, remote::code_fingerprint(), c.common()},
                   c.start_timeout_ns);
  watch_ = std::make_shared<control_watch>(*control_);
}

// Its place; or, for all to know, why there is none.
std::string external_nodes::open_hub(bool one_machine) {
  try {
    launch::hub_options options;
    options.nodes = nodes_;
    options.address = c_.hub_address.empty() ? launch::default_hub_address(one_machine) : c_.hub_address;
    options.silence_ns = c_.silence_ns;
    options.start_ns = c_.start_timeout_ns;
    return hub_.emplace(options).place().text();
  } catch (const error& e) {
    return std::string(k_no_hub) + e.what();
  }
}

std::vector<visiting_card> external_nodes::exchange(const visiting_card& mine) {
  std::vector<visiting_card> cards;
  for (const auto& one : control_->exchange(mine.bytes())) cards.push_back(visiting_card::read(one));
  return cards;
}

void external_nodes::introduce() {
  visiting_card mine;
  control_->live_regularly();  // before a library may stop this process: the first watched() may come too late
  mine.neighbourhood = machine::neighbourhood();
  mine.processors = machine_.usable_processors();
  const launch::segment_plan plan = launch::plan_segment(c_.pages, c_.segment_bytes, nodes_);
  mine.segment_bytes = plan.bytes;
  mine.memory_bytes = machine::memory_info().total_bytes;
  all_.emplace(exchange(mine), node_);
  if (c_.workers == 0) c_.workers = all_->workers();
  c_.segment_bytes = all_->segment_bytes();
  choose_routes(c_, nodes_, all_->memory_bytes(), all_->blocks());

  segments_.resize(nodes_);
  watched([&] {
    segments_[node_] =
        machine::segment::create(fmt::format("shoal-node-{}", node_), c_.segment_bytes, false, plan.pool_page_bytes);
    segments_[node_].map();
    if (node_ == 0)
      world_ = machine::segment::create("shoal-world", net::ring_layout::bytes(ring_shape_of(c_, nodes_)));
  });
  mine.pid = machine::own_pid();
  mine.segment = segments_[node_].descriptor();
  mine.world = node_ == 0 ? world_.descriptor() : -1;
  all_.emplace(exchange(mine), node_);
}

// Why not; empty if all is well.
std::string external_nodes::map_neighbours(bool rings) {
  std::string why;
  for (std::uint32_t n = 0; n < nodes_; ++n) {
    if (n == node_ || !c_.direct || !all_->here(n)) continue;
    auto theirs = machine::segment_of(all_->at(n).pid, all_->at(n).segment, why);
    if (!theirs) return why;
    segments_[n] = std::move(*theirs);
    segments_[n].map();
  }
  if (!rings) return {};
  if (node_ != 0) {
    auto shared = machine::segment_of(all_->at(0).pid, all_->at(0).world, why);
    if (!shared) return why;
    world_ = std::move(*shared);
  }
  world_.map();
  return {};
}

void external_nodes::share_memory() {
  const bool one_machine = all_->all_here();
  if (c_.transport == "shm" && !one_machine)
    throw error(errc::invalid_argument, fmt::format("transport shm is for one machine, and the nodes are on {}; use "
                                                    "SHOAL_TRANSPORT=ucx or mpi",
                                                    all_->machines()));
  const bool rings = one_machine && (c_.transport == "auto" || c_.transport == "shm");
  if (all_->nodes_beside(node_) == 1) c_.direct = false;
  const auto answers = control_->exchange(bytes_of(watched([&] { return map_neighbours(rings); })));
  std::string refused;
  for (std::uint32_t n = 0; n < nodes_ && refused.empty(); ++n)
    if (!answers[n].empty()) refused = fmt::format("node {}: {}", n, text_of(answers[n]));
  if (!refused.empty()) {
    if (c_.transport == "shm")
      throw error(errc::system, fmt::format("the nodes cannot share memory ({}); use another transport", refused));
    if (node_ == 0) base::say("nodes of a machine cannot map each other's memory ({}): all goes by messages", refused);
    c_.direct = false;
  }
  if (rings && refused.empty()) {
    c_.transport = "shm";
  } else if (c_.transport == "auto") {
    choose_library();
  }
  for (std::uint32_t n = 0; n < nodes_; ++n) bases_.push_back(n == node_ || c_.direct ? segments_[n].data() : nullptr);
}

// The first that works on all nodes.
void external_nodes::choose_library() {
  const auto here = watched([&] { return transports_here(c_); });
  const auto answers = control_->exchange(bytes_of(fmt::format(" {} ", fmt::join(here, " "))));
  for (const std::string& name : {std::string("ucx"), std::string("mpi")}) {
    const bool everywhere =
        std::ranges::all_of(answers, [&](const auto& one) { return text_of(one).find(" " + name + " ") != ~0UL; });
    if (!everywhere) continue;
    c_.transport = name;
    return;
  }
  throw error(errc::not_found,
              fmt::format("{} on {}, and not all have a network library that is known here; build Shoal "
                          "there by `./dev build --with networks`, which installs UCX and two MPI libraries",
                          base::counted(nodes_, "node"), base::counted(all_->machines(), "machine")));
}

// By the launcher's own servers where they have a way, which is a tree between machines; else by the hub.
std::vector<std::vector<std::byte>> external_nodes::exchange_addresses(std::span<const std::byte> mine) {
  auto all = watched([&] { return through_.exchange(mine); });
  return all ? std::move(*all) : control_->exchange(mine);
}

std::unique_ptr<net::transport> external_nodes::open_transport() {
  std::string described = "shared memory";
  std::unique_ptr<net::transport> made;
  if (c_.transport == "shm") {
    made = net::connect_shm(world_.data(), ring_shape_of(c_, nodes_), node_);
  } else {
    auto network = watched([&] {
      return open_network(c_, node_, nodes_, segments_[node_], {all_->all_here(), token_});
    });
    const auto addresses = exchange_addresses(network->address());
    made = watched([&] {
      network->connect(addresses);
      described = network->describe();
      return over_network(c_, node_, nodes_, std::move(network),
                          [watch = watch_](std::uint32_t node, const char* why) { watch->unreachable(node, why); });
    });
  }
  if (node_ == 0)
    base::verbose("{} of {} on {}, found by {}, over {}: {}", base::counted(nodes_, "node"),
                  base::counted(c_.workers, "worker"), base::counted(all_->machines(), "machine"), through_.by(),
                  c_.transport, described);
  return with_routes(c_, node_, nodes_, std::move(made));
}

node_parts external_nodes::parts(std::unique_ptr<net::transport> transport) {
  node_parts p;
  p.node = node_;
  p.nodes = nodes_;
  p.nodes_on_machine = all_->nodes_beside(node_);
  p.settings = &c_;
  place_workers(p, c_, machine_, {all_->index_of(node_), all_->nodes_beside(node_)});
  p.transport = std::move(transport);
  for (std::uint32_t n = 0; n < nodes_; ++n) p.processes.push_back(all_->here(n) ? all_->at(n).pid : 0);
  p.segment = &segments_[node_];
  p.bases = bases_;
  return p;
}

std::unique_ptr<launch::rendezvous> meet(const config& c) {
  const start_limit limit(*c.executor, c.start_timeout_ns);
  auto found = launch::find_rendezvous();
  return found != nullptr ? std::move(found) : std::make_unique<mpi_rendezvous>(c);
}

// One process, found by a rendezvous, which must live as long as the job.
class lone_process final : public hosted_nodes {
public:
  lone_process(std::unique_ptr<launch::rendezvous> by, const config& c)
      : by_(std::move(by)), nodes_(host_in_process(c)) {}
  node& first() noexcept override { return nodes_->first(); }
  void begin() override { nodes_->begin(); }
  void end(const std::exception_ptr& thrown) override { nodes_->end(thrown); }

private:
  const std::unique_ptr<launch::rendezvous> by_;
  const std::unique_ptr<hosted_nodes> nodes_;
};

// This process's node of several processes.
class external_node final : public hosted_nodes {
public:
  external_node(std::unique_ptr<launch::rendezvous> by, config c)
      : c_(std::move(c)), by_(std::move(by)), all_(c_, *by_) {
    all_.introduce();
    all_.share_memory();
    auto transport = all_.open_transport();
    all_.watched([&] { here_.emplace(all_.parts(std::move(transport))); });
    static_cast<void>(all_.control().exchange({}));  // all can be reached
    watcher_.emplace(*c_.executor, std::vector{&*here_}, all_.watch(), all_.node());
  }

  node& first() noexcept override { return *here_; }
  void abandon() noexcept override {
    watcher_.reset();  // it reads from the same connection
    all_.control().leave();
  }
  void end(const std::exception_ptr& thrown) override;

private:
  config c_;
  const std::unique_ptr<launch::rendezvous> by_;
  external_nodes all_;
  std::optional<node> here_;
  std::optional<service> watcher_;
};

void external_node::end(const std::exception_ptr& thrown) {
  watcher_.reset();  // it reads from the same connection
  if (here_->has_finished()) {
    try {
      static_cast<void>(all_.control().exchange({}));  // no node needs this node's network any more
      all_.control().leave();
    } catch (const error&) {
      if (!thrown) throw;  // the main task's exception says more
    }
  }
  if (thrown) std::rethrow_exception(thrown);
  here_->report_profile();
}

}  // namespace

std::unique_ptr<hosted_nodes> host_external(config c) {
  if (launch::external_place_taken())
    throw error(errc::unsupported,
                "this process has been a node of its job already: a program that a launcher starts runs one job; run "
                "both main tasks in one shoal::job, or start a process for each");
  base::set_log_context({.level = c.log, .node = -1});
  auto rendezvous = meet(c);
  launch::take_external_place();
  if (rendezvous->nodes() == 1) {
    if (const unsigned started = launch::processes_started(); started > 1)
      throw error(
          errc::unsupported,
          fmt::format("a launcher has started {} processes, and what could be asked ({}) knows of this one alone: "
                      "each would run all of the program. Build Shoal for the launcher's PMIx or MPI, or start "
                      "with shoal run",
                      started, rendezvous->by()));
    if (c.transport == "shm")
      throw error(errc::invalid_argument,
                  fmt::format("the launcher has started one process, and transport shm is for several (found by {}); "
                              "ask it for more, for instance mpirun -n 2, or leave SHOAL_TRANSPORT=shm out",
                              rendezvous->by()));
    return std::make_unique<lone_process>(std::move(rendezvous), c);
  }
  base::set_log_context({.level = c.log, .node = static_cast<int>(rendezvous->node())});
  sched::explain_stack_overflows();
  return std::make_unique<external_node>(std::move(rendezvous), std::move(c));
}

}  // namespace shoal::runtime
