// SPDX-License-Identifier: Apache-2.0
// The shared state of a future and the task that fills it: the result and its completion_word, in which the first of
// the two leaves a mark for the other. The completer's last access is an exchange of that word; then the state belongs
// to the future, or to its successor.
// Detached work: a state whose completion follows from a promise has k_may_be_dropped. From the moment that its task can
// run until that task has ended, it is counted in the pool (lockfree/detached_count.hpp), whose end waits for it.
// Who may call: shoal/future.hpp, shoal/on.hpp. await() may switch tasks, and so may settle() at the end of a task; the
// others do not.
// Detection of cycles of waits: a task about to wait leaves its stack in the word of every state that its stack fills,
// and an edge from its stack to the stack that it waits for; src/sched/cycle_search.hpp follows these edges. Edges have
// the numbers of waits, so a second pass tells whether all existed at the same time. Code that does not wait executes
// no store or fence for this. Tests: tests/unit/sched/future_test.cpp, tests/unit/sched/future_cycle_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "shoal/detail/completion.hpp"
#include "shoal/detail/scope.hpp"
#include "shoal/detail/time_limit.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/task.hpp"

namespace shoal {
template <class T>
class future;
}  // namespace shoal

namespace shoal::detail {

struct future_state;

/// What a kind of state does; gathered states (when_all) have the last three too.
struct future_kind {
  future_state* (*step)(future_state&) noexcept = nullptr;  // runs it; returns the state to run next on this stack
  void (*dispose)(future_state&) noexcept = nullptr;
  bool (*is_ready)(const future_state&) noexcept = nullptr;
  bool (*await)(future_state&, const time_limit*) = nullptr;
  bool (*attach)(future_state&, future_state& next) noexcept = nullptr;
  bool from_outside = false;  // any thread may fill it; `group` is the number of its successor's pool
  bool travels = false;       // to other nodes: `group` is no scope
  bool drop_waits = false;    // its future waits although it has k_may_be_dropped
};

/// Runs a state, and its successors as long as it has any.
void run_future(task& t) noexcept;

struct future_state : task {
  static constexpr unsigned k_worker_shift = 32;
  static constexpr std::uint64_t k_may_be_dropped = std::uint64_t{1} << 63;  // in `number`: its future does not wait

  explicit future_state(const future_kind& kind) noexcept : of(&kind) {
    run = run_future;
    const worker_base& w = worker_here();
    number = std::uint64_t{w.index} << k_worker_shift | static_cast<std::uint32_t>(w.spawned());
  }
  /// Its body belongs to the scope of the calling task, which `group` keeps: no join asks for a group of futures.
  void enter_scope() noexcept {
    const shoal::detail::scope* const s = worker_here().scope;
    if (s == nullptr) [[likely]]
      return;
    group = s;
    s->add();
  }
  const shoal::detail::scope* scope() const noexcept {
    return of->travels || of->from_outside || group == nullptr ? nullptr
                                                               : static_cast<const shoal::detail::scope*>(group);
  }
  bool may_be_detached() const noexcept { return (number & k_may_be_dropped) != 0; }
  bool is_ready() const noexcept { return of->is_ready != nullptr ? of->is_ready(*this) : word.is_done(); }

