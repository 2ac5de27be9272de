// SPDX-License-Identifier: Apache-2.0
// A random program of tasks that read and write random regions, and what each must see, by going through it one task
// after the other: every byte has a version, the number of the task that wrote it last.
// Who may call: a task. Guarantees: the same seed makes the same program. The versions are not atomic, so that
// ThreadSanitizer sees a task that comes too early even if it reads the right number.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task_flow.hpp"

namespace shoal::sched {

enum class region_style {
  equal,    // blocks of one size
  mixed,    // aligned blocks of several sizes
  any,      // any begin, any size
  squares,  // blocks of a matrix, by rows
};

class flow_program {
public:
  static constexpr std::size_t k_bytes = 512;
  static constexpr std::size_t k_row = 32;  // of the matrix

  flow_program(std::uint64_t seed, std::size_t tasks, region_style style) : steps_(tasks), versions_(k_bytes) {
    xoshiro256ss random(seed);
    std::vector<std::uint32_t> now(k_bytes);
    for (std::size_t i = 0; i < tasks; ++i) {
      step& s = steps_[i];
      s.number = static_cast<std::uint32_t>(i + 1);
      s.yields = random.below(4) == 0 ? static_cast<unsigned>(random.below(4)) : 0;
      for (std::uint64_t n = random.below(4); n > 0; --n) {
        const auto mode = static_cast<access_mode>(random.below(3));
        const region r = draw(random, style);
        s.declared.push_back({r, mode});
        for (std::size_t row = 0; row < r.rows; ++row)
          for (std::size_t b = 0; b < r.row_bytes; ++b) {
            const std::size_t at = offset(r, row) + b;
            s.bytes.push_back({at, now[at], mode != access_mode::in});
          }
      }
      for (const byte& b : s.bytes)
        if (b.written) now[b.at] = s.number;
    }
    after_ = now;
  }

  /// Gives all tasks to the flow; a few of them only when `pauses` lets others run in between.
  void give_to(task_flow& flow, bool pauses) {
    for (const step& s : steps_) {
      flow.run(std::span<const access>(s.declared), [this, &s] { execute(s); });
      if (pauses && s.yields > 0) yield();
    }
  }

  std::size_t errors() const { return errors_.load(); }
  std::size_t executed() const { return executed_.load(); }
  /// After a wait.
  bool ended_well() const { return errors() == 0 && executed() == steps_.size() && versions_ == after_; }

private:
  struct byte {
    std::size_t at;
    std::uint32_t version;  // before the task
    bool written;
  };
  struct step {
    std::uint32_t number = 0;
    unsigned yields = 0;
    std::vector<access> declared;
    std::vector<byte> bytes;
  };

  region draw(xoshiro256ss& random, region_style style) const {
    const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random.below(n)); };
    switch (style) {
      case region_style::equal: return array_region(memory_ + 16 * below(k_bytes / 16), 16);
      case region_style::mixed: {
        const std::size_t size = std::size_t{1} << (3 + below(5));
        return array_region(memory_ + size * below(k_bytes / size), size);
      }
      case region_style::any: {
        const std::size_t begin = below(k_bytes);
        return array_region(memory_ + begin, below(1 + (k_bytes - begin) / (1 + below(20))));
      }
      default: {
        const std::size_t row = below(k_bytes / k_row);
        const std::size_t column = below(k_row);
        return region2d(memory_ + row * k_row + column, 1 + below(k_bytes / k_row - row), 1 + below(k_row - column),
                        std::ptrdiff_t{k_row});
      }
    }
  }
  std::size_t offset(const region& r, std::size_t row) const {
    return static_cast<std::size_t>(static_cast<const char*>(r.begin) - memory_) +
           row * static_cast<std::size_t>(r.stride_bytes);
  }

  void execute(const step& s) {
    std::size_t wrong = 0;
    const auto check = [&] {
      for (const byte& b : s.bytes)
        if (versions_[b.at] != b.version) ++wrong;
    };
    check();
    for (unsigned i = 0; i < s.yields; ++i) yield();
    check();  // nobody wrote meanwhile
    for (const byte& b : s.bytes)
      if (b.written) versions_[b.at] = s.number;
    executed_.fetch_add(1, std::memory_order_relaxed);
    if (wrong != 0) errors_.fetch_add(wrong, std::memory_order_relaxed);
  }

  std::vector<step> steps_;
  char memory_[k_bytes] = {};  // only its addresses are used
  std::vector<std::uint32_t> versions_;
  std::vector<std::uint32_t> after_;
  std::atomic<std::size_t> errors_{0};
  std::atomic<std::size_t> executed_{0};
};

}  // namespace shoal::sched
