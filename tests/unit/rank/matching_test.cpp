// SPDX-License-Identifier: Apache-2.0
// Random receives, messages, probes and cancellations, against a linear search that follows the text of the standard.
#include "rank/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <vector>

#include "shoal/random.hpp"

namespace shoal::rank {
namespace {

bool fits(const envelope& wanted, const envelope& sent) {
  return wanted.context == sent.context && (wanted.source == k_any || wanted.source == sent.source) &&
         (wanted.tag == k_any || wanted.tag == sent.tag);
}

// The receive that takes `m`; nullptr: it waits now. After reserve().
posted_receive* arrive_at(matching& all, waiting_message& m) {
  posted_receive* const r = all.take_receive(m.sent);
  if (r == nullptr) all.keep(m);
  return r;
}

/// Both at once; each step is compared.
class compared {
public:
  explicit compared(std::uint64_t seed) : random_(seed) {}

  void post(const envelope& wanted) {
    auto r = std::make_unique<posted_receive>();
    r->wanted = wanted;
    matching_.reserve();
    waiting_message* const got = matching_.post(*r);
    ASSERT_EQ(got, first_message(wanted));
    if (got != nullptr)
      drop(messages_, got);
    else
      receives_.push_back(std::move(r));
    compare_counts();
  }
  void arrive(const envelope& sent) {
    auto m = std::make_unique<waiting_message>();
    m->sent = sent;
    posted_receive* wanted = nullptr;
    for (const auto& r : receives_)
      if (wanted == nullptr && fits(r->wanted, sent)) wanted = r.get();
    matching_.reserve();
    posted_receive* const got = arrive_at(matching_, *m);
    ASSERT_EQ(got, wanted);
    if (got != nullptr)
      drop(receives_, got);
    else
      messages_.push_back(std::move(m));
    compare_counts();
  }
  void probe(const envelope& wanted, bool take) {
    matching_.reserve();
    waiting_message* const got = matching_.find(wanted);
    ASSERT_EQ(got, first_message(wanted));
    if (got == nullptr || !take) return;
    matching_.take(*got);
    drop(messages_, got);
    compare_counts();
  }
  void cancel() {
    if (receives_.empty()) return;
    const auto at = std::next(receives_.begin(), static_cast<std::ptrdiff_t>(random_.below(receives_.size())));
    matching_.cancel(**at);
    receives_.erase(at);
    compare_counts();
  }
  std::size_t waiting() const { return receives_.size() + messages_.size(); }

private:
  template <class T>
  static void drop(std::list<std::unique_ptr<T>>& from, const T* element) {
    std::erase_if(from, [element](const auto& e) { return e.get() == element; });
  }
  waiting_message* first_message(const envelope& wanted) const {
    for (const auto& m : messages_)
      if (fits(wanted, m->sent)) return m.get();
    return nullptr;
  }
  void compare_counts() const {
    ASSERT_EQ(matching_.receives(), receives_.size());
    ASSERT_EQ(matching_.messages(), messages_.size());
  }

  xoshiro256ss random_;
  matching matching_;
  std::list<std::unique_ptr<posted_receive>> receives_;
  std::list<std::unique_ptr<waiting_message>> messages_;
};

TEST(matching, follows_the_order_of_the_standard) {
  std::size_t most = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    xoshiro256ss random(seed);
    const auto range = static_cast<std::uint64_t>(1) << random.below(5);
    const std::uint64_t wild = random.below(3);  // of 8 receives so many have a wildcard for each part
    const auto part = [&] { return static_cast<std::int32_t>(random.below(range)); };
    const auto wanted = [&] { return random.below(8) < wild ? k_any : part(); };
    compared both(seed);
    for (int step = 0; step < 1500; ++step) {
      const auto context = static_cast<std::uint32_t>(random.below(2));
      switch (random.below(8)) {
        case 0: both.probe({context, wanted(), wanted()}, random.below(2) == 0); break;
        case 1: both.cancel(); break;
        case 2:
        case 3:
        case 4: both.post({context, wanted(), wanted()}); break;
        default: both.arrive({context, part(), part()});
      }
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
      most = std::max(most, both.waiting());
    }
  }
  EXPECT_GT(most, 100U);
}

// With a linear search each of these would take 10^10 steps.
TEST(matching, scans_no_queue) {
  constexpr std::int32_t k_count = 200'000;
  matching m;
  std::vector<waiting_message> messages(k_count);
  std::vector<posted_receive> receives(k_count);
  for (const bool receives_first : {false, true}) {
    for (std::int32_t i = 0; i < k_count; ++i) {
      m.reserve();
      messages[i] = {};
      receives[i] = {};
      messages[i].sent = {0, i % 7, i};
      receives[i].wanted = {0, i % 7, i};
      if (receives_first)
        ASSERT_EQ(m.post(receives[i]), nullptr);
      else
        ASSERT_EQ(arrive_at(m, messages[i]), nullptr);
    }
    for (std::int32_t i = k_count; i-- > 0;) {
      m.reserve();
      if (receives_first)
        ASSERT_EQ(arrive_at(m, messages[i]), &receives[i]);
      else
        ASSERT_EQ(m.post(receives[i]), &messages[i]);
    }
  }
  EXPECT_EQ(m.receives() + m.messages(), 0U);
}

// Any source, behind many messages of other tags; and any tag.
TEST(matching, scans_no_queue_for_wildcards) {
  constexpr std::int32_t k_count = 100'000;
  for (const bool any_source : {true, false}) {
    matching m;
    std::vector<waiting_message> messages(k_count);
    for (std::int32_t i = 0; i < k_count; ++i) {
      m.reserve();
      messages[i].sent = {3, i, any_source ? i : 5};
      ASSERT_EQ(arrive_at(m, messages[i]), nullptr);
    }
    for (std::int32_t i = k_count; i-- > 0;) {
      posted_receive r;
      r.wanted = {3, any_source ? k_any : i, any_source ? i : k_any};
      m.reserve();
      ASSERT_EQ(m.post(r), &messages[i]);
    }
    EXPECT_EQ(m.messages(), 0U);
  }
}

// A program whose tags are all different must not keep an entry for each.
TEST(queue_table, forgets_empty_queues) {
  queue_table t;
  for (std::uint64_t key = 0; key < 100'000; ++key) {
    queue_link l;
    t.reserve();
    t.at({1, key}).append(l);
    t.find({1, key})->remove(l);
    ASSERT_LE(t.keys(), 64U);
  }
}

}  // namespace
}  // namespace shoal::rank
