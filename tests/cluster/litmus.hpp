// SPDX-License-Identifier: Apache-2.0
// The guarantees for programs, as small races between tasks of several nodes: each function runs one race and counts
// violations (0: none). litmus_test.cpp runs them on many nodes in one process, programs/promises.cpp in jobs of
// several processes.
// Who may call: the main task of a job of any shape. They wait.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "shoal/shoal.hpp"

namespace shoal::test::litmus {

using word = std::uint64_t;

/// Between two reads of a value that another task must change; there are more threads than processors.
inline void give_way() {
  static const char* const transport = std::getenv("SHOAL_TRANSPORT");
  static const bool is_simulated = transport != nullptr && std::string_view(transport) == "sim";
  shoal::yield();
  if (!is_simulated) std::this_thread::yield();  // there is one thread; beside other programs it takes milliseconds
}

/// Index of element `k` among those of node `n`, in a partitioned array with `per_node` elements on each.
inline std::uint64_t at(std::uint32_t n, std::uint64_t per_node, std::uint64_t k) { return n * per_node + k; }

/// Puts ranges into the memory of the last node, which meanwhile adds zero to the elements: how many puts were lost.
inline word puts_beside_additions(double seconds) {
  constexpr word k_elements = 8;
  const std::uint32_t last = node_count() - 1;
  global_array<word> data_array(node_count() * k_elements);
  global_array<word> over_array(node_count());
  const auto data = data_array.ref();
  const auto over = over_array.ref();
  auto adder = async_on(last, [last, d = data, o = over] {
    for (word pass = 0; o.get(last) == 0; ++pass) {
      for (word k = 0; k < k_elements; ++k) d.add(at(last, k_elements, k), word{0});
      if (pass % 256 == 0) give_way();
    }
  });
  word lost = 0;
  std::vector<word> block(k_elements), back(k_elements);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (word r = 1; std::chrono::steady_clock::now() < end; ++r) {
    block.assign(k_elements, r);
    data.put(at(last, k_elements, 0), std::span<const word>(block));
    data.get(at(last, k_elements, 0), std::span<word>(back));
    for (const word value : back) lost += value != r ? 1 : 0;
    if (r % 64 == 0) give_way();
  }
  over.put(last, 1);
  adder.get();
  return lost;
}

enum class flag_by { put, add, exchange, compare_exchange };
enum class data_by { put, add, async_put, bulk_put, async_bulk_put };

struct flag_case {
  flag_by flag;
  data_by data;
  std::uint32_t writer, reader, data_node, flag_node;
};

/// Writes data, then sets a flag; a task that sees the flag must see the data.
inline word flag_and_data(const flag_case& c, word rounds) {
  constexpr word k_block = 24;  // words of data per round; they begin on data_node and may continue on the next node
  global_array<word> data(node_count() * rounds * k_block);
  global_array<word> flags(node_count());
  const auto writer = [=, d = data.ref(), f = flags.ref()] {
    for (word r = 0; r < rounds; ++r) {
      const word i = at(c.data_node, rounds * k_block, r * k_block);
      std::array<word, k_block> block;
      block.fill(r + 1);
      switch (c.data) {
        case data_by::put: d.put(i, r + 1); break;
        case data_by::add: d.add(i, r + 1); break;
        case data_by::async_put:
          for (word k = 0; k < k_block; ++k) d.async_put(i + k, r + 1);
          shoal::wait();
          break;
        case data_by::bulk_put: d.put(i, std::span<const word>(block)); break;
        case data_by::async_bulk_put:
          d.async_put(i, std::span<const word>(block));
          block.fill(0);  // the values were copied at the call
          shoal::wait();
          break;
      }
      switch (c.flag) {
        case flag_by::put: f.put(c.flag_node, r + 1); break;
        case flag_by::add: f.add(c.flag_node, 1); break;
        case flag_by::exchange: f.exchange(c.flag_node, r + 1); break;
        case flag_by::compare_exchange: f.compare_exchange(c.flag_node, r, r + 1); break;
      }
    }
  };
  const auto reader = [=, d = data.ref(), f = flags.ref()]() -> word {
    const word whole = c.data == data_by::put || c.data == data_by::add ? 1 : k_block;
    word broken = 0;
    for (word seen = 0; seen < rounds;) {
      const word now = f.get(c.flag_node);
      if (now == seen) give_way();
      for (; seen < now; ++seen) {
        const word i = at(c.data_node, rounds * k_block, seen * k_block);
        if (d.get(i) != seen + 1 || d.get(i + whole - 1) != seen + 1) ++broken;
        std::array<word, k_block> block;
        d.get(i, std::span(block).first(whole));
        for (word k = 0; k < whole; ++k)
          if (block[k] != seen + 1) ++broken;
      }
    }
    return broken;
  };
  auto reading = async_on(c.reader, reader);
  auto writing = async_on(c.writer, writer);
  writing.get();
  return reading.get();
}

/// A writes data; B sees it and sets a flag; C sees the flag and must see the data.
inline word told_by_another(word rounds) {
  const std::uint32_t n = node_count();
  global_array<word> data(n * rounds);
  global_array<word> flag(n * rounds);
  const std::uint32_t a = 0, b = 1 % n, c = 2 % n;
  auto third = async_on(c, [=, d = data.ref(), f = flag.ref()]() -> word {
    word broken = 0;
    for (word r = 0; r < rounds; ++r) {
      while (f.get(at(b, rounds, r)) == 0) give_way();
      broken += d.get(at(c, rounds, r)) == 0 ? 1 : 0;
    }
    return broken;
  });
  auto second = async_on(b, [=, d = data.ref(), f = flag.ref()] {
    for (word r = 0; r < rounds; ++r) {
      while (d.get(at(c, rounds, r)) == 0) give_way();
      f.put(at(b, rounds, r), 1);
    }
  });
  auto first = async_on(a, [=, d = data.ref()] {
    for (word r = 0; r < rounds; ++r) d.put(at(c, rounds, r), 1);
  });
  return third.get();
}

/// Each of two tasks writes its own word and reads the other's: at least one must see the other's write.
inline word store_buffering(std::uint32_t x_node, std::uint32_t y_node, bool bulk, word rounds) {
  const std::uint32_t last = node_count() - 1;
  const word per_node = 2 * rounds;
  global_array<word> cells(node_count() * per_node);
  global_array<word> read(2 * rounds);
  global_array<word> ready(2);
  struct side {
    array_ref<word> cells, read, ready;
    word mine, other, result, rounds;
    std::uint64_t me, peer;
    bool bulk;
    void operator()() const {
      for (word r = 0; r < rounds; ++r) {
        if (r % 128 == 0) {  // synchronises both tasks
          ready.add(me, 1);
          while (ready.get(peer) < r / 128 + 1) give_way();
        }
        word got = 1;
        if (bulk) {
          const word one = 1;
          cells.put(mine + r, std::span<const word>(&one, 1));
          cells.get(other + r, std::span<word>(&got, 1));
        } else {
          cells.put(mine + r, 1);
          got = cells.get(other + r);
        }
        read.put(result + r, got);
      }
    }
  };
  const word x = at(x_node, per_node, 0);
  const word y = at(y_node, per_node, rounds);
  auto one = async_on(0, side{cells, read, ready, x, y, 0, rounds, 0, 1, bulk});
  auto two = async_on(last, side{cells, read, ready, y, x, rounds, rounds, 1, 0, bulk});
  one.get();
  two.get();
  std::vector<word> got(2 * rounds);
  read->get(0, std::span(got));
  word broken = 0;
  for (word r = 0; r < rounds; ++r) broken += got[r] == 0 && got[rounds + r] == 0 ? 1 : 0;
  return broken;
}

/// fetch_add returns each value once, for all callers: handlers, mapped peers, local tasks, blocking or not.
inline word distinct_tickets(word tickets) {
  global_array<word> counter(1);
  global_array<word> taken(4 * tickets, distribution::cyclic);
  parallel_for(everywhere, tickets, [=, c = counter.ref(), t = taken.ref()](std::uint64_t) {
    t.async_add(c.fetch_add(0, 1), 1);
    word later[2] = {};
    c.async_fetch_add(0, 1, &later[0]);
    c.async_fetch_add(0, 1, &later[1]);
    shoal::wait();
    t.async_add(later[0], 1);
    t.async_add(later[1], 1);
    for (word seen = c.get(0);;) {
      const word before = c.compare_exchange(0, seen, seen + 1);
      if (before == seen) break;
      seen = before;
      give_way();
    }
  });
  // The values taken by compare_exchange are those that no task recorded.
  std::vector<word> noted(taken.size());
  taken->get(0, std::span(noted));
  word broken = counter->get(0) == 4 * tickets ? 0 : 1;
  word once = 0;
  for (const word n : noted) {
    broken += n > 1 ? 1 : 0;
    once += n;
  }
  return broken + (once == 3 * tickets ? 0 : 1);
}

/// Each value that is exchanged into an element is returned exactly once.
inline word exchanged_once(word iterations) {
  global_array<word> cell(1);
  global_array<word> seen(iterations + 1, distribution::cyclic);
  parallel_for(everywhere, iterations, [c = cell.ref(), s = seen.ref()](std::uint64_t i) {
    if (i % 2 == 0) {
      s.async_add(c.exchange(0, i + 1), 1);
    } else {
      word old = 0;
      c.async_exchange(0, i + 1, &old);
      shoal::wait();
      s.async_add(old, 1);
    }
  });
  seen->add(cell->get(0), 1);
  word broken = 0;
  for (word i = 0; i <= iterations; ++i) broken += seen->get(i) == 1 ? 0 : 1;
  return broken;
}

/// Modifications of an element smaller than a word do not change its neighbours.
template <class T>
word small_neighbours(word iterations) {
  global_array<T> cells(8);
  parallel_for(everywhere, 8 * iterations, [c = cells.ref()](std::uint64_t i) {
    if (i % 16 < 8)
      c.async_add(i % 8, T{1});
    else
      c.add(i % 8, T{1});
  });
  word broken = 0;
  for (word i = 0; i < 8; ++i) broken += cells->get(i) == static_cast<T>(iterations) ? 0 : 1;
  return broken;
}

/// All parts of an element come from the same write: `Half` twice in each T.
template <class T, class Half>
word tears(word rounds) {
  static_assert(sizeof(T) == 2 * sizeof(Half));
  constexpr word k_size = 300;
  const auto twice = [](word v) {
    const auto half = static_cast<Half>(v);
    return static_cast<T>(static_cast<T>(half) << (8 * sizeof(Half)) | half);
  };
  const auto is_torn = [](T v) { return static_cast<Half>(v) != static_cast<Half>(v >> (8 * sizeof(Half))); };
  global_array<T> cells(k_size + 1);
  global_array<word> torn(1);
  parallel_for(everywhere, 4 * rounds, [=, c = cells.ref(), t = torn.ref()](std::uint64_t r) {
    std::vector<T> many(k_size, twice(~(r * 0x9e3779b97f4a7c15U)));
    switch (r % 4) {
      case 0: c.put(1, std::span<const T>(many)); break;
      case 1: c.get(1, std::span(many)); break;
      case 2:
        for (word i = 0; i < k_size; i += 3) c.async_put(i + 1, many[0]);
        break;
      default:
        for (word i = 0; i < k_size; ++i) c.async_get(i + 1, &many[i]);
        shoal::wait();
        if (r % 64 == 3) c.fill(many[0]);
    }
    for (const T v : many)
      if (is_torn(v)) t.async_add(0, 1);
  });
  return torn->get(0);
}

}  // namespace shoal::test::litmus
