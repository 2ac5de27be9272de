// SPDX-License-Identifier: Apache-2.0
// Tasks that may begin on another node: templates over src/cluster/work_moves.hpp. Such a task lies in a worker's deque
// like any other, until a worker of its node, or another node, takes it. Two kinds: tasks of a group, and tasks with a
// future. Of the latter the body moves, and whoever runs it sends the result to the node that has the future.
// Who may call: tasks, through shoal/anywhere.hpp. wait_for_group() switches tasks, and so may the end of a body.
// Guarantees: a task runs once, on one node. `group` of such a task is the odd address of its anywhere_kind: no waiter
// runs it inline, and who takes it from a deque knows what it is.
// Costs: a task of a group takes a recycled block of 32 bytes and its body, and counts in the cell of its worker.
// Shown by tests/cluster/anywhere_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "shoal/detail/call.hpp"
#include "shoal/detail/future_state.hpp"
#include "shoal/detail/scope.hpp"
#include "shoal/detail/task_cells.hpp"
#include "shoal/detail/time_limit.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/on.hpp"

namespace shoal {
class anywhere_tasks;
}  // namespace shoal

namespace shoal::detail {

/// How tasks of one body move.
struct anywhere_kind {
  /// On the node that gets it: makes the task. The arguments are the address of the part of its group (or 0), and its
  /// words; the answer is its address.
  const typed_body<body_kind::callee, callee_function>* make;
  std::size_t words;
  /// Writes the task as so many words; it will not run here.
  void (*take)(task&, std::uint64_t* words) noexcept;
  bool in_group;  // it is a group_task_base
};

inline const void* tag_of(const anywhere_kind& k) noexcept { return reinterpret_cast<const std::byte*>(&k) + 1; }
/// nullptr: the task stays on its node.
inline const anywhere_kind* kind_of(const task& t) noexcept {
  if ((reinterpret_cast<std::uintptr_t>(t.group) & 1) == 0) return nullptr;
  return reinterpret_cast<const anywhere_kind*>(static_cast<const std::byte*>(t.group) - 1);
}

/// The part of a group that is on one node. It stays in memory as long as the node.
struct group_part {
  /// Of one worker; but for the count only that worker's.
  struct alignas(64) cell {
    task_cell count;
    bool noted = false;  // in the worker's list of parts to look at
    group_part* next = nullptr;
  };
  std::unique_ptr<cell[]> cells;
  const shoal::detail::scope* scope = nullptr;         // of its tasks, which do not begin once it stops; nullptr: none
  const std::atomic<std::uint64_t>* wanted = nullptr;  // not 0: other nodes wait for work
  std::atomic<bool> failed{false};                     // a task has thrown. Partners: the node's workers
};

/// The part of a new group on this node; its tasks belong to `s`, on all nodes (nullptr: to no scope).
group_part& open_group(const scope* s);
/// All its tasks have ended. Switches if the scope was stopped.
void close_group(group_part& g) noexcept;
/// Whether all tasks of the group end on all nodes before the time has passed. The one that opened it.
bool wait_for_group(group_part& g, time_limit until);
/// After that: throws the first failure.
void rethrow_failure(group_part& g);
/// In a handler of an exception.
void fail_group(group_part& g) noexcept;
/// The first end of a task of the group on this worker since it looked.
void note_end(worker_base& w, group_part& g) noexcept;
/// Other nodes wait for work: gives them some if there is plenty. Does not switch.
void offer_work(worker_base& w) noexcept;
/// Whether other nodes wait for work. In a job.
bool work_is_wanted(const worker_base& w) noexcept;
/// What is being handled, as it arrives from another node.
std::exception_ptr as_from_remote(const std::exception_ptr& e) noexcept;

template <class F>
concept group_body = std::invocable<F&, anywhere_tasks&> || std::invocable<F&>;

template <class F>
void call_in_group(F& f, group_part& g);

struct group_task_base : task {
  group_part* part;
};

template <class F>
struct group_task final : group_task_base {
  group_task(group_part& g, const F& f) noexcept : group_task_base{{run_one, tag_of(k_kind)}, &g}, body(f) {}

  static void run_one(task& t) noexcept {
    auto& self = static_cast<group_task&>(t);
    group_part& g = *self.part;
    F body = self.body;
    deallocate_for<group_task>(*t_worker, &self);
    const std::uint64_t issued = issued_count();
    try {
      if (g.scope != nullptr) [[unlikely]]
        call_in_scope(body, g);
      else
        call_in_group(body, g);
    } catch (...) {
      fail_group(g);
    }
    settle(issued);
    end_in(*t_worker, g);
  }

  [[gnu::noinline, gnu::cold]] static void call_in_scope(F& body, group_part& g) {
    const entered_scope scope(g.scope, true);
    if (scope.may_begin()) call_in_group(body, g);
  }

  static void end_in(worker_base& w, group_part& g) noexcept {
    release_to(&g);  // partner: who finds that all have ended
    const tsan_ignore_scope ignore;
    group_part::cell& mine = g.cells[w.index];
    mine.count.end();
    if (!mine.noted) [[unlikely]]
      note_end(w, g);
  }

  static void take(task& t, std::uint64_t* words) noexcept {
    auto& self = static_cast<group_task&>(t);
    packed<F>::write(self.body, words);
    deallocate_for<group_task>(*t_worker, &self);
  }
  static std::size_t make(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
    auto& g = *reinterpret_cast<group_part*>(arguments[0]);
    answer[0] = reinterpret_cast<std::uintptr_t>(::new (allocate_for<group_task>(*t_worker))
                                                     group_task(g, packed<F>::read(arguments.data() + 1)));
    return 1;
  }
  static constexpr anywhere_kind k_kind{&callee_body<make>::entry, packed<F>::k_words, take, true};

