// SPDX-License-Identifier: Apache-2.0
// Model test of announcements and of the list of those that a receiver watches, as rings of requests use them with a
// doorbell: a worker sleeps only when nothing is published, also while a sibling that executes nothing serves for it.
// What is forgotten makes it sleep for ever, which the explorer reports as a deadlock.
#include "lockfree/announcements.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lockfree/doorbell.hpp"
#include "lockfree/watch_list.hpp"
#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

constexpr std::size_t k_senders = 2;
constexpr int k_most_messages = 3;

// One sender's, without room for it to run out of.
struct channel {
  model_atomic<int> published{0};
  model_atomic<int> consumed{0};
  model_plain<int> messages[k_most_messages];
  lockfree::watch_mark<model_atomics> mark;
  model_plain<bool> listed{false};

  bool seems_available() const {
    return published.load(std::memory_order_relaxed) != consumed.load(std::memory_order_relaxed);
  }
};

using channels = lockfree::watch_list<channel, model_atomics>;

struct receiver {
  lockfree::doorbell<model_atomics> door;
  model_atomic<std::uint64_t> words[2]{};
  lockfree::announcement_board<model_atomics> board{words, k_senders};
  channel from[k_senders];
  channels::entry entries[k_senders]{};
  channels watched{entries};
  model_atomic<int> held{0};
};

void send(receiver& to, std::size_t me, int messages) {
  channel& c = to.from[me];
  for (int m = 0; m < messages; ++m) {
    c.messages[m].write(10 * static_cast<int>(me) + m);
    c.published.store(m + 1, std::memory_order_release);
    bool rung = false;
    if (c.mark.must_announce()) {
      to.board.announce(me);
      rung = to.door.ring();
    } else {
      rung = to.door.ring_after_fence();
    }
    if (rung) to.door.word().futex_wake_one();
  }
}

// Takes what is announced, and messages if it `executes`; returns their number.
int serve(receiver& r, bool executes) {
  if (r.held.exchange(1, std::memory_order_acquire) != 0) return 0;
  if (r.board.any()) {
    r.watched.begin_change();
    r.board.take([&r](std::size_t sender) {
      channel& c = r.from[sender];
      if (c.listed.read()) return;
      c.listed.write(true);
      c.mark.begin();
      r.watched.add(c);
    });
    r.watched.end_change();
  }
  int taken = 0;
  for (std::size_t i = 0; i < r.watched.size();) {
    channel& c = r.watched[i];
    const int next = c.consumed.load(std::memory_order_relaxed);
    if (c.published.load(std::memory_order_acquire) != next) {
      if (executes) {
        check(c.messages[next].read() % 10 == next, "messages come in order");
        c.consumed.store(next + 1, std::memory_order_release);
        ++taken;
      }
      ++i;
    } else if (c.mark.end([&c] { return c.seems_available(); })) {
      c.listed.write(false);
      r.watched.begin_change();
      r.watched.remove(i);
      r.watched.end_change();
    } else {
      ++i;
    }
  }
  r.held.store(0, std::memory_order_release);
  return taken;
}

void work(receiver& r, int messages) {
  while (messages > 0) {
    const int taken = serve(r, true);
    messages -= taken;
    if (taken > 0 || messages == 0) continue;
    r.door.prepare();
    if (r.board.any() || r.watched.seems([](const channel& c) { return c.seems_available(); })) {
      r.door.cancel();
      execution::current().give_way();
      continue;
    }
    while (r.door.may_sleep()) r.door.word().futex_wait(lockfree::doorbell<model_atomics>::k_announced);
  }
}

// Nobody executes what a worker is not woken for: the sibling only looks.
scenario with(std::vector<int> messages, int sibling_looks) {
  return [=](execution& run) {
    auto t = std::make_shared<receiver>();
    int all = 0;
    for (std::size_t s = 0; s < messages.size(); ++s) {
      all += messages[s];
      run.thread("sender", [=] { send(*t, s, messages[s]); });
    }
    run.thread("worker", [=] { work(*t, all); });
    if (sibling_looks > 0)
      run.thread("sibling", [=] {
        for (int i = 0; i < sibling_looks; ++i) serve(*t, false);
      });
  };
}

