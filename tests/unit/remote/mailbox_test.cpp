// SPDX-License-Identifier: Apache-2.0
#include "remote/mailbox.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "net/transports/inproc.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::remote {
namespace {

const net::ring_shape k_shape{.nodes = 2, .workers = 2, .slot_bytes = 1024, .slots = 4};

struct taken {
  std::uint32_t from;
  std::vector<std::uint64_t> words;
};
std::vector<taken> g_taken;
mailbox* g_polled_by_handler = nullptr;

void take(const detail::arrival& a) noexcept {
  g_taken.push_back({a.from, {a.payload.begin(), a.payload.end()}});
  if (g_polled_by_handler == nullptr) return;
  EXPECT_FALSE(g_polled_by_handler->poll(static_cast<sched::worker&>(a.worker)));
}

// Node 0's first worker runs; the test is the others, too.
struct polling final : sched::pool_hooks {
  explicit polling(mailbox& own) : mail(own) {}
  bool poll(sched::worker& w) noexcept override { return mail.poll(w); }
  bool pending(sched::worker&) noexcept override { return mail.pending(); }
  std::int64_t longest_sleep_ns(sched::worker&) noexcept override {
    return mail.anyone_waits() ? mailbox::k_room_look_ns : -1;
  }
  mailbox& mail;
};

class mailboxes : public testing::Test {
protected:
  mailboxes() {
    g_taken.clear();
    g_polled_by_handler = nullptr;
  }
  bool post(std::uint64_t first, std::size_t words) {
    std::uint64_t* const at = here_.try_begin(1, 1, detail::receiver_of<take>(), words);
    if (at == nullptr) return false;
    for (std::size_t i = 0; i < words; ++i) at[i] = first + i;
    here_.post();
    return true;
  }
  static void expect_taken(std::size_t number, std::uint64_t first, std::size_t words) {
    ASSERT_LT(number, g_taken.size());
    EXPECT_EQ(g_taken[number].from, 0U);
    ASSERT_EQ(g_taken[number].words.size(), words);
    for (std::size_t i = 0; i < words; ++i) ASSERT_EQ(g_taken[number].words[i], first + i);
  }
  bool poll_there() { return there_.poll(*sched::this_worker()); }

  net::inproc_world world_{k_shape};
  std::unique_ptr<net::transport> nodes_[2] = {world_.connect(0), world_.connect(1)};
  mailbox here_{nodes_[0]->at(0).mail(), 0};
  mailbox there_{nodes_[1]->at(1).mail(), 1};
};

TEST_F(mailboxes, messages_of_all_lengths_arrive_whole_and_in_order_where_they_were_sent) {
  sched::run_pool(1, [&] {
    std::uint64_t number = 0;
    for (int round = 0; round < 20; ++round)
      for (std::size_t words = 0; words < net::k_most_mail_words; words = words * 3 / 2 + 1) {
        EXPECT_FALSE(there_.pending());
        ASSERT_TRUE(post(1000 * number, words));
        EXPECT_TRUE(there_.pending());
        EXPECT_TRUE(there_.in_flight());
        EXPECT_TRUE(poll_there());
        EXPECT_FALSE(there_.in_flight());
        EXPECT_FALSE(poll_there());
        expect_taken(number, 1000 * number, words);
        ++number;
      }
  });
  mailbox other(nodes_[1]->at(0).mail(), 1);
  EXPECT_FALSE(other.pending());
}

TEST_F(mailboxes, one_poll_executes_a_bounded_number) {
  sched::run_pool(1, [&] {
    for (std::uint64_t i = 0; i < mailbox::k_most_at_once + 10; ++i) ASSERT_TRUE(post(i, 1));
    EXPECT_TRUE(poll_there());
    EXPECT_EQ(g_taken.size(), mailbox::k_most_at_once);
    EXPECT_TRUE(poll_there());
    EXPECT_EQ(g_taken.size(), mailbox::k_most_at_once + 10);
  });
}

TEST_F(mailboxes, what_a_handler_polls_executes_no_other_message) {
  g_polled_by_handler = &there_;
  sched::run_pool(1, [&] {
    for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(post(i, 1));
    EXPECT_TRUE(poll_there());
    for (std::uint64_t i = 0; i < 5; ++i) expect_taken(i, i, 1);
  });
}

TEST_F(mailboxes, a_sleeping_receiver_is_rung) {
  sched::run_pool(1, [&] {
    lockfree::doorbell<>& bell = *nodes_[1]->at(1).bell();
    bell.prepare();
    ASSERT_TRUE(post(0, 1));
    EXPECT_FALSE(bell.may_sleep());
  });
}

constexpr std::uint64_t k_senders = 4;
constexpr std::uint64_t k_messages = 100;
constexpr std::size_t k_words = 512;

// More than the ring has room for; senders wait until the receiver has taken some, each in its order.
TEST_F(mailboxes, who_finds_no_room_waits_and_others_run) {
  polling hooks(here_);
  sched::run_pool(
      1,
      [&] {
        std::uint64_t full = 0;
        while (post(full, k_words)) ++full;
        EXPECT_GT(full, 10U);
        task_group senders;
        for (std::uint64_t s = 0; s < k_senders; ++s)
          senders.run([this, s] {
            for (std::uint64_t i = 0; i < k_messages; ++i) {
              std::uint64_t* const at = here_.begin(1, 1, detail::receiver_of<take>(), k_words);
              for (std::size_t w = 0; w < k_words; ++w) at[w] = s * k_messages + i;
              here_.post();
            }
          });
        yield();
        EXPECT_TRUE(here_.anyone_waits());
        EXPECT_FALSE(here_.pending());
        while (g_taken.size() < full + k_senders * k_messages) {
          poll_there();
          yield();
        }
        senders.wait();
        EXPECT_FALSE(here_.anyone_waits());
        std::vector<std::uint64_t> next(k_senders, 0);
        for (std::size_t i = full; i < g_taken.size(); ++i) {
          const std::uint64_t content = g_taken[i].words.front();
          EXPECT_EQ(content % k_messages, next[content / k_messages]++);
          EXPECT_EQ(g_taken[i].words.back(), content);
        }
      },
      &hooks);
}

}  // namespace
}  // namespace shoal::remote
