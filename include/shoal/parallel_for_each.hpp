// SPDX-License-Identifier: Apache-2.0
// Calls a body for each element of a range, and for elements that the body adds meanwhile.
//   shoal::parallel_for_each(roots.begin(), roots.end(), [](node* n, shoal::feeder<node*>& more) {
//     for (node* child : n->children) more.add(child);  // a body without the second parameter adds nothing
//   });
// Options: std::stop_token or in_scope, stack_bytes, movable, simple_partitioner (of chunks); with random access every partitioner
// of loop.hpp. Who may call: tasks; calls nest; they switch, and so may the body. Guarantees: those of loop.hpp.
// Without random access the caller alone goes through the elements, in order, and hands out chunks of 1 to 64, at most
// four per worker at a time; those of an input range are moved there. An element that waits delays its chunk then.
// After an exception no element begins, and the call throws the first one. An added element is a task, the newest first
// on its worker; their number is not bounded. Source: oneTBB's parallel_for_each.
// Tests: tests/unit/sched/parallel_for_each_test.cpp, tests/stress/parallel_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/loop.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"

namespace shoal {

template <class Item>
class feeder;

namespace detail {

template <class F>
struct at_exit {
  explicit at_exit(F f) : call(std::move(f)) {}
  at_exit(const at_exit&) = delete;
  at_exit& operator=(const at_exit&) = delete;
  ~at_exit() { call(); }
  F call;
};

/// Whether the body takes a feeder beside the element.
template <class Body, class Iterator>
concept feeding_body = std::invocable < const Body&,
        std::iter_reference_t<Iterator>, feeder<std::iter_value_t<Iterator>>
& > ;
template <class Body, class Iterator>
concept element_body = std::invocable<const Body&, std::iter_reference_t<Iterator>> || feeding_body<Body, Iterator>;

/// The options of one call, and whether it is to begin no more elements.
template <class... Options>
class element_tasks {
public:
  static constexpr bool k_placed = ((std::same_as<std::remove_cvref_t<Options>, static_partitioner> ||
                                     std::same_as<std::remove_cvref_t<Options>, affinity_partitioner>) ||
                                    ...);
  explicit element_tasks(const loop_plan& plan) noexcept : plan_(plan) {}

