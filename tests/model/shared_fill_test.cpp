// SPDX-License-Identifier: Apache-2.0
// Model test of a buffer that several threads fill: what is copied is posted once, whole, in buffers without gaps,
// whoever closes, copies last or opens.
#include "lockfree/shared_fill.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

constexpr std::size_t k_capacity = 3;
constexpr int k_most_buffers = 6;

struct buffer_of_model {
  model_plain<int> cells[k_capacity];
};

struct shared_buffers {
  lockfree::shared_fill<model_atomics> fill{k_capacity};
  buffer_of_model memory[k_most_buffers];
  model_plain<int> open{-1};    // which one; as a program has it, beside the fill
  model_plain<int> opened{0};   // how many; only who opens
  model_atomic<int> posted{0};  // of items
  model_atomic<int> sum{0};

  void post(std::size_t amount) {
    if (amount == 0) return;
    check(amount <= k_capacity, "no more than there is room for");
    const int which = open.read();
    int of_this = 0;
    for (std::size_t i = 0; i < amount; ++i) {
      const int item = memory[which].cells[i].read();
      check(item != 0, "no gaps");
      of_this += item;
    }
    sum.fetch_add(of_this, std::memory_order_relaxed);
    posted.fetch_add(static_cast<int>(amount), std::memory_order_relaxed);
    fill.posted();
  }
  void open_next() {
    if (!fill.begin_opening()) return;
    const int next = opened.read();
    if (next == k_most_buffers) return fill.cancel_opening();
    opened.write(next + 1);
    open.write(next);
    fill.open();
  }
  bool put(std::size_t amount, int item) {
    for (int tries = 0; tries < 2; ++tries) {
      const auto claim = fill.claim(amount);
      if (claim.at != lockfree::shared_fill<model_atomics>::k_none) {
        const int which = open.read();
        for (std::size_t i = 0; i < amount; ++i) memory[which].cells[claim.at + i].write(item);
        post(fill.copied(amount));
        return true;
      }
      post(claim.to_post);
      open_next();
    }
    return false;
  }
};

constexpr int item_of(std::size_t writer) { return 1 + 10 * static_cast<int>(writer); }

// Each writer puts its amounts, one after the other, however often it has to try; another thread closes so many times.
scenario writers(std::vector<std::vector<std::size_t>> amounts, int closes) {
  return [=](execution& run) {
    auto t = std::make_shared<shared_buffers>();
    auto left = std::make_shared<model_atomic<int>>(static_cast<int>(amounts.size()) + (closes > 0 ? 1 : 0));
    int items = 0, sum = 0;
    for (std::size_t w = 0; w < amounts.size(); ++w)
      for (const std::size_t a : amounts[w]) {
        items += static_cast<int>(a);
        sum += item_of(w) * static_cast<int>(a);
      }
    const auto end = [=] {
      if (left->fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      t->post(t->fill.close());
      check(t->posted.load(std::memory_order_relaxed) == items, "everything is posted, once");
      check(t->sum.load(std::memory_order_relaxed) == sum, "and is what was copied");
    };
    for (std::size_t w = 0; w < amounts.size(); ++w)
      run.thread("writer", [=] {
        for (const std::size_t a : amounts[w])
          while (!t->put(a, item_of(w))) execution::current().give_way();
        end();
      });
    if (closes > 0)
      run.thread("closer", [=] {
        for (int i = 0; i < closes; ++i) t->post(t->fill.close());
        end();
      });
  };
}

const std::vector<scenario> k_fills{writers({{1}, {1}}, 0),       writers({{2}, {2}}, 0),
                                    writers({{1, 2}, {2, 1}}, 0), writers({{1, 1}, {3}}, 0),
                                    writers({{1}, {1}, {2}}, 0),  writers({{1, 1}, {2}}, 2)};

TEST(shared_fill, two_writers_all_executions_with_two_preemptions) {
  const outcome o = explore(writers({{2}, {2}}, 0), systematically(2));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(shared_fill, everything_is_posted_once) {
  for (const scenario& each : k_fills) {
    const outcome o = explore(each, randomly(20'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(shared_fill, every_weaker_order_is_found_out) {
  const mutant_report report = try_mutants(k_fills, "shared_fill.hpp", randomly(20'000));
  EXPECT_EQ(report.tried, 9U);
  // Here atomic additions take place in the order of the program; a processor may move that of close_at() before it.
  EXPECT_EQ(report.alive, std::vector<std::string>{"close: replace acquire as relaxed"});
}

}  // namespace
}  // namespace shoal::model