  F body;
};

template <class F>
void begin_in_group(group_part& g, const F& f) {
  static_assert(group_body<F>,
                "the body of a task of an anywhere_group is called without arguments, or with an "
                "anywhere_tasks& to begin more");
  using child = group_task<F>;
  check_capture(f);
  worker_base& w = worker_here();
  auto* const t = ::new (allocate_for<child>(w)) child(g, f);
  g.cells[w.index].count.begin();  // before others can see it
  try {
    spawn(w, *t);
  } catch (...) {  // no memory to enlarge the deque
    deallocate_for<child>(w, t);
    child::end_in(w, g);
    throw;
  }
  if (g.wanted->load(std::memory_order_relaxed) != 0) [[unlikely]]
    offer_work(w);
}

/// Counts one answer in `calls`, which comes from any node, and returns its name here.
std::uint64_t expect_from_anywhere(completion& calls, std::uint64_t* answer, std::size_t answer_words);
/// Sends the result of a task to the node that has its future. May switch.
void send_result(std::uint32_t to, std::span<const std::uint64_t> name_and_words);
/// The same in a handler of an exception; `issued`: the operations begun before.
void send_exception(std::uint32_t to, std::uint64_t name, std::uint64_t issued);

/// A task with a future that is on another node.
template <class F>
struct carried_task final : task {
  using result = result_there<F>;
  static constexpr std::size_t k_words = 2 + packed<F>::k_words;  // the future's node, its name there, the body

  explicit carried_task(const std::uint64_t* words) noexcept
      : task{run_one, tag_of(k_kind)}, to(words[0]), name(words[1]), body(packed<F>::read(words + 2)) {}

  static void write(std::uint64_t* words, std::uint64_t to, std::uint64_t name, const F& body) noexcept {
    words[0] = to;
    words[1] = name;
    packed<F>::write(body, words + 2);
  }
  static void run_one(task& t) noexcept {
    auto& self = static_cast<carried_task&>(t);
    const auto to = static_cast<std::uint32_t>(self.to);
    const std::uint64_t name = self.name;
    F body = self.body;
    deallocate_for<carried_task>(*t_worker, &self);
    const std::uint64_t issued = issued_count();
    answer_room<result> room;
    try {
      if constexpr (std::is_void_v<result>)
        body();
      else
        packed<result>::write(body(), room.data());
    } catch (...) {
      return send_exception(to, name, issued);
    }
    settle(issued);
    std::array<std::uint64_t, 1 + answer_room<result>::size()> words;
    words[0] = name;
    if constexpr (!std::is_void_v<result>) std::copy_n(room.data(), room.size(), words.data() + 1);
    send_result(to, words);
  }
  static void take(task& t, std::uint64_t* words) noexcept {
    auto& self = static_cast<carried_task&>(t);
    write(words, self.to, self.name, self.body);
    deallocate_for<carried_task>(*t_worker, &self);
  }
  static std::size_t make(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
    answer[0] = reinterpret_cast<std::uintptr_t>(::new (allocate_for<carried_task>(*t_worker))
                                                     carried_task(arguments.data() + 1));
    return 1;
  }
  static constexpr anywhere_kind k_kind{&callee_body<make>::entry, k_words, take, false};

  std::uint64_t to;
  std::uint64_t name;
  F body;
};

/// The state of async_anywhere(): as that of async(), until another node takes the task.
template <class R, class F>
struct anywhere_state final : body_state<R, F> {
  explicit anywhere_state(const F& f) noexcept : body_state<R, F>(k_future_kind, f) { this->group = tag_of(k_kind); }

  /// What waits for the answer then.
  struct expected final : completion_callback {
    explicit expected(anywhere_state& s) noexcept : completion_callback(answered), state(s) {}
    anywhere_state& state;
    answer_room<R> room;
    completion calls;
  };

  static future_state* step(future_state& s) noexcept {
    auto& self = static_cast<anywhere_state&>(s);
    const std::uint64_t issued = issued_count();
    self.call();
    if (self.thrown) [[unlikely]]
      self.thrown = as_from_remote(self.thrown);
    settle(issued);
    self.body_is_gone();
    return finish(self);
  }
  static void take(task& t, std::uint64_t* words) noexcept {
    auto& self = static_cast<anywhere_state&>(t);
    auto* const answer = new expected(self);
    const std::uint64_t name = expect_from_anywhere(answer->calls, answer->room.data(), answer->room.size());
    carried_task<F>::write(words, this_port().node, name, self.body);
    self.body_is_gone();
    if (!answer->calls.call_when_done(*answer)) answered(*answer);
  }
  static void answered(completion_callback& c) noexcept {
    auto& answer = static_cast<expected&>(c);
    anywhere_state& self = answer.state;
    self.thrown = answer.calls.take_failure();
    if (!self.thrown) {
      if constexpr (std::is_void_v<R>)
        self.value.emplace();
      else
        self.value.emplace(answer.room.value());
    }
    delete &answer;
    finish_elsewhere(self);
  }
  static constexpr future_kind k_future_kind{.step = step, .dispose = dispose_of<anywhere_state>, .travels = true};
  static constexpr anywhere_kind k_kind{&callee_body<carried_task<F>::make>::entry, carried_task<F>::k_words, take,
                                        false};
};

}  // namespace shoal::detail
