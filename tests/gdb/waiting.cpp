// SPDX-License-Identifier: Apache-2.0
// Tasks that wait for each of the usual things, and one that runs, where a debugger stops: in stop_here().
// With a number: so many tasks more, all at one latch.
#include <atomic>
#include <cstdlib>

#include "shoal/shoal.hpp"

// Not inlined, and not a tail call of the wait: each is a frame with its variables.
#define PLACE [[gnu::noinline, gnu::noclone]]

namespace program {

std::atomic<long> begun{0};  // bodies that are about to wait

struct account {
  shoal::mutex guard;
  int balance = 700;
};

PLACE void stop_here() { asm volatile("" ::: "memory"); }

PLACE int lock_account(account& of, int wanted) {
  const int doubled = 2 * wanted;
  ++begun;
  of.guard.lock();
  of.balance -= doubled;
  of.guard.unlock();
  return doubled;
}

PLACE int await_latch(shoal::latch& gate, int mark) {
  const int marked = mark + 1;
  ++begun;
  gate.wait();
  return marked;
}

PLACE int await_answer(shoal::future<int>& answer) {
  ++begun;
  const int got = answer.get();
  return got + 1;
}

PLACE int take_permit(shoal::semaphore& permits) {
  const int before = 5;
  ++begun;
  permits.acquire();
  return before;
}

PLACE int recurse(shoal::latch& gate, int depth) {
  if (depth == 0) return await_latch(gate, 300);
  return recurse(gate, depth - 1) + 1;
}

// Until so many more have begun; with one worker they wait then.
PLACE void let_them_begin(long more) {
  static long all = 0;
  all += more;
  while (begun < all) shoal::yield();
}

shoal::latch far(1);  // on the last node, if there are several

PLACE void begin_all(shoal::latch& gate, long many) {
  static account shared;
  static shoal::semaphore permits(0);
  auto slow = shoal::async("slow", [&] { return await_latch(gate, 100); });
  let_them_begin(1);
  auto reader = shoal::async("reader", [&] { return await_answer(slow); });
  shoal::task_group group;
  group.run([&] {
    shared.guard.lock();
    await_latch(gate, 200);
    shared.guard.unlock();
  });
  let_them_begin(2);
  group.run([&] { lock_account(shared, 21); });
  group.run(shoal::movable, [&] { take_permit(permits); });
  group.run([&] { shoal::call_with_stack(shoal::stack_bytes(1 << 20), [&] { recurse(gate, 3); }); });
  group.run([&] { shoal::parallel_for(2, [&](int i) { await_latch(gate, 500 + i); }); });
  let_them_begin(5);
  for (long i = 0; i < many; ++i) group.run([&gate] { await_latch(gate, 400); });
  let_them_begin(many);
  const auto last = static_cast<std::uint32_t>(shoal::node_count() - 1);
  shoal::future<int> there;
  if (last > 0) {
    there = shoal::async_on(last, [] { return await_latch(far, 600); });
    let_them_begin(1);
  }
  stop_here();
  if (last > 0) shoal::on(last, [] { far.count_down(); });
  gate.count_down();
  permits.release();
  group.wait();
  reader.get();
  if (last > 0) there.get();
}

}  // namespace program

int main(int argc, char** argv) {
  const long many = argc > 1 ? std::atol(argv[1]) : 0;
  return shoal::run(argc, argv, [many] {
    static shoal::latch gate(1);
    program::begin_all(gate, many);
  });
}
