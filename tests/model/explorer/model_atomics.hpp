// SPDX-License-Identifier: Apache-2.0
// The policy with which a lock-free structure runs on the simulated memory; the same interface as
// shoal::lockfree::std_atomics. Every operation also takes its position in the code (a default argument), for traces
// and mutants.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "model/explorer/execution.hpp"

namespace shoal::model {

template <class T>
class model_atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  using place = source_place;

public:
  model_atomic() : model_atomic(T{}) {}
  model_atomic(T initial) : at_(execution::current().create(bits(initial))) {}  // NOLINT: implicit as in std::atomic
  model_atomic(const model_atomic&) = delete;
  model_atomic& operator=(const model_atomic&) = delete;

  T load(std::memory_order order, place where = place::current()) const {
    return value(execution::current().load(at_, order, where));
  }
  void store(T v, std::memory_order order, place where = place::current()) {
    execution::current().store(at_, bits(v), order, where);
  }
  T exchange(T v, std::memory_order order, place where = place::current()) {
    return value(execution::current().replace(
        at_, [v](std::uint64_t) { return bits(v); }, order, where));
  }
  T fetch_add(T v, std::memory_order order, place where = place::current()) {
    const auto add = [v](std::uint64_t old) { return bits(static_cast<T>(value(old) + v)); };
    return value(execution::current().replace(at_, add, order, where));
  }
  T fetch_sub(T v, std::memory_order order, place where = place::current()) {
    const auto subtract = [v](std::uint64_t old) { return bits(static_cast<T>(value(old) - v)); };
    return value(execution::current().replace(at_, subtract, order, where));
  }
  T fetch_or(T v, std::memory_order order, place where = place::current()) {
    const auto set = [v](std::uint64_t old) { return bits(static_cast<T>(value(old) | v)); };
    return value(execution::current().replace(at_, set, order, where));
  }
  T fetch_and(T v, std::memory_order order, place where = place::current()) {
    const auto keep = [v](std::uint64_t old) { return bits(static_cast<T>(value(old) & v)); };
    return value(execution::current().replace(at_, keep, order, where));
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order order, std::memory_order on_failure,
                               place where = place::current()) {
    std::uint64_t seen = bits(expected);
    const bool success = execution::current().compare_exchange(at_, seen, bits(wanted), order, on_failure, where);
    expected = value(seen);
    return success;
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order order, std::memory_order on_failure,
                             place where = place::current()) {
    return compare_exchange_strong(expected, wanted, order, on_failure, where);
  }

  // The effect of a futex on this word.
  void futex_wait(T expected, place where = place::current()) {
    execution::current().futex_wait(at_, bits(expected), where);
  }
  void futex_wake_one(place where = place::current()) { execution::current().futex_wake_one(at_, where); }

  // For a wake after the atomic may be destroyed: execution::futex_wake_one(), _all().
  std::size_t number() const { return at_; }

private:
  static std::uint64_t bits(T v) {
    std::uint64_t b = 0;
    std::memcpy(&b, &v, sizeof(T));
    return b;
  }
  static T value(std::uint64_t b) {
    T v;
    std::memcpy(&v, &b, sizeof(T));
    return v;
  }

  std::size_t at_;
};

template <class T>
class model_plain {
  using place = source_place;

public:
  model_plain() = default;
  explicit model_plain(T value) : value_(std::move(value)) {}
  const T& read(place where = place::current()) const {
    execution::current().plain_access(clock_, false, where);
    return value_;
  }
  void write(T value, place where = place::current()) {
    execution::current().plain_access(clock_, true, where);
    value_ = std::move(value);
  }

private:
  T value_{};
  mutable race_clock clock_;
};

struct model_atomics {
  template <class T>
  using atomic = model_atomic<T>;
  template <class T>
  using plain = model_plain<T>;
  static void fence(std::memory_order order, source_place where = source_place::current()) {
    execution::current().fence(order, where);
  }
  // machine::heavy_fence(): other threads execute it, too, wherever they are.
  static void heavy_fence(source_place where = source_place::current()) { execution::current().heavy_fence(where); }
};

}  // namespace shoal::model
