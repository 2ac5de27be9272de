// SPDX-License-Identifier: Apache-2.0
// `shoal walk`: random walks on a graph, repeated sequentially.
#include <memory>

#include "kernels/walk/walk.hpp"
#include "tools/shoal/graph_input.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

constexpr std::uint64_t k_most_repeated_steps = std::uint64_t{1} << 26;

struct walk_options {
  kernel_options common;
  graph_input input;
  std::uint64_t walkers = 0;  // 0: half as many as vertices
  std::uint64_t length = 100;
};

class walk_case final : public kernel_case {
public:
  explicit walk_case(const walk_options& o) : kernel_case("walk", "steps"), o_(o), walk_{o.length, o.common.seed} {}

  void construct() override {
    graph_ = make_graph(o_.input, o_.common.seed, {});
    const std::uint64_t walkers = o_.walkers != 0 ? o_.walkers : (graph_.vertices() + 1) / 2;
    traces_ = global_array<std::uint64_t>(walkers);
  }
  void describe(bench::report& r) const override {
    describe_graph(r, o_.input, graph_.header(), graph_.arcs());
    r.parameter("walkers", traces_.size());
    r.parameter("length", o_.length);
  }
  void reset() override { traces_->fill(0); }
  std::uint64_t run() override {
    steps_ = o_.common.form == "simple" ? walk::simple(graph_.ref(), traces_.ref(), walk_)
                                        : walk::fast(graph_.ref(), traces_.ref(), walk_);
    return steps_;
  }
  void record(bench::report& r) const override { r.record("steps", "", static_cast<double>(steps_)); }
  std::string verify() override {
    return walk::fault_of(graph_.ref(), traces_.ref(), walk_, steps_, k_most_repeated_steps);
  }

private:
  const walk_options o_;
  const walk::options walk_;
  global_graph<> graph_;
  global_array<std::uint64_t> traces_;
  std::uint64_t steps_ = 0;
};

}  // namespace

subcommand_body declare_walk(CLI::App& app) {
  auto o = std::make_shared<walk_options>();
  add_graph_input(app, o->input);
  app.add_option("--walkers", o->walkers, "number of walkers (default: half the number of vertices)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option("--length", o->length, "steps of each walker")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31))
      ->capture_default_str();
  add_kernel_options(app, o->common);
  return [o] {
    check_graph_input(o->input, o->common, 0, 8);
    return run_kernel(o->common, [o] { return std::make_unique<walk_case>(*o); });
  };
}

}  // namespace shoal::tools
