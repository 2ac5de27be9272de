// SPDX-License-Identifier: Apache-2.0
// Tests the tools for programs with many ranks per process: MPIX_Yield.
#include "tests/cluster/mpi_program.hpp"

namespace {

using shoal::test::mpirun;
using shoal::test::outcome;
using shoal::test::run;

using words = std::vector<std::string>;

std::string source(const std::string& name) { return shoal::test::program(name); }

TEST(yield, lets_other_ranks_run) {
  for (const words& shape : {words{"--nfg", "2"}, words{"--nfg", "5", "-w", "2"}}) {
    const outcome got = run(mpirun(source("ranks_yield.c"), shape));
    EXPECT_TRUE(got.status.clean()) << got;
  }
}

}  // namespace
