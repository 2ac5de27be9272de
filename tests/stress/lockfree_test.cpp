// SPDX-License-Identifier: Apache-2.0
// The lock-free structures under real threads, more of them than cores. How long, and with which seed:
// stress/rounds.hpp.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <shoal/detail/deque.hpp>

#include "lockfree/doorbell.hpp"
#include "lockfree/inbox.hpp"
#include "lockfree/record_ring.hpp"
#include "lockfree/shared_fill.hpp"
#include "lockfree/slot_ring.hpp"
#include "lockfree/state_clock.hpp"
#include "stress/rounds.hpp"

namespace shoal::lockfree {
namespace {

class lockfree_stress : public ::testing::Test {
protected:
  lockfree_stress() { std::cout << "SHOAL_STRESS_SEED=" << seed_ << "\n"; }
  bool time_left() const { return !end_.over(); }
  // Of its own for each thread and round.
  std::minstd_rand dice(std::uint64_t thread, std::uint64_t round) const {
    std::seed_seq seq{seed_, seed_ >> 32, thread, round};
    return std::minstd_rand(seq);
  }

  const std::uint64_t seed_ = stress::first_seed();
  const stress::deadline end_;
};

struct item {
  std::uint64_t closure = 0;  // not atomic: the taker must see what the owner wrote
  std::atomic<int> taken{0};
};

void take(item* it, std::uint64_t round) {
  EXPECT_EQ(it->closure, round);
  EXPECT_EQ(it->taken.fetch_add(1, std::memory_order_relaxed), 0);
}

TEST_F(lockfree_stress, deque_items_are_taken_once) {
  constexpr int k_thieves = 3;
  constexpr std::size_t k_items = 5000;
  std::uint64_t stolen = 0;
  std::uint64_t round = 0;
  std::vector<item> items(k_items);
  do {
    ++round;
    for (item& it : items) it.taken.store(0, std::memory_order_relaxed);
    deque<item> d(2 << round % 6);
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> loot{0};
    std::vector<std::thread> thieves;
    for (std::uint64_t t = 0; t < k_thieves; ++t)
      thieves.emplace_back([&, t, random = dice(t, round)]() mutable {
        std::uint64_t mine = 0;
        for (;;) {
          const bool last_look = done.load(std::memory_order_acquire);
          item* more[15];
          std::size_t further = 0;
          const bool batch = random() % 2 == 0;
          const steal_result<item> r = batch ? d.steal_batch(more, 2 + random() % 8, further) : d.steal();
          if (r.outcome == steal_outcome::won) {
            take(r.item, round);
            for (std::size_t i = 0; i < further; ++i) take(more[i], round);
            mine += 1 + further;
          } else if (r.outcome == steal_outcome::empty) {
            if (last_look) break;
            std::this_thread::yield();
          }
          if (random() % 16 == 0) std::this_thread::yield();
        }
        loot.fetch_add(mine, std::memory_order_relaxed);
      });
    std::minstd_rand random = dice(99, round);
    std::size_t pushed = 0;
    std::uint64_t popped = 0;
    while (pushed < k_items) {
      for (std::size_t burst = random() % 20; burst > 0 && pushed < k_items; --burst) {
        items[pushed].closure = round;
        d.push(&items[pushed++]);
      }
      for (std::size_t burst = random() % 20; burst > 0; --burst) {
        // As a join does, if the item pushed last is still there.
        item* it = pushed > 0 && d.pop_if(&items[pushed - 1]) ? &items[pushed - 1] : d.pop();
        if (it == nullptr) break;
        take(it, round);
        ++popped;
      }
      if (random() % 64 == 0) std::this_thread::yield();
    }
    done.store(true, std::memory_order_release);
    while (item* it = d.pop()) {
      take(it, round);
      ++popped;
    }
    for (std::thread& t : thieves) t.join();
    EXPECT_EQ(popped + loot.load(), k_items);
    for (const item& it : items) ASSERT_EQ(it.taken.load(), 1);
    stolen += loot.load();
  } while (time_left() && !HasFailure());
  std::cout << round << " rounds of " << k_items << " items, " << stolen << " stolen\n";
}

struct task : inbox_node<> {
  std::uint64_t producer = 0;
  std::uint64_t number = 0;
};

// Producers hand tasks to a worker that sleeps when there are none; a lost wake-up is a test that does not end.
TEST_F(lockfree_stress, inbox_and_doorbell_lose_nothing) {
  constexpr std::size_t k_producers = 3;
  constexpr std::uint64_t k_tasks = 2000;
  std::uint64_t round = 0, sleeps = 0, rings = 0;
  do {
    ++round;
    inbox<> box;
    doorbell<> bell;
    std::atomic<std::uint64_t> answered{0};
    std::vector<std::vector<task>> tasks(k_producers);
    std::vector<std::thread> producers;
    for (std::size_t p = 0; p < k_producers; ++p) {
      tasks[p].resize(k_tasks);
      producers.emplace_back([&, p, random = dice(p, round)]() mutable {
        for (std::uint64_t i = 0; i < k_tasks; ++i) {
          tasks[p][i].producer = p;
          tasks[p][i].number = i;
          box.push(&tasks[p][i]);
          if (bell.ring()) {
            bell.word().notify_one();
            answered.fetch_add(1, std::memory_order_relaxed);
          }
          if (random() % 8 == 0) std::this_thread::yield();
        }
      });
    }
    std::uint64_t next[k_producers] = {};
    for (std::uint64_t taken = 0; taken < k_producers * k_tasks;) {
      inbox_node<>* node = box.take_all();
      if (node == nullptr) {
        bell.prepare();
        if (!box.empty()) {
          bell.cancel();
          continue;
        }
        ++sleeps;
        while (bell.may_sleep()) bell.word().wait(doorbell<>::k_announced);
      }
      for (; node != nullptr; ++taken) {
        const task& t = static_cast<const task&>(*node);
        node = node->next.read();
        EXPECT_EQ(t.number, next[t.producer]++);
      }
    }
    for (std::thread& t : producers) t.join();
    EXPECT_TRUE(box.empty());
    rings += answered.load();
  } while (time_left() && !HasFailure());
  std::cout << round << " rounds, " << sleeps << " sleeps, " << rings << " rings\n";
}

TEST_F(lockfree_stress, slot_ring_hands_over_every_slot) {
  constexpr std::uint64_t k_messages = 20000;
  std::uint64_t round = 0;
  do {
    ++round;
    const std::size_t slot_count = std::size_t{1} << round % 7;
    slot_ring_control<> control;
    std::vector<std::uint64_t> slots(slot_count);
    std::vector<std::uint64_t> effects(k_messages);
    std::thread consumer_thread([&, random = dice(1, round)]() mutable {
      slot_ring_consumer<> ring(control, slot_count);
      for (std::uint64_t got = 0; got < k_messages;) {
        if (ring.available() == 0) {
          std::this_thread::yield();
          continue;
        }
        const std::uint64_t& message = slots[ring.front_index()];
        EXPECT_EQ(message, got);
        effects[got++] = message + 1;
        ring.release();
        if (random() % 256 == 0) std::this_thread::yield();
      }
    });
    std::minstd_rand random = dice(0, round);
    slot_ring_producer<> ring(control, slot_count);
    std::uint64_t acknowledged = 0;
    for (std::uint64_t sent = 0; acknowledged < k_messages;) {
      if (sent < k_messages && ring.has_room()) {
        slots[ring.fill_index()] = sent++;
        ring.publish();
        if (random() % 64 != 0) continue;
      } else {
        std::this_thread::yield();
      }
      for (const std::uint64_t now = ring.consumed(); acknowledged < now; ++acknowledged)
        EXPECT_EQ(effects[acknowledged], acknowledged + 1);
    }
    consumer_thread.join();
  } while (time_left() && !HasFailure());
  std::cout << round << " rounds of " << k_messages << " messages\n";
}

TEST_F(lockfree_stress, record_ring_hands_over_every_record_whole_and_in_order) {
  constexpr std::uint64_t k_records = 20000;
  constexpr int k_producers = 3;
  struct cell {
    std::atomic<std::uint64_t> head{0};
    std::uint64_t content = 0;
  };
  std::uint64_t round = 0;
  do {
    ++round;
    const std::uint64_t count = std::uint64_t{8} << round % 5;
    record_ring_control<> control;
    std::vector<cell> cells(count);
    std::vector<std::thread> producers;
    for (int p = 0; p < k_producers; ++p)
      producers.emplace_back([&, p, random = dice(p, round)]() mutable {
        record_ring_producer<cell> ring(control, cells.data(), count);
        for (std::uint64_t sent = 0; sent < k_records;) {
          const std::uint64_t size = 1 + random() % (count / 2);
          const std::uint64_t at = ring.reserve(size);
          if (at == ring.k_no_room) {
            std::this_thread::yield();
            continue;
          }
          for (std::uint64_t i = 0; i < size; ++i) {
            ring.cell(at + i).content = sent * k_producers + static_cast<std::uint64_t>(p);
            // What contents may look like: the head of the record that comes here next.
            if (i != 0) ring.cell(at + i).head.store(record_head::of(at + i + count, 1), std::memory_order_relaxed);
          }
          ring.publish(at, size);
          ++sent;
        }
      });
    record_ring_consumer<cell> ring(control, cells.data(), count);
    std::array<std::uint64_t, k_producers> next{};
    std::minstd_rand random = dice(k_producers, round);
    for (std::uint64_t got = 0; got < k_records * k_producers && !HasFailure();) {
      const std::uint64_t size = ring.front();
      if (size == 0) {
        std::this_thread::yield();
        continue;
      }
      const std::uint64_t content = ring.cell().content;
      EXPECT_EQ(content / k_producers, next[content % k_producers]++);
      for (std::uint64_t i = 1; i < size; ++i) EXPECT_EQ((&ring.cell())[i].content, content);
      ring.release(size);
      ++got;
      if (random() % 256 == 0) std::this_thread::yield();
    }
    for (std::thread& t : producers) t.join();
    EXPECT_EQ(ring.front(), 0U);
  } while (time_left() && !HasFailure());
  std::cout << round << " rounds of " << k_producers * k_records << " records\n";
}

TEST_F(lockfree_stress, readings_of_a_state_clock_hold_together) {
  constexpr int k_readers = 3;
  constexpr std::uint32_t k_states = 5;
  state_clock<k_states> watched;
  std::atomic<bool> ended{false};
  std::atomic<std::uint64_t> readings{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < k_readers; ++r)
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      while (!ended.load(std::memory_order_relaxed)) {
        state_clock<k_states>::reading got;
        if (!watched.try_read(got)) {
          std::this_thread::yield();
          continue;
        }
        std::uint64_t sum = 0;
        for (const std::uint64_t elapsed : got.elapsed) sum += elapsed;
        EXPECT_EQ(sum, got.since);
        EXPECT_EQ(got.state, got.since % k_states);
        EXPECT_GE(got.since, last);
        last = got.since;
        readings.fetch_add(1, std::memory_order_relaxed);
      }
    });
  std::minstd_rand random = dice(0, 0);
  std::uint64_t now = 0;
  do {
    for (int i = 0; i < 1000; ++i) {
      now += random() % 100;
      watched.enter(static_cast<std::uint32_t>(now % k_states), now, random() % k_states);
    }
  } while (time_left() && !HasFailure());
  ended.store(true, std::memory_order_relaxed);
  for (auto& t : readers) t.join();
  std::cout << now << " moments, " << readings.load() << " readings\n";
}

