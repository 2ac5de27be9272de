// SPDX-License-Identifier: Apache-2.0
// `shoal cc`: connected components of a graph, compared with a sequential program.
#include <memory>
#include <optional>

#include "kernels/cc/cc.hpp"
#include "tools/shoal/graph_input.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct cc_options {
  kernel_options common;
  graph_input input;
};

class cc_case final : public kernel_case {
public:
  explicit cc_case(const cc_options& o) : kernel_case("cc", "arcs"), o_(o) {}

  void construct() override {
    graph_ = make_graph(o_.input, o_.common.seed, {.way = graph::direction::both});
    labels_ = graph_.values<std::uint32_t>();
    if (o_.common.form == "simple") return;
    halo_.emplace(graph_.ref());
    known_ = halo_->values<std::uint32_t>();
    hooks_ = graph_.values<std::uint32_t>();
  }
  void describe(bench::report& r) const override { describe_graph(r, o_.input, graph_.header(), graph_.arcs()); }
  std::uint64_t run() override {
    rounds_ = o_.common.form == "simple" ? cc::simple(graph_.ref(), labels_.ref())
                                         : cc::fast(halo_->ref(), known_.ref(), labels_.ref(), hooks_.ref());
    return graph_.arcs();
  }
  void record(bench::report& r) const override {
    r.record("rounds", "", static_cast<double>(rounds_));
    r.record("components", "", static_cast<double>(cc::count(labels_.ref())));
  }
  std::string verify() override { return cc::fault_of(graph_.ref(), labels_.ref()); }

private:
  const cc_options o_;
  global_graph<> graph_;
  std::optional<graph_halo<>> halo_;
  global_array<std::uint32_t> known_;
  global_array<std::uint32_t> labels_;
  global_array<std::uint32_t> hooks_;
  std::uint64_t rounds_ = 0;
};

}  // namespace

subcommand_body declare_cc(CLI::App& app) {
  auto o = std::make_shared<cc_options>();
  add_graph_input(app, o->input);
  add_kernel_options(app, o->common);
  return [o] {
    check_graph_input(o->input, o->common, 4, 16);
    return run_kernel(o->common, [o] { return std::make_unique<cc_case>(*o); });
  };
}

}  // namespace shoal::tools
