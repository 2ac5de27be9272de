// SPDX-License-Identifier: Apache-2.0
// Model test of the ring of records: producers and the consumer never access a cell at the same time, also when it is
// reused; records are whole, and each producer's come in their order.
#include "lockfree/record_ring.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using lockfree::record_head;

constexpr std::uint64_t k_cells = 4;

struct cell {
  model_atomic<std::uint64_t> head{0};
  model_plain<int> content;
};
struct table {
  lockfree::record_ring_control<model_atomics> control;
  cell cells[k_cells];
};
using producer = lockfree::record_ring_producer<cell, model_atomics>;
using consumer = lockfree::record_ring_consumer<cell, model_atomics>;

// Contents: 100 for each producer, and the number of the record. Records take one and two cells in turn.
void produce(table& t, int me, int records, int tries) {
  producer ring(t.control, t.cells, k_cells);
  for (int sent = 0; sent < records && tries-- > 0;) {
    const std::uint64_t size = 1 + static_cast<std::uint64_t>(sent + me) % 2;
    const std::uint64_t at = ring.reserve(size);
    if (at == producer::k_no_room) {
      execution::current().give_way();
      continue;
    }
    for (std::uint64_t i = 0; i < size; ++i) {
      ring.cell(at + i).content.write(100 * me + sent);
      // Contents may look like the head of the record that comes here next.
      if (i != 0) ring.cell(at + i).head.store(record_head::of(at + i + k_cells, 1), std::memory_order_relaxed);
    }
    ring.publish(at, size);
    ++sent;
  }
}

void consume(table& t, int producers, int records, int tries) {
  consumer ring(t.control, t.cells, k_cells);
  std::vector<int> next(static_cast<std::size_t>(producers), 0);
  for (int got = 0; got < records && tries-- > 0;) {
    const std::uint64_t size = ring.front();
    if (size == 0) {
      execution::current().give_way();
      continue;
    }
    const int content = ring.cell().content.read();
    const auto from = static_cast<std::size_t>(content / 100);
    check(from < next.size() && content % 100 == next[from]++, "records of one producer come in their order");
    check(size == 1 + static_cast<std::uint64_t>(content % 100 + content / 100) % 2, "the size is that of the record");
    if (size == 2) check((&ring.cell())[1].content.read() == content, "a record is whole");
    ring.release(size);
    ++got;
  }
}

scenario with(int producers, int records, int tries) {
  return [=](execution& run) {
    auto t = std::make_shared<table>();
    for (int p = 0; p < producers; ++p)
      run.thread("producer " + std::to_string(p), [=] { produce(*t, p, records, tries); });
    run.thread("consumer", [=] { consume(*t, producers, producers * records, 3 * tries); });
  };
}

// Without concurrent operations the answers are exact: when the ring is full, when it is empty, where it is filled up.
const scenario k_at_rest = [](execution& run) {
  auto t = std::make_shared<table>();
  run.thread("all", [t] {
    producer out(t->control, t->cells, k_cells);
    consumer in(t->control, t->cells, k_cells);
    for (int round = 0; round < 3; ++round) {
      check(in.front() == 0 && !in.seems_available(), "nothing is there");
      const std::uint64_t first = out.reserve(1);
      check(first != producer::k_no_room && out.has_room_for(2), "there is room");
      check(in.front() == 0, "what is not published is not there");
      out.publish(first, 1);
      check(in.seems_available() && in.front() == 1, "one is there");
      const std::uint64_t second = out.reserve(2);
      out.publish(second, 2);
      check(out.reserve(2) == producer::k_no_room && !out.has_room_for(2), "there is no room");
      in.release(1);
      check(in.front() == 2, "the second one follows");
      in.release(2);
    }
  });
};

const std::vector<scenario> k_all{with(1, 5, 8), with(2, 2, 4), with(2, 3, 5), k_at_rest};

TEST(record_ring, all_executions_with_two_preemptions) {
  const outcome o = explore(with(2, 2, 4), systematically(2));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(record_ring, cells_are_never_shared_and_records_are_whole) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(50'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(record_ring, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "record_ring.hpp", randomly(30'000));
  EXPECT_EQ(mutants.tried, 4U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model