// Writers put records of several cells; whoever posts a buffer reads it. A record names its writer and its number.
TEST_F(lockfree_stress, shared_fill_posts_every_record_once_and_whole) {
  constexpr unsigned k_writers = 4;
  constexpr std::uint64_t k_records = 3000;
  constexpr std::size_t k_capacity = 31;
  std::uint64_t round = 0;
  do {
    ++round;
    shared_fill<> fill(k_capacity);
    std::vector<std::uint64_t> buffer(k_capacity);
    std::vector<std::uint64_t> next(k_writers, 0);  // of the numbers posted; one poster at a time
    std::atomic<unsigned> writing{k_writers};
    const auto post = [&](std::size_t cells) {
      if (cells == 0) return;
      for (std::size_t at = 0; at < cells;) {
        const std::uint64_t head = buffer[at], size = head & 0xff, writer = head >> 8 & 0xff, number = head >> 16;
        ASSERT_LT(writer, k_writers);
        ASSERT_LE(at + size, cells);
        EXPECT_EQ(number, next[writer]++);
        for (std::size_t i = 1; i < size; ++i) EXPECT_EQ(buffer[at + i], head + i);
        at += size;
      }
      fill.posted();
    };
    const auto open = [&] {
      if (fill.begin_opening()) fill.open();  // the same buffer: what was posted has been read
    };
    std::vector<std::thread> threads;
    for (unsigned w = 0; w < k_writers; ++w)
      threads.emplace_back([&, w] {
        auto random = dice(w, round);
        for (std::uint64_t number = 0; number < k_records; ++number) {
          const std::size_t size = 1 + random() % 7;
          for (;;) {
            const auto claim = fill.claim(size);
            if (claim.at != shared_fill<>::k_none) {
              const std::uint64_t head = number << 16 | w << 8 | size;
              buffer[claim.at] = head;
              for (std::size_t i = 1; i < size; ++i) buffer[claim.at + i] = head + i;
              post(fill.copied(size));
              break;
            }
            post(claim.to_post);
            open();
            if (random() % 8 == 0) std::this_thread::yield();
          }
          if (random() % 32 == 0) post(fill.close());
        }
        if (writing.fetch_sub(1, std::memory_order_acq_rel) == 1) post(fill.close());
      });
    for (std::thread& t : threads) t.join();
    for (unsigned w = 0; w < k_writers; ++w) EXPECT_EQ(next[w], k_records);
  } while (time_left());
}

}  // namespace
}  // namespace shoal::lockfree
