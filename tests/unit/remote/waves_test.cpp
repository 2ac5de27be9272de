// SPDX-License-Identifier: Apache-2.0
// The argument of quiesce() on jobs of operations that cause others, in random order: workers that are fenced by loops
// meanwhile, others' operations, waves whose parts take any time. A job without one of the argument's parts fails.
#include "remote/waves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "shoal/random.hpp"

namespace shoal::remote {
namespace {

// Every fence counts.
class last_note {
public:
  void note(std::uint32_t, std::uint64_t begun) noexcept { begun_ = begun; }
  std::uint64_t begun() const noexcept { return begun_; }

private:
  std::uint64_t begun_ = 0;
};

struct one_wave {
  template <class Wave>
  void operator()(const Wave& wave) const {
    wave();
  }
};
struct two_waves {
  template <class Wave>
  void operator()(const Wave& wave) const {
    until_two_agree(wave);
  }
};

template <class Note>
class random_job {
public:
  explicit random_job(std::uint64_t seed) : random_(seed) {}

  // Whether all that was begun before the call, and what it caused, is executed at the end of the waves.
  template <class Waves>
  bool quiesces(const Waves& waves, bool waits = true) {
    const std::uint64_t before = 1 + random_.below(3);
    for (std::uint64_t i = 0; i < before; ++i) begin(below(k_workers), k_deepest, true);
    waves([&] { return wave(waits); });
    return std::ranges::none_of(flying_, [](const operation& o) { return o.of_before; });
  }

private:
  static constexpr std::uint32_t k_workers = 3;
  static constexpr std::uint32_t k_deepest = 5;

  struct operation {
    std::uint64_t number;
    std::uint32_t by;     // worker
    std::uint32_t depth;  // it may cause others of less
    bool of_before;       // it, or what caused it, was begun before the call
  };
  struct worker {
    std::uint64_t begun = 0;  // by its handlers
    Note note;
  };
  // A worker in a wave: not fenced, fenced, reported.
  struct part {
    bool fenced = false;
    bool reported = false;
    std::uint64_t mark = 0;  // operations before this number are waited for
  };

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_.below(n)); }

  void begin(std::uint32_t by, std::uint32_t depth, bool of_before) {
    flying_.push_back({next_++, by, depth, of_before});
  }
  // Any of those in flight, on any worker; it causes at most two.
  void execute_one() {
    if (flying_.empty()) return;
    const std::size_t i = below(static_cast<std::uint32_t>(flying_.size()));
    const operation o = flying_[i];
    flying_[i] = flying_.back();
    flying_.pop_back();
    if (o.depth == 0) return;
    const std::uint32_t there = below(k_workers);
    constexpr std::array<std::uint32_t, 4> k_children{0, 1, 1, 2};
    for (std::uint32_t left = k_children[below(4)]; left > 0; --left) {
      ++workers_[there].begun;
      begin(there, o.depth - 1, o.of_before);
    }
  }
  void fence(std::uint32_t w) { workers_[w].note.note(wave_, workers_[w].begun); }

  void anything_else() {
    const std::uint32_t what = below(8);
    if (what == 0 && others_ > 0) {  // a task goes on
      --others_;
      begin(below(k_workers), below(3), false);
    } else if (what < 4) {  // a loop ends
      fence(below(k_workers));
    } else {
      execute_one();
    }
  }
  bool complete(std::uint32_t w, const part& p) const {
    return std::ranges::none_of(flying_, [&](const operation& o) { return o.by == w && o.number < p.mark; });
  }

  std::uint64_t wave(bool waits) {
    ++wave_;
    std::array<part, k_workers> parts;
    std::uint64_t sum = 0;
    for (std::uint32_t left = k_workers; left > 0;) {
      anything_else();
      const std::uint32_t w = below(k_workers);
      part& p = parts[w];
      if (!p.fenced) {
        p = {.fenced = true, .mark = next_};
        fence(w);
      } else if (!p.reported && (!waits || complete(w, p))) {
        p.reported = true;
        sum += workers_[w].note.begun();
        --left;
      }
    }
    return sum;
  }

  xoshiro256ss random_;
  std::array<worker, k_workers> workers_;
  std::vector<operation> flying_;
  std::uint64_t next_ = 0;
  std::uint32_t wave_ = 0;
  int others_ = 4;
};

constexpr std::uint64_t k_seeds = 100'000;

template <class Note, class Waves>
std::uint64_t failures(const Waves& waves, bool waits = true) {
  std::uint64_t count = 0;
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) count += random_job<Note>(seed).quiesces(waves, waits) ? 0 : 1;
  return count;
}

TEST(waves, everything_caused_is_executed_when_two_agree) { EXPECT_EQ(failures<wave_note>(two_waves{}), 0U); }

TEST(waves, no_part_of_the_argument_can_be_left_out) {
  EXPECT_GT(failures<wave_note>(one_wave{}), 0U);
  EXPECT_GT(failures<wave_note>(two_waves{}, false), 0U) << "waves that do not wait";
  EXPECT_GT(failures<last_note>(two_waves{}), 0U) << "counts of later fences than the wave's own";
}

TEST(waves, the_first_fence_of_a_wave_counts) {
  wave_note note;
  note.note(1, 10);
  note.note(1, 11);
  EXPECT_EQ(note.begun(), 10U);
  note.note(2, 12);
  EXPECT_EQ(note.begun(), 12U);
}

}  // namespace
}  // namespace shoal::remote
