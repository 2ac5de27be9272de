// SPDX-License-Identifier: Apache-2.0
// How the items of a pipeline go through its stages. A task takes an item from the source, offers the source to others
// as a new task, and carries its item through the stages that follow. In front of a serial stage the items have
// numbers, and one that comes before its turn is left there; whoever ends the turn before it begins a task for it. Who
// may call: tasks, through shoal/parallel_pipeline.hpp. run() switches, and nothing waits for an item. Guarantees: at
// most `tokens` items exist. After an exception the items that exist pass all stages without being processed, so every
// turn comes.
// Tests: tests/unit/sched/parallel_pipeline_test.cpp, tests/stress/parallel_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "shoal/detail/scope.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/task.hpp"

namespace shoal {

/// A stage is called by several tasks at once, by one at a time in the order of the source, or by one at a time.
enum class stage_mode : std::uint8_t { parallel, serial_in_order, serial_out_of_order };

/// With it a source says that there is nothing more.
class flow_control {
public:
  /// What the source returns then is dropped.
  void stop() noexcept { stopped_ = true; }
  bool stopped() const noexcept { return stopped_; }

private:
  bool stopped_ = false;
};

namespace detail {

template <class In, class Out, class F>
struct pipeline_step {
  using in = In;
  using out = Out;
  stage_mode mode;
  F call;
};

/// What a serial stage keeps: whose turn it is, and the items that came early.
template <class Item>
class stage_turns {
public:
  stage_turns(std::size_t tokens)
      : early_(std::bit_ceil(tokens)) {}  // NOLINT(google-explicit-constructor): for an array

  /// The number of an item that comes in the order of arrival.
  std::uint64_t arrive() noexcept { return arrived_.fetch_add(1, std::memory_order_relaxed); }
  /// Whether it is the turn of `number`; otherwise the item is left here.
  bool begin(std::uint64_t number, Item& item) noexcept {
    if (turn_.load(std::memory_order_acquire) == number) return true;
    std::atomic<Item*>& place = place_of(number);
    // Partner: end(). Of the two stores each side makes its own and then looks at the other one; exchange() decides.
    place.store(&item, std::memory_order_seq_cst);
    return turn_.load(std::memory_order_seq_cst) == number &&
           place.exchange(nullptr, std::memory_order_acq_rel) != nullptr;
  }
  /// The turn of `number` is over. Returns the item that was left here and has the next one, if there is one.
  Item* end(std::uint64_t number) noexcept {
    turn_.store(number + 1, std::memory_order_seq_cst);  // partner: begin()
    std::atomic<Item*>& place = place_of(number + 1);
    if (place.load(std::memory_order_seq_cst) == nullptr) return nullptr;
    return place.exchange(nullptr, std::memory_order_acq_rel);
  }

private:
  // Items that have not had their turn have consecutive numbers, and there are no more than tokens.
  std::atomic<Item*>& place_of(std::uint64_t number) noexcept { return early_[number & (early_.size() - 1)]; }

  std::vector<std::atomic<Item*>> early_;
  alignas(64) std::atomic<std::uint64_t> turn_{0};
  std::atomic<std::uint64_t> arrived_{0};  // partners: other tasks that arrive
};

template <class... Steps>
class pipeline_run {
  static constexpr std::size_t k_stages = sizeof...(Steps);
  template <std::size_t K>
  using step = std::tuple_element_t<K, std::tuple<Steps...>>;
  template <class Out>
  using kept = std::conditional_t<std::is_void_v<Out>, std::monostate, Out>;

  struct item {
    std::uint64_t number = 0;                                          // in the order of the source
    std::uint64_t turn = 0;                                            // at the serial stage that it has come to
    std::variant<std::monostate, kept<typename Steps::out>...> value;  // K + 1: of stage K
  };

public:
  pipeline_run(std::size_t tokens, const std::tuple<Steps...>& steps, const std::stop_token* stop)
      : steps_(steps),
        stop_(stop),
        free_(static_cast<std::int64_t>(tokens) - 1),
        turns_{(static_cast<void>(sizeof(Steps)), tokens)...} {}

  void run() {
    group_.run([this] { take_items(make_item()); });
    group_.wait();
    if (thrown_) std::rethrow_exception(thrown_);
  }

private:
  bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  void keep(std::exception_ptr e) noexcept {
    if (!failed_.exchange(true, std::memory_order_acq_rel)) thrown_ = std::move(e);
  }
  template <std::size_t K>
  bool is_serial() const noexcept {
    return std::get<K>(steps_).mode != stage_mode::parallel;
  }

  static item* make_item() { return ::new (allocate_for<item>(worker_here())) item; }
  static void drop(item* i) noexcept {
    i->~item();
    deallocate_for<item>(*t_worker, i);
  }
  /// f() as a task; here, if there is no memory for one.
  template <class F>
  void begin_task(const F& f) {
    try {
      group_.run(f);
    } catch (...) {
      keep(std::current_exception());
      f();
    }
  }

