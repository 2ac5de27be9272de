// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/toposort/toposort.hpp"
#include "shoal/loop.hpp"
#include "shoal/node_local.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::toposort {
namespace {

/// What workers of a node append to while one task reads what was there before. It never moves. What is more than fits
/// is not kept: only a matrix that has no such orders makes it, with two rows for one column.
template <class T>
class growing_list {
public:
  explicit growing_list(std::uint64_t most) : items_(most) {}

  void append(const T& item) noexcept {
    const std::uint64_t at = end_.fetch_add(1, std::memory_order_relaxed);
    if (at < items_.size()) items_[at] = item;
  }
  /// After a barrier.
  std::uint64_t end() const noexcept {
    return std::min<std::uint64_t>(end_.load(std::memory_order_relaxed), items_.size());
  }
  const T& operator[](std::uint64_t i) const noexcept { return items_[i]; }

private:
  std::vector<T> items_;
  std::atomic<std::uint64_t> end_{0};
};

struct pivot {
  std::uint32_t row;
  std::uint32_t column;
};

/// A node's rows and columns: the words of the rows, the rows with one entry left, and the columns of those entries.
struct part {
  explicit part(const matrix_ref& a)
      : first(a.local().first), left(a.local().size()), ready(left.size()), pivots(left.size()) {
    parallel_for(0, left.size(), [&](std::uint64_t i) {
      for (const std::uint32_t c : a.neighbours(first + i)) left[i] += entry(c);
      if (entries_in(left[i]) == 1) ready.append(static_cast<std::uint32_t>(first + i));
    });
  }

  std::uint64_t first;
  std::vector<std::uint64_t> left;
  growing_list<std::uint32_t> ready;
  growing_list<pivot> pivots;
};

/// Takes an entry out of a row, on the row's node.
struct take_out {
  node_local_ref<part> parts;
  std::uint32_t row;
  std::uint32_t column;

  void operator()() const noexcept {
    part& p = *parts;
    // Partners: the other workers of this node. Nobody reads the word before the barrier.
    const std::uint64_t before =
        std::atomic_ref(p.left[row - p.first]).fetch_sub(entry(column), std::memory_order_relaxed);
    if (entries_in(before) == 2) p.ready.append(row);
  }
};

/// Says to the column's node that the column leaves with this row.
struct choose {
  node_local_ref<part> parts;
  pivot chosen;

  void operator()() const noexcept { parts->pivots.append(chosen); }
};

template <class F>
void run_on(std::uint32_t node, const F& f) {
  if (node == node_id())
    f();
  else
    async_at(node, f);
}

/// f(k) for all k of [begin, end), on all workers.
template <class F>
void for_all(std::uint64_t begin, std::uint64_t end, const F& f) {
  parallel_for(range1d(begin, end), [&](const range1d& some) {
    for (std::uint64_t k = some.begin(); k < some.end(); ++k) f(k);
  });
}

}  // namespace

std::uint64_t fast(const matrix_ref& a, const matrix_ref& t, const labels& rows, const labels& columns) {
  const node_local<part> parts(a);
  return spmd([t, rows, columns, parts = parts.ref()](team& all) {
    part& mine = *parts;
    const auto of_columns = t.local();
    std::uint64_t placed = 0;
    std::uint64_t ready = 0;   // of mine.ready: those before have been read
    std::uint64_t pivots = 0;  // of mine.pivots
    for (;;) {
      const std::uint64_t ready_end = mine.ready.end();
      for_all(ready, ready_end, [&](std::uint64_t k) {
        const std::uint32_t row = mine.ready[k];
        const std::uint32_t column = column_in(mine.left[row - mine.first]);
        run_on(t.owner(column), choose{parts, {row, column}});
      });
      ready = ready_end;
      all.barrier();

      const std::uint64_t pivots_end = mine.pivots.end();
      const std::uint64_t before = all.exscan(pivots_end - pivots, std::plus<>());
      const std::uint64_t level = all.all_reduce(pivots_end - pivots, std::plus<>());
      if (level == 0) return placed;
      const std::uint64_t last = rows.size() - 1 - placed - before;
      for_all(pivots, pivots_end, [&](std::uint64_t k) {
        const auto [row, column] = mine.pivots[k];
        const auto place = static_cast<std::uint32_t>(last - (k - pivots));
        rows.async_put(row, place);
        columns.async_put(column, place);
        for (const std::uint32_t other : of_columns.neighbours(column))
          run_on(t.owner(other), take_out{parts, other, column});
      });
      pivots = pivots_end;
      placed += level;
      all.barrier();
    }
  });
}

}  // namespace shoal::kernels::toposort
