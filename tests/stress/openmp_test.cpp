// SPDX-License-Identifier: Apache-2.0
// Bodies of tasks that use OpenMP: a worker has one thread of it unless the user says otherwise, and the program's own
// threads are as before.
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "machine/library_threads.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/pool.hpp"

namespace shoal {
namespace {

int threads_of_a_region() {
  int threads = 0;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
  }
  return threads;
}

TEST(openmp_in_tasks, has_one_thread_per_worker) {
  unsetenv("OMP_NUM_THREADS");
  omp_set_num_threads(3);
  {
    pool workers(2);
    std::atomic<int> most{0};
    workers.run([&] {
      parallel_for(100, [&](int) {
        const int now = threads_of_a_region();
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
      });
    });
    EXPECT_EQ(most, 1);
  }
  EXPECT_EQ(omp_get_max_threads(), 3);
}

TEST(openmp_in_tasks, may_have_as_many_as_it_likes) {
  unsetenv("OMP_NUM_THREADS");
  pool workers(pool_options{.workers = 1, .settings = {{"library_threads", "any"}}});
  EXPECT_GE(workers.run([] {
    omp_set_num_threads(2);
    return threads_of_a_region();
  }),
            2);
}

TEST(openmp_in_tasks, is_left_alone_where_the_user_has_chosen_and_told_if_that_is_too_much) {
  setenv("OMP_NUM_THREADS", "4", 1);
  EXPECT_EQ(machine::oversubscribing_library(2, 4), "OMP_NUM_THREADS=4");
  EXPECT_EQ(machine::oversubscribing_library(2, 8), "");
  pool workers(2);
  int of_any_thread = 0;
  std::thread([&] { of_any_thread = omp_get_max_threads(); }).join();
  EXPECT_EQ(workers.run([] { return omp_get_max_threads(); }), of_any_thread);
  unsetenv("OMP_NUM_THREADS");
}

}  // namespace
}  // namespace shoal
