// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "base/demangle.hpp"
#include "base/thrown.hpp"
#include "remote/call_table.hpp"
#include "remote/code.hpp"
#include "remote/failure.hpp"
#include "remote/late_images.hpp"
#include "remote/named_call.hpp"
#include "remote/worker_port.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/answer.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/remote_error.hpp"
#include "shoal/task.hpp"

namespace shoal::detail {
namespace {

[[maybe_unused]] constexpr const char* k_misshapen_call =
    "a call or its answer has not the form that nodes send: the nodes disagree about the format";

remote::pending_call take_call(const arrival& a) noexcept {
  SHOAL_ASSERT(!a.payload.empty(), k_misshapen_call);
  const auto call = a.worker.port->context->calls->take(a.payload[0], a.from);
  SHOAL_ASSERT(call, "another node has answered a call that was not made: the nodes disagree about the format");
  return *call;
}

// These three run on the caller's worker or a sibling of it. The completion may be gone after done().
void receive_failure(const arrival& a) noexcept {
  const remote::failure f = remote::read_failure(a.payload);
  completion* const calls = take_call(a).calls;
  calls->fail(std::make_exception_ptr(f.as_error()));
  calls->done();
}

void receive_end(const arrival& a) noexcept { take_call(a).calls->done(); }

void receive_answer(const arrival& a) noexcept {
  const remote::pending_call call = take_call(a);
  SHOAL_ASSERT(a.payload.size() - 1 <= call.answer_words, k_misshapen_call);
  std::copy(a.payload.begin() + 1, a.payload.end(), call.answer);
  call.calls->done();
}

// A request: the call's name (call_table.hpp); the code, and above it the room for the answer in words; the arguments.
constexpr unsigned k_answer_words_shift = 48;
static_assert(k_offset_mask < std::uint64_t{1} << k_answer_words_shift);
static_assert(k_most_call_words < std::size_t{1} << (64 - k_answer_words_shift));

remote::call_credits& credits_of(const worker_base& w) noexcept { return w.port->context->ports->credits(); }

void send_call(worker_base& w, std::uint32_t node, std::span<const std::uint64_t> call);

void receive_credit(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() == 1 && a.payload[0] <= credits_of(a.worker).outstanding(a.from), k_misshapen_call);
  credits_of(a.worker).give(a.worker, a.from, a.payload[0], send_call);
}

// A call of `node` begins here. As a handler: this must not wait.
void return_credit(worker_base& w, std::uint32_t node, std::uint64_t cost) noexcept {
  const std::uint64_t words = credits_of(w).begun(node, cost);
  if (words == 0) return;
  if (node == w.port->node) return credits_of(w).give(w, node, words, send_call);
  const handler_scope never_waits(w, "the return of credit for calls");
  send(w, node, receiver_of<receive_credit>(), {&words, 1});
}

// A call that has arrived: a task that runs the function and sends the answer.
struct called_task final : task {
  std::uint64_t call = 0;  // its name on the calling node
  callee_function code = nullptr;
  std::uint32_t from = 0;
  std::uint32_t words = 0;
  std::uint64_t cost = 0;        // of credit
  std::size_t answer_words = 0;  // at most

  std::uint64_t* arguments() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
  static std::size_t bytes(std::size_t words) noexcept { return sizeof(called_task) + words * sizeof(std::uint64_t); }

  void execute() noexcept {
    worker_base& w = *t_worker;
    return_credit(w, from, cost);
    const std::uint64_t issued = *w.async_issued;
    const std::uint32_t here = this_port().node;
    const std::uint32_t to = from;
    sched::this_worker()->begun().code = reinterpret_cast<const void*>(code);  // messages name the body
    try {
      // Long answers are made on the heap: stacks are small.
      constexpr std::size_t k_small_answer_words = 64;
      std::array<std::uint64_t, 1 + k_small_answer_words> small;
      std::unique_ptr<std::uint64_t[]> large;
      std::uint64_t* answer = small.data();
      if (answer_words > k_small_answer_words) {
        large = std::make_unique_for_overwrite<std::uint64_t[]>(1 + k_most_call_words);
        answer = large.get();
      }
      answer[0] = call;
      const std::size_t answered = code(from, {arguments(), words}, answer + 1);
      SHOAL_ASSERT(answered <= answer_words, "an answer is longer than what was asked for");
      settle(issued);
      if (answered == 0)
        send(w, to, receiver_of<receive_end>(), {answer, 1});
      else
        send(w, to, receiver_of<receive_answer>(), {answer, 1 + answered});
    } catch (...) {
      const remote::failure f = remote::current_failure(here);
      settle(issued);
      send(w, to, receiver_of<receive_failure>(), remote::pack_failure(call, f));
    }
    deallocate(w, this, bytes(words));
  }
};

void receive_call(const arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() >= 2 && a.payload[1] >> k_answer_words_shift <= k_most_call_words, k_misshapen_call);
  const callee_function code = remote::decode_callee(a.payload[1] & k_offset_mask);
  SHOAL_ASSERT(code != nullptr,
               "a call names no function that this program has registered: the nodes' programs differ");
  const std::size_t answer_words = a.payload[1] >> k_answer_words_shift;
  const std::span<const std::uint64_t> arguments = a.payload.subspan(2);
  void* room = allocate(a.worker, called_task::bytes(arguments.size()));
  auto* t = new (room) called_task;
  t->run = [](task& self) noexcept { static_cast<called_task&>(self).execute(); };
  t->call = a.payload[0];
  t->code = code;
  t->answer_words = answer_words;
  t->from = a.from;
  t->cost = remote::call_credits::cost(a.payload.size());
  t->words = static_cast<std::uint32_t>(arguments.size());
  std::copy(arguments.begin(), arguments.end(), t->arguments());
  arrive(a.worker, *t);
}

