// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/access_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"
#include "shoal/read_cache.hpp"

namespace shoal::bench {
namespace {

constexpr std::uint64_t k_hot_items = 64;
constexpr std::uint64_t k_gather_batch = 1024;

// Chooses targets: an item is words_per_item words, aligned to that size. Each pattern is a range of nodes, given by
// the first and their number (not necessarily a power of two: a multiplication maps to the range), and a mask for the
// item.
struct target_map {
  std::uint64_t first = 0;  // item
  std::uint64_t nodes = 1;
  std::uint64_t own = ~std::uint64_t{0};  // items from here on belong to the next node: skips the own node
  std::uint64_t item_mask = 0;
  std::uint64_t items_per_node = 1;
  std::uint64_t words_per_item = 1;
  std::uint64_t most_shift = 0;  // skewed: item k about as often as 1 / k says, as the degrees of a power-law graph

  // On the node of the calling task.
  static target_map here(access_pattern pattern, std::uint64_t items_per_node, std::uint64_t words_per_item) {
    target_map m;
    m.item_mask = (pattern == access_pattern::hotspot ? k_hot_items : items_per_node) - 1;
    m.items_per_node = items_per_node;
    m.words_per_item = words_per_item;
    switch (pattern) {
      case access_pattern::local: m.first = node_id() * items_per_node; break;
      case access_pattern::skewed:
        m.most_shift = static_cast<std::uint64_t>(std::bit_width(m.item_mask));
        [[fallthrough]];
      case access_pattern::remote:
        m.nodes = node_count() - 1;
        m.own = node_id() * items_per_node;
        break;
      case access_pattern::uniform:
      case access_pattern::hotspot: m.nodes = node_count(); break;
    }
    return m;
  }

  std::uint64_t operator()(std::uint64_t random) const noexcept {
    const std::uint64_t shift = most_shift == 0 ? 0 : mix64(random) % most_shift;
    std::uint64_t item = ((random & item_mask) >> shift) + first + ((random >> 32) * nodes >> 32) * items_per_node;
    if (item >= own) item += items_per_node;
    return item * words_per_item;
  }

  // Single words on one possible node: the fast path, so that the measurement contains little but the access.
  bool is_one_node() const noexcept { return nodes == 1 && words_per_item == 1 && most_shift == 0; }
  auto on_one_node() const noexcept {
    return [begin = first + (first >= own ? items_per_node : 0), mask = item_mask](std::uint64_t random) {
      return begin + (random & mask);
    };
  }
};

// The value of word `i` for reads, and the value that a put writes.
constexpr std::uint64_t value_of(std::uint64_t i) noexcept { return i * 0x9e3779b97f4a7c15 + 1; }

struct work {
  array_ref<std::uint64_t> words;
  array_ref<std::uint64_t> tally;
  access_pattern pattern;
  std::uint64_t items_per_node;
  std::uint64_t words_per_item;
  std::uint64_t operations;
  std::uint64_t seed;

  splitmix64 random_for(std::uint64_t task) const noexcept { return splitmix64(mix64(seed) ^ mix64(~task)); }
  target_map targets() const { return target_map::here(pattern, items_per_node, words_per_item); }