  completion_word<> word;  // shared by the future and the task that fills it
  const future_kind* of;
  const char* name = nullptr;
  std::uint64_t number =
      0;  // identifies a task without a name: its worker, and the number of tasks that the worker had begun
  std::exception_ptr thrown;
};

/// The result is in `s`: wakes the waiter, or returns the successor, if any. `s` may be destroyed when it returns.
future_state* finish(future_state& s) noexcept;
/// The same in the midst of a task, or on a thread: a successor becomes a task of the pool in which it was attached.
void finish_elsewhere(future_state& s) noexcept;
/// Returns when the result is there; throws if tasks wait for each other in a cycle. May switch.
void await(future_state& s);
/// Whether the result is there before the time has passed. A limited wait is in no cycle. May switch.
bool await_until(future_state& s, time_limit until);
/// Makes `next` run after `s`, on the worker that completes `s`; false if `s` is complete: then the caller runs `next`.
bool attach(future_state& s, future_state& next) noexcept;
/// `next`, for which attach() said false, becomes a task.
void spawn_attached(future_state& next) noexcept;
/// The end of a future: waits if necessary, logs an exception, destroys the state.
void drop(future_state& s) noexcept;
/// Whether a promise's future is gone, and nothing follows.
inline bool is_dropped(const future_state& s) noexcept { return s.word.look() == completion_word<>::k_dropped; }
std::exception_ptr broken_promise(const future_state& s);

struct state_dropper {
  void operator()(future_state* s) const noexcept { drop(*s); }
};

/// The body of `s` will not run, or has run.
inline void leave_scope(const future_state& s) noexcept {
  if (s.scope() != nullptr) [[unlikely]]
    s.scope()->remove();
}

template <class T>
using stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
struct future_value : future_state {
  using future_state::future_state;
  std::optional<stored<T>> value;
};

template <class S, class... Args>
S* make_state(Args&&... args) {
  void* const place = allocate_for<S>(worker_here());
  if constexpr (std::is_nothrow_constructible_v<S, Args...>) {
    return ::new (place) S(std::forward<Args>(args)...);
  } else {
    try {
      return ::new (place) S(std::forward<Args>(args)...);
    } catch (...) {  // the copy of a body
      deallocate_for<S>(*t_worker, place);
      throw;
    }
  }
}

/// For a block of allocate(), on a thread that is no worker: back to where workers take blocks from.
void deallocate_outside(void* at, std::size_t bytes) noexcept;

/// Also on threads: a promise whose future was dropped may be set by any.
template <class S>
void dispose_of(future_state& s) noexcept {
  auto& self = static_cast<S&>(s);
  self.~S();
  if (t_worker == nullptr && alignof(S) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    deallocate_outside(&self, sizeof(S));
  else if (t_worker == nullptr)
    ::operator delete (static_cast<void*>(&self), std::align_val_t{alignof(S)});
  else
    deallocate_for<S>(*t_worker, &self);
}

/// A state whose result comes from a body, which ends with its task.
template <class T, class F>
struct body_state : future_value<T> {
  template <class G>
  body_state(const future_kind& kind, G&& f) noexcept(std::is_nothrow_constructible_v<F, G>)
      : future_value<T>(kind), body(std::forward<G>(f)) {}
  ~body_state() {}

  template <class... Args>
  void call(Args&&... args) noexcept {
    try {
      if constexpr (std::is_void_v<T>) {
        std::invoke(body, std::forward<Args>(args)...);
        this->value.emplace();
      } else {
        this->value.emplace(std::invoke(body, std::forward<Args>(args)...));
      }
    } catch (...) {
      this->thrown = std::current_exception();
    }
  }
  void body_is_gone() noexcept { body.~F(); }

  union {
    F body;
  };
};

template <class T, class F>
struct async_state final : body_state<T, F> {
  template <class G>
  async_state(std::in_place_t, G&& f) noexcept(std::is_nothrow_constructible_v<F, G>)
      : body_state<T, F>(k_kind, std::forward<G>(f)) {}

  static future_state* step(future_state& s) noexcept {
    auto& self = static_cast<async_state&>(s);
    const std::uint64_t issued = issued_count();
    self.call();
    settle(issued);
    self.body_is_gone();
    return finish(self);
  }
  static constexpr future_kind k_kind{.step = step, .dispose = dispose_of<async_state>};
};

template <class T, class Source, class F>
struct then_state final : body_state<T, F> {
  template <class G>
  then_state(std::in_place_t, G&& f) noexcept(std::is_nothrow_constructible_v<F, G>)
      : body_state<T, F>(k_kind, std::forward<G>(f)) {}

  void take_source(future_value<Source>& s) noexcept {
    source = &s;
    this->name = s.name;
    this->number |= s.number & future_state::k_may_be_dropped;
  }
  static future_state* step(future_state& s) noexcept {
    auto& self = static_cast<then_state&>(s);
    const std::uint64_t issued = issued_count();
    if (self.source->thrown)
      self.thrown = std::exchange(self.source->thrown, nullptr);
    else if constexpr (std::is_void_v<Source>)
      self.call();
    else
      self.call(std::move(*self.source->value));
    settle(issued);
    self.body_is_gone();
    self.source->of->dispose(*self.source);
    return finish(self);
  }
  static constexpr future_kind k_kind{.step = step, .dispose = dispose_of<then_state>};

  future_value<Source>* source = nullptr;  // ours from its completion on
};

template <class T>
struct promise_state final : future_value<T> {
  promise_state() noexcept : future_value<T>(k_kind) { this->number |= future_state::k_may_be_dropped; }
  static constexpr future_kind k_kind{.dispose = dispose_of<promise_state>, .from_outside = true};
};

template <class F, class T>
struct continuation_call {
  using result = std::invoke_result_t<std::decay_t<F>&, T>;
};
template <class F>
struct continuation_call<F, void> {
  using result = std::invoke_result_t<std::decay_t<F>&>;
};
template <class F, class T>
using continuation_result = typename continuation_call<F, T>::result;
template <class F, class T>
concept continuation_of = requires {
  typename continuation_result<F, T>;
};

/// The way into a future for the functions that make one.
struct future_access {
  template <class T>
  static future<T> make(future_value<T>* s) noexcept {
    return future<T>(s);
  }
  template <class T>
  static future_value<T>& state(future<T>& f) noexcept {
    return f.state();
  }
};

template <class... Ts>
struct tuple_of_futures {
  using result = std::tuple<stored<Ts>...>;
  explicit tuple_of_futures(future<Ts>... given) noexcept : futures(std::move(given)...) {}

  static constexpr std::size_t size() noexcept { return sizeof...(Ts); }
  template <class Visit>
  void visit(Visit&& each) {
    std::apply([&each](auto&... f) { (each(future_access::state(f)), ...); }, futures);
  }
  template <class Into>
  void give(Into& into) {
    std::apply([&into](auto&... f) { into.emplace(std::move(*future_access::state(f).value)...); }, futures);
  }
  std::tuple<future<Ts>...> futures;
};

template <class T>
struct vector_of_futures {
  using result = std::conditional_t<std::is_void_v<T>, void, std::vector<stored<T>>>;
  explicit vector_of_futures(std::vector<future<T>> given) noexcept : futures(std::move(given)) {}

  std::size_t size() const noexcept { return futures.size(); }
  template <class Visit>
  void visit(Visit&& each) {
    for (auto& f : futures) each(future_access::state(f));
  }
  template <class Into>
  void give(Into& into) {
    auto& values = into.emplace();
    if constexpr (!std::is_void_v<T>) {
      values.reserve(futures.size());
      for (auto& f : futures) values.push_back(std::move(*future_access::state(f).value));
    }
  }
  std::vector<future<T>> futures;
};

/// Several results as one. Who waits for it waits for one part after the other; a continuation has the parts count
/// down.
template <class Parts>
struct gather_state final : future_value<typename Parts::result> {
  explicit gather_state(Parts given)
      : future_value<typename Parts::result>(k_kind), parts(std::move(given)), counters(parts.size(), counter(*this)) {
    parts.visit([this](future_state& s) { this->number |= s.number & future_state::k_may_be_dropped; });
    for (counter& c : counters) c.number |= this->number & future_state::k_may_be_dropped;
  }

  struct counter final : future_state {
    explicit counter(gather_state& g) noexcept : future_state(k_counter_kind), whole(&g) {}
    counter(const counter& other) noexcept : future_state(k_counter_kind), whole(other.whole) {}
    gather_state* whole;
  };

  void assemble() noexcept {
    parts.visit([this](future_state& s) {
      if (s.thrown && !this->thrown) this->thrown = std::exchange(s.thrown, nullptr);
    });
    if (this->thrown) return;
    try {
      parts.give(this->value);
    } catch (...) {
      this->thrown = std::current_exception();
    }
  }
  future_state* count_down() noexcept {
    if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;  // partners: the parts' completers, attach()
    assemble();
    return finish(*this);
  }

  static bool is_ready(const future_state& s) noexcept {
    bool all = true;
    const_cast<gather_state&>(static_cast<const gather_state&>(s)).parts.visit([&all](future_state& part) {
      all = all && part.is_ready();
    });
    return all;
  }
  static bool await(future_state& s, const time_limit* until) {
    auto& self = static_cast<gather_state&>(s);
    if (self.word.is_done()) return true;
    bool all = true;
    self.parts.visit([until, &all](future_state& part) {
      if (until == nullptr)
        detail::await(part);
      else
        all = all && await_until(part, *until);
    });
    if (!all) return false;
    self.assemble();
    self.word.complete_unseen();
    return true;
  }
  static bool attach(future_state& s, future_state& next) noexcept {
    auto& self = static_cast<gather_state&>(s);
    if (self.word.is_done()) return false;
    self.word.attach_unseen(completion_word<>::tagged(&next, completion_word<>::k_successor));
    self.left.store(self.parts.size() + 1, std::memory_order_relaxed);
    std::size_t done = 1;
    auto* next_counter = self.counters.data();
    self.parts.visit([&done, &next_counter](future_state& part) {
      if (!detail::attach(part, *next_counter++)) ++done;
    });
    if (self.left.fetch_sub(done, std::memory_order_acq_rel) != done) return true;
    self.assemble();
    return false;
  }
  static constexpr future_kind k_counter_kind{
      .step = [](future_state& s) noexcept { return static_cast<counter&>(s).whole->count_down(); }};
  static constexpr future_kind k_kind{
      .dispose = dispose_of<gather_state>, .is_ready = is_ready, .await = await, .attach = attach};

  Parts parts;
  std::vector<counter> counters;
  std::atomic<std::size_t> left{0};
};

}  // namespace shoal::detail
