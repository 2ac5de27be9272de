// SPDX-License-Identifier: Apache-2.0
// The profile of ranks: the same figures in a table, in JSON and in a picture, and after a journey as text.
#include "trace/ranks_profile.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace {

using namespace shoal::trace;

ranks_profile example(int ranks) {
  ranks_profile p;
  p.processes.push_back({static_cast<unsigned>(ranks), 2, 1000, 41'000, 300, 700, 5});
  for (int i = 0; i < ranks; ++i) {
    rank_row r;
    r.rank = i;
    r.compute_seconds = 1 + i;
    r.copy_seconds = 0.25;
    r.library_seconds = 0.5;
    r.wait_seconds = 2;
    r.ready_seconds = 1.5;
    r.calls = 10;
    r.longest_messages = 7;
    r.waits = {{"MPI_Recv", 3, 1.5, 1.25}, {"a collective operation", 1, 0.5, 0.25}};
    r.sent = {{(i + 1) % ranks, 3, 3'000'000}};
    p.ranks.push_back(r);
  }
  return p;
}

TEST(profile_of_ranks, keeps_its_figures_as_text) {
  ranks_profile p = example(3);
  ranks_profile again;
  add_ranks_text(again, ranks_text(p));
  EXPECT_EQ(ranks_json(again), ranks_json(p));
  ASSERT_EQ(again.ranks.size(), 3);
  EXPECT_EQ(again.ranks[2].waits[1].function, "a collective operation");
}

TEST(profile_of_ranks, is_json) {
  const auto read = nlohmann::json::parse(ranks_json(example(3)));
  EXPECT_EQ(read["ranks"].size(), 3);
  EXPECT_DOUBLE_EQ(read["ranks"][1]["seconds"], 4.75);
  EXPECT_EQ(read["ranks"][2]["sent"][0]["to"], 0);
  EXPECT_EQ(read["ranks"][0]["waits"]["MPI_Recv"]["count"], 3);
  EXPECT_EQ(read["processes"][0]["copy_bytes"], 300);
  EXPECT_TRUE(nlohmann::json::parse(ranks_json({}))["ranks"].empty());
}

TEST(profile_of_ranks, is_a_table) {
  const std::string few = ranks_table(example(2));
  for (const char* part :
       {"profile of 2 ranks in 1 process\n", "0 -> 1", "3000.0 KB", "MPI_Recv", "20.0 KB per rank, of 2",
        "a copy of the program: 300 B of its own at most, 5 mappings; 700 B shared"})
    EXPECT_NE(few.find(part), std::string::npos) << part << '\n' << few;
  const std::string many = ranks_table(example(40));
  EXPECT_NE(many.find("... 8 more, which compute less"), std::string::npos) << many;
  EXPECT_NE(many.find("... 30 more pairs of ranks"), std::string::npos) << many;
}

TEST(profile_of_ranks, is_a_picture) {
  for (const int ranks : {1, 2, 1000}) {
    const std::string picture = ranks_picture(example(ranks));
    EXPECT_TRUE(picture.starts_with("<svg")) << picture;
    EXPECT_TRUE(picture.ends_with("</svg>\n"));
    EXPECT_LT(picture.size(), 300'000);
  }
  EXPECT_NE(ranks_picture(example(2)).find("1 to 0: 3 messages, 3000000 bytes"), std::string::npos);
}

}  // namespace
