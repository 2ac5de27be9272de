// SPDX-License-Identifier: Apache-2.0
// A random program of tasks with commutative and other accesses to cells. A commutative access adds to each cell, a
// writing one makes the next value of the last one, so the values that readers and writers must see are those of
// sequential order, while commutative tasks may come in any order. Marks in the cells find out overlaps.
// Who may call: a task. Guarantees: the same seed makes the same program. The values are not atomic, so that
// ThreadSanitizer sees two tasks at once even if they add up.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task_flow.hpp"

namespace shoal::sched {

class commutative_program {
public:
  static constexpr std::size_t k_cells = 24;

  /// `aligned`: regions are blocks of four cells, or else of any extent.
  commutative_program(std::uint64_t seed, std::size_t tasks, bool aligned) : steps_(tasks) {
    xoshiro256ss random(seed);
    for (std::size_t i = 0; i < tasks; ++i) {
      step& s = steps_[i];
      s.number = i + 1;
      s.yields = random.below(5) == 0 ? 1 + static_cast<unsigned>(random.below(3)) : 0;
      s.rank = random.below(4) == 0 ? static_cast<priority>(random.below(4)) : priority::normal;
      std::array<bool, k_cells> named{};
      for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
        const std::size_t begin = aligned ? 4 * random.below(k_cells / 4) : random.below(k_cells);
        const std::size_t end = aligned ? begin + 4 : begin + 1 + random.below(k_cells - begin) / (1 + random.below(4));
        // Seven in ten are commutative, so that there are groups.
        const std::uint64_t kind = random.below(10);
        const access_mode mode = kind == 0   ? access_mode::out
                                 : kind == 1 ? access_mode::inout
                                 : kind == 2 ? access_mode::in
                                             : access_mode::commutative;
        bool free = true;
        for (std::size_t c = begin; c < end; ++c) free = free && !named[c];
        if (!free) continue;
        s.declared.push_back({array_region(&cells_[begin], end - begin), mode});
        for (std::size_t c = begin; c < end; ++c) {
          named[c] = true;
          s.touched.push_back({c, mode, after_[c]});
          after_[c] = next(after_[c], mode, s.number);
        }
      }
    }
  }

  void give_to(task_flow& flow, bool pauses) {
    for (const step& s : steps_) {
      flow.run(s.rank, std::span<const access>(s.declared), [this, &s] { execute(s); });
      if (pauses && s.yields > 0) yield();
    }
  }

  /// After a wait.
  bool ended_well() const {
    bool good = wrong_.load() == 0 && overlaps_.load() == 0 && executed_.load() == steps_.size();
    for (std::size_t c = 0; c < k_cells; ++c) good = good && cells_[c].value == after_[c];
    return good;
  }
  std::size_t wrong() const { return wrong_.load(); }
  std::size_t overlaps() const { return overlaps_.load(); }

private:
  struct cell {
    std::uint64_t value = 0;
    std::atomic<std::uint64_t> inside{0};  // a task that writes it
  };
  struct touch {
    std::size_t at;
    access_mode mode;
    std::uint64_t before;  // in sequential order
  };
  struct step {
    std::uint64_t number = 0;
    unsigned yields = 0;
    priority rank = priority::normal;
    std::vector<access> declared;
    std::vector<touch> touched;
  };

  static std::uint64_t next(std::uint64_t value, access_mode mode, std::uint64_t number) {
    if (mode == access_mode::in) return value;
    return mode == access_mode::commutative ? value + number : 3 * value + number;
  }

  void execute(const step& s) {
    for (const touch& t : s.touched) {
      cell& c = cells_[t.at];
      if (t.mode != access_mode::commutative && c.value != t.before) ++wrong_;
      if ((t.mode == access_mode::in ? c.inside.load() : c.inside.exchange(s.number)) != 0) ++overlaps_;
    }
    std::vector<std::uint64_t> seen;
    for (const touch& t : s.touched) seen.push_back(cells_[t.at].value);
    for (unsigned i = 0; i < s.yields; ++i) yield();
    for (std::size_t i = 0; i < s.touched.size(); ++i) {
      const touch& t = s.touched[i];
      cell& c = cells_[t.at];
      if (c.value != seen[i]) ++overlaps_;
      if (t.mode == access_mode::in) continue;
      c.value = next(c.value, t.mode, s.number);
      c.inside.store(0);
    }
    ++executed_;
  }

  std::vector<step> steps_;
  std::array<cell, k_cells> cells_{};
  std::array<std::uint64_t, k_cells> after_{};
  std::atomic<std::size_t> wrong_{0};
  std::atomic<std::size_t> overlaps_{0};
  std::atomic<std::size_t> executed_{0};
};

}  // namespace shoal::sched
