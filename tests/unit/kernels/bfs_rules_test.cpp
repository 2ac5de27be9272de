// SPDX-License-Identifier: Apache-2.0
#include "kernels/bfs/rules.hpp"

#include <queue>

#include "graph/csr.hpp"
#include "shoal/graph/kronecker.hpp"
#include "tests/unit/graph/input.hpp"

namespace shoal::kernels::bfs {
namespace {

using namespace graph;
using namespace graph::test;

using numbers = std::vector<std::uint64_t>;

struct tree {
  std::uint64_t root = 0;
  numbers parents;
  numbers levels;
};

tree search(const edges& list, std::uint64_t vertices, std::uint64_t root,
            const csr_options& options = {.symmetrise = true}) {
  const auto rows = build_csr<std::uint64_t>(list, vertices, 0, vertices, options);
  tree t{root, numbers(vertices, k_no_parent), numbers(vertices, k_no_level)};
  t.parents[root] = root;
  t.levels[root] = 0;
  std::queue<std::uint64_t> queue({root});
  for (; !queue.empty(); queue.pop()) {
    const std::uint64_t v = queue.front();
    for (const std::uint64_t w : rows.neighbours(v)) {
      if (t.parents[w] != k_no_parent) continue;
      t.parents[w] = v;
      t.levels[w] = t.levels[v] + 1;
      queue.push(w);
    }
  }
  return t;
}

class Validate : public testing::Test {
protected:
  // A cycle 0-1-2-3-4-5-0 with a tail 3-6-7, a triangle 8-9-10 apart from it, and 11 alone.
  const edges list_{{0, 1}, {1, 2}, {2, 3},  {3, 4},  {5, 4}, {0, 5}, {3, 6},
                    {7, 6}, {8, 9}, {9, 10}, {10, 8}, {0, 0}, {0, 1}};
  static constexpr std::uint64_t k_vertices = 12;
  tree right_ = search(list_, k_vertices, 0);

