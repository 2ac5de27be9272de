// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <cstring>
#include <vector>

#include "bench/micro/limits/loops.hpp"
#include "bench/micro/limits/team.hpp"
#include "fiber/sanitizer.hpp"

namespace shoal::bench::limits {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr std::size_t k_other_stack_bytes = 65536;

// The partner of the bare switch: counts and switches back.
SHOAL_NO_TSAN void return_at_once(transfer_t from) {
  auto* count = static_cast<std::uint64_t*>(from.data);
  for (;;) {
    ++*count;
    from = jump_fcontext(from.fctx, nullptr);
  }
}

}  // namespace

measured copy_memory(word_range to, word_range from, const seats& where, const loop_options& options) {
  std::uint64_t words = std::min(to.count, from.count);
  std::uint64_t slice = words / static_cast<std::uint64_t>(where.count());
  std::memset(to.words, 0, words * sizeof(std::uint64_t));
  outcome result = run_team(where, [&](int me, share& mine) {
    std::uint64_t start = slice * static_cast<std::uint64_t>(me);
    std::uint64_t length = me == where.count() - 1 ? words - start : slice;
    deadline end(options.seconds);
    do {
      std::memcpy(to.words + start, from.words + start, length * sizeof(std::uint64_t));
      mine.operations += length * sizeof(std::uint64_t);
    } while (!end.passed());
  });
  bool correct = std::memcmp(to.words, from.words, words * sizeof(std::uint64_t)) == 0;
  return {static_cast<double>(result.operations) / result.seconds / 1e9, correct};
}

measured pingpong(const loop_options& options) {
  struct alignas(128) cell {
    std::atomic<std::uint64_t> value{0};  // each thread writes one cell and waits for the other's
  };
  cell cells[2];
  constexpr std::uint64_t k_stop = ~std::uint64_t{0};
  outcome result = run_team(options.where.pair, [&](int me, share& mine) {
    std::atomic<std::uint64_t>& own = cells[me].value;
    std::atomic<std::uint64_t>& other = cells[1 - me].value;
    deadline end(options.seconds);
    std::uint64_t round = 0;
    auto wait_beyond = [&](std::uint64_t known) {
      std::uint64_t seen;
      for (patience waiting; (seen = other.load(std::memory_order_acquire)) <= known;) waiting.wait();
      return seen;
    };
    if (me == 0) {
      do {
        for (int i = 0; i < 64; ++i) {
          own.store(++round, std::memory_order_release);
          wait_beyond(round - 1);
        }
      } while (!end.passed());
      own.store(k_stop, std::memory_order_release);
      mine.operations = round;
    } else {
      for (std::uint64_t seen; (seen = wait_beyond(round)) != k_stop;) {
        mine.sum += seen == round + 1 ? 1 : 0;  // each round must be seen once
        round = seen;
        own.store(round, std::memory_order_release);
      }
    }
  });
  double one_way_ns = result.seconds * 1e9 / (2 * static_cast<double>(result.operations));
  return {one_way_ns, result.sum == result.operations};
}

measured context_switch(const loop_options& options) {
  std::vector<char> stack(k_other_stack_bytes);
  fcontext_t other = make_fcontext(stack.data() + stack.size(), stack.size(), return_at_once);
  std::uint64_t counted = 0;
  outcome result = run_team(options.where.one, [&](int, share& mine) {
    deadline end(options.seconds);
    do {
      for (int i = 0; i < 4096; ++i) other = jump_fcontext(other, &counted).fctx;
      mine.operations += 4096;
    } while (!end.passed());
  });
  return {result.seconds * 1e9 / (2 * static_cast<double>(result.operations)), counted == result.operations};
}

}  // namespace shoal::bench::limits
