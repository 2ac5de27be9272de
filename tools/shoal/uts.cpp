// SPDX-License-Identifier: Apache-2.0
// `shoal uts`: unbalanced tree search, compared with the published sizes of the trees.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/uts/uts.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct uts_options {
  kernel_options common;
  std::string tree = "T1";
  std::uint32_t levels = 0;  // 0: those of the tree
};

const uts::published_tree& published(const std::string& name) {
  return *std::ranges::find(uts::k_published, name, &uts::published_tree::name);
}

class uts_case final : public kernel_case {
public:
  explicit uts_case(const uts_options& o) : kernel_case("uts", "nodes"), o_(o), tree_(published(o.tree).shape) {
    if (o.levels != 0) tree_.levels = o.levels;
  }

  void construct() override {
    if (o_.common.validate) expected_ = o_.levels == 0 ? published(o_.tree).size : uts::search_alone(tree_);
  }
  void describe(bench::report& r) const override {
    r.parameter("tree", o_.tree);
    if (o_.levels != 0) r.parameter("levels", o_.levels);
  }
  std::uint64_t run() override {
    found_ = o_.common.form == "simple" ? uts::simple(tree_) : uts::fast(tree_);
    return uts::sum_of(found_).nodes;
  }
  void record(bench::report& r) const override {
    const uts::counts sum = uts::sum_of(found_);
    r.record("leaves", "", static_cast<double>(sum.leaves));
    r.record("depth", "", static_cast<double>(sum.depth));
    std::uint64_t most = 0;
    for (const uts::counts& c : found_) most = std::max(most, c.nodes);
    r.record("imbalance", "", static_cast<double>(most * found_.size()) / static_cast<double>(sum.nodes));
  }
  std::string verify() override {
    const uts::counts sum = uts::sum_of(found_);
    if (sum == expected_) return {};
    return fmt::format("the search has found {} nodes, {} leaves and depth {}; the tree has {}, {} and {}", sum.nodes,
                       sum.leaves, sum.depth, expected_.nodes, expected_.leaves, expected_.depth);
  }

private:
  const uts_options o_;
  uts::tree tree_;
  uts::counts expected_;
  std::vector<uts::counts> found_;
};

}  // namespace

subcommand_body declare_uts(CLI::App& app) {
  auto o = std::make_shared<uts_options>();
  std::vector<std::string> names;
  for (const auto& t : uts::k_published) names.emplace_back(t.name);
  app.add_option("--tree", o->tree, "a tree of the UTS benchmark")->check(CLI::IsMember(names))->capture_default_str();
  app.add_option("--levels", o->levels, "other levels of a geometric tree (default: the tree's own)")
      ->check(CLI::Range(1U, 1000U));
  add_kernel_options(app, o->common);
  return [o] { return run_kernel(o->common, [o] { return std::make_unique<uts_case>(*o); }); };
}

}  // namespace shoal::tools
