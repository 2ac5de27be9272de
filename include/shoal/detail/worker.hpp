// SPDX-License-Identifier: Apache-2.0
// The part of a worker that inlined code of programs uses: its deque, its current loops, and what upper layers
// keep per worker. The rest is src/sched/worker.hpp.
// Who may call: the worker's own thread, but for wake(). leave() switches tasks; the others do not.
// Guarantees: a task that has started stays on its worker, so t_worker is the same before and after a wait; but for
// movable tasks (shoal/movable.hpp), at some waits.
// Shown by tests/unit/sched/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/deque.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/detail/wake_sign.hpp"

namespace shoal::detail {

/// Work that has not begun. `run` is called once, by the worker that takes it, and destroys the
/// task.
struct task {
  using function = void (*)(task&) noexcept;
  function run;
  const void* group = nullptr;  // its waiter may run it inline
};

struct loop_frame;
struct port;
class scope;

/// A started task that has left its worker, or is about to: what wake() needs.
struct suspended;

/// What the workers of a pool tell each other all the time: read at every spawn and join, seldom written.
struct pool_signs {
  lockfree::wake_sign<> wake;       // whether to wake a sleeper; always on where publishers fence: see pool::wake_one
  std::atomic<unsigned> urgent{0};  // tasks of high priority that have not begun
};

struct worker_base {
  lockfree::deque<task> tasks;
  loop_frame* frames = nullptr;                 // the ranges that the current stack is in, innermost first
  const shoal::detail::scope* scope = nullptr;  // of stop requests (stop_scope.hpp): of the running task; nullptr: none
  std::uint64_t none_issued = 0;
  std::uint64_t* async_issued = &none_issued;  // asynchronous operations begun here: whether anything needs waiting for
  struct port* port = nullptr;                 // its access to the global memory (port.hpp); nullptr: no job
  const pool_signs* signs = nullptr;
  unsigned index = 0;
  unsigned siblings = 1;  // workers of the pool, this one included
  // Counts spawns, starting at any number. The spawn that makes it zero is timed if a profile is wanted.
  std::uint64_t spawn_clock = 0;
  std::uint64_t spawn_start = 0;
  unsigned no_wait_scopes = 0;  // of the running task
  // Pieces of work until the worker looks at its progress budget (take_turn). Below 0: others run next.
  static constexpr int k_first_turns = 16;
  static constexpr int k_due = -1;
  int turns = k_first_turns;

  // Addresses of stacks from which has_room() needs no closer look.
  std::uintptr_t room_from = 0;
  std::uintptr_t room_bytes = 0;

  std::uint64_t spawned() const noexcept { return spawn_clock - spawn_start; }

