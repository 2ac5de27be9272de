// SPDX-License-Identifier: Apache-2.0
// Runs the snippets of docs/guide.md, tasks.md, migration.md, containers.md, files.md, checkpoints.md, collectives.md, sort.md,
// memory.md and locks.md unchanged.
#undef NDEBUG  // the snippets assert, in optimised builds too
#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <shared_mutex>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "shoal/checkpoint.hpp"
#include "shoal/files.hpp"
#include "shoal/global_bitset.hpp"
#include "shoal/global_counter.hpp"
#include "shoal/global_map.hpp"
#include "shoal/global_multimap.hpp"
#include "shoal/global_promise.hpp"
#include "shoal/global_ptr.hpp"
#include "shoal/global_queue.hpp"
#include "shoal/global_set.hpp"
#include "shoal/global_vector.hpp"
#include "shoal/histogram.hpp"
#include "shoal/memory_use.hpp"
#include "shoal/permute.hpp"
#include "shoal/scan.hpp"
#include "shoal/select.hpp"
#include "shoal/sort.hpp"
#include "shoal/transpose.hpp"
#include "tests/cluster/cluster.hpp"
#include "tests/cluster/folder.hpp"

namespace {

std::string new_folder() {
  static const shoal::test::folder all;
  static std::atomic<int> number{0};
  const std::string name = all / std::to_string(number++);
  std::filesystem::create_directory(name);
  return name;
}

#include "docs_snippets.inc"

class guide : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(guide);

TEST_P(guide, snippets_do_what_they_say) {
  for (auto* snippet : k_task_snippets) run([snippet] { snippet(); });
  EXPECT_GE(std::size(k_task_snippets), 4U);
}

TEST(tasks_guide, snippets_do_what_they_say) {
  shoal::pool pool(2);
  for (auto* snippet : k_pool_snippets) pool.run([snippet] { snippet(); });
  for (auto* snippet : k_thread_snippets) snippet();
}

TEST(guide_programs, run) {
  for (auto* program : k_run_snippets) {
    char name[] = "program";
    char* argv[] = {name, nullptr};
    int argc = 1;
    EXPECT_EQ(program(argc, argv), 0);
  }
}

}  // namespace
