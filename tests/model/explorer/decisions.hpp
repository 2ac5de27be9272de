// SPDX-License-Identifier: Apache-2.0
// The choices that distinguish executions: which thread takes the next step, and which store a load sees. They are
// random (from a seed) or systematic (depth first). All choices are recorded, so an execution can be repeated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace shoal::model {

class decisions {
public:
  // Systematic: always the first alternative, until next_path().
  decisions() = default;
  explicit decisions(std::uint64_t seed) { reseed(seed); }

  // Starts a new random path.
  void reseed(std::uint64_t seed) {
    random_ = true;
    state_ = seed * 0x9e3779b97f4a7c15U + 0x1234567;
    path_.clear();
    position_ = 0;
    // Some faults need few switches, others many: each execution uses another rate.
    first_in_256_ = 96 + 48 * static_cast<unsigned>(draw() % 4);
  }

  // Repeats the same path.
  void rewind() { position_ = 0; }

  // Continues with the next path in depth-first order; false if there is none.
  bool next_path() {
    position_ = 0;
    while (!path_.empty() && path_.back().taken + 1U == path_.back().of) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

  // Chooses one of `of` alternatives; the first is the default (stay on the thread, see the newest store).
  unsigned pick(std::size_t of) {
    if (of < 2) return 0;
    if (position_ == path_.size()) {
      unsigned taken = 0;
      if (random_ && draw() % 256 >= first_in_256_) taken = static_cast<unsigned>(1 + draw() % (of - 1));
      path_.push_back({static_cast<std::uint16_t>(taken), static_cast<std::uint16_t>(of)});
    }
    const decision& here = path_[position_++];
    if (here.of != of)
      throw std::logic_error("the scenario does not repeat itself: it depends on more than its choices");
    return here.taken;
  }

  bool random() const { return random_; }

private:
  struct decision {
    std::uint16_t taken;
    std::uint16_t of;
  };

  // splitmix64
  std::uint64_t draw() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31)) >> 8;
  }

  bool random_ = false;
  std::uint64_t state_ = 0;
  unsigned first_in_256_ = 0;
  std::vector<decision> path_;
  std::size_t position_ = 0;
};

}  // namespace shoal::model
