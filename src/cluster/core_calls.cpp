// SPDX-License-Identifier: Apache-2.0
// The part of shoal/core.h about nodes, loops and calls.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "array/untyped_access.hpp"
#include "cluster/core_error.hpp"
#include "cluster/untyped_calls.hpp"
#include "shoal/core.h"
#include "shoal/detail/completion.hpp"
#include "shoal/detail/loop_shares.hpp"
#include "shoal/task.hpp"

namespace shoal::cluster {
/// The buffer for the reply to a call, and its destination.
struct pending_answer {
  std::vector<std::uint64_t> words;
  void* answer;
  std::size_t* answered;

  void deliver() const noexcept {
    if (words[0] == k_failed) return;
    if (words[0] != 0) std::memcpy(answer, words.data() + 1, words[0]);
    if (answered != nullptr) *answered = words[0];
  }
  static constexpr std::uint64_t k_failed = ~std::uint64_t{0};  // until the answer is there
};

namespace {

static_assert(SHOAL_MOST_ARGUMENT_BYTES == k_most_untyped_bytes);

std::span<const std::byte> bytes_of(const void* arguments, std::size_t bytes) noexcept {
  return {static_cast<const std::byte*>(arguments), bytes};
}

// The shares of a loop. Throws if its place names an array or node that does not exist.
int shares_of(const shoal_loop& l, shoal_error* error, detail::loop_shares& shares) {
  switch (l.place) {
    case SHOAL_EVERYWHERE: shares = detail::loop_shares::everywhere(l.first, l.end); return SHOAL_OK;
    case SHOAL_HERE: shares = detail::loop_shares::here(l.first, l.end); return SHOAL_OK;
    case SHOAL_ELSEWHERE:
      if (detail::this_port().nodes == 1)
        return fail(error, SHOAL_INVALID_ARGUMENT, "there is no elsewhere: the job has one node");
      shares = detail::loop_shares::elsewhere(l.first, l.end);
      return SHOAL_OK;
    case SHOAL_OWNERS: {
      const auto* const layout = array::find(l.owners);
      if (layout == nullptr) return status_of(array::refusal::no_array, error, l.owners, 0);
      if (l.end > layout->size)
        return status_of(array::refusal::out_of_range, error, l.owners, l.first, l.end - l.first);
      shares = detail::loop_shares::owners(*layout, l.first, l.end);
      return SHOAL_OK;
    }
    default: return fail(error, SHOAL_INVALID_ARGUMENT, "there is no such place for a loop");
  }
}

int check_arguments(const void* arguments, std::size_t bytes, shoal_error* error) noexcept {
  if (bytes > SHOAL_MOST_ARGUMENT_BYTES)
    return fail(error, SHOAL_INVALID_ARGUMENT, "arguments and answers have at most SHOAL_MOST_ARGUMENT_BYTES");
  if (bytes != 0 && arguments == nullptr)
    return fail(error, SHOAL_NO_OPERAND, "the arguments or the answer of a loop or call are NULL and have a size");
  return SHOAL_OK;
}

}  // namespace
}  // namespace shoal::cluster

struct shoal_completion {
  std::deque<shoal::cluster::pending_answer> answers;  // stable addresses; destroyed after `operations`
  shoal::detail::completion operations;

  ~shoal_completion() {
    operations.wait();
    operations.take_failure();
  }
  // Throws the first failure.
  void wait() {
    operations.wait();
    const auto arrived = std::exchange(answers, {});
    for (const auto& a : arrived) a.deliver();
    operations.rethrow();
  }
};

using namespace shoal::cluster;  // for the C functions below

uint32_t shoal_node_id(void) { return shoal::detail::t_port == nullptr ? 0 : shoal::detail::t_port->node; }
uint32_t shoal_node_count(void) { return shoal::detail::t_port == nullptr ? 0 : shoal::detail::t_port->nodes; }
uint32_t shoal_worker_id(void) { return shoal::detail::t_port == nullptr ? 0 : shoal::detail::t_worker->index; }
uint32_t shoal_worker_count(void) { return shoal::detail::t_port == nullptr ? 0 : shoal::detail::t_worker->siblings; }

int shoal_yield(shoal_error* error) {
  return in_job(error, [] { return shoal::yield(), static_cast<int>(SHOAL_OK); });
}

int shoal_completion_create(shoal_completion** completion, shoal_error* error) {
  return in_job(error, [&] {
    if (completion == nullptr) return fail(error, SHOAL_NO_OPERAND, "there is nowhere to put the completion");
    *completion = new shoal_completion;
    return static_cast<int>(SHOAL_OK);
  });
}

int shoal_completion_wait(shoal_completion* completion, shoal_error* error) {
  return in_job(error, [&] {
    if (completion == nullptr) return fail(error, SHOAL_NO_OPERAND, "the completion is NULL");
    completion->wait();
    return static_cast<int>(SHOAL_OK);
  });
}

void shoal_completion_free(shoal_completion* completion) { delete completion; }

int shoal_begin_loop(const shoal_loop* loop, shoal_completion* completion, shoal_error* error) {
  return in_job(error, [&] {
    if (loop == nullptr || completion == nullptr)
      return fail(error, SHOAL_NO_OPERAND, "the loop or its completion is NULL");
    if (loop->body == nullptr) return fail(error, SHOAL_INVALID_ARGUMENT, "the loop has no body");
    if (const int s = check_arguments(loop->arguments, loop->argument_bytes, error); s != SHOAL_OK) return s;
    if (loop->end <= loop->first) return static_cast<int>(SHOAL_OK);
    shoal::detail::loop_shares shares;
    if (const int s = shares_of(*loop, error, shares); s != SHOAL_OK) return s;
    shoal::detail::loop_plan plan;
    if (loop->grain != 0) plan.take(shoal::simple_partitioner{loop->grain});
    shares.set(plan);
    begin_loop(completion->operations, shares, loop->body, bytes_of(loop->arguments, loop->argument_bytes));
    return static_cast<int>(SHOAL_OK);
  });
}

int shoal_begin_call(uint32_t node, const shoal_call* call, shoal_completion* completion, shoal_error* error) {
  return in_job(error, [&] {
    if (call == nullptr || completion == nullptr)
      return fail(error, SHOAL_NO_OPERAND, "the call or its completion is NULL");
    if (call->body == nullptr) return fail(error, SHOAL_INVALID_ARGUMENT, "the call has no body");
    if (node >= shoal_node_count())
      return fail(error, SHOAL_INVALID_ARGUMENT,
                  "there is no such node; nodes are numbered from 0 to shoal_node_count() - 1");
    if (const int s = check_arguments(call->arguments, call->argument_bytes, error); s != SHOAL_OK) return s;
    if (const int s = check_arguments(call->answer, call->room, error); s != SHOAL_OK) return s;
    auto& answer = completion->answers.emplace_back(pending_answer{{}, call->answer, call->answered});
    answer.words.resize(answer_words(call->room), pending_answer::k_failed);
    try {
      begin_call(completion->operations, node, call->body, bytes_of(call->arguments, call->argument_bytes), call->room,
                 answer.words);
    } catch (...) {  // nothing has begun
      completion->answers.pop_back();
      throw;
    }
    return static_cast<int>(SHOAL_OK);
  });
}
