// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/arbiter.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tools/mpi-threads/report.hpp"

namespace shoal::mpi_threads {
namespace {

constexpr const char* k_calls[] = {"Isend", "Wait"};

TEST(arbiter, counts_by_class_and_function_and_excludes) {
  arbiter a(settings{}, k_calls);
  std::uint64_t unguarded = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        for (int call : {0, 1}) {
          a.enter(a.me(), call, call == 0 ? k_high : k_low);
          EXPECT_TRUE(a.holding());
          ++unguarded;
          a.leave(a.me());
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(unguarded, 12000U);
  const arbiter_sum sum = a.sum();
  EXPECT_EQ(sum.calls[0].acquired[k_high], 6000U);
  EXPECT_EQ(sum.calls[0].acquired[k_low], 0U);
  EXPECT_EQ(sum.calls[1].acquired[k_low], 6000U);
  EXPECT_EQ(sum.by_thread, (std::vector<std::uint64_t>{4000, 4000, 4000}));
  EXPECT_LE(sum.won_again, sum.contended);
}

void await_waiting(const arbiter& a, unsigned threads) {
  while (a.waiting() != threads) std::this_thread::yield();
}

TEST(arbiter, a_poll_that_waits_lets_later_requests_go_first) {
  for (const char* lock : {"bounded", "priority", "ticket", "mutex"}) {
    settings chosen;
    chosen.lock = lock;
    chosen.bound = 1'000'000'000;  // no poll queues during this test
    arbiter a(chosen, k_calls);
    std::vector<unsigned> order;
    const auto enters = [&](int call, unsigned cls) {
      a.enter(a.me(), call, cls);
      order.push_back(cls);
      a.leave(a.me());
    };
    a.enter(a.me(), 0, k_high);
    std::thread poll(enters, 1, k_low);
    await_waiting(a, 1);
    std::thread first(enters, 0, k_high), second(enters, 0, k_high);
    await_waiting(a, 3);
    a.leave(a.me());
    for (std::thread* t : {&poll, &first, &second}) t->join();
    EXPECT_EQ(order, (std::vector<unsigned>{k_high, k_high, k_low})) << lock;
  }
}

// With a lock that does not starve polls itself.
TEST(arbiter, polls_enter_beside_requests_without_end) {
  for (const char* lock : {"bounded", "ticket"}) {
    settings chosen;
    chosen.lock = lock;
    chosen.bound = 2;
    arbiter a(chosen, k_calls);
    std::atomic<bool> over{false};
    std::vector<std::thread> requests;
    for (int t = 0; t < 3; ++t) {
      requests.emplace_back([&] {
        while (!over) {
          a.enter(a.me(), 0, k_high);
          a.leave(a.me());
        }
      });
    }
    for (int i = 0; i < 200; ++i) {
      a.enter(a.me(), 1, k_low);
      a.leave(a.me());
    }
    over = true;
    for (std::thread& t : requests) t.join();
    EXPECT_EQ(a.sum().calls[1].acquired[k_low], 200U) << lock;
  }
}

TEST(arbiter, a_thread_that_ends_inside_is_named_and_the_lock_is_free) {
  arbiter a(settings{}, k_calls);
  testing::internal::CaptureStderr();
  std::thread([&] {
    a.me().inside.store(1);
    a.enter(a.me(), 1, k_low);
  }).join();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("in MPI_Wait ended inside the MPI library"), std::string::npos) << said;
  a.enter(a.me(), 0, k_high);
  a.leave(a.me());
}

TEST(arbiter, in_a_child_a_thread_ends_without_the_books_that_others_may_have_had) {
  arbiter a(settings{}, k_calls);
  a.me();
  std::thread([&] {
    a.me();
    a.forked();
  }).join();
  EXPECT_FALSE(a.one_caller());  // nothing was given back
}

TEST(arbiter, of_threads_that_ended_the_sum_is_kept_and_nothing_else) {
  arbiter a(settings{}, k_calls);
  a.enter(a.me(), 0, k_high);
  a.leave(a.me());
  EXPECT_TRUE(a.one_caller());
  for (int i = 0; i < 3; ++i) {
    std::thread([&] {
      a.me().inside.store(1);  // of one that ended nobody says that it is inside
      a.enter(a.me(), 1, k_low);
      EXPECT_FALSE(a.one_caller());
      a.leave(a.me());
    }).join();
    EXPECT_TRUE(a.one_caller());
    EXPECT_EQ(a.threads_inside(), std::vector<std::string>{});
  }
  EXPECT_EQ(a.sum().calls[1].acquired[k_low], 3U);
  EXPECT_EQ(a.sum().by_thread.size(), 4U);
}

// The destructor of another key: some run before ours, some after, whichever the numbers of the keys are.
struct late_calls {
  arbiter* a;
  pthread_key_t key;
  unsigned rounds, left;
  static void call(void* with) {
    auto& self = *static_cast<late_calls*>(with);
    self.a->enter(self.a->me(), 0, k_high);
    self.a->leave(self.a->me());
    ++self.rounds;
    if (self.left-- > 0) pthread_setspecific(self.key, with);
  }
};

TEST(arbiter, calls_of_a_thread_that_is_nearly_gone_are_counted) {
  late_calls late{nullptr, {}, 0, 1};
  arbiter a(settings{}, k_calls);
  late.a = &a;
  ASSERT_EQ(pthread_key_create(&late.key, late_calls::call), 0);
  struct at_end {
    arbiter* a = nullptr;
    ~at_end() {
      if (a == nullptr) return;
      a->enter(a->me(), 1, k_low);
      a->leave(a->me());
    }
  };
  std::thread([&] {
    thread_local at_end object;
    object.a = &a;
    pthread_setspecific(late.key, &late);
    a.enter(a.me(), 1, k_low);
    a.leave(a.me());
  }).join();
  pthread_key_delete(late.key);
  EXPECT_EQ(late.rounds, 2U);
  EXPECT_EQ(a.sum().calls[0].acquired[k_high], 2U);
  EXPECT_EQ(a.sum().calls[1].acquired[k_low], 2U);
  EXPECT_EQ(a.sum().by_thread, std::vector<std::uint64_t>{4});  // one thread
  a.me();
  EXPECT_TRUE(a.one_caller());
}

TEST(arbiter, may_be_gone_before_its_threads) {
  auto first = std::make_unique<arbiter>(settings{}, k_calls);
  std::thread([&] {
    first->enter(first->me(), 0, k_high);
    first->leave(first->me());
    first.reset();
    arbiter second(settings{}, k_calls);
    second.enter(second.me(), 0, k_high);
    second.leave(second.me());
    EXPECT_EQ(second.sum().by_thread.size(), 1U);
  }).join();
}

TEST(report, is_json_with_what_was_counted) {
  process_report report;
  report.mpi = "openmpi";
  report.state = "finished";
  report.sum.calls.resize(2);
  report.sum.calls[1].calls = 3;
  report.sum.calls[1].acquired[k_low] = 5;
  report.sum.by_thread = {4, 1};
  const auto read = nlohmann::json::parse(report_json(report, k_calls));
  EXPECT_EQ(read.at("calls").size(), 1U);
  EXPECT_EQ(read.at("calls").at("Wait").at("low"), 5);
  EXPECT_EQ(read.at("threads").size(), 2U);
}

}  // namespace
}  // namespace shoal::mpi_threads