  tree_verdict judge(const tree& t) { return validate_tree(t.root, t.parents, t.levels, list_); }
  tree_verdict judge_without_levels(const tree& t) { return validate_tree(t.root, t.parents, {}, list_); }
};

TEST_F(Validate, TheRightTreePasses) {
  const tree_verdict verdict = judge(right_);
  EXPECT_TRUE(verdict.right()) << verdict.message;
  EXPECT_EQ(verdict.message, "");
  EXPECT_EQ(verdict.reached, 8u);
  EXPECT_EQ(verdict.traversed, 10u);  // with the loop and the repetition
  EXPECT_EQ(verdict.deepest, 5u);
  EXPECT_TRUE(judge_without_levels(right_).right());
  EXPECT_EQ(levels_of_tree(0, right_.parents).levels, right_.levels);
}

TEST_F(Validate, AnotherRightTreePasses) {
  tree other = right_;
  ASSERT_EQ(other.parents[3], 2u);
  other.parents[3] = 4;  // as near
  EXPECT_TRUE(judge(other).right());
  EXPECT_TRUE(judge(search(list_, k_vertices, 11)).right());
  EXPECT_TRUE(judge(search(list_, k_vertices, 9)).right());
}

TEST_F(Validate, GeneratedGraphsPass) {
  const edge_list graph = generate_all(kronecker(10, 16, 4));
  for (const std::uint64_t root : {1u, 77u, 500u}) {
    const tree t = search(graph.list, graph.vertices, root);
    const tree_verdict verdict = validate_tree(root, t.parents, t.levels, graph.list);
    EXPECT_TRUE(verdict.right()) << verdict.message;
  }
}

// Each kind of corruption, and which rule finds it.

TEST_F(Validate, RootWithAnotherParent) {
  right_.parents[0] = 1;
  EXPECT_EQ(judge(right_).message, "vertex 0: the root is not its own parent at level 0 (rule 1)");
}

TEST_F(Validate, RootAtAnotherLevel) {
  right_.levels[0] = 1;
  EXPECT_EQ(judge(right_).fault, tree_fault::root_wrong);
}

TEST_F(Validate, RootUnreachedOrNoVertex) {
  tree t = right_;
  t.parents[0] = k_no_parent;
  EXPECT_EQ(judge(t).fault, tree_fault::root_wrong);
  right_.root = 12;
  EXPECT_EQ(judge(right_).fault, tree_fault::root_wrong);
}

TEST_F(Validate, Cycle) {
  right_.parents[3] = 6;  // 6's parent is 3
  EXPECT_EQ(judge_without_levels(right_).fault, tree_fault::cycle);
  EXPECT_EQ(judge(right_).fault, tree_fault::cycle);
  EXPECT_EQ(rule_of(tree_fault::cycle), 1);
}

TEST_F(Validate, CycleApartFromTheTree) {
  right_.parents[8] = 9, right_.parents[9] = 10, right_.parents[10] = 8;
  right_.levels[8] = right_.levels[9] = right_.levels[10] = 1;
  EXPECT_EQ(judge(right_).fault, tree_fault::cycle);
}

TEST_F(Validate, CycleIsFoundByVertexChecksAlone) {
  // No choice of levels hides a cycle from check_vertex: somewhere along it the level does not rise.
  right_.parents[8] = 9, right_.parents[9] = 10, right_.parents[10] = 8;
  for (std::uint64_t code = 0; code < 125; ++code) {
    right_.levels[8] = code % 5, right_.levels[9] = code / 5 % 5, right_.levels[10] = code / 25;
    bool found = false;
    for (std::uint64_t v = 8; v <= 10; ++v) {
      const std::uint64_t up = right_.parents[v];
      const tree_fault fault =
          check_vertex(v, 0, k_vertices, {up, right_.levels[v]}, {right_.parents[up], right_.levels[up]});
      found |= fault == tree_fault::level_of_parent;
    }
    EXPECT_TRUE(found) << code;
  }
}

TEST_F(Validate, SecondRoot) {
  right_.parents[11] = 11;
  right_.levels[11] = 0;
  EXPECT_EQ(judge(right_).message, "vertex 11: it is its own parent, which only the root may be (rule 1)");
}

TEST_F(Validate, ParentThatIsNoVertex) {
  right_.parents[4] = 12;
  EXPECT_EQ(judge(right_).message, "vertex 4: its parent is no vertex (rule 1)");
}

TEST_F(Validate, ParentThatWasNotReached) {
  right_.parents[4] = 8;
  EXPECT_EQ(judge(right_).message, "vertex 4: its parent was not reached (rule 1)");
}

TEST_F(Validate, LevelOffByOne) {
  right_.levels[7] = 4;  // a leaf of the tree
  EXPECT_EQ(judge(right_).message, "vertex 7: its level is not one more than its parent's (rule 2)");
  right_.levels[7] = 6;
  EXPECT_EQ(judge(right_).fault, tree_fault::level_of_parent);
}

TEST_F(Validate, LongWayRound) {
  // A tree, and levels that suit it, but not of shortest paths: 5 reached by way of 4 instead of from 0.
  right_.parents = {0, 0, 1, 2, 3, 4, 3, 6, k_no_parent, k_no_parent, k_no_parent, k_no_parent};
  right_.levels = levels_of_tree(0, right_.parents).levels;
  EXPECT_EQ(judge(right_).message, "edge 0 - 5: it joins levels further apart than a shortest path allows (rule 3)");
}

TEST_F(Validate, LeafLeftOut) {
  right_.parents[7] = k_no_parent;
  right_.levels[7] = k_no_level;
  EXPECT_EQ(judge(right_).message, "edge 7 - 6: it leads from a reached vertex to one that was not reached (rule 4)");
}

TEST_F(Validate, TreeEdgeThatDoesNotExist) {
  // 4 hung at 1 instead of 5: the same level, no such edge.
  ASSERT_EQ(right_.parents[4], 5u);
  right_.parents[4] = 1;
  EXPECT_EQ(judge(right_).message, "vertex 4: the edge to its parent is not in the graph (rule 5)");
}

TEST_F(Validate, VertexOfAnotherComponentHungOn) {
  right_.parents[11] = 0;
  right_.levels[11] = 1;
  EXPECT_EQ(judge(right_).fault, tree_fault::no_such_edge);
}

TEST_F(Validate, HalfReached) {
  tree t = right_;
  t.levels[11] = 3;
  EXPECT_EQ(judge(t).message, "vertex 11: it has a parent but no level, or a level but no parent");
  right_.levels[7] = k_no_level;
  EXPECT_EQ(judge(right_).fault, tree_fault::half_reached);
}

TEST_F(Validate, EdgeOutOfRange) {
  const edges list{{0, 12}};
  numbers alone(12, k_no_parent);
  alone[0] = 0;
  EXPECT_EQ(validate_tree(0, alone, {}, list).message, "edge 0 - 12: it has an end that is no vertex");
}

TEST_F(Validate, AnySingleChangeOfParentIsCaughtUnlessTheTreeIsStillRight) {
  // Every vertex gets every parent; right are exactly those that are a neighbour one level up.
  const auto rows = build_csr<std::uint64_t>(list_, k_vertices, 0, k_vertices, {.symmetrise = true});
  for (std::uint64_t v = 0; v < k_vertices; ++v) {
    for (std::uint64_t parent = 0; parent <= k_vertices; ++parent) {
      tree t = right_;
      t.parents[v] = parent == k_vertices ? k_no_parent : parent;
      bool right = t.parents[v] == right_.parents[v];
      if (v != 0 && parent < k_vertices && right_.levels[v] != k_no_level &&
          right_.levels[parent] + 1 == right_.levels[v]) {
        for (const std::uint64_t w : rows.neighbours(v)) right |= w == parent;
      }
      EXPECT_EQ(judge(t).right(), right) << v << " " << parent;
      EXPECT_EQ(judge_without_levels(t).right(), right) << v << " " << parent;
    }
  }
}

TEST(ValidateDirected, FollowsTheEdgesOnlyAsTheSearchDid) {
  const edges list{{0, 1}, {1, 2}, {2, 0}, {3, 0}};  // a directed triangle; 3 leads into it
  const tree forward = search(list, 4, 0, {});
  EXPECT_EQ(forward.levels, (numbers{0, 1, 2, k_no_level}));
  EXPECT_TRUE(validate_tree(0, forward.parents, forward.levels, list, direction::forward).right());
  EXPECT_EQ(validate_tree(0, forward.parents, forward.levels, list, direction::forward).traversed, 3u);
  EXPECT_FALSE(validate_tree(0, forward.parents, forward.levels, list, direction::reverse).right());
  EXPECT_FALSE(validate_tree(0, forward.parents, forward.levels, list, direction::both).right());

  const tree reverse = search(list, 4, 0, {.reverse = true});
  EXPECT_EQ(reverse.levels, (numbers{0, 2, 1, 1}));
  EXPECT_TRUE(validate_tree(0, reverse.parents, reverse.levels, list, direction::reverse).right());
  EXPECT_FALSE(validate_tree(0, reverse.parents, reverse.levels, list, direction::forward).right());
}

TEST(ValidateDirected, EdgeVerdicts) {
  const visit root{0, 0};
  const visit child{0, 1};
  const edge_verdict both = check_edge({0, 1}, root, child, direction::both);
  EXPECT_TRUE(both.confirms_to);
  EXPECT_FALSE(both.confirms_from);
  EXPECT_TRUE(both.traversed);
  EXPECT_FALSE(check_edge({0, 1}, root, child, direction::reverse).confirms_to);
  EXPECT_TRUE(check_edge({1, 0}, child, root, direction::reverse).confirms_from);
  EXPECT_EQ(check_edge({0, 1}, {}, {}, direction::both).traversed, false);
  EXPECT_EQ(check_edge({0, 1}, {}, child, direction::forward).fault, tree_fault::none);
  EXPECT_EQ(check_edge({0, 1}, {}, child, direction::both).fault, tree_fault::not_spanned);
}

TEST(LevelsOfTree, DeepChainsTakeNoStack) {
  numbers parents(1'000'000);
  for (std::uint64_t v = 1; v < parents.size(); ++v) parents[v] = v - 1;
  EXPECT_EQ(levels_of_tree(0, parents).levels.back(), 999'999u);
  for (std::uint64_t v = 0; v + 1 < parents.size(); ++v) parents[v] = v + 1;
  parents.back() = parents.size() - 1;
  EXPECT_EQ(levels_of_tree(999'999, parents).levels.front(), 999'999u);
}

}  // namespace
}  // namespace shoal::kernels::bfs
