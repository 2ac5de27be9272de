// SPDX-License-Identifier: Apache-2.0
// Model test of every lock, with an abstract wait, a blocking wait and a suspending wait: one owner at a time; each
// owner sees the writes of the previous one; no thread waits forever; the lock is free at the end. Each order in each
// kind is weakened in turn, and the failure must be found.
#include "shoal/locks.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/lock_model.hpp"

namespace shoal::model {
namespace {

template <class Wait>
struct tas {
  static constexpr const char* k_file = "tas.hpp";
  using lock = tas_lock<Wait, model_atomics>;
  static std::vector<scenario> all() {
    return {guarded<lock, Wait>(2, 2, plainly<lock>, by_lock<lock>),
            guarded<lock, Wait>(3, 1, plainly<lock>, first_tries<lock>)};
  }
  static std::vector<std::string> alive() { return {}; }
};

template <class Wait>
struct ticket {
  static constexpr const char* k_file = "ticket.hpp";
  using lock = ticket_lock<Wait, model_atomics, 2>;
  static std::vector<scenario> all() {
    return {guarded<lock, Wait>(2, 2, plainly<lock>, by_lock<lock>),
            guarded<lock, Wait>(3, 1, plainly<lock>, by_lock<lock>),
            guarded<lock, Wait>(3, 2, plainly<lock>, first_tries<lock>)};
  }
  static std::vector<std::string> alive() { return {}; }
};

// Its orders are those of its ticket locks.
template <class Wait>
struct priority {
  static constexpr const char* k_file = "ticket.hpp";
  using lock = priority_lock<Wait, model_atomics, 1>;
  static scenario of(int threads, unsigned classes, std::function<bool(lock&, int)> get) {
    return guarded<lock, Wait>(
        threads, 2, [classes] { return std::make_unique<lock>(classes); }, std::move(get));
  }
  static std::vector<scenario> all() {
    const auto in_classes = [](lock& l, int thread) {
      l.lock(static_cast<unsigned>(thread));
      return true;
    };
    const auto two_high = [](lock& l, int thread) {
      l.lock(thread < 2 ? 0 : 1);
      return true;
    };
    const auto tries = [](lock& l, int thread) {
      if (thread == 0) return l.try_lock();
      l.lock(static_cast<unsigned>(thread) - 1);
      return true;
    };
    return {of(2, 2, in_classes), of(3, 2, two_high), of(3, 3, in_classes), of(3, 2, tries), of(2, 1, in_classes)};
  }
  static std::vector<std::string> alive() { return {}; }
};

template <class Wait>
struct mcs {
  static constexpr const char* k_file = "mcs.hpp";
  using lock = mcs_lock<Wait, model_atomics>;
  static std::vector<scenario> all() {
    return {guarded<lock, Wait>(2, 2, plainly<lock>, by_lock<lock>),
            guarded<lock, Wait>(3, 2, plainly<lock>, by_lock<lock>),
            guarded<lock, Wait>(3, 2, plainly<lock>, first_tries<lock>)};
  }
  // It prevents that the store before it is ordered after a store of the next arrival; the explorer does not simulate
  // that.
  static std::vector<std::string> alive() { return {"wait: replace release as relaxed"}; }
};

template <class Wait>
struct clh {
  static constexpr const char* k_file = "clh.hpp";
  using lock = clh_lock<Wait, model_atomics>;
  static scenario of(int threads, int rounds, unsigned nodes, std::function<bool(lock&, int)> get) {
    return guarded<lock, Wait>(
        threads, rounds, [nodes] { return std::make_unique<lock>(nodes); }, std::move(get));
  }
  static std::vector<scenario> all() {
    return {of(2, 2, 2, by_lock<lock>), of(3, 2, 3, by_lock<lock>), of(3, 2, 2, by_lock<lock>),
            of(3, 2, 3, first_tries<lock>)};
  }
  static std::vector<std::string> alive() { return {}; }
};

// Its orders are those of its ticket locks.
template <class Wait>
struct hierarchical {
  static constexpr const char* k_file = "ticket.hpp";
  using lock = hierarchical_lock<Wait, model_atomics, 1>;
  static scenario of(int threads, unsigned bound, bool tries) {
    auto here =
        std::make_shared<unsigned>(0);  // a switch happens only at an atomic operation, which comes after this read
    return guarded<lock, Wait>(
        threads, 2,
        [=] {
          return std::make_unique<lock>(package_map{2, [here] { return *here; }}, bound);
        },
        [=](lock& l, int thread) {
          *here = thread == 2 ? 1 : 0;
          if (tries && thread == 0) return l.try_lock();
          l.lock();
          return true;
        });
  }
  static std::vector<scenario> all() { return {of(2, 64, false), of(3, 64, false), of(3, 1, false), of(3, 0, true)}; }
  static std::vector<std::string> alive() { return {}; }
};

template <class Wait>
struct bounded {
  static constexpr const char* k_file = "bounded.hpp";
  using lock = bounded_lock<Wait, model_atomics, 1>;
  static scenario of(int threads, int rounds, unsigned bound, std::function<bool(lock&, int)> get) {
    return guarded<lock, Wait>(
        threads, rounds, [bound] { return std::make_unique<lock>(bound); }, std::move(get));
  }
  static std::vector<scenario> all() {
    return {of(2, 2, 0, by_lock<lock>), of(3, 2, 0, by_lock<lock>), of(3, 2, 1, by_lock<lock>),
            of(3, 3, 1, first_tries<lock>)};
  }
  static std::vector<std::string> alive() { return {}; }
};

template <class Wait>
struct message {
  static constexpr const char* k_file = "message.hpp";
  using lock = message_lock<Wait, model_atomics>;
  static scenario of(int threads, int rounds, unsigned bound) {
    return guarded<lock, Wait>(
        threads, rounds, [bound] { return std::make_unique<lock>(bound); },
        [](lock& l, int thread) {
          typename lock::event come;
          if (thread != 0) come.raise();
          thread == 1 ? l.lock() : l.lock_for(come);
          return true;
        });
  }
  static std::vector<scenario> all() {
    return {of(2, 2, 1), of(3, 2, 64), of(3, 2, 1), guarded<lock, Wait>(3, 2, plainly<lock>, first_tries<lock>)};
  }
  static std::vector<std::string> alive() { return {}; }
};

template <class Kind>
class abstract : public testing::Test {};
using over_abstract =
    testing::Types<tas<abstract_wait>, ticket<abstract_wait>, priority<abstract_wait>, mcs<abstract_wait>,
                   clh<abstract_wait>, hierarchical<abstract_wait>, bounded<abstract_wait>, message<abstract_wait>>;
TYPED_TEST_SUITE(abstract, over_abstract);

template <class Kind>
class asleep : public testing::Test {};
using over_sleep =
    testing::Types<tas<parking_wait>, ticket<parking_wait>, priority<parking_wait>, mcs<parking_wait>,
                   clh<parking_wait>, hierarchical<parking_wait>, bounded<parking_wait>, message<parking_wait>>;
TYPED_TEST_SUITE(asleep, over_sleep);

template <class Kind>
class leaving : public testing::Test {};
using over_leaving = testing::Types<tas<task_model_wait>, ticket<task_model_wait>, priority<task_model_wait>,
                                    mcs<task_model_wait>, clh<task_model_wait>, hierarchical<task_model_wait>,
                                    bounded<task_model_wait>, message<task_model_wait>>;
TYPED_TEST_SUITE(leaving, over_leaving);

template <class Kind>
void holds() {
  for (const scenario& each : Kind::all()) {
    const outcome o = explore(each, randomly(20'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TYPED_TEST(abstract, one_at_a_time_and_nobody_for_ever) { holds<TypeParam>(); }
TYPED_TEST(leaving, one_at_a_time_and_nobody_for_ever) { holds<TypeParam>(); }
TYPED_TEST(asleep, one_at_a_time_and_nobody_for_ever) { holds<TypeParam>(); }

TYPED_TEST(abstract, two_threads_all_executions_with_two_preemptions) {
  const outcome o = explore(TypeParam::all().front(), systematically(2));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TYPED_TEST(abstract, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(TypeParam::all(), TypeParam::k_file, randomly(20'000));
  EXPECT_GE(mutants.tried, 2U);
  EXPECT_EQ(mutants.alive, TypeParam::alive());
}

}  // namespace
}  // namespace shoal::model