// What was written before an announcement is seen by who takes it, whichever of two announcements in a word it found.
const scenario k_taken_means_visible = [](execution& run) {
  struct table {
    model_atomic<std::uint64_t> words[2]{};
    lockfree::announcement_board<model_atomics> board{words, k_senders};
    model_plain<int> work[k_senders];
  };
  auto t = std::make_shared<table>();
  for (std::size_t s = 0; s < k_senders; ++s)
    run.thread("sender", [t, s] {
      t->work[s].write(1);
      t->board.announce(s);
    });
  run.thread("receiver", [t] {
    for (int looks = 0; looks < 3; ++looks)
      t->board.take([&t](std::size_t s) { check(t->work[s].read() == 1, "the work of who is announced is there"); });
  });
};

// One that has something stays visible while another is taken off, and takes its place.
const scenario k_taken_off_beside = [](execution& run) {
  auto t = std::make_shared<receiver>();
  t->from[1].published.store(1, std::memory_order_relaxed);
  for (channel& c : t->from) t->watched.add(c);
  run.thread("sibling", [t] {
    t->watched.begin_change();
    t->watched.remove(0);
    t->watched.end_change();
  });
  run.thread("worker", [t] {
    check(t->watched.seems([](const channel& c) { return c.seems_available(); }), "what is on the list is seen");
  });
};

// Whoever is on the list was made before.
const scenario k_made_before = [](execution& run) {
  auto t = std::make_shared<receiver>();
  t->from[0].messages[0].write(1);
  t->watched.add(t->from[0]);
  run.thread("sibling", [t] {
    t->from[1].messages[0].write(1);
    t->watched.begin_change();
    t->watched.add(t->from[1]);
    t->watched.end_change();
    t->watched.begin_change();
    t->watched.remove(0);
    t->watched.end_change();
  });
  run.thread("worker", [t] {
    t->watched.seems([](const channel& c) {
      check(c.messages[0].read() == 1, "it is made");
      return false;
    });
  });
};

const std::vector<scenario> k_all{with({2}, 0), with({2}, 1),    with({1, 1}, 1),
                                  with({3}, 2), with({1, 2}, 2), k_taken_means_visible};
const std::vector<scenario> k_lists{k_taken_off_beside, k_made_before, with({2}, 1), with({1, 2}, 2)};

TEST(announcements, one_sender_all_executions_with_three_preemptions) {
  const outcome o = explore(with({2}, 0), systematically(3));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(announcements, a_worker_never_sleeps_while_something_is_published) {
  for (const auto* const all : {&k_all, &k_lists})
    for (const scenario& each : *all) {
      const outcome o = explore(each, randomly(40'000));
      EXPECT_FALSE(o.failed) << o;
    }
}

TEST(announcements, boards_of_any_size_give_back_what_was_announced) {
  using board = lockfree::announcement_board<>;
  for (const std::size_t senders : {1U, 64U, 65U, 64U * 64, 64U * 64 + 1, 64U * 200}) {
    std::vector<board::word> words(board::words(senders));
    const board b(words.data(), senders);
    EXPECT_FALSE(b.any());
    const std::set<std::size_t> each{0, senders / 2, senders - 1};
    for (const std::size_t s : each) b.announce(s);
    EXPECT_TRUE(b.any());
    std::vector<std::size_t> taken;
    b.take([&taken](std::size_t s) { taken.push_back(s); });
    EXPECT_EQ(taken, std::vector<std::size_t>(each.begin(), each.end()));
    EXPECT_FALSE(b.any());
  }
}

// A receiver that stops watching without the second look.
TEST(announcements, who_stops_watching_without_another_look_is_found_out) {
  const scenario careless = [](execution& run) {
    auto t = std::make_shared<receiver>();
    run.thread("sender", [t] { send(*t, 0, 2); });
    run.thread("worker", [t] {
      t->from[0].mark.begin();
      t->from[0].listed.write(true);
      t->watched.add(t->from[0]);
      if (!t->from[0].seems_available()) {
        t->from[0].mark.end([] { return false; });
        t->from[0].listed.write(false);
        t->watched.remove(0);
      }
      work(*t, 2);
    });
  };
  const outcome o = explore(careless, randomly(20'000));
  EXPECT_NE(o.reason.find("deadlock"), std::string::npos) << o;
}

TEST(announcements, every_weaker_order_is_found_out) {
  const mutant_report board = try_mutants(k_all, "announcements.hpp", randomly(20'000));
  EXPECT_EQ(board.tried, 15U);
  EXPECT_EQ(board.alive, std::vector<std::string>{});
  const mutant_report list = try_mutants(k_lists, "watch_list.hpp", randomly(20'000));
  EXPECT_EQ(list.tried, 7U);
  EXPECT_EQ(list.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model