void send_call(worker_base& w, std::uint32_t node, std::span<const std::uint64_t> call) {
  send(w, node, receiver_of<receive_call>(), call);
}

}  // namespace

std::uint64_t expect_answer(completion& calls, std::uint32_t node, void* target) {
  const tsan_ignore_scope ignore;  // as in begin_call()
  const std::uint64_t name =
      this_port().context->calls->of(t_worker->index).add({&calls, static_cast<std::uint64_t*>(target), 0, node});
  calls.add();
  return name;
}

void forget_answer(completion& calls, std::uint32_t node, std::uint64_t name) noexcept {
  const tsan_ignore_scope ignore;
  this_port().context->calls->of(t_worker->index).take(name, node);
  calls.ran_here();
}

expected_answer take_answer(const arrival& a) noexcept {
  const remote::pending_call call = take_call(a);
  SHOAL_ASSERT(call.answer != nullptr && call.answer_words == 0, k_misshapen_call);  // it was made by expect_answer()
  return {call.calls, call.answer};
}

void send_failure(worker_base& w, std::uint32_t node, std::uint64_t name) {
  send(w, node, receiver_of<receive_failure>(), remote::pack_failure(name, remote::current_failure(w.port->node)));
}

void refuse_long_message(std::size_t bytes) {
  throw error(
      errc::invalid_argument,
      fmt::format(
          "a value of {} bytes is too long for one message; at most {} fit with what names it: keep long values "
          "in a global array, and their place here",
          bytes, (k_most_payload_words - 2) * sizeof(std::uint64_t)));
}

void refuse_exception(const char* what) noexcept {
  std::string message;
  try {
    throw;
  } catch (...) {
    const base::thrown t = base::describe_thrown();
    message = fmt::format(
        "an operation that nobody waits for ({}) has thrown {}: {}; use the form that waits, or catch "
        "the exception in the function",
        base::demangled(what), t.type, t.message);
  }
  assertion_failed(message.c_str(), __FILE__, __LINE__, __func__);
}

void rethrow_as_remote() { throw remote::current_failure(this_port().node).as_error(); }

void begin_call(completion& calls, std::uint32_t node, callee code, std::span<const std::uint64_t> arguments,
                std::uint64_t* answer, std::size_t answer_words) {
  begin_named_call(calls, node, remote::encode_body_of_task(code), arguments, answer, answer_words);
}

void begin_named_call(completion& calls, std::uint32_t node, std::uint64_t name,
                      std::span<const std::uint64_t> arguments, std::uint64_t* answer, std::size_t answer_words) {
  SHOAL_ASSERT(arguments.size() <= k_most_call_words && answer_words <= k_most_call_words, "a call is too long");
  if (answer == nullptr) answer_words = 0;
  std::vector<std::uint64_t> words;
  words.reserve(2 + arguments.size());
  remote::node_calls& table = *this_port().context->calls;
  {
    const tsan_ignore_scope ignore;  // the worker's own table, which all its stacks touch in turn
    words.push_back(table.of(t_worker->index).add({&calls, answer, answer_words, node}));
  }
  words.push_back(name | static_cast<std::uint64_t>(answer_words) << k_answer_words_shift);
  words.insert(words.end(), arguments.begin(), arguments.end());
  calls.add();
  try {
    credits_of(*t_worker).send(*t_worker, node, words, send_call);
  } catch (...) {  // no memory: nothing was sent
    table.take(words[0], node);
    calls.ran_here();
    throw;
  }
}

}  // namespace shoal::detail
