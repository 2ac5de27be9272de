// SPDX-License-Identifier: Apache-2.0
// Model test of the slot ring: both sides never access a slot at the same time, also when it is reused; a producer that
// sees a slot counted as consumed sees what the consumer did for it.
#include "lockfree/slot_ring.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

constexpr std::size_t k_slots = 2;

struct table {
  lockfree::slot_ring_control<model_atomics> control;
  model_plain<int> slots[k_slots];
  model_plain<int> effects[8];  // the writes of the consumer's handlers, by message
};

enum class waiting { gives_up, insists };

void produce(table& t, int messages, int tries, waiting how) {
  lockfree::slot_ring_producer<model_atomics> ring(t.control, k_slots);
  std::uint64_t acknowledged = 0;
  const auto look_at_acknowledgements = [&] {
    for (const std::uint64_t now = ring.consumed(); acknowledged < now; ++acknowledged)
      check(t.effects[acknowledged].read() == 100 + static_cast<int>(acknowledged), "an acknowledged handler has run");
  };
  for (int sent = 0; sent < messages && (how == waiting::insists || tries-- > 0);) {
    if (ring.has_room()) {
      t.slots[ring.fill_index()].write(sent++);
      ring.publish();
      check(ring.published() == static_cast<std::uint64_t>(sent), "published counts");
    } else {
      execution::current().give_way();
    }
    look_at_acknowledgements();
  }
  while (how == waiting::insists && acknowledged < static_cast<std::uint64_t>(messages)) {
    look_at_acknowledgements();
    execution::current().give_way();
  }
}

using consumer = lockfree::slot_ring_consumer<model_atomics>;

void consume(table& t, consumer& ring, int messages, int tries, waiting how) {
  for (int got = 0; got < messages && (how == waiting::insists || tries-- > 0);) {
    const std::uint64_t available = ring.available();
    check(available <= k_slots, "no more than there are slots");
    for (std::uint64_t i = 0; i < available; ++i)
      check(t.slots[ring.front_index(i)].read() == got + static_cast<int>(i), "messages come in order");
    if (available > 0) {
      t.effects[got].write(100 + got);
      ++got;
      ring.release();
      check(ring.consumed() == static_cast<std::uint64_t>(got), "consumed counts");
    } else {
      execution::current().give_way();
    }
  }
}

scenario with(int messages, int tries, waiting how) {
  return [=](execution& run) {
    auto t = std::make_shared<table>();
    run.thread("producer", [=] { produce(*t, messages, tries, how); });
    run.thread("consumer", [=] {
      consumer ring(t->control, k_slots);
      consume(*t, ring, messages, tries, how);
    });
  };
}

// A second pair of sides continues where the first stopped.
const scenario k_attached_again = [](execution& run) {
  auto t = std::make_shared<table>();
  lockfree::slot_ring_producer<model_atomics> first(t->control, k_slots);
  t->slots[first.fill_index()].write(0);
  first.publish();
  run.thread("producer", [t] {
    lockfree::slot_ring_producer<model_atomics> ring(t->control, k_slots);
    for (int sent = 1, tries = 0; tries < 4 && sent < 4; ++tries)
      if (ring.has_room()) {
        t->slots[ring.fill_index()].write(sent++);
        ring.publish();
      }
  });
  run.thread("consumer", [t] {
    int got = 0;
    for (int attach = 0; attach < 2; ++attach) {
      lockfree::slot_ring_consumer<model_atomics> ring(t->control, k_slots);
      for (int tries = 0; tries < 2; ++tries)
        if (ring.available() > 0) {
          check(t->slots[ring.front_index()].read() == got++, "messages come in order");
          ring.release();
        }
    }
  });
};

// A third thread reads the consumer's own object concurrently; this must not change what the consumer does.
const scenario k_asked_by_another = [](execution& run) {
  auto t = std::make_shared<table>();
  auto ring = std::make_shared<consumer>(t->control, k_slots);
  run.thread("producer", [=] { produce(*t, 3, 4, waiting::gives_up); });
  run.thread("consumer", [=] { consume(*t, *ring, 3, 4, waiting::gives_up); });
  run.thread("sibling", [=] {
    for (int asked = 0; asked < 3; ++asked) ring->seems_available();
  });
};

// Without concurrent operations the answer is exact.
const scenario k_asked_at_rest = [](execution& run) {
  auto t = std::make_shared<table>();
  run.thread("all", [t] {
    lockfree::slot_ring_producer<model_atomics> out(t->control, k_slots);
    consumer in(t->control, k_slots);
    for (int round = 0; round < 3; ++round) {
      check(!in.seems_available(), "nothing is there");
      out.publish();
      check(in.seems_available() && in.available() == 1, "something is there");
      in.release();
    }
  });
};

const std::vector<scenario> k_all{with(3, 4, waiting::gives_up), with(5, 0, waiting::insists), k_attached_again,
                                  k_asked_by_another, k_asked_at_rest};

TEST(slot_ring, all_executions_with_three_preemptions) {
  const outcome o = explore(with(3, 4, waiting::gives_up), systematically(3));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(slot_ring, slots_are_never_shared_and_acknowledgements_are_true) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(50'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(slot_ring, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "slot_ring.hpp", randomly(30'000));
  EXPECT_EQ(mutants.tried, 5U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model
