// SPDX-License-Identifier: Apache-2.0
// `shoal pagerank`: PageRank of a graph, compared with a sequential program.
#include <memory>
#include <optional>

#include "bench/real_range.hpp"
#include "kernels/pagerank/pagerank.hpp"
#include "tools/shoal/graph_input.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct pagerank_options {
  kernel_options common;
  graph_input input;
  pagerank::options ranks;
};

class pagerank_case final : public kernel_case {
public:
  explicit pagerank_case(const pagerank_options& o) : kernel_case("pagerank", "arcs"), o_(o) {}

  void construct() override {
    successors_ = make_graph(o_.input, o_.common.seed, {});
    ranks_ = successors_.values<double>();
    if (o_.common.form == "simple") return;
    const bool turned = successors_->way() != graph::direction::both;
    if (turned) predecessors_ = successors_.transposed();
    halo_.emplace(turned ? predecessors_.ref() : successors_.ref());
    shares_ = halo_->values<float>();
  }
  void describe(bench::report& r) const override {
    describe_graph(r, o_.input, successors_.header(), successors_.arcs());
    r.parameter("tolerance", o_.ranks.tolerance);
  }
  std::uint64_t run() override {
    rounds_ = o_.common.form == "simple"
                  ? pagerank::simple(successors_.ref(), ranks_.ref(), o_.ranks)
                  : pagerank::fast(halo_->ref(), successors_->degrees(), shares_.ref(), ranks_.ref(), o_.ranks);
    return rounds_ * successors_.arcs();
  }
  void record(bench::report& r) const override { r.record("rounds", "", static_cast<double>(rounds_)); }
  std::string verify() override { return pagerank::fault_of(successors_.ref(), ranks_.ref(), rounds_, o_.ranks); }

private:
  const pagerank_options o_;
  global_graph<> successors_;
  global_graph<> predecessors_;  // of a directed graph
  std::optional<graph_halo<>> halo_;
  global_array<float> shares_;
  global_array<double> ranks_;
  std::uint64_t rounds_ = 0;
};

}  // namespace

subcommand_body declare_pagerank(CLI::App& app) {
  auto o = std::make_shared<pagerank_options>();
  add_graph_input(app, o->input);
  app.add_option("--tolerance", o->ranks.tolerance, "ends when all ranks together change by less")
      ->check(bench::real_range(0.0, 1e9))
      ->capture_default_str();
  app.add_option("--rounds", o->ranks.most_rounds, "ends after this many rounds")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  add_kernel_options(app, o->common);
  return [o] {
    check_graph_input(o->input, o->common, 4, 16);
    return run_kernel(o->common, [o] { return std::make_unique<pagerank_case>(*o); });
  };
}

}  // namespace shoal::tools
