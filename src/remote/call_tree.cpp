// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/call_tree.hpp"

#include <algorithm>
#include <exception>

#include "remote/code.hpp"
#include "remote/late_images.hpp"
#include "remote/named_call.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::detail {
namespace {

constexpr const char* k_misshapen_tree =
    "a call to be forwarded has not the form that nodes send: the nodes disagree about the format";

callee_function callee_named(std::uint64_t name) noexcept {
  if (name == tree_header::k_no_function) return nullptr;
  const callee_function code = remote::decode_callee(name);
  SHOAL_ASSERT(code != nullptr,
               "a call names no function that this program has registered: the nodes' programs differ");
  return code;
}

// Runs this node's part of a tree, between the calls that it forwards and their ends.
std::size_t forward(std::uint32_t from, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  SHOAL_ASSERT(arguments.size() > k_tree_words, k_misshapen_tree);
  const auto head = packed<tree_header>::read(arguments.data());
  std::vector<std::uint64_t> words(arguments.begin(), arguments.end());
  const auto own = std::span(words).subspan(k_tree_words);
  call_tree tree(head);
  completion calls;  // after the tree: waits before it goes
  try {
    tree.begin(calls, words, call_tree::own_part::left_out);
  } catch (...) {
    const callee_function abandon = callee_named(head.abandon);
    if (abandon != nullptr) abandon(from, own, nullptr);
    throw;
  }
  own[0] = head.begin;
  const callee_function body = callee_named(head.body);
  sched::this_worker()->begun().code = reinterpret_cast<const void*>(body);  // messages name it
  try {
    const std::size_t answered = body(from, own, tree.own_answer());
    SHOAL_ASSERT(answered == head.answer_words, "a part of a tree answers another length than it says");
  } catch (...) {
    calls.wait();
    calls.take_failure();  // of several one is kept
    throw;
  }
  calls.wait_and_rethrow();
  if (head.answer_words == 0) return 0;
  std::ranges::copy(tree.combined(own), answer);
  return head.answer_words;
}

}  // namespace

node_row all_nodes_row() noexcept {
  const std::uint32_t nodes = this_port().nodes;
  return {.first = 0, .count = nodes, .wrap = nodes};
}

tree_plan::tree_plan(std::uint32_t begin, std::uint32_t end, std::uint32_t own) noexcept {
  if (own != node_row::k_none) {
    while (end - begin > k_direct_nodes + 1) {
      const std::uint32_t middle = begin + (end - begin) / 2;
      if (own < middle) {
        add(middle, end);
        end = middle;
      } else {
        add(begin, middle);
        begin = middle;
      }
    }
  }
  halves_ = count_;
  if (end - begin > k_direct_nodes + 1) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    add(begin, middle);
    add(middle, end);
  } else {
    for (std::uint32_t place = begin; place < end; ++place) add(place, place + 1);
  }
  own_ = own == node_row::k_none ? count_ : halves_ + (own - begin);
}

call_tree::call_tree(const node_row& row, callee body)
    : head_{.begin = 0, .end = row.count, .row = row, .body = remote::encode_body_of_task(body)},
      own_place_(row.place_of(this_port().node)),
      plan_(0, row.count, own_place_) {}

call_tree::call_tree(const node_row& row, callee body, callee combine, std::size_t answer_words)
    : call_tree(row, body) {
  head_.combine = remote::encode_body_of_task(combine);
  head_.answer_words = answer_words;
  combine_ = combine.run();
  answers_.resize(plan_.parts().size() * answer_words);
}

call_tree::call_tree(const tree_header& h)
    : head_(h), own_place_(h.begin), combine_(callee_named(h.combine)), plan_(h.begin, h.end, h.begin) {
  SHOAL_ASSERT(h.begin < h.end && h.end <= h.row.count && h.answer_words <= k_most_call_words &&
                   h.body != tree_header::k_no_function && (combine_ != nullptr || h.answer_words == 0) &&
                   h.row.node(h.begin) == this_port().node,
               k_misshapen_tree);
  answers_.resize(plan_.parts().size() * h.answer_words);
}

void call_tree::set_abandon(callee abandon) { head_.abandon = remote::encode_body_of_task(abandon); }

void call_tree::begin(completion& calls, std::span<std::uint64_t> words, own_part what) {
  const auto arguments = words.subspan(k_tree_words);
  const std::uint64_t forward_name = remote::encode_body_of_task(callee_of<forward>());
  const auto parts = plan_.parts();
  bool any = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool own = i == plan_.own();
    if (own && what == own_part::left_out) continue;
    any = any || !own;
    const std::uint32_t node = head_.row.node(parts[i].begin);
    std::uint64_t* const answer = head_.answer_words == 0 ? nullptr : answers_.data() + i * head_.answer_words;
    arguments[0] = parts[i].begin;
    if (parts[i].is_single()) {
      begin_named_call(calls, node, head_.body, arguments, answer, head_.answer_words);
    } else {
      tree_header h = head_;
      h.begin = parts[i].begin;
      h.end = parts[i].end;
      packed<tree_header>::write(h, words.data());
      begin_named_call(calls, node, forward_name, words, answer, head_.answer_words);
    }
  }
  if (any) flush_all(this_port());  // so that the other nodes begin while this node works
}

std::span<const std::uint64_t> call_tree::combined(std::span<const std::uint64_t> arguments) {
  const std::size_t n = head_.answer_words;
  if (plan_.parts().size() == 1) return {answers_.data(), n};
  using value = std::vector<std::uint64_t>;  // of two answers, the first of which counts
  const auto value_of = [&](std::size_t i) {
    value v(2 * n);
    std::copy_n(answers_.data() + i * n, n, v.data());
    return v;
  };
  const auto combine = [&](value left, const value& right) {
    std::copy_n(right.data(), n, left.data() + n);
    combine_(this_port().node, arguments, left.data());
    return left;
  };
  const value all = plan_.fold(value_of, combine);
  std::copy_n(all.data(), n, answers_.data());
  return {answers_.data(), n};
}

}  // namespace shoal::detail
