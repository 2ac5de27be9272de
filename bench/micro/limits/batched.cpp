// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <vector>

#include "bench/micro/limits/channel.hpp"
#include "bench/micro/limits/loops.hpp"
#include "bench/micro/limits/team.hpp"
#include "shoal/random.hpp"

namespace shoal::bench::limits {
namespace {

struct update_command {
  std::uint64_t index;
  std::uint64_t value;
};

using update_channel = channel<update_command, std::uint64_t>;

void serve_updates(update_channel& in, std::uint64_t* words, std::size_t distance) {
  const update_command* commands = in.request();
  pipelined(
      in.request_count(), distance, [=](std::size_t i) { __builtin_prefetch(words + commands[i].index, 1); },
      [=](std::size_t i) {
        std::atomic_ref<std::uint64_t>(words[commands[i].index])
            .fetch_add(commands[i].value, std::memory_order_relaxed);
      });
  in.serve_done();
}

using read_channel = channel<std::uint64_t, std::uint64_t>;

void serve_reads(read_channel& in, const std::uint64_t* words, std::size_t distance) {
  const std::uint64_t* requests = in.request();
  std::uint64_t* answers = in.answer();
  pipelined(
      in.request_count(), distance, [=](std::size_t i) { __builtin_prefetch(words + requests[i]); },
      [=](std::size_t i) { answers[i] = words[requests[i]]; });
  in.serve_done();
}

}  // namespace

measured batched_update(node_tables tables, const loop_options& options) {
  std::uint64_t before = tables.of_node[0].sum() + tables.of_node[1].sum();
  std::size_t capacity = std::max<std::size_t>(1, options.buffer_bytes / sizeof(update_command));
  update_channel from_node[2] = {{options.buffers, capacity}, {options.buffers, capacity}};
  outcome result = run_team(options.where.pair, [&](int me, share& mine) {
    update_channel& out = from_node[me];
    update_channel& in = from_node[1 - me];
    std::uint64_t* own = tables.of_node[me].words;
    std::uint64_t others = tables.of_node[1 - me].count;
    splitmix64 random(options.seed * 1000 + static_cast<std::uint64_t>(me));
    deadline end(options.seconds);
    bool issuing = true;
    for (patience waiting;;) {
      bool worked = false;
      if (issuing && out.has_room()) {
        update_command* commands = out.to_fill();
        for (std::size_t i = 0; i < capacity; ++i) commands[i] = {below(random(), others), k_update};
        out.publish(capacity);
        mine.operations += capacity;
        if (end.passed()) {
          issuing = false;
          out.close();
        }
        worked = true;
      }
      if (in.to_serve()) {
        serve_updates(in, own, options.prefetch);
        worked = true;
      }
      if (worked) {
        waiting.reset();
      } else if (!issuing && in.finished()) {
        break;
      } else {
        waiting.wait();
      }
    }
  });
  std::uint64_t after = tables.of_node[0].sum() + tables.of_node[1].sum();
  return {result.mops(), is_sum_after(after, before, result.operations)};
}

measured batched_read(node_tables tables, const loop_options& options) {
  std::size_t capacity = std::max<std::size_t>(1, options.buffer_bytes / sizeof(std::uint64_t));
  read_channel from_node[2] = {{options.buffers, capacity}, {options.buffers, capacity}};
  std::atomic<std::uint64_t> indexes_read{0};  // each thread adds the numbers of the words that it read
  outcome result = run_team(options.where.pair, [&](int me, share& mine) {
    read_channel& out = from_node[me];
    read_channel& in = from_node[1 - me];
    const std::uint64_t* own = tables.of_node[me].words;
    std::uint64_t others = tables.of_node[1 - me].count;
    splitmix64 random(options.seed * 1000 + static_cast<std::uint64_t>(me));
    // Receives the values of a gather; large enough for all operations in flight.
    std::vector<std::uint64_t> gathered(options.buffers * capacity);
    std::uint64_t indexes = 0;
    std::uint64_t sum = 0;
    std::uint64_t taken = 0;  // buffers of replies
    deadline end(options.seconds);
    bool issuing = true;
    for (patience waiting;;) {
      bool worked = false;
      if (issuing && out.issued() - taken < options.buffers) {
        std::uint64_t* requests = out.to_fill();
        for (std::size_t i = 0; i < capacity; ++i) {
          std::uint64_t index = below(random(), others);
          indexes += index;
          requests[i] = index;
        }
        out.publish(capacity);
        if (end.passed()) {
          issuing = false;
          out.close();
        }
        worked = true;
      }
      if (in.to_serve()) {
        serve_reads(in, own, options.prefetch);
        worked = true;
      }
      if (taken < out.issued() && out.answered(taken)) {
        const std::uint64_t* answers = out.answers(taken);
        std::uint64_t* target = gathered.data() + taken % options.buffers * capacity;
        for (std::size_t i = 0; i < capacity; ++i) {
          target[i] = answers[i];
          sum += answers[i];
        }
        ++taken;
        mine.operations += capacity;
        worked = true;
      }
      if (worked) {
        waiting.reset();
      } else if (!issuing && taken == out.issued() && in.finished()) {
        break;
      } else {
        waiting.wait();
      }
    }
    asm volatile("" : : "r"(gathered.data()) : "memory");  // keeps the stores in the measured work
    mine.sum = sum;
    indexes_read.fetch_add(indexes + mine.operations * tables.of_node[1 - me].first, std::memory_order_relaxed);
  });
  return {result.mops(), is_sum_of_content(result.sum, indexes_read.load())};
}

}  // namespace shoal::bench::limits