  // Free blocks for small tasks and closures, in two sizes. The worker that frees a block keeps it; k_chain free blocks
  // become the chain `full`; a second full chain goes to the pool, from which workers without blocks take chains
  // (sched/block_depot.hpp).
  struct block {
    block* next;
  };
  static constexpr std::size_t k_small_block_bytes = 64;
  static constexpr std::size_t k_block_bytes = 128;
  static constexpr unsigned k_chain = 512;
  struct block_list {
    block* first = nullptr;
    unsigned count = 0;     // of those in `first`
    block* full = nullptr;  // k_chain more
  };
  block_list blocks[2];  // by is_large()
  // What is looked at before a task leaves; mostly nothing.
  static constexpr std::uint8_t k_stack_depth = 1;  // some stacks have no guard
  static constexpr std::uint8_t k_in_handler = 2;   // a handler runs (handler_scope in port.hpp): it must not wait
  std::uint8_t looks_before_leaving = 0;
  // A thief has found the deque empty. Thieves set it (partner: worker::steal); loops that run here clear it. Thieves
  // read it at each attempt, so it has a cache line of its own.
  struct alignas(64) lone_flag : std::atomic<bool> {
    lone_flag() noexcept : atomic(false) {}
  };
  lone_flag hungry_thief;
  static constexpr bool is_large(std::size_t bytes) noexcept { return bytes > k_small_block_bytes; }

protected:
  worker_base() = default;
  ~worker_base() = default;
};

/// The worker that this thread is; nullptr on threads that are none.
extern thread_local constinit worker_base* t_worker [[gnu::tls_model("initial-exec")]];
/// The port of that worker, for the accesses that must be fast (see port.hpp).
extern thread_local constinit port* t_port [[gnu::tls_model("initial-exec")]];

/// The worker that the calling task runs on; fails with a message outside of tasks.
inline worker_base& worker_here() noexcept {
  SHOAL_ASSERT(t_worker != nullptr,
               "this is for tasks: call it from a task, inside shoal::pool::run or submit, or shoal::run");
  return *t_worker;
}

/// How many asynchronous operations this worker has begun.
inline std::uint64_t issued_count(const worker_base& w) noexcept {
  const tsan_ignore_scope ignore;
  return *w.async_issued;
}
inline std::uint64_t issued_count() noexcept { return issued_count(*t_worker); }

/// The slow paths of allocate(), deallocate() and spawn().
void* allocate_anew(worker_base& w, std::size_t bytes);
void put_chain_aside(worker_base& w, std::size_t bytes) noexcept;
void wake_a_sleeper(worker_base& w) noexcept;
void spawn_timed(worker_base& w, task& t) noexcept;  // the deque has room

/// At least `bytes`, aligned for any object that does not ask for more than new gives. Recycled blocks up to
/// k_block_bytes, else from the system.
inline void* allocate(worker_base& w, std::size_t bytes) {
  const tsan_ignore_scope ignore;
  worker_base::block_list& list = w.blocks[worker_base::is_large(bytes)];
  worker_base::block* const b = list.first;
  if (bytes > worker_base::k_block_bytes || b == nullptr) [[unlikely]]
    return allocate_anew(w, bytes);
  list.first = b->next;
  --list.count;
  acquire_from(b);  // ordered after the previous use of the block
  return b;
}
inline void deallocate(worker_base& w, void* at, std::size_t bytes) noexcept {
  if (bytes > worker_base::k_block_bytes) [[unlikely]] {
    ::operator delete(at);
    return;
  }
  const tsan_ignore_scope ignore;
  worker_base::block_list& list = w.blocks[worker_base::is_large(bytes)];
  if (list.count >= worker_base::k_chain) [[unlikely]]
    put_chain_aside(w, bytes);
  release_to(at);
  auto* b = static_cast<worker_base::block*>(at);
  b->next = list.first;
  list.first = b;
  ++list.count;
}

/// The same for a T, whatever alignment it asks for.
template <class T>
void* allocate_for(worker_base& w) {
  if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    return ::operator new (sizeof(T), std::align_val_t{alignof(T)});
  else
    return allocate(w, sizeof(T));
}
template <class T>
void deallocate_for(worker_base& w, void* at) noexcept {
  if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    ::operator delete (at, std::align_val_t{alignof(T)});
  else
    deallocate(w, at, sizeof(T));
}

/// The only way into a deque. Wakes a sleeper if no worker searches for work.
inline void publish_reserved(worker_base& w, task& t) noexcept {
  w.tasks.push_reserved(&t);
  if (w.signs->wake.on()) [[unlikely]]
    wake_a_sleeper(w);
}
inline void publish(worker_base& w, task& t) {
  w.tasks.reserve();
  publish_reserved(w, t);
}
/// Spawns `t`: this worker (last in, first out) or a thief runs it.
[[gnu::always_inline]] inline void spawn(worker_base& w, task& t) {
  const tsan_ignore_scope ignore;
  release_to(&t);
  w.tasks.reserve();  // it may throw: before anything has changed
  if (++w.spawn_clock == 0) [[unlikely]]
    spawn_timed(w, t);
  else
    publish_reserved(w, t);
}
/// Takes `t` back if it is at the bottom of the deque and no thief was faster. `t` must still exist.
inline bool unspawn(worker_base& w, task& t) noexcept {
  const tsan_ignore_scope ignore;
  return w.tasks.pop_if(&t);
}
/// Takes the newest task of this worker if it is of `group`; nullptr otherwise.
inline task* unspawn_of(worker_base& w, const void* group) noexcept {
  const tsan_ignore_scope ignore;
  task* const t = w.tasks.pop();
  if (t == nullptr) return nullptr;
  acquire_from(t);
  if (t->group == group) return t;
  publish(w, *t);  // thieves that looked meanwhile saw an empty deque
  return nullptr;
}

/// A task from outside of this worker's tasks: a call of another node. Workers take these first in, first out, also
/// while they run children inline.
void arrive(worker_base& w, task& t);

/// The slow path of take_turn().
void let_others_run(worker_base& w) noexcept;
/// Charges the progress budget of this worker for one piece of work on the current stack: a child that runs inline, a
/// chunk of a loop. When the budget is used up, the worker executes messages, and runnable and arrived tasks run first.
/// May switch tasks.
inline void take_turn(worker_base& w) noexcept {
  const tsan_ignore_scope ignore;
  if (--w.turns < 0) [[unlikely]]
    let_others_run(w);
}

/// The slow path of has_room().
bool look_for_room(worker_base& w, const void* here) noexcept;
/// Whether the current stack, at the address `here`, has room for a child that runs inline.
inline bool has_room(worker_base& w, const void* here) noexcept {
  const tsan_ignore_scope ignore;
  return reinterpret_cast<std::uintptr_t>(here) - w.room_from < w.room_bytes || look_for_room(w, here);
}
/// Where the current stack is, about: `local` lies on it.
inline const void* stack_address([[maybe_unused]] const void* local) noexcept {
#if SHOAL_ASAN
  return __builtin_frame_address(0);  // ASan may keep local objects elsewhere
#else
  return local;
#endif
}

/// What a task waits for, for reports (src/sched/wait_survey.hpp). The object that goes with it in brackets.
enum class wait_kind : std::uint8_t {
  none,          // it can go on: it has yielded
  mutex,         // [the mutex]
  condition,     // [the condition variable]
  semaphore,     // [the semaphore]
  shared_mutex,  // [the shared_mutex]
  barrier,       // [the barrier]
  latch,         // [the latch]
  children,      // of a group, of parallel_invoke [the completion]
  graph,         // [the completion]
  operations,    // calls on other nodes and whatever else is counted [the completion]
  future,        // of a task [its state]
  loop,          // its pieces [the loop_state]
  reply,         // of a node [its number]
  settling,      // asynchronous operations [nothing]
  room,          // in a buffer for a node [its number]
  credit,        // for a call of a node: that earlier ones begin [its number]
  transfer,      // by the network [nothing]
  collective,    // other members of a team [nothing]
  stack,         // of the size that it asked for [nothing]
  time,          // that passes: a sleep, or a wait that has a limit [nothing]
  message,       // of a rank of MPI [a described_wait]
  end_of_job,    // a task of the runtime: no report names it [nothing]
  // What threads that run no task may end:
  promise,   // [its state]
  lock,      // of shoal/locks.hpp [the lock]
  blocking,  // a call that a thread makes for it [nothing]
  thread,    // of a rank of MPI: for a thread, or for a time [a described_wait]
  other      // [nothing]
};
/// Whether a thread that runs no task, or another pool, may end such a wait.
constexpr bool ends_from_outside(wait_kind k) noexcept { return k >= wait_kind::promise; }
/// Whether the object of such a wait is one for which many tasks wait, one after the other.
constexpr bool is_shared(wait_kind k) noexcept {
  return (k >= wait_kind::mutex && k <= wait_kind::latch) || k == wait_kind::lock;
}

/// What a rank of MPI waits for.
struct wait_description {
  std::int64_t rank = -1;             // of the world; -1: the task is no rank
  const char* call = nullptr;         // "MPI_Recv"
  const void* called_from = nullptr;  // the address behind the call; nullptr: not known
  std::string waits_for;              // "a message of rank 2 with tag 7 in MPI_COMM_WORLD"
};
/// The object of a wait that tells itself what it waits for.
struct described_wait {
  wait_description (*describe)(const described_wait& self) = nullptr;
};

/// The object of a wait for a node.
inline const void* numbered(std::uint64_t number) noexcept { return reinterpret_cast<const void*>(number); }

suspended* this_task() noexcept;
/// Gives the worker to others until wake(this_task()), which may already have happened on this worker's own account.
void leave(wait_kind why = wait_kind::other, const void* object = nullptr) noexcept;
/// Makes a task that left, or is about to, runnable again. Once per leave(). Any thread.
void wake(suspended* s) noexcept;

}  // namespace shoal::detail