  bool over() const noexcept {
    return failed_.load(std::memory_order_relaxed) || stop_requested_of(plan_.stop, worker_here().scope);
  }
  const loop_plan& plan() const noexcept { return plan_; }
  /// f(), after whose exception the call is over.
  template <class F>
  void attempt(const F& f) {
    try {
      f();
    } catch (...) {
      end();
      throw;
    }
  }
  void end() noexcept { failed_.store(true, std::memory_order_relaxed); }
  /// Called by the caller of parallel_for_each, or by a task of the group.
  template <class F>
  void run(F&& f) {
    if constexpr (is_movable<Options...>)
      group_.run(movable, std::forward<F>(f));
    else if constexpr (has_stack_bytes<Options...>)
      group_.run(stack_bytes(plan_.stack_bytes), std::forward<F>(f));
    else
      group_.run(std::forward<F>(f));
  }
  void wait() { group_.wait(); }

private:
  task_group group_;
  const loop_plan& plan_;
  std::atomic<bool> failed_{false};  // partners: attempt() of other tasks; a hint
};

/// Without random access: chunks, which the caller makes while tasks work on others.
template <class Iterator, class Sentinel, class Call, class Tasks>
void hand_out(Iterator first, const Sentinel& last, const Call& call, Tasks& tasks) {
  static_assert(!Tasks::k_placed,
                "a static_partitioner or affinity_partitioner goes with random access to the elements: copy them into "
                "a vector");
  constexpr std::size_t k_longest = 64;
  // The iterator of an element stays valid when a copy of it advances, but for input iterators.
  constexpr bool k_stays = std::forward_iterator<Iterator>;
  struct chunk {
    std::vector<std::conditional_t<k_stays, Iterator, std::iter_value_t<Iterator>>> items;
  };
  const std::size_t workers = worker_here().siblings;
  const std::size_t longest = tasks.plan().how == loop_plan::kind::simple ? tasks.plan().grain : k_longest;
  semaphore room(static_cast<std::ptrdiff_t>(4 * workers));  // for chunks that have not ended
  std::exception_ptr thrown;                                 // by an iterator, or for want of memory
  try {
    for (std::size_t handed_out = 0; first != last && !tasks.over();) {
      // Short chunks first, so that few elements have as many workers as many have.
      const std::size_t size = std::min(std::max<std::size_t>(handed_out / (8 * workers), 1), longest);
      room.acquire();
      chunk next;
      next.items.reserve(size);
      for (; next.items.size() < size && first != last; static_cast<void>(++first)) {
        if constexpr (k_stays)
          next.items.push_back(first);
        else
          next.items.push_back(*first);
      }
      handed_out += next.items.size();
      tasks.run([&room, &call, &tasks, mine = std::move(next)]() mutable {
        const at_exit leave([&room] { room.release(); });
        tasks.attempt([&] {
          for (std::size_t i = 0; i < mine.items.size() && !tasks.over(); ++i) {
            if constexpr (k_stays)
              call(*mine.items[i]);
            else
              call(std::move(mine.items[i]));
          }
        });
      });
    }
  } catch (...) {
    thrown = std::current_exception();
    tasks.end();
  }
  try {
    tasks.wait();
  } catch (...) {
    if (!thrown) throw;
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace detail

/// Takes elements that belong to the same call of parallel_for_each.
template <class Item>
class feeder {
public:
  feeder(const feeder&) = delete;
  feeder& operator=(const feeder&) = delete;
  /// The body is called for `item`, too. From calls of the body only.
  void add(const Item& item) requires std::copy_constructible<Item> { add_item(*this, Item(item)); }
  void add(Item&& item) { add_item(*this, std::move(item)); }

protected:
  using function = void (*)(feeder&, Item&&);
  explicit feeder(function f) noexcept : add_item(f) {}
  ~feeder() = default;

private:
  function add_item;
};

namespace detail {

template <class Item, class Body, class... Options>
class feeder_of final : public feeder<Item> {
public:
  feeder_of(const Body& body, element_tasks<Options...>& tasks) noexcept
      : feeder<Item>([](feeder<Item>& self, Item&& item) { static_cast<feeder_of&>(self).begin(std::move(item)); }),
        body_(body),
        tasks_(tasks) {}

private:
  void begin(Item&& item) {
    if (tasks_.over()) return;
    tasks_.run([this, mine = std::move(item)]() mutable {
      if (tasks_.over()) return;
      tasks_.attempt([&] {
        if constexpr (std::invocable<const Body&, Item&, feeder<Item>&>)
          body_(mine, *this);
        else
          body_(std::move(mine), *this);
      });
    });
  }

  const Body& body_;
  element_tasks<Options...>& tasks_;
};

/// call(element) for all.
template <class Iterator, class Sentinel, class Call, class Tasks, class... Options>
void for_each_element(Iterator first, const Sentinel& last, const Call& call, Tasks& tasks, Options&... options) {
  if constexpr (std::random_access_iterator<Iterator> && std::sized_sentinel_for<Sentinel, Iterator>)
    parallel_for(
        std::iter_difference_t<Iterator>{0}, last - first,
        [&call, first](std::iter_difference_t<Iterator> i) { call(first[i]); }, options...);
  else
    hand_out(std::move(first), last, call, tasks);
}

}  // namespace detail

/// body(*i), or body(*i, feeder), for all i of [first, last), in any order.
template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel, class Body,
          detail::loop_option... Options>
requires detail::element_body<Body, Iterator>
void parallel_for_each(Iterator first, Sentinel last, const Body& body, Options&&... options) {
  if (first == last) return;
  const detail::loop_plan plan = detail::plan_of(options...);
  detail::element_tasks<Options...> tasks(plan);
  if constexpr (detail::feeding_body<Body, Iterator>) {
    using item = std::iter_value_t<Iterator>;
    detail::feeder_of<item, Body, Options...> feed(body, tasks);
    // The elements given are a task of the group, too: so whoever adds one belongs to it.
    tasks.run([&] {
      detail::element_tasks<Options...> given(plan);
      tasks.attempt([&] {
        detail::for_each_element(
            std::move(first), last,
            [&]<class Element>(Element&& element) {
              if (!tasks.over()) body(std::forward<Element>(element), static_cast<feeder<item>&>(feed));
            },
            given, options...);
      });
    });
    tasks.wait();
  } else {
    detail::for_each_element(
        std::move(first), last, [&body]<class Element>(Element&& element) { body(std::forward<Element>(element)); },
        tasks, options...);
  }
}

/// The same for a container, a span, a view.
template <std::ranges::input_range Range, class Body, detail::loop_option... Options>
requires(!std::input_iterator<std::remove_cvref_t<Range>> &&
         detail::element_body<Body, std::ranges::iterator_t<Range>>) void parallel_for_each(Range&& range,
                                                                                            const Body& body,
                                                                                            Options&&... options) {
  parallel_for_each(std::ranges::begin(range), std::ranges::end(range), body, std::forward<Options>(options)...);
}

}  // namespace shoal
