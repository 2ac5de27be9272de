// SPDX-License-Identifier: Apache-2.0
// Who goes next: the order that each kind promises. The waiters come one after the other (each is known to wait before
// the next one starts), then the lock goes round.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "machine/thread_id.hpp"
#include "shoal/locks.hpp"

namespace shoal {
namespace {

// In the end they all sleep: the default way of waiting and park_wait do. Whoever was woken counts as awake at once.
bool asleep(std::uint32_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(stat, text);
  const auto name_ends = text.rfind(')');
  return name_ends != std::string::npos && text.size() > name_ends + 2 && text[name_ends + 2] == 'S';
}
void await_sleep(const std::atomic<std::uint32_t>& thread) {
  thread.wait(0);
  while (!asleep(thread)) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

template <class Lock>
class line {
public:
  explicit line(Lock& lock) : lock_(lock) { lock_.lock(); }
  void add(int name, std::function<void(Lock&)> get) {
    waiter& one = waiters_.emplace_back();
    one.thread = std::thread([this, &one, name, get = std::move(get)] {
      one.number = machine::thread_id();
      one.number.notify_one();
      get(lock_);
      one.served = true;
      served_.push_back(name);
      // The holder before has left for good, and whoever has moved on in a queue of several steps comes to rest.
      while (left_ != served_.size()) std::this_thread::yield();
      for (const waiter& w : waiters_)
        if (!w.served) await_sleep(w.number);
      lock_.unlock();
      ++left_;
    });
    await_sleep(one.number);
  }
  std::vector<int> served() {
    lock_.unlock();
    ++left_;
    for (waiter& w : waiters_) w.thread.join();
    return served_;
  }

private:
  struct waiter {
    std::thread thread;
    std::atomic<std::uint32_t> number{0};
    bool served = false;
  };
  Lock& lock_;
  std::deque<waiter> waiters_;  // all there before the first one is served
  std::vector<int> served_;
  std::atomic<std::size_t> left_{0};  // unlock() has returned: ours at first, then the waiters'
};

template <class Lock>
class first_come : public testing::Test {};
using fifo_kinds =
    testing::Types<ticket_lock<>, ticket_lock<park_wait>, mcs_lock<>, mcs_lock<park_wait>, clh_lock<>,
                   clh_lock<park_wait>, message_lock<>, priority_lock<>, hierarchical_lock<>, bounded_lock<>>;
TYPED_TEST_SUITE(first_come, fifo_kinds);

TYPED_TEST(first_come, first_served) {
  TypeParam lock;
  line<TypeParam> all(lock);
  for (int i = 0; i < 4; ++i) all.add(i, [](TypeParam& l) { l.lock(); });
  EXPECT_EQ(all.served(), (std::vector{0, 1, 2, 3}));
}

TEST(priority_lock, the_higher_class_goes_first_and_each_in_order) {
  priority_lock<> lock;
  line<priority_lock<>> all(lock);
  int name = 0;
  for (const unsigned cls : {1U, 0U, 1U, 0U, 1U, 0U}) all.add(name++, [cls](priority_lock<>& l) { l.lock(cls); });
  EXPECT_EQ(all.served(), (std::vector{1, 3, 5, 0, 2, 4}));
}

// Number 0 came when nobody of class 1 was there, and so waits for class 0 alone.
TEST(priority_lock, of_three_classes) {
  priority_lock<> lock(3);
  line<priority_lock<>> all(lock);
  int name = 0;
  for (const unsigned cls : {2U, 1U, 2U, 0U, 1U, 0U}) all.add(name++, [cls](priority_lock<>& l) { l.lock(cls); });
  EXPECT_EQ(all.served(), (std::vector{3, 5, 0, 1, 4, 2}));
}

TEST(priority_lock, of_one_class_and_a_class_too_many) {
  priority_lock<> one(1);
  one.lock(7);
  EXPECT_FALSE(one.try_lock());
  one.unlock();
  EXPECT_TRUE(one.try_lock());
  one.unlock();
  priority_lock<> none(0);
  none.lock();
  none.unlock();
}

TEST(message_lock, whose_event_has_come_goes_first) {
  message_lock<> lock;
  lock_event events[4];
  line<message_lock<>> all(lock);
  for (int i = 0; i < 4; ++i) all.add(i, [&, i](message_lock<>& l) { l.lock_for(events[i]); });
  all.add(4, [](message_lock<>& l) { l.lock(); });
  events[3].raise();
  events[1].raise();
  EXPECT_EQ(all.served(), (std::vector{1, 3, 0, 2, 4}));
}

TEST(message_lock, the_first_is_passed_no_more_often_than_the_bound) {
  message_lock<> lock(2);
  lock_event come;
  come.raise();
  line<message_lock<>> all(lock);
  all.add(0, [](message_lock<>& l) { l.lock(); });
  for (int i = 1; i < 5; ++i) all.add(i, [&](message_lock<>& l) { l.lock_for(come); });
  EXPECT_EQ(all.served(), (std::vector{1, 2, 0, 3, 4}));
}

// Threads say themselves where they are.
thread_local unsigned t_package = 0;

std::vector<int> served_by_packages(unsigned bound) {
  hierarchical_lock<> lock({2, [] { return t_package; }}, bound);
  line<hierarchical_lock<>> all(lock);
  int name = 0;
  for (const unsigned package : {1U, 0U, 1U, 0U, 1U, 0U})
    all.add(name++, [package](hierarchical_lock<>& l) {
      t_package = package;
      l.lock();
    });
  return all.served();
}

TEST(hierarchical_lock, stays_in_the_package_of_the_holder) {
  EXPECT_EQ(served_by_packages(64), (std::vector{1, 3, 5, 0, 2, 4}));
}

TEST(hierarchical_lock, but_no_more_often_in_a_row_than_the_bound) {
  EXPECT_EQ(served_by_packages(1), (std::vector{1, 0, 2, 3, 5, 4}));
  EXPECT_EQ(served_by_packages(0), (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(package_map, of_this_machine) {
  const package_map map = package_map::of_machine();
  EXPECT_GE(map.count, 1U);
  EXPECT_LT(map.package(), map.count);
}

TEST(clh_lock, more_threads_than_nodes) {
  clh_lock<> lock(2);
  long count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 5; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        lock.lock();
        ++count;
        lock.unlock();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(count, 5 * 500);
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
}

// One thread takes it again and again; the waiter is passed at most so often.
TEST(bounded_lock, a_waiter_is_passed_no_more_often_than_the_bound) {
  constexpr unsigned k_bound = 10;
  bounded_lock<> lock(k_bound);
  std::atomic<bool> served{false};
  lock.lock();
  std::atomic<std::uint32_t> number{0};
  std::thread waiter([&] {
    number = machine::thread_id();
    number.notify_one();
    lock.lock();
    served = true;
    lock.unlock();
  });
  await_sleep(number);
  lock.unlock();
  unsigned passes = 0;
  while (!served) {
    lock.lock();
    if (!served) ++passes;
    lock.unlock();
  }
  waiter.join();
  // The unlock before the loop has let it be passed once already, by us if by anybody.
  EXPECT_LE(passes, k_bound);
}

}  // namespace
}  // namespace shoal