  // Copies its members: otherwise the compiler must assume that the operations modify this object.
  template <class Each>
  void each(std::uint64_t task, Each one) const {
    with_targets([random = random_for(task), one, n = operations](auto where) mutable {
      for (std::uint64_t left = n; left > 0; --left) one(where(random()));
    });
  }
  // Passes a target_map, or its simple case.
  template <class Body>
  void with_targets(Body body) const {
    if (const target_map where = targets(); where.is_one_node())
      body(where.on_one_node());
    else
      body(where);
  }
};

struct add_async : work {
  void operator()(std::uint64_t task) const {
    each(task, [words = words](std::uint64_t i) { words.async_add(i, 1); });
  }
};
struct add_blocking : work {
  void operator()(std::uint64_t task) const {
    each(task, [words = words](std::uint64_t i) { words.fetch_add(i, 1); });
  }
};
struct put_async : work {
  void operator()(std::uint64_t task) const {
    each(task, [words = words](std::uint64_t i) { words.async_put(i, value_of(i)); });
  }
};
struct put_blocking : work {
  void operator()(std::uint64_t task) const {
    each(task, [words = words](std::uint64_t i) { words.put(i, value_of(i)); });
  }
};
// Of the array, or through a cache of it.
template <class Source>
struct get_blocking : work {
  void operator()(std::uint64_t task) const {
    std::uint64_t wrong = 0;
    each(task, [&](std::uint64_t i) { wrong += source.get(i) != value_of(i) ? 1 : 0; });
    if (wrong != 0) tally.add(node_id(), wrong);
  }
  Source source;
};
template <class Source>
struct get_async : work {
  void operator()(std::uint64_t task) const {
    std::vector<std::uint64_t> room(k_gather_batch);
    std::uint64_t wrong = 0;
    with_targets([&wrong, got = room.data(), random = random_for(task), again = random_for(task), table = source,
                  most = operations](auto where) mutable {
      for (std::uint64_t done = 0; done < most;) {
        const std::uint64_t n = std::min(k_gather_batch, most - done);
        for (std::uint64_t k = 0; k < n; ++k) table.async_get(where(random()), got + k);
        shoal::wait();
        std::uint64_t differ = 0;
        for (std::uint64_t k = 0; k < n; ++k) differ += got[k] != value_of(where(again())) ? 1 : 0;
        wrong += differ;
        done += n;
      }
    });
    if (wrong != 0) tally.add(node_id(), wrong);
  }
  Source source;
};
// By lists of indices.
struct gather_lists : work {
  void operator()(std::uint64_t task) const {
    std::vector<std::uint64_t> indices(k_gather_batch), values(k_gather_batch);
    std::uint64_t wrong = 0;
    with_targets([&wrong, list = indices.data(), got = values.data(), random = random_for(task), table = words,
                  most = operations](auto where) mutable {
      for (std::uint64_t done = 0; done < most;) {
        const std::uint64_t n = std::min(k_gather_batch, most - done);
        for (std::uint64_t k = 0; k < n; ++k) list[k] = where(random());
        table.gather(std::span(list, n), std::span(got, n));
        std::uint64_t differ = 0;
        for (std::uint64_t k = 0; k < n; ++k) differ += got[k] != value_of(list[k]) ? 1 : 0;
        wrong += differ;
        done += n;
      }
    });
    if (wrong != 0) tally.add(node_id(), wrong);
  }
};
struct cas_blocking : work {
  void operator()(std::uint64_t task) const {
    std::uint64_t won = 0;
    each(task, [&](std::uint64_t i) { won += words.compare_exchange(i, 0, 1) == 0 ? 1 : 0; });
    tally.add(node_id(), won);
  }
};
struct cas_async : work {
  void operator()(std::uint64_t task) const {
    std::vector<std::uint64_t> before(k_gather_batch);
    auto random = random_for(task);
    const target_map where = targets();
    std::uint64_t won = 0;
    for (std::uint64_t done = 0; done < operations;) {
      const std::uint64_t n = std::min(k_gather_batch, operations - done);
      for (std::uint64_t k = 0; k < n; ++k) words.async_compare_exchange(where(random()), 0, 1, &before[k]);
      shoal::wait();
      for (std::uint64_t k = 0; k < n; ++k) won += before[k] == 0 ? 1 : 0;
      done += n;
    }
    tally.add(node_id(), won);
  }
};
// More than one word at a time.
struct put_bulk : work {
  void operator()(std::uint64_t task) const {
    std::vector<std::uint64_t> values(words_per_item);
    each(task, [&](std::uint64_t i) {
      for (std::uint64_t k = 0; k < values.size(); ++k) values[k] = value_of(i + k);
      words.async_put(i, std::span<const std::uint64_t>(values));
      if (blocking) shoal::wait();
    });
  }
  bool blocking = false;
};
struct get_bulk : work {
  void operator()(std::uint64_t task) const {
    std::vector<std::uint64_t> got(words_per_item);
    std::uint64_t wrong = 0;
    each(task, [&](std::uint64_t i) {
      words.get(i, std::span(got));
      for (std::uint64_t k = 0; k < got.size(); ++k) wrong += got[k] != value_of(i + k) ? 1 : 0;
    });
    if (wrong != 0) tally.add(node_id(), wrong);
  }
};

template <class Work>
void run_tasks(const work& w, std::uint64_t tasks) {
  Work body;
  static_cast<work&>(body) = w;
  parallel_for(everywhere, tasks, body, simple_partitioner{1});
}

template <class Source>
void run_gets(const work& w, std::uint64_t tasks, const Source& source, bool async) {
  const auto run = [&](auto body) {
    static_cast<work&>(body) = w;
    body.source = source;
    parallel_for(everywhere, tasks, body, simple_partitioner{1});
  };
  async ? run(get_async<Source>{}) : run(get_blocking<Source>{});
}

std::uint64_t sum(const array_ref<std::uint64_t>& a) {
  return parallel_reduce(
      owners_of(a), 0, a.size(), std::uint64_t{0}, [a](std::uint64_t i) { return a.get(i); },
      [](std::uint64_t x, std::uint64_t y) { return x + y; });
}

}  // namespace

access_table::access_table(std::uint64_t bytes, std::uint32_t bytes_per_operation)
    : items_per_node_(std::bit_floor(std::max<std::uint64_t>(bytes / node_count() / bytes_per_operation, k_hot_items))),
      words_per_item_(bytes_per_operation / sizeof(std::uint64_t)),
      words_(items_per_node_ * words_per_item_ * node_count()),
      tally_(node_count()) {}

void access_table::reset(const access_plan& plan) {
  const bool read = plan.op == access_op::get || plan.op == access_op::gather || plan.op == access_op::cached;
  parallel_for(owners_of(words_), words_.size(),
               [w = words_.ref(), read](std::uint64_t i) { w.async_put(i, read ? value_of(i) : 0); });
  tally_->fill(0);
  operations_ = 0;
}

double access_table::run(const access_plan& plan) {
  const std::uint64_t tasks = plan.tasks_per_node * node_count();
  const work w{words_, tally_, plan.pattern, items_per_node_, words_per_item_, plan.operations_per_task, seed_++};
  const bool async = plan.mode == access_mode::async;
  std::optional<read_cache<std::uint64_t>> cache;
  if (plan.op == access_op::cached) cache.emplace(words_);
  const std::uint64_t start_ns = base::now_ns();
  if (plan.bytes > sizeof(std::uint64_t)) {
    if (plan.op == access_op::get) {
      run_tasks<get_bulk>(w, tasks);
    } else {
      put_bulk body;
      static_cast<work&>(body) = w;
      body.blocking = !async;
      parallel_for(everywhere, tasks, body, simple_partitioner{1});
    }
  } else {
    switch (plan.op) {
      case access_op::add: async ? run_tasks<add_async>(w, tasks) : run_tasks<add_blocking>(w, tasks); break;
      case access_op::put: async ? run_tasks<put_async>(w, tasks) : run_tasks<put_blocking>(w, tasks); break;
      case access_op::get: run_gets(w, tasks, words_.ref(), async); break;
      case access_op::gather: run_tasks<gather_lists>(w, tasks); break;
      case access_op::cached: run_gets(w, tasks, cache->ref(), async); break;
      case access_op::cas: async ? run_tasks<cas_async>(w, tasks) : run_tasks<cas_blocking>(w, tasks); break;
    }
  }
  const double seconds = static_cast<double>(base::now_ns() - start_ns) * 1e-9;
  if (cache) cache_counts_ = cache->counts();
  operations_ += tasks * plan.operations_per_task;
  return seconds;
}

std::string access_table::check(const access_plan& plan) {
  const std::uint64_t counted = sum(tally_);
  switch (plan.op) {
    case access_op::add: {
      const std::uint64_t total = sum(words_);
      if (total + counted == operations_) return {};
      return fmt::format("the table sums to {}, after {} additions of one", total, operations_);
    }
    case access_op::get:
    case access_op::gather:
    case access_op::cached:
      return counted == 0 ? std::string{} : fmt::format("{} values of {} were wrong", counted, operations_);
    case access_op::cas: {
      const std::uint64_t total = sum(words_);
      return total == counted ? std::string{}
                              : fmt::format("{} exchanges succeeded, but {} elements are set", counted, total);
    }
    case access_op::put: {
      const std::uint64_t wrong = parallel_reduce(
          owners_of(words_), 0, words_.size(), std::uint64_t{0},
          [w = words_.ref()](std::uint64_t i) -> std::uint64_t {
            const std::uint64_t v = w.get(i);
            return v != 0 && v != value_of(i) ? 1 : 0;
          },
          [](std::uint64_t x, std::uint64_t y) { return x + y; });
      const std::uint64_t set = parallel_reduce(
          owners_of(words_), 0, words_.size(), std::uint64_t{0},
          [w = words_.ref()](std::uint64_t i) -> std::uint64_t { return w.get(i) != 0 ? 1 : 0; },
          [](std::uint64_t x, std::uint64_t y) { return x + y; });
      if (wrong != 0) return fmt::format("{} elements hold a value that was never put", wrong);
      if (set == 0) return "no put changed an element";
      return {};
    }
  }
  return {};
}

}  // namespace shoal::bench