  // --- the source ---

  /// Takes items from the source, and carries them through, as long as nobody else is to be at the source.
  void take_items(item* i) {
    for (;;) {
      const bool together = !is_serial<0>();
      if (together) offer_source();
      if (!take_item(*i)) return drop(i);
      if (!together) offer_source();
      if (!carry<1>(i) || !leave(i)) return;
    }
  }
  /// One task at a time comes here: it is the next one that takes an item.
  void offer_source() {
    if (free_.fetch_sub(1, std::memory_order_acq_rel) > 0)  // else leave() of another item does (partner)
      begin_task([this] { take_items(make_item()); });
  }
  /// The item has passed all stages. True if the source waits for its token: then the caller takes the next item.
  bool leave(item* i) noexcept {
    if (free_.fetch_add(1, std::memory_order_acq_rel) < 0) return true;  // partner: offer_source()
    drop(i);
    return false;
  }
  bool take_item(item& i) {
    if (ended_.load(std::memory_order_relaxed) || failed()) return false;
    bool more = !stop_requested_of(stop_, worker_here().scope);
    try {
      more = more && call_source(i);
    } catch (...) {
      keep(std::current_exception());
      more = false;
    }
    if (more)
      i.number = taken_.fetch_add(1, std::memory_order_relaxed);
    else
      ended_.store(true, std::memory_order_relaxed);
    return more;
  }
  bool call_source(item& i) {
    using out = typename step<0>::out;
    const auto& source = std::get<0>(steps_).call;
    if constexpr (std::is_invocable_v<decltype(source), flow_control&>) {
      flow_control control;
      if constexpr (std::is_void_v<out>)
        source(control);
      else
        i.value.template emplace<1>(source(control));
      return !control.stopped();
    } else {
      std::optional<out> next = source();
      if (next) i.value.template emplace<1>(std::move(*next));
      return next.has_value();
    }
  }

  // --- the other stages ---

  /// Carries an item through the stages from K on. True if it has passed the last one; otherwise it is left at a serial
  /// stage, and belongs to others. `i` may become another item, if the last stage is serial.
  template <std::size_t K>
  bool carry(item*& i) {
    if constexpr (K == k_stages) {
      return true;
    } else {
      if (is_serial<K>()) {
        const bool in_order = std::get<K>(steps_).mode == stage_mode::serial_in_order;
        i->turn = in_order ? i->number : turns_[K].arrive();
        if (!turns_[K].begin(i->turn, *i)) return false;
      }
      return process<K>(i);
    }
  }
  /// The same where stage K is free for the item.
  template <std::size_t K>
  bool process(item*& i) {
    for (;;) {
      call_stage<K>(*i);
      item* const next = is_serial<K>() ? turns_[K].end(i->turn) : nullptr;
      if (next == nullptr) return carry<K + 1>(i);
      if constexpr (K + 1 < k_stages) {
        begin_task([this, next] { go_on<K>(next); });
        return carry<K + 1>(i);
      } else {
        // This task has nothing else to do with its own item.
        if (leave(i)) begin_task([this, source = i] { take_items(source); });
        i = next;
      }
    }
  }
  template <std::size_t K>
  void go_on(item* i) {
    if (process<K>(i) && leave(i)) take_items(i);
  }
  /// An item without a value is one that a stage has thrown for, or whose stages were left out after that.
  template <std::size_t K>
  void call_stage(item& i) noexcept {
    auto* const in = std::get_if<K>(&i.value);
    if constexpr (K > 0) {
      try {
        if (in != nullptr && !failed()) {
          const auto& call = std::get<K>(steps_).call;
          if constexpr (std::is_void_v<typename step<K>::out>)
            call(std::move(*in));
          else
            return static_cast<void>(i.value.template emplace<K + 1>(call(std::move(*in))));
        }
      } catch (...) {
        keep(std::current_exception());
      }
      i.value.template emplace<0>();
    }
  }

  const std::tuple<Steps...>& steps_;
  const std::stop_token* stop_;
  task_group group_;
  // Tokens that no item has; -1: whoever frees the next one is to be at the source. Partners: offer_source(), leave().
  alignas(64) std::atomic<std::int64_t> free_;
  std::atomic<std::uint64_t> taken_{
      0};                            // partners: tasks at a parallel source, and one after the other at a serial one
  std::atomic<bool> ended_{false};   // the source; the same partners
  std::atomic<bool> failed_{false};  // partners: keep() of other tasks, of which the first writes thrown_
  std::exception_ptr thrown_;
  std::array<stage_turns<item>, k_stages> turns_;
};

}  // namespace detail
}  // namespace shoal
