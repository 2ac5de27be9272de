// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/trace_kernel.hpp"

#include <gtest/gtest.h>

#include "shoal/error.hpp"

namespace shoal::tools {
namespace {

TEST(trace_kernel, is_read_as_it_was_written) {
  const std::vector<kernel_part> parts = {{7, 1000, 20, "timer interrupt"}, {8, 1100, 5, "preemption (a b)"}};
  EXPECT_EQ(read_kernel_text(kernel_text(parts), "file"), parts);
  EXPECT_TRUE(read_kernel_text(kernel_text({}), "file").empty());
  const std::vector<kernel_part> odd = {{7, 1000, 20, "preemption (a\tb\n)"}};
  EXPECT_EQ(read_kernel_text(kernel_text(odd), "file").front().name, "preemption (a b )");
}

TEST(trace_kernel, says_where_a_file_is_wrong) {
  const std::string head = kernel_text({});
  EXPECT_THROW(read_kernel_text("", "file"), error);
  EXPECT_THROW(read_kernel_text("another file\n", "file"), error);
  for (const char* const line : {"x\t1\t2\tname", "1\t-1\t2\tname", "1\t2\t3", "1\t2\t3\t", "1"}) {
    try {
      static_cast<void>(read_kernel_text(head + "1\t2\t3\tname\n" + line + "\n", "kernel.tsv"));
      ADD_FAILURE() << line;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_input);
      EXPECT_NE(std::string(e.what()).find("kernel.tsv, line 3"), std::string::npos) << e.what();
    }
  }
}

TEST(trace_kernel, belongs_to_the_worker_with_the_thread) {
  trace::timeline t;
  t.length_ns = 1000;
  t.begin_raw_ns = 5000;
  t.tracks.resize(2);
  t.tracks[0].thread = 7;
  t.tracks[1].thread = 8;
  const std::vector<kernel_part> parts = {{8, 5500, 5, "timer interrupt"},
                                          {8, 5100, 3, "page fault"},
                                          {9, 5100, 3, "page fault"},
                                          {7, 9999, 3, "page fault"}};
  add_kernel_parts(t, parts);
  EXPECT_TRUE(t.tracks[0].kernel.empty());  // after the end
  ASSERT_EQ(t.tracks[1].kernel.size(), 2U);
  EXPECT_EQ(t.tracks[1].kernel[0].begin_ns, 100U);
  EXPECT_EQ(t.words[t.tracks[1].kernel[0].name], "page fault");
  EXPECT_EQ(t.tracks[1].kernel[1].ns, 5U);
}

}  // namespace
}  // namespace shoal::tools
