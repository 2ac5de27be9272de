// SPDX-License-Identifier: Apache-2.0
// Who waits for credit, who does not, and the order in which both go on. What is sent is recorded; nothing is called.
#include "remote/call_credits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "remote/worker_port.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/loop.hpp"
#include "shoal/task.hpp"
#include "unit/remote/channels.hpp"

namespace shoal::remote {
namespace {

// The first word of each call. Tasks of one worker touch it with nothing but time between them, which is no order.
class call_log {
public:
  void add(std::uint64_t word) {
    const std::lock_guard hold(guard_);
    words_.push_back(word);
  }
  std::vector<std::uint64_t> all() const {
    const std::lock_guard hold(guard_);
    return words_;
  }
  std::uint64_t take_last() {
    const std::lock_guard hold(guard_);
    const std::uint64_t last = words_.back();
    words_.pop_back();
    return last;
  }
  void clear() {
    const std::lock_guard hold(guard_);
    words_.clear();
  }

private:
  mutable std::mutex guard_;
  std::vector<std::uint64_t> words_;
} first_words;

class credits : public testing::Test {
protected:
  static constexpr std::size_t k_words = 1000;

  credits() {
    context_.nodes = 2;
    context_.bases = bases_.data();
    port_ = std::make_unique<worker_port>(domain_, server_, context_, false, overflow_);
    first_words.clear();
  }
  void as_main_task(const std::function<void()>& body) {
    pool_.run([&] {
      sched::worker& w = *sched::this_worker();
      w.port = detail::t_port = port_.get();
      detail::set_outermost(true);
      body();
      detail::set_outermost(false);
      w.port = detail::t_port = nullptr;
    });
  }
  void call(std::uint64_t number, std::uint32_t node = 1) {
    std::vector<std::uint64_t> words(k_words);
    words[0] = number;
    credits_.send(*detail::t_worker, node, words, record);
  }
  void give(std::uint64_t calls, std::uint32_t node = 1) {
    credits_.give(*detail::t_worker, node, calls * call_credits::cost(k_words), record);
  }
  static void record(detail::worker_base&, std::uint32_t, std::span<const std::uint64_t> words) {
    first_words.add(words[0]);
  }
  std::uint64_t calls_in_a_window() const { return credits_.window_words() / call_credits::cost(k_words); }
  std::vector<std::uint64_t> up_to(std::uint64_t end) const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < end; ++i) all.push_back(i);
    return all;
  }

  sched::pool pool_{sched::pool_options()};
  std::array<std::byte*, 2> bases_{};
  detail::node_context context_;
  test_domain domain_;
  aggregate::overflow_memory overflow_{100'000};
  server server_{domain_, 2, nullptr, 0, false, &overflow_};
  std::unique_ptr<worker_port> port_;
  call_credits credits_{2, 0, overflow_};
};

TEST_F(credits, an_outermost_task_waits_for_credit) {
  as_main_task([this] {
    const std::uint64_t n = calls_in_a_window();
    ASSERT_GE(n, 8U);
    std::atomic<bool> ended{false};
    shoal::task_group group;
    group.run([&] {
      detail::set_outermost(true);
      for (std::uint64_t i = 0; i < 2 * n; ++i) call(i);
      ended = true;
      detail::set_outermost(false);
    });
    for (int i = 0; i < 100; ++i) shoal::yield();
    EXPECT_EQ(first_words.all(), up_to(n));
    EXPECT_LE(credits_.outstanding(1), credits_.window_words());
    EXPECT_EQ(credits_.outstanding(0), 0U);
    call(100, 0);  // the other node has credit of its own
    EXPECT_EQ(first_words.take_last(), 100U);
    for (std::uint64_t k = 1; k <= n; ++k) {
      give(1);
      for (int i = 0; i < 10; ++i) shoal::yield();
      EXPECT_EQ(first_words.all(), up_to(n + k));
    }
    EXPECT_TRUE(ended.load());
    group.wait();
  });
}

TEST_F(credits, a_handler_does_not_wait_and_goes_before_tasks_that_do) {
  as_main_task([this] {
    const std::uint64_t n = calls_in_a_window();
    for (std::uint64_t i = 0; i < n; ++i) call(i);
    shoal::task_group group;
    group.run([&] {
      detail::set_outermost(true);
      call(1000);
      detail::set_outermost(false);
    });
    shoal::yield();
    {
      const detail::handler_scope scope(*detail::t_worker, "i");
      call(n);
      call(n + 1);
    }
    EXPECT_EQ(first_words.all(), up_to(n));
    EXPECT_GT(overflow_.used_bytes(), 2 * k_words * sizeof(std::uint64_t));
    EXPECT_FALSE(overflow_.holds_tasks());
    give(2);
    EXPECT_EQ(first_words.all(), up_to(n + 2));
    EXPECT_EQ(overflow_.used_bytes(), 0U);
    give(1);
    group.wait();
    EXPECT_EQ(first_words.take_last(), 1000U);
  });
}

TEST_F(credits, calls_of_nested_tasks_stay_in_memory_up_to_its_limit) {
  const auto nested = [this] {
    as_main_task([this] {
      detail::set_outermost(false);
      for (std::uint64_t i = 0; i < calls_in_a_window() + 12; ++i) call(i);
      EXPECT_EQ(first_words.all(), up_to(calls_in_a_window()));
      give(12);
      EXPECT_EQ(first_words.all(), up_to(calls_in_a_window() + 12));
      for (std::uint64_t i = 0; i < 13; ++i) call(i);  // 8 KiB each: beyond the limit
    });
  };
  EXPECT_EXIT(nested(), testing::ExitedWithCode(3), "exhausted: nested tasks call node 1 .*97.7 KiB");
}

TEST_F(credits, return_in_few_messages) {
  const std::uint64_t price = call_credits::cost(k_words);
  std::uint64_t returned = 0;
  std::uint64_t begun = 0;
  int messages = 0;
  for (int i = 0; i < 1000; ++i) {
    begun += price;
    if (const std::uint64_t words = credits_.begun(1, price); words != 0) {
      returned += words;
      ++messages;
    }
    // What is not returned leaves room for a call of any length.
    EXPECT_LE(begun - returned, credits_.window_words() - call_credits::cost(1536));
  }
  EXPECT_LE(messages, 1000);
  EXPECT_GE(returned, begun - credits_.window_words() / 8);
}

}  // namespace
}  // namespace shoal::remote
