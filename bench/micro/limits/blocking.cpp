// SPDX-License-Identifier: Apache-2.0
// Blocking adds from many stackful tasks. A task appends a command of 8 bytes with its number, and switches directly to
// the next task whose reply has arrived; a buffer of replies is a list of task numbers. A task switches to the node's
// loop only if the replies are used up or the outgoing buffer is full; the loop sends, serves and waits. So tasks need
// small stacks. The numbers of the next tasks are known some steps ahead, so their stacks are prefetched.
#include <algorithm>
#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <numeric>
#include <vector>

#include "bench/micro/limits/channel.hpp"
#include "bench/micro/limits/loops.hpp"
#include "bench/micro/limits/team.hpp"
#include "fiber/sanitizer.hpp"
#include "shoal/random.hpp"

namespace shoal::bench::limits {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// A command: index, task, value, from the highest bits.
constexpr unsigned k_value_bits = 8;
constexpr unsigned k_task_bits = 22;
constexpr std::uint64_t k_task_mask = (std::uint64_t{1} << k_task_bits) - 1;
constexpr std::uint64_t k_value_mask = (std::uint64_t{1} << k_value_bits) - 1;

constexpr std::size_t k_stack_bytes = 4096;
constexpr std::size_t k_stagger_bytes = 128;  // avoids that the tops share cache sets
constexpr std::size_t k_ahead = 8;            // stacks prefetched before the switch

using blocking_channel = channel<std::uint64_t, std::uint32_t>;

// One node's state. Tasks and the node's loop run on one thread and reach it through a pointer.
struct blocking_node {
  blocking_node(std::size_t tasks, blocking_channel& outgoing, std::uint64_t seed, std::uint64_t words)
      : out(outgoing),
        random(seed),
        count(words),
        stacks(tasks * (k_stack_bytes + k_stagger_bytes)),
        contexts(tasks),
        first(tasks + k_ahead) {
    std::iota(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(tasks), 0U);
    next = first.data();
    last = first.data() + tasks;
    for (; running < tasks; ++running) {
      std::byte* top = stacks.data() + running * (k_stack_bytes + k_stagger_bytes) + k_stack_bytes;
      contexts[running] = jump_fcontext(make_fcontext(top, k_stack_bytes, task_main), this).fctx;
    }
  }
  blocking_node(const blocking_node&) = delete;

  static void task_main(transfer_t from);

  blocking_channel& out;
  splitmix64 random;
  std::uint64_t count;
  machine::huge_buffer stacks;
  std::vector<fcontext_t> contexts;  // the suspended context of each task
  std::vector<std::uint32_t> first;  // all tasks, to be started
  const std::uint32_t* next;         // tasks that can resume
  const std::uint32_t* last;
  std::uint64_t* fill = nullptr;  // position in the outgoing buffer, and its end
  std::uint64_t* full = nullptr;
  fcontext_t loop = nullptr;  // the suspended context of the node's loop
  std::uint32_t running = 0;  // during the start: the number of this task
  bool stopping = false;
  std::uint64_t resumed = 0;
};

// The first switch to a task passes its node and returns at once. Every other switch passes the address that receives
// the context of the task that was left. So a task keeps its state in registers and touches little of its stack.
// ThreadSanitizer does not instrument this function, because its shadow stack would grow with each task.
SHOAL_NO_TSAN void blocking_node::task_main(transfer_t from) {
  blocking_node& node = *static_cast<blocking_node*>(from.data);
  const std::uint32_t me = node.running;
  fcontext_t* const place = &node.contexts[me];
  from = jump_fcontext(from.fctx, place);
  for (;;) {
    *static_cast<fcontext_t*>(from.data) = from.fctx;
    do {
      ++node.resumed;
      if (!node.stopping) {
        *node.fill++ =
            below(node.random(), node.count) << (k_task_bits + k_value_bits) | std::uint64_t{me} << k_value_bits | 1;
      }
      if (node.next == node.last || node.fill == node.full) {
        from = jump_fcontext(node.loop, place);
        break;
      }
      const std::uint32_t to = *node.next++;
      auto* soon = static_cast<char*>(node.contexts[node.next[k_ahead - 1]]);
      __builtin_prefetch(soon, 1);
      __builtin_prefetch(soon + 64, 1);
      if (to == me) continue;
      from = jump_fcontext(node.contexts[to], place);
      break;
    } while (true);
  }
}

void serve(blocking_channel& in, std::uint64_t* words, std::size_t distance) {
  const std::uint64_t* commands = in.request();
  std::uint32_t* answers = in.answer();
  auto word = [=](std::size_t i) { return words + (commands[i] >> (k_task_bits + k_value_bits)); };
  pipelined(
      in.request_count(), distance, [=](std::size_t i) { __builtin_prefetch(word(i), 1); },
      [=](std::size_t i) {
        std::uint64_t value = (commands[i] & k_value_mask) << k_update_shift;
        std::atomic_ref<std::uint64_t>(*word(i)).fetch_add(value, std::memory_order_relaxed);
        answers[i] = static_cast<std::uint32_t>(commands[i] >> k_value_bits & k_task_mask);
      });
  in.serve_done();
}

}  // namespace

