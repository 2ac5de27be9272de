// SPDX-License-Identifier: Apache-2.0
#include "kernels/bfs/searcher.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "kernels/bfs/simple.hpp"
#include "kernels/bfs/stopwatch.hpp"
#include "kernels/bfs/validator.hpp"
#include "shoal/error.hpp"
#include "shoal/random.hpp"

namespace shoal::kernels::bfs {
namespace {

template <class Id>
class searcher_of final : public searcher {
public:
  searcher_of(distributed_graph<Id> g, const searcher_options& options) : graph_(std::move(g)), form_(options.form) {
    vertices_ = view().vertices;
    input_edges_ = graph_.input_edges();
    arcs_ = graph_.arcs();
    generation_s_ = graph_.generation_s();
    const stopwatch watch;  // the preparation of the search is part of the construction time
    if (form_ == search_form::fast)
      fast_.emplace(graph_, options.search);
    else
      parents_ = global_array<Id>(view().slots());
    construction_s_ = graph_.construction_s() + watch.seconds();
    if (options.build.keep_edges) validator_.emplace(view());
  }

  search_counts search(std::uint64_t root) override {
    root_ = root;
    search_counts counts;
    const stopwatch watch;
    if (fast_)
      counts = fast_->run(root);
    else
      counts.levels = simple_search(view(), parents_.ref(), root);
    search_s_ = watch.seconds();
    return counts;
  }

  tree_verdict validate() override {
    SHOAL_ASSERT(validator_.has_value(), "validation needs a graph that was built with its edges kept");
    return validator_->check(tree(), root_);
  }
  std::uint64_t traversed() override { return count_traversed(view(), tree()); }

  std::vector<std::uint64_t> parents() override {
    std::vector<Id> some(std::min<std::uint64_t>(vertices_, 1 << 16));
    std::vector<std::uint64_t> all;
    all.reserve(vertices_);
    for (std::uint64_t first = 0; first < vertices_; first += some.size()) {
      const auto part = std::span(some).first(std::min<std::uint64_t>(some.size(), vertices_ - first));
      tree().get(first, part);
      for (const Id p : part) all.push_back(p == graph_view<Id>::k_nobody ? k_no_parent : std::uint64_t{p});
    }
    return all;
  }

  bool leads_on(std::uint64_t vertex) override { return view().rows.degree(vertex) != 0; }

private:
  const graph_view<Id>& view() const noexcept { return graph_.view(); }
  array_ref<Id> tree() const noexcept { return fast_ ? fast_->parents() : parents_.ref(); }

  distributed_graph<Id> graph_;
  search_form form_;
  std::uint64_t root_ = 0;
  std::optional<fast_search<Id>> fast_;
  global_array<Id> parents_;  // for the simple form
  std::optional<validator<Id>> validator_;
};

template <class Generator>
std::unique_ptr<searcher> generate(const Generator& generator, const searcher_options& o) {
  if (narrow_ids_serve(generator.vertices()))
    return std::make_unique<searcher_of<std::uint32_t>>(distributed_graph<std::uint32_t>::generate(generator, o.build),
                                                        o);
  return std::make_unique<searcher_of<std::uint64_t>>(distributed_graph<std::uint64_t>::generate(generator, o.build),
                                                      o);
}

}  // namespace

std::vector<std::uint64_t> searcher::choose_roots(std::uint64_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> roots;
  std::unordered_set<std::uint64_t> chosen;
  const auto offer = [&](std::uint64_t v) {
    if (roots.size() < count && !chosen.contains(v) && leads_on(v)) {
      chosen.insert(v);
      roots.push_back(v);
    }
  };
  const std::uint64_t key = mix64(seed ^ 0x726f6f74);  // makes the roots independent of the edges of this seed
  for (std::uint64_t i = 0; vertices_ > 0 && i < 64 * count && roots.size() < count; ++i)
    offer(splitmix64::at(key, i) % vertices_);
  // Few vertices have edges: test all of them.
  for (std::uint64_t v = 0; v < vertices_ && roots.size() < count; ++v) offer(v);
  if (roots.empty())
    throw error(errc::bad_input, "the graph has no edge that leads from one vertex to another: nothing to search");
  return roots;
}

std::unique_ptr<searcher> make_searcher(const graph::kronecker& generator, const searcher_options& options) {
  return generate(generator, options);
}

std::unique_ptr<searcher> make_searcher(const graph::uniform& generator, const searcher_options& options) {
  return generate(generator, options);
}

std::unique_ptr<searcher> make_searcher(std::uint64_t vertices, std::vector<graph::edge> edges,
                                        const searcher_options& o) {
  if (narrow_ids_serve(vertices))
    return std::make_unique<searcher_of<std::uint32_t>>(
        distributed_graph<std::uint32_t>::distribute(vertices, std::move(edges), o.build), o);
  return std::make_unique<searcher_of<std::uint64_t>>(
      distributed_graph<std::uint64_t>::distribute(vertices, std::move(edges), o.build), o);
}

std::uint64_t bytes_needed(std::uint64_t vertices, std::uint64_t edges, std::uint64_t nodes,
                           const searcher_options& options) {
  const double id = narrow_ids_serve(vertices) ? 4 : 8;
  const double rows = options.build.way == direction::both ? 2 : 1;
  const double v = static_cast<double>(vertices);
  const double n = static_cast<double>(nodes);
  const double graph = static_cast<double>(edges) * id * (2 + rows) + v * 12;
  const double search = v * id * 3 + n * v * 3 / 8;
  const double building = v * 8 + n * v;
  const double checking = options.build.keep_edges ? n * v * 16.125 : 0;
  const double all = graph + std::max(building, search + checking);
  return all >= 0x1p63 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(all);
}

}  // namespace shoal::kernels::bfs
