// SPDX-License-Identifier: Apache-2.0
// `shoal tc`: triangles of a graph, compared with a sequential count.
#include <memory>
#include <optional>

#include "kernels/tc/fast.hpp"
#include "kernels/tc/tc.hpp"
#include "tools/shoal/graph_input.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct tc_options {
  kernel_options common;
  graph_input input;
};

class tc_case final : public kernel_case {
public:
  explicit tc_case(const tc_options& o) : kernel_case("tc", "edges"), o_(o) {}

  void construct() override {
    graph_ = make_graph(o_.input, o_.common.seed, {.way = graph::direction::both});
    if (o_.common.form == "simple") return;
    up_ = tc::upward(graph_.ref());
    halo_.emplace(up_.ref());
    begins_ = halo_->values<std::uint64_t>();
    lengths_ = halo_->values<std::uint32_t>();
  }
  void describe(bench::report& r) const override { describe_graph(r, o_.input, graph_.header(), graph_.arcs()); }
  std::uint64_t run() override {
    found_ = o_.common.form == "simple" ? tc::counts{tc::simple(graph_.ref()), 0}
                                        : tc::fast(up_.ref(), halo_->ref(), begins_.ref(), lengths_.ref());
    return graph_.arcs() / 2;
  }
  void record(bench::report& r) const override {
    r.record("triangles", "", static_cast<double>(found_.triangles));
    if (o_.common.form == "fast") r.record("looked_up", "", static_cast<double>(found_.looked_up));
  }
  std::string verify() override { return tc::fault_of(graph_.ref(), found_.triangles); }

private:
  const tc_options o_;
  global_graph<> graph_;
  global_graph<> up_;
  std::optional<graph_halo<>> halo_;
  global_array<std::uint64_t> begins_;
  global_array<std::uint32_t> lengths_;
  tc::counts found_;
};

}  // namespace

subcommand_body declare_tc(CLI::App& app) {
  auto o = std::make_shared<tc_options>();
  add_graph_input(app, o->input);
  add_kernel_options(app, o->common);
  return [o] {
    check_graph_input(o->input, o->common, 12, 24);
    return run_kernel(o->common, [o] { return std::make_unique<tc_case>(*o); });
  };
}

}  // namespace shoal::tools
