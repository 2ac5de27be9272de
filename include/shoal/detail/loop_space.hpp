// SPDX-License-Identifier: Apache-2.0
// The positions of a loop: numbers, or the points of a box, tile after tile. The piece functions of loops use each()
// (every iteration of a chunk) and tile() (the chunk as a range).
// Who may call: the stack that runs the frame. They switch if the body does.
// Guarantees: `next` of the frame is past an iteration before the iteration starts. If the body calls nothing that may
// wait, the compiler keeps `next` in a register, and the loop is an ordinary one (see position).
// Tests: tests/unit/sched/loop_test.cpp, parallel_for_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "shoal/detail/loop.hpp"
#include "shoal/detail/tiling.hpp"
#include "shoal/range.hpp"

namespace shoal::detail {

/// Whether to begin nothing more, asked before each iteration of a loop that has a token.
template <bool Stoppable>
bool asked_to_stop([[maybe_unused]] const loop_frame& frame) noexcept {
  if constexpr (Stoppable)
    return frame.loop->stop->stop_requested();
  else
    return false;
}

/// Goes through the chunk: call(position).
template <bool Stoppable, class Call>
void each_position(loop_frame& frame, Call&& call) {
  while (frame.next < frame.limit) {
    if (asked_to_stop<Stoppable>(frame)) return;
    const std::uint64_t at = number(frame.next);
    frame.next = position{at + 1};
    call(at);
  }
}

/// first, first + 1 ...
template <std::integral Index>
struct numbers {
  Index first;

  Index at(std::uint64_t position) const noexcept {
    using wide = std::make_unsigned_t<Index>;
    return static_cast<Index>(static_cast<wide>(first) + static_cast<wide>(position));
  }
  template <bool Stoppable, class Call>
  void each(loop_frame& frame, Call&& call) const {
    const numbers here = *this;  // which no store of the body can change
    each_position<Stoppable>(frame, [&](std::uint64_t p) { call(here.at(p)); });
  }
  template <class Call>
  void tile(loop_frame& frame, Call&& call) const {
    SHOAL_ASSERT(!(first < Index{}),
                 "a body that takes parts of a range takes them from numbers that are not negative");
    const std::uint64_t from = number(frame.next);
    frame.next = frame.limit;
    const auto begin = static_cast<std::uint64_t>(first);
    call(range1d(begin + from, begin + number(frame.next)));
  }
};

template <class Box>
struct tiles {
  tiling<Box> cut;

  std::uint64_t size() const noexcept { return cut.tiles() * cut.unit(); }

  // Row by row. A chunk may begin and end anywhere in its tile; positions behind the tile's last point are empty.
  template <bool Stoppable, class Call>
  void each(loop_frame& frame, Call&& call) const {
    constexpr unsigned k_last = Box::k_sides - 1;
    const std::uint64_t origin = number(frame.next) - number(frame.next) % cut.unit();
    const Box box = cut.tile(origin / cut.unit());
    const std::uint64_t chunk_end = number(frame.limit);
    const std::uint64_t points_end = std::min(chunk_end, origin + box.size());
    const std::uint64_t width = box.side(k_last).size();
    if (width == 0) return skip(frame, origin, chunk_end);
    std::uint64_t row = (number(frame.next) - origin) / width;
    std::uint64_t row_begin = origin + row * width;
    std::array<std::uint64_t, Box::k_sides> at;
    for (unsigned d = k_last; d-- > 0;) {
      const std::uint64_t length = box.side(d).size();
      at[d] = box.side(d).begin() + (length != 0 ? row % length : 0);
      row = length != 0 ? row / length : 0;
    }
    for (; number(frame.next) < points_end; row_begin += width) {
      const std::uint64_t column = box.side(k_last).begin() - row_begin;
      const position stop{std::min(points_end, row_begin + width)};
      frame.limit = stop;
      each_position<Stoppable>(frame, [&](std::uint64_t p) {
        if constexpr (Box::k_sides == 2)
          call(at[0], column + p);
        else
          call(at[0], at[1], column + p);
      });
      if (frame.next != stop || frame.next == frame.end) return;  // told to stop; or cut, and the rest is elsewhere
      for (unsigned d = k_last; d-- > 0;) {
        if (++at[d] != box.side(d).end()) break;
        at[d] = box.side(d).begin();
      }
    }
    skip(frame, origin + box.size(), chunk_end);
  }
  template <class Call>
  void tile(loop_frame& frame, Call&& call) const {
    const Box box = cut.tile(number(frame.next) / cut.unit());
    frame.next = frame.limit;
    if (!box.empty()) call(box);
  }

private:
  // Behind the tile's last point there is nothing: no chunks for it.
  void skip(loop_frame& frame, std::uint64_t points_end, std::uint64_t chunk_end) const noexcept {
    if (frame.next >= frame.end) return;
    if (chunk_end >= points_end) {
      const std::uint64_t last = chunk_end - 1;
      chunk_end = std::min(number(frame.end), last - last % cut.unit() + cut.unit());
    }
    frame.next = position{chunk_end};
  }
};

}  // namespace shoal::detail
