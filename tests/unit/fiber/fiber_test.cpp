// SPDX-License-Identifier: Apache-2.0
#include "fiber/fiber.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "fiber/stack_pool.hpp"

namespace shoal::fiber {
namespace {

// One thread's fibers: what a worker does, without a scheduler.
class fibers : public testing::Test {
protected:
  static constexpr std::size_t k_stack_bytes = 64 << 10;

  fibers() : exceptions_(*exception_state_of_this_thread()) {
    t_self = this;
    adopt_thread(main_, main_notes_);
  }
  ~fibers() override { t_self = nullptr; }

  // Runs body on a fresh stack until it ends or goes home.
  fiber& begin(void (*body)(fibers&)) {
    body_ = body;
    current_ = pool_.take();
    go(main_, *current_);
    return *current_;
  }
  void resume(fiber& f) {
    current_ = &f;
    go(main_, f);
  }
  static void entry() noexcept {
    fibers& self = *t_self;
    arrived(*self.current_);
    acquire_from(&self);
    for (;;) {
      self.body_(self);
      self.home();
    }
  }

  // In turn on one thread: for a race detector each switch is a hand-over.
  void go(fiber& from, fiber& to) {
    exception_state& exceptions = exceptions_;
    release_to(this);
    switch_to(from, to, exceptions);
    acquire_from(this);
  }

  static inline thread_local fibers* t_self = nullptr;
  exception_state& exceptions_;
  stack_region region_{k_stack_bytes, 64, 32};
  stack_pool pool_{region_, this, entry};
  fiber main_;
  stack_notes main_notes_;
  fiber* current_ = nullptr;
  void (*body_)(fibers&) = nullptr;

public:
  // For the bodies: leaves for main until resumed.
  void home() {
    fiber& me = *current_;
    go(me, main_);
  }
  std::vector<std::string> said_;
};

TEST_F(fibers, go_on_where_they_left) {
  fiber& f = begin([](fibers& self) {
    std::string local = "kept";
    self.said_.push_back("first");
    self.home();
    self.said_.push_back(local);
  });
  said_.push_back("main");
  resume(f);
  EXPECT_EQ(said_, (std::vector<std::string>{"first", "main", "kept"}));
}

TEST_F(fibers, exceptions_in_flight_stay_with_their_stack) {
  fiber& f = begin([](fibers& self) {
    try {
      throw std::runtime_error("inner");
    } catch (const std::exception&) {
      self.home();  // with a caught exception on this stack
      try {
        throw;
      } catch (const std::runtime_error& e) {
        self.said_.push_back(e.what());
      }
    }
  });
  EXPECT_EQ(std::current_exception(), nullptr);
  try {
    throw std::logic_error("outer");
  } catch (const std::logic_error&) {
    resume(f);
    try {
      throw;
    } catch (const std::logic_error& e) {
      said_.push_back(e.what());
    }
  }
  EXPECT_EQ(said_, (std::vector<std::string>{"inner", "outer"}));
  EXPECT_EQ(std::current_exception(), nullptr);
}

struct leaves_when_destroyed {
  ~leaves_when_destroyed() {
    self->home();
    self->said_.push_back(std::to_string(std::uncaught_exceptions()));
  }
  fibers* self;
};

TEST_F(fibers, unwinding_belongs_to_its_stack) {
  fiber& f = begin([](fibers& self) {
    try {
      const leaves_when_destroyed guard{&self};
      throw 1;
    } catch (int) {
      self.said_.push_back("caught");
    }
  });
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  resume(f);
  EXPECT_EQ(said_, (std::vector<std::string>{"1", "caught"}));
}

TEST_F(fibers, rounding_mode_is_kept_by_each_and_fresh_ones_begin_with_the_threads) {
  fiber& f = begin([](fibers& self) {
    self.said_.push_back(std::to_string(std::fegetround() == FE_TONEAREST));
    std::fesetround(FE_UPWARD);
    self.home();
    self.said_.push_back(std::to_string(std::fegetround() == FE_UPWARD));
    std::fesetround(FE_TONEAREST);
  });
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  std::fesetround(FE_DOWNWARD);
  // Made while this stack rounds otherwise: what begins on it must not notice.
  begin([](fibers& self) { self.said_.push_back(std::to_string(std::fegetround() == FE_TONEAREST)); });
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  resume(f);
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(said_, (std::vector<std::string>{"1", "1", "1"}));
}

TEST_F(fibers, many_take_turns) {
  std::vector<fiber*> all;
  constexpr int k_fibers = 40;
  for (int i = 0; i < k_fibers; ++i)
    all.push_back(&begin([](fibers& self) {
      for (int turn = 0; turn < 3; ++turn) {
        self.said_.push_back(std::to_string(turn));
        self.home();
      }
    }));
  for (int turn = 1; turn < 3; ++turn)
    for (fiber* f : all) resume(*f);
  ASSERT_EQ(said_.size(), 3U * k_fibers);
  for (std::size_t i = 0; i < said_.size(); ++i) ASSERT_EQ(said_[i], std::to_string(i / k_fibers));
}

}  // namespace
}  // namespace shoal::fiber
