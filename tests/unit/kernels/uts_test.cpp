// SPDX-License-Identifier: Apache-2.0
#include "kernels/uts/tree.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace shoal::kernels::uts;

// SHA-1 and every rule of the trees take part: one wrong bit gives other sizes.
TEST(uts, trees_have_their_published_sizes) {
  for (const published_tree& t : k_published) {
    if (t.size.nodes > 10'000'000) continue;
    const counts found = search_alone(t.shape);
    EXPECT_EQ(found.nodes, t.size.nodes) << t.name;
    EXPECT_EQ(found.leaves, t.size.leaves) << t.name;
    EXPECT_EQ(found.depth, t.size.depth) << t.name;
  }
}

// Beside the command sha1sum: of 16 zero bytes and the number 19, and of that digest and the number 3.
TEST(uts, sha1_of_a_seed_and_of_a_child) {
  const digest root = sha1_of_seed(19);
  EXPECT_EQ(root, (digest{0xc6988ab7, 0x0cc9559a, 0xe4d6cba2, 0x54e29a84, 0x5a85f86b}));
  EXPECT_EQ(sha1_of_child(root, 3), (digest{0x4e62c778, 0x9552ef31, 0xfa428ed5, 0xd9023d3f, 0x3ec368ef}));
}

}  // namespace
