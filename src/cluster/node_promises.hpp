// SPDX-License-Identifier: Apache-2.0
// The promises that a node has made for all nodes (shoal/global_promise.hpp): their values, and who waits for them.
// Who may call: make, set, fail, free: tasks; ask: also inside a poll. Nothing here switches tasks or sends: the caller
// answers those whom set(), fail() and free() return, and the one who asks if ask() gives a value.
// Guarantees: a number is given once, so a freed promise is never taken for another one. A promise is set once.
// Errors: shoal::error that names number and node: not_found (freed), invalid_argument (set twice).
// Shown by tests/unit/cluster/node_promises_test.cpp, tests/cluster/global_promise_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace shoal::cluster {

class node_promises {
public:
  /// A value in words, or an exception.
  struct result {
    std::vector<std::uint64_t> words;
    std::exception_ptr thrown;
  };
  using shared_result = std::shared_ptr<const result>;
  /// Whoever waits: a node, and the name that the answer has there.
  struct waiter {
    std::uint32_t node;
    std::uint64_t name;
  };
  using waiters = std::vector<waiter>;

  explicit node_promises(std::uint32_t node) noexcept : node_(node) {}

  std::uint64_t make();
  waiters set(std::uint64_t number, shared_result value);
  /// The result if it is there; else none, and `who` is kept.
  shared_result ask(std::uint64_t number, waiter who);
  /// Those who have waited in vain.
  waiters free(std::uint64_t number) noexcept;

  /// How many exist.
  std::size_t size() const;

private:
  struct state {
    shared_result value;
    waiters waiting;
  };
  // Workers mostly use different ones.
  struct alignas(64) shard {
    mutable std::mutex lock;
    std::unordered_map<std::uint64_t, state> promises;
  };
  shard& of(std::uint64_t number) noexcept { return shards_[number % shards_.size()]; }
  state& find(shard& s, std::uint64_t number) const;

  const std::uint32_t node_;
  std::atomic<std::uint64_t> next_{1};  // partners: other workers
  std::array<shard, 16> shards_;
};

}  // namespace shoal::cluster
