// SPDX-License-Identifier: Apache-2.0
// `shoal sssp`: shortest distances from one vertex, compared with those of a sequential program.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <type_traits>

#include "bench/real_range.hpp"
#include "kernels/sssp/fast.hpp"
#include "kernels/sssp/sssp.hpp"
#include "shoal/error.hpp"
#include "shoal/random.hpp"
#include "tools/shoal/graph_input.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct sssp_options {
  kernel_options common;
  graph_input input;
  std::string weights = "file";
  std::string source;
  double delta = 0;  // 0: chosen by the degrees and weights
};

/// A graph with weights, and what a search of it needs. Distances have the type of the weights.
class any_search {
public:
  virtual ~any_search() = default;
  virtual std::uint64_t run(std::uint64_t source, bool simple) = 0;
  virtual std::uint64_t arcs_reached() const = 0;
  virtual std::string verify(std::uint64_t source) const = 0;
  virtual double delta() const = 0;
};

template <class Weight>
class search_with final : public any_search {
  static constexpr bool k_exact = std::is_integral_v<Weight>;

public:
  search_with(global_graph<std::uint32_t, Weight> graph, const sssp_options& o)
      : graph_(std::move(graph)), distances_(graph_.template values<Weight>()) {
    const double heaviest = check_weights();
    const double degree = static_cast<double>(graph_.arcs()) / static_cast<double>(graph_.vertices());
    const double wanted = o.delta != 0 ? o.delta : heaviest / std::max(degree, 1.0);
    delta_ = static_cast<Weight>(k_exact ? std::max(std::round(wanted), 1.0) : wanted > 0 ? wanted : 1.0);
    if (o.common.form == "fast") {
      const auto& rows = graph_->rows();
      halo_.emplace(
          graph_ref<std::uint32_t>({rows.vertices, rows.arcs, rows.way, rows.degrees, rows.offsets, rows.targets, {}}));
    }
  }
  std::uint64_t run(std::uint64_t source, bool simple) override {
    return simple ? sssp::simple(graph_.ref(), distances_.ref(), source, delta_)
                  : sssp::fast(graph_.ref(), halo_->ref(), distances_.ref(), source, delta_);
  }
  std::uint64_t arcs_reached() const override { return sssp::arcs_reached(graph_.ref(), distances_.ref()); }
  std::string verify(std::uint64_t source) const override {
    return sssp::fault_of(graph_.ref(), distances_.ref(), source);
  }
  double delta() const override { return static_cast<double>(delta_); }

private:
  /// Returns the greatest weight.
  double check_weights() const {
    struct extremes {
      Weight least;
      Weight most;
    };
    const auto found = parallel_reduce(
        owners_of(graph_->degrees()), graph_.vertices(), extremes{0, 0},
        [g = graph_.ref()](std::uint64_t v) {
          extremes e{0, 0};
          for (const Weight w : g.weights(v)) {
            if (!(w >= e.least)) e.least = w;  // also what is no number
            if (w > e.most) e.most = w;
          }
          return e;
        },
        [](const extremes& a, const extremes& b) {
          return extremes{a.least <= b.least ? a.least : b.least, std::max(a.most, b.most)};
        });
    if (!(found.least >= 0))
      throw error(errc::bad_input, fmt::format("an edge has the weight {}; shortest paths need weights that are not "
                                               "negative: mend the file, or leave the weights out",
                                               found.least));
    if (static_cast<double>(found.most) > 1e300)
      throw error(errc::bad_input,
                  "an edge has an infinite weight; shortest paths need finite weights: remove the edge");
    return static_cast<double>(found.most);
  }

  global_graph<std::uint32_t, Weight> graph_;
  global_array<Weight> distances_;
  std::optional<graph_halo<>> halo_;
  Weight delta_ = 1;
};

class sssp_case final : public kernel_case {
public:
  explicit sssp_case(const sssp_options& o) : kernel_case("sssp", "edges"), o_(o) {}

  void construct() override {
    global_graph<> plain = make_graph(o_.input, o_.common.seed, {});
    header_ = plain.header();
    arcs_ = plain.arcs();
    const auto degrees = plain->degrees();
    if (!o_.source.empty())
      source_ = graph::find_vertex(header_, o_.source);
    else
      find_sources([degrees](std::uint64_t v) { return degrees.get(v) > 0; });
    if (o_.weights == "file" && plain.header().weighted) {
      weights_ = "of the file";
      plain = {};
      search_ = std::make_unique<search_with<double>>(
          global_graph<std::uint32_t, double>::read(o_.input.file, {}, {.compact_ids = o_.input.compact_ids}), o_);
      return;
    }
    weights_ = fmt::format("random, 1 to {}", sssp::random_weight::k_most);
    const sssp::random_weight weight{o_.common.seed};
    if (plain.vertices() < std::numeric_limits<std::uint32_t>::max() / sssp::random_weight::k_most)
      search_ = std::make_unique<search_with<std::uint32_t>>(plain.weighted(weight), o_);
    else
      search_ = std::make_unique<search_with<double>>(
          plain.weighted([weight](std::uint64_t v, std::uint64_t u) { return static_cast<double>(weight(v, u)); }), o_);
  }
  void describe(bench::report& r) const override {
    describe_graph(r, o_.input, header_, arcs_);
    r.parameter("weights", weights_);
    r.parameter("delta", search_->delta());
  }
  void reset() override {
    if (o_.source.empty()) source_ = sources_[++runs_ % sources_.size()];
  }
  std::uint64_t run() override {
    rounds_ = search_->run(source_, o_.common.form == "simple");
    return search_->arcs_reached();
  }
  void record(bench::report& r) const override { r.record("rounds", "", static_cast<double>(rounds_)); }
  std::string verify() override { return search_->verify(source_); }

private:
  /// A vertex per run, chosen by the seed, of those from which an arc leads on.
  template <class F>
  void find_sources(const F& leads_on) {
    const auto wanted = static_cast<std::size_t>(o_.common.repeat);
    for (std::uint64_t i = 0; i < 64 * std::uint64_t{wanted} && sources_.size() < wanted; ++i)
      if (const std::uint64_t v = splitmix64::at(mix64(o_.common.seed), i) % header_.vertices; leads_on(v))
        sources_.push_back(v);
    for (std::uint64_t v = 0; v < header_.vertices && sources_.empty(); ++v)
      if (leads_on(v)) sources_.push_back(v);
    if (sources_.empty()) sources_.push_back(0);
  }

  const sssp_options o_;
  graph::graph_header header_;
  std::uint64_t arcs_ = 0;
  std::unique_ptr<any_search> search_;
  std::string weights_;
  std::vector<std::uint64_t> sources_;
  std::size_t runs_ = 0;
  std::uint64_t source_ = 0;
  std::uint64_t rounds_ = 0;
};

}  // namespace

subcommand_body declare_sssp(CLI::App& app) {
  auto o = std::make_shared<sssp_options>();
  add_graph_input(app, o->input);
  app.add_option("--weights", o->weights, "file: the values of the input's edges, random if it has none; or random")
      ->check(CLI::IsMember({"file", "random"}))
      ->capture_default_str();
  app.add_option("--source", o->source, "the vertex to begin at (default: another one for each run)");
  app.add_option("--delta", o->delta, "width of the bins of distances (default: the greatest weight / mean degree)")
      ->check(bench::real_range(1e-12, 1e12));
  add_kernel_options(app, o->common);
  return [o] {
    check_graph_input(o->input, o->common, 12, 24);
    return run_kernel(o->common, [o] { return std::make_unique<sssp_case>(*o); });
  };
}

}  // namespace shoal::tools