measured batched_blocking(node_tables tables, const loop_options& options) {
  std::uint64_t before = tables.of_node[0].sum() + tables.of_node[1].sum();
  std::size_t tasks = std::clamp<std::size_t>(options.tasks, 1, k_task_mask);
  std::size_t capacity = std::max<std::size_t>(1, options.buffer_bytes / sizeof(std::uint64_t));
  // All tasks may be in flight at once, in buffers that are not all full.
  std::size_t buffers = std::max(options.buffers, 2 * (tasks / capacity + 2));
  blocking_channel from_node[2] = {{buffers, capacity, k_ahead}, {buffers, capacity, k_ahead}};
  blocking_node nodes[2] = {{tasks, from_node[0], options.seed * 1000, tables.of_node[1].count},
                            {tasks, from_node[1], options.seed * 1000 + 1, tables.of_node[0].count}};
  outcome result = run_team(options.where.pair, [&](int me, share& mine) {
    blocking_channel& out = from_node[me];
    blocking_channel& in = from_node[1 - me];
    blocking_node& node = nodes[me];
    std::uint64_t* own = tables.of_node[me].words;
    std::uint64_t issued = 0;
    std::uint64_t taken = 0;
    bool closed = false;
    deadline end(options.seconds);
    node.fill = out.to_fill();
    node.full = node.fill + capacity;
    auto push = [&] {
      auto filled = static_cast<std::size_t>(node.fill - out.to_fill());
      if (filled == 0) return;
      issued += filled;
      out.publish(filled);
      node.fill = out.to_fill();
      node.full = node.fill + capacity;
    };
    for (patience waiting;;) {
      bool worked = false;
      // A slot is reused only after its replies have been used up.
      bool room = out.issued() - taken + 1 < buffers;
      if (node.next != node.last && node.fill != node.full && room) {
        transfer_t back = jump_fcontext(node.contexts[*node.next++], &node.loop);
        *static_cast<fcontext_t*>(back.data) = back.fctx;
        worked = true;
      }
      if (node.fill == node.full) push();
      if (in.to_serve()) {
        serve(in, own, options.prefetch);
        worked = true;
      }
      if (node.next == node.last) {
        // The buffer of the last replies is free now; take the next one.
        if (node.next != nullptr && node.next != node.first.data() + tasks) ++taken;
        node.next = node.last = nullptr;
        if (out.answered(taken) && taken < out.issued()) {
          node.next = out.answers(taken);
          node.last = node.next + out.count(taken);
          worked = true;
          if (!node.stopping) node.stopping = end.passed();
        } else if (!worked) {
          push();
        }
      }
      if (worked) {
        waiting.reset();
        continue;
      }
      if (node.stopping && !closed && taken == out.issued() && node.fill == out.to_fill()) {
        closed = true;
        out.close();
      }
      if (closed && in.finished()) break;
      waiting.wait();
    }
    mine.operations = issued;
    mine.sum = node.resumed - tasks;  // each task was resumed once at the start, and once per operation
  });
  std::uint64_t after = tables.of_node[0].sum() + tables.of_node[1].sum();
  return {result.mops(), is_sum_after(after, before, result.operations) && result.sum == result.operations};
}

}  // namespace shoal::bench::limits
