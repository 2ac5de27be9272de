// SPDX-License-Identifier: Apache-2.0
// `shoal bench domains` as a user meets it: its jobs of several processes, their results, and what it refuses.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "net/plugin.hpp"
#include "unit/tools/run_command.hpp"

namespace {

using shoal::tests::run_command;

const std::string k_short = "bench domains --repeat 1 --seconds 0.002 ";

bool can_use(const char* transport) { return shoal::net::has_plugin(transport, shoal::net::plugin_folders({})); }

TEST(bench_domains, threads_processes_and_masks_over_ucx_are_compared_and_written) {
  const auto got =
      run_command(k_short + "--bytes 8,4096 --masks 0,7 --curves domains,processes,masks --json -", "2>/dev/null");
  if (!can_use("ucx")) {
    EXPECT_NE(got.status, 0);
    return;
  }
  ASSERT_EQ(got.status, 0) << got.text;
  const auto report = nlohmann::json::parse(got.text);
  EXPECT_EQ(report["checks"]["memory"], true);
  for (const char* column : {"domains_1", "domains_2", "processes_1", "processes_2", "mask_0", "mask_7"})
    for (const char* point : {"latency_us.put.8.", "rate.put.8.", "latency_us.get.8.", "latency_us.add.8.",
                              "rate.adds.8.", "rate.add_one.8."}) {
      ASSERT_TRUE(report["metrics"].contains(std::string(point) + column)) << point << column;
      EXPECT_GT(report["metrics"][std::string(point) + column]["median"], 0);
    }
  for (const char* point : {"rate.put.4096.domains_2", "rate.send.4096.domains_2", "latency_us.send.8.processes_1"})
    EXPECT_TRUE(report["metrics"].contains(point)) << point;
}

TEST(bench_domains, over_mpi_it_says_that_nothing_is_one_sided) {
  const auto got = run_command(k_short + "--transport mpi --bytes 8 --domains 2 --curves domains");
  if (!can_use("mpi")) {
    EXPECT_NE(got.status, 0);
    return;
  }
  EXPECT_EQ(got.status, 0) << got.text;
  EXPECT_TRUE(got.has("has no one-sided operations")) << got.text;
  EXPECT_TRUE(got.has("rate.adds.8.domains_2")) << got.text;
}

TEST(bench_domains, what_cannot_be_meant_is_refused_with_a_sentence) {
  EXPECT_TRUE(run_command(k_short + "--domains 3").has("from 1 to the 2 workers"));
  EXPECT_TRUE(run_command(k_short + "--bytes 12").has("multiples of 8"));
  EXPECT_EQ(run_command(k_short + "--transport shm").status, 2);
  EXPECT_EQ(run_command(k_short + "--picture /nowhere/x.svg").status, 1);
}

}  // namespace
