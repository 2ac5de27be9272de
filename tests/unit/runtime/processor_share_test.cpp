// SPDX-License-Identifier: Apache-2.0
#include "runtime/processor_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include "machine/file.hpp"
#include "runtime/submissions.hpp"
#include "shoal/task.hpp"

namespace shoal::runtime {
namespace {

using shares_of = std::vector<unsigned>;

TEST(fair_shares, nobody_gets_more_than_it_wants_and_everybody_something) {
  const auto divide = [](unsigned processors, shares_of wanted) { return fair_shares(processors, wanted); };
  EXPECT_EQ(divide(8, {8, 8}), (shares_of{4, 4}));
  EXPECT_EQ(divide(8, {8, 1, 8}), (shares_of{4, 1, 3}));
  EXPECT_EQ(divide(8, {2, 0, 3}), (shares_of{2, 0, 3}));
  EXPECT_EQ(divide(2, {8, 8, 8}), (shares_of{1, 1, 1}));
  EXPECT_EQ(divide(4, {}), shares_of{});
  EXPECT_EQ(divide(64, {64, 64, 64}), (shares_of{22, 21, 21}));
}

// A pool whose workers are all busy while `busy`.
class busy_pool {
public:
  explicit busy_pool(unsigned workers, bool shares) {
    sched::pool_options o;
    o.workers = workers;
    o.most_stacks = 1024;
    o.shares_processors = shares;
    pool_ = std::make_unique<sched::pool>(o);
    pool_->start();
    tasks_ = std::make_unique<submissions>(*pool_, "ends");
  }
  ~busy_pool() {
    work(false);
    tasks_->close();
    pool_->finish();
  }
  void work(bool on) {
    busy_ = on;
    if (!on) return;
    for (unsigned i = 0; i < pool_->size(); ++i)
      tasks_->begin(detail::make_submission([this] {
                      while (busy_) std::this_thread::yield();  // not a task's wait: it keeps its worker
                    }).first);
  }
  sched::pool* operator->() const { return pool_.get(); }
  sched::pool* get() const { return pool_.get(); }

private:
  std::unique_ptr<sched::pool> pool_;
  std::unique_ptr<submissions> tasks_;
  std::atomic<bool> busy_{false};
};

class sharing_processors : public testing::Test {
protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  processor_share::surroundings there(unsigned processors) {
    return {.read_quota = [this] { return quota_; },
            .processors = processors,
            .processor_list = "ff",
            .folder = [this] { return folder_; }};
  }
  std::uint64_t now() { return now_ns_ += 1'000'000'000; }
  std::uint64_t now_ns_ = 0;
  double quota_ = std::numeric_limits<double>::infinity();
  const std::string folder_ = testing::TempDir() + "/shoal-processors";
};

TEST_F(sharing_processors, a_quota_that_falls_lets_workers_rest_until_it_rises) {
  busy_pool usual(4, false);
  busy_pool many(8, false);  // as its program has chosen, on four processors
  processor_share share(there(4));
  sched::pool* const pools[] = {usual.get(), many.get()};
  const auto expect = [&](unsigned of_usual, unsigned of_many) {
    share.look(pools, now());
    EXPECT_EQ(usual->active(), of_usual);
    EXPECT_EQ(many->active(), of_many);
  };
  expect(4, 8);
  quota_ = 2;
  expect(2, 4);
  quota_ = 0.3;
  expect(1, 1);
  quota_ = 3.5;
  expect(4, 7);
  quota_ = std::numeric_limits<double>::infinity();
  expect(4, 8);
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(sharing_processors, busy_pools_of_several_processes_get_equal_shares_and_idle_ones_give_theirs) {
  busy_pool first(4, true);
  busy_pool second(4, true);
  busy_pool alone(4, false);
  first.work(true);
  second.work(true);
  auto one = std::make_unique<processor_share>(there(4));
  processor_share other(there(4));
  sched::pool* const of_one[] = {first.get(), alone.get()};
  sched::pool* const of_other[] = {second.get()};
  const auto settle = [&](auto until) {
    for (int looks = 0; looks < 1000 && !until(); ++looks) {
      if (one != nullptr) one->look(of_one, now());
      other.look(of_other, now());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(until()) << first->active() << " and " << second->active();
  };
  settle([&] { return first->active() == 2 && second->active() == 2; });
  EXPECT_EQ(alone->active(), 4U);
  first.work(false);
  settle([&] { return second->active() == 4; });
  first.work(true);
  settle([&] { return first->active() == 2 && second->active() == 2; });
  one.reset();
  settle([&] { return second->active() == 4; });
}

TEST_F(sharing_processors, a_file_that_a_process_has_left_behind_is_removed) {
  std::filesystem::create_directories(folder_);
  const std::string left = folder_ + "/1.0";
  std::ofstream(left) << "ff 4\n";
  busy_pool mine(4, true);
  mine.work(true);
  processor_share share(there(4));
  sched::pool* const pools[] = {mine.get()};
  {
    machine::file held(left, machine::file::purpose::read);
    ASSERT_TRUE(held.try_lock());
    for (int i = 0; i < 5; ++i) share.look(pools, now());
    EXPECT_EQ(mine->active(), 2U);
  }
  for (int i = 0; i < 5; ++i) share.look(pools, now());
  EXPECT_EQ(mine->active(), 4U);
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(sharing_processors, who_has_lost_its_file_writes_another) {
  busy_pool mine(2, true);
  processor_share share(there(2));
  sched::pool* const pools[] = {mine.get()};
  const auto files = [this] {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  };
  share.look(pools, now());
  ASSERT_EQ(files(), 1);
  std::filesystem::remove_all(folder_);
  share.look(pools, now());
  EXPECT_EQ(files(), 1);
}

TEST_F(sharing_processors, without_a_folder_everybody_begins_tasks_until_there_is_one) {
  std::ofstream(folder_) << "a file";
  busy_pool mine(2, true);
  processor_share share(there(2));
  sched::pool* const pools[] = {mine.get()};
  testing::internal::CaptureStderr();
  share.look(pools, now());
  share.look(pools, now());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(mine->active(), 2U);
  EXPECT_NE(said.find(folder_), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << "told once: " << said;
  std::filesystem::remove(folder_);
  for (int i = 0; i < 10; ++i) share.look(pools, now());
  EXPECT_TRUE(std::filesystem::is_directory(folder_));
}

}  // namespace
}  // namespace shoal::runtime
