// SPDX-License-Identifier: Apache-2.0
#include "machine/neighbourhood.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace shoal::machine {
namespace {

TEST(neighbourhood, a_child_is_a_neighbour_and_reaches_our_memory) {
  const std::string here = neighbourhood();
  EXPECT_NE(here.find("uid:"), std::string::npos);
  auto mine = segment::create("neighbour", k_huge_page_bytes);
  std::byte* memory = mine.map();
  mine.commit(0, page_size(), page_kind::small);
  const int parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    std::string why;
    auto theirs = segment_of(parent, mine.descriptor(), why);
    if (!theirs || neighbourhood() != here) ::_exit(1);
    std::memcpy(theirs->map(), "seen", 5);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_STREQ(reinterpret_cast<const char*>(memory), "seen");
}

TEST(neighbourhood, what_is_no_segment_is_refused_with_a_reason) {
  std::string why;
  EXPECT_FALSE(segment_of(::getpid(), 12345, why));
  EXPECT_NE(why.find("12345"), std::string::npos);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(segment_of(::getpid(), ends[1], why));
  EXPECT_FALSE(why.empty());
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace shoal::machine
