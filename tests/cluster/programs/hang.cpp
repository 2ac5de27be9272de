// SPDX-License-Identifier: Apache-2.0
// Programs whose tasks wait for what does not come, and some whose tasks wait for long and go on.
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "shoal/global_map.hpp"
#include "shoal/shoal.hpp"

namespace {

void relock_a_mutex() {
  shoal::mutex m;
  m.lock();
  m.lock();
}

// Tasks that end without unlocking; others run on their stacks then. `how`: nothing, or shoal::movable.
template <class... How>
void leave_mutexes_locked(How... how) {
  shoal::mutex early, late;
  shoal::latch never(1);
  {
    shoal::task_group group;
    group.run(how..., [&] { shoal::yield(), early.lock(); });
    group.run(how..., [&] { shoal::yield(), late.lock(); });
    for (int i = 0; i < 3; ++i) shoal::yield();  // they begin on stacks of their own
    group.wait();
  }
  shoal::task_group group;
  for (int i = 0; i < 4; ++i) group.run(how..., [&] { shoal::yield(), never.wait(); });
  group.run(how..., [&] { shoal::yield(), early.lock(); });
  group.run(how..., [&] { shoal::yield(), late.lock(); });
  for (int i = 0; i < 3; ++i) shoal::yield();
  group.wait();
}

// `how`: nothing, or shoal::movable.
template <class... How>
void lock_in_opposite_order(How... how) {
  shoal::mutex first, second;
  shoal::latch both(2);
  shoal::task_group group;
  group.run(how..., [&] {
    const std::lock_guard one(first);
    both.arrive_and_wait();
    const std::lock_guard two(second);
  });
  group.run(how..., [&] {
    const std::lock_guard one(second);
    both.arrive_and_wait();
    const std::lock_guard two(first);
  });
  for (int i = 0; i < 2; ++i) shoal::yield();  // they begin on stacks of their own
  group.wait();
}

template <class... How>
void wait_for_a_latch(How... how) {
  shoal::latch never(1);
  shoal::task_group group;
  for (int i = 0; i < 20; ++i) group.run(how..., [&] { never.wait(); });
  group.wait();
}

void wait_for_a_semaphore_in_a_future() {
  shoal::semaphore none(0);
  auto f = shoal::async("reader", [&] { none.acquire(); });
  shoal::yield();
  f.get();
}

// Meanwhile there are an array and a map, for `shoal ps --memory`.
void wait_for_a_promise() {
  const shoal::global_array<double> ranks(1'000'000, shoal::distribution::partition, {.name = "ranks"});
  const shoal::global_map<int, int> seen(10'000, "seen");
  shoal::promise<int> p("answer");
  p.get_future().get();
}

// Set late, by a thread: the job must go on. `wait` gets the value of the future.
template <class Wait>
int wait_for_a_thread(Wait wait) {
  shoal::promise<int> p("late");
  auto f = p.get_future();
  std::thread setter([&p] {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    p.set_value(7);
  });
  const int got = wait(f);
  setter.join();
  std::printf("went on with %d\n", got);
  return 0;
}

// Nobody waits for the promise itself.
int wait_for_what_follows(shoal::future<int>& f) {
  return shoal::async([&f]() -> shoal::coroutine<int> { co_return co_await f.then([](int i) { return i; }); }).get();
}

int wait_in_a_movable_task(shoal::future<int>& f) {
  int got = 0;
  shoal::task_group group;
  for (int i = 0; i < 5; ++i) group.run(shoal::movable, [] { shoal::yield(); });
  group.run(shoal::movable, [&] { got = f.get(); });
  group.wait();
  return got;
}

// Nobody but the end of the job waits for it.
void leave_work_behind() {
  auto* const never = new shoal::latch(1);
  shoal::promise<void> p;
  {
    auto dropped = p.get_future().then([never] { never->wait(); });
  }
  p.set_value();
}

// Two tasks in a cycle, while the rest runs.
template <class... How>
int go_on_beside_a_cycle(How... how) {
  shoal::mutex first, second;
  shoal::latch both(2);
  shoal::task_group group;
  group.run(how..., [&] {
    first.lock();
    both.arrive_and_wait();
    second.lock();
  });
  group.run(how..., [&] {
    second.lock();
    both.arrive_and_wait();
    first.lock();
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (std::chrono::steady_clock::now() < end) shoal::yield();
  std::printf("went on\n");
  std::fflush(stdout);
  ::_exit(0);
}

// A body that blocks its worker for long, in a system call, while others wait for it.
int wait_for_a_long_body() {
  shoal::latch l(1);
  shoal::task_group group;
  group.run([&] { l.wait(); });
  group.run([&] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    l.count_down();
  });
  group.wait();
  std::printf("went on\n");
  return 0;
}

int run_long_on_another_node() {
  const auto slept = shoal::on(shoal::node_count() - 1, [] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return 2;
  });
  std::printf("went on after %d s\n", slept);
  return 0;
}

void hang_on_another_node() {
  shoal::on(shoal::node_count() - 1, [] {
    shoal::latch never(1);
    never.wait();
  });
}

// Each iteration waits for the one after it.
void wait_for_later_iterations() {
  constexpr std::size_t k_iterations = 20000;
  std::vector<shoal::latch*> done(k_iterations + 1);
  for (auto& l : done) l = new shoal::latch(1);
  done[k_iterations]->count_down();
  shoal::parallel_for(std::size_t{0}, k_iterations, [&](std::size_t i) {
    done[i + 1]->wait();
    done[i]->count_down();
  });
  std::printf("went on\n");
}

// Each iteration waits for the one after it, and never sleeps.
void yield_until_later_iterations_have_run() {
  constexpr std::size_t k_iterations = 1000;
  static std::array<std::atomic<bool>, k_iterations + 1> done;
  done[k_iterations] = true;
  shoal::parallel_for(std::size_t{0}, k_iterations, [&](std::size_t i) {
    while (!done[i + 1]) shoal::yield();
    done[i] = true;
  });
}

// Each iteration waits for tasks that it has spawned, which wait, too: it needs a stack for each of them.
void wait_for_children() {
  std::atomic<int> ended{0};
  shoal::parallel_for(0, 5000, [&](int) {
    shoal::task_group group;
    for (int k = 0; k < 3; ++k)
      group.run([&] {
        for (int i = 0; i < 3; ++i) shoal::yield();
        ended.fetch_add(1);
      });
    group.wait();
  });
  std::printf("%d ended\n", ended.load());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "behind_pool") shoal::pool().run(leave_work_behind);  // its end waits
  return shoal::run(argc, argv, [&]() -> int {
    const std::string what = argc > 1 ? argv[1] : "";
    for (std::uint32_t n = 0; n < shoal::node_count(); ++n)
      std::printf("node %u pid %d\n", n, shoal::on(n, [] { return static_cast<int>(::getpid()); }));
    std::fflush(stdout);
    std::printf("printed before\n");  // stays in the buffer
    if (what == "relock") relock_a_mutex();
    if (what == "opposite") lock_in_opposite_order();
    if (what == "latch") wait_for_a_latch();
    if (what == "late_latch") shoal::sleep_for(std::chrono::seconds(3)), wait_for_a_latch();
    if (what == "ended") leave_mutexes_locked();
    if (what == "movable_ended") leave_mutexes_locked(shoal::movable);
    if (what == "semaphore") wait_for_a_semaphore_in_a_future();
    if (what == "promise") wait_for_a_promise();
    if (what == "movable_opposite") lock_in_opposite_order(shoal::movable);
    if (what == "movable_latch") wait_for_a_latch(shoal::movable);
    if (what == "movable_thread") return wait_for_a_thread(wait_in_a_movable_task);
    if (what == "movable_beside") return go_on_beside_a_cycle(shoal::movable);
    if (what == "behind") leave_work_behind();
    if (what == "behind_there") shoal::on(shoal::node_count() - 1, [] { leave_work_behind(); });
    if (what == "thread") return wait_for_a_thread([](shoal::future<int>& f) { return f.get(); });
    if (what == "followed") return wait_for_a_thread(wait_for_what_follows);
    if (what == "long_body") return wait_for_a_long_body();
    if (what == "long_there") return run_long_on_another_node();
    if (what == "there") hang_on_another_node();
    if (what == "beside") return go_on_beside_a_cycle();
    if (what == "later") wait_for_later_iterations();
    if (what == "yields") yield_until_later_iterations_have_run();
    if (what == "children") wait_for_children();
    return 0;
  });
}
