// SPDX-License-Identifier: Apache-2.0
#include "gmt/calls.hpp"

#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gmt/array.hpp"
#include "gmt/handles.hpp"
#include "gmt/loops.hpp"
#include "gmt/node_state.hpp"
#include "gmt/spawn.hpp"
#include "remote/late_images.hpp"
#include "remote/worker_port.hpp"
#include "shoal/detail/answer.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"

namespace shoal::gmt {
namespace {

using detail::packed;

// The arguments follow. What the function returns travels in a message of its own, which names its place: the room for
// it is not known where the function is called.
struct call_header {
  std::uint64_t code = 0;
  std::uint64_t place = k_no_place;
  std::uint32_t argument_bytes = 0;
  gmt_handle_t handle = GMT_HANDLE_NULL;
  std::uint64_t non_preemptable = 0;

  static constexpr std::uint64_t k_no_place = 0;  // no answer has this name
};
constexpr std::size_t k_header_words = packed<call_header>::k_words;
static_assert(k_header_words + detail::words_for(k_most_argument_bytes) <= detail::k_most_call_words);
static_assert(2 + detail::words_for(k_most_argument_bytes) <= detail::k_most_payload_words);

// On the calling node: the name, the number of bytes, the bytes.
void receive_returned(const detail::arrival& a) noexcept {
  SHOAL_ASSERT(a.payload.size() >= 2 && a.payload[1] <= k_most_argument_bytes &&
                   a.payload.size() == 2 + detail::words_for(a.payload[1]),
               k_misshapen);
  const detail::expected_answer e = detail::take_answer(a);
  const return_place& to = *static_cast<const return_place*>(e.target);
  if (to.buffer != nullptr && a.payload[1] != 0) std::memcpy(to.buffer, a.payload.data() + 2, a.payload[1]);
  if (to.size != nullptr) *to.size = static_cast<std::uint32_t>(a.payload[1]);
  e.calls->done();
}

// Calls f(), which may not wait. What it has begun on other nodes is complete afterwards, as for every task.
template <class F>
void run_without_waits(const F& f) {
  detail::port& p = *detail::t_port;
  const std::uint64_t before = p.handlers->async_issued;
  std::exception_ptr thrown;
  {
    const detail::handler_scope never_waits(*detail::t_worker, "a non-preemptable task");
    try {
      f();
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  if (p.handlers->async_issued != before) detail::settle_all(p, true);
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

// Throws what the function throws.
void call(const call_header& h, gmt_execute_func_t code, const void* arguments, void* ret, std::uint32_t* size) {
  const handle_member member(h.handle);
  task_scope scope(member.account(), h.handle);
  count(event::task);
  if (h.non_preemptable != 0) {
    scope.state().non_preemptable = true;
    run_without_waits([&] { code(arguments, h.argument_bytes, ret, size, h.handle); });
    return;
  }
  code(arguments, h.argument_bytes, ret, size, h.handle);
  scope.end();
}

std::size_t run_call(std::uint32_t from, std::span<const std::uint64_t> words, std::uint64_t*) {
  SHOAL_ASSERT(words.size() >= k_header_words, k_misshapen);
  const auto h = packed<call_header>::read(words.data());
  const auto arguments = words.subspan(k_header_words);
  const auto code = reinterpret_cast<gmt_execute_func_t>(remote::decode_plain(h.code));
  SHOAL_ASSERT(code != nullptr, "a call names no function: the nodes' programs differ");
  SHOAL_ASSERT(detail::words_for(h.argument_bytes) == arguments.size(), k_misshapen);
  // On the heap: stacks are small.
  const auto returned = std::make_unique_for_overwrite<std::uint64_t[]>(2 + detail::words_for(k_most_argument_bytes));
  std::uint32_t size = 0;
  try {
    call(h, code, arguments.data(), returned.get() + 2, &size);
  } catch (...) {
    if (h.place != call_header::k_no_place) detail::send_failure(*detail::t_worker, from, h.place);
    throw;
  }
  if (size > k_most_argument_bytes)
    refuse("gmt_execute", "the function has set *ret_size to more than gmt_max_return_size()");
  if (h.place == call_header::k_no_place) return 0;
  returned[0] = h.place;
  returned[1] = size;
  detail::send(*detail::t_worker, from, detail::receiver_of<receive_returned>(),
               {returned.get(), 2 + detail::words_for(size)});
  return 0;
}

std::vector<std::uint64_t> pack(const call_request& r, gmt_handle_t handle) {
  if (r.node >= detail::port_here().nodes)
    refuse(r.name, "there is no such node; nodes are numbered from 0 to gmt_num_nodes() - 1");
  if (r.code == nullptr) refuse(r.name, "the function is NULL");
  if (r.argument_bytes > k_most_argument_bytes) refuse(r.name, "the arguments are longer than gmt_max_args_per_task()");
  if (r.argument_bytes != 0 && r.arguments == nullptr) refuse(r.name, "the arguments are NULL, but have a size");
  std::vector<std::uint64_t> words(k_header_words + detail::words_for(r.argument_bytes));
  call_header h;
  h.code = remote::encode_plain_of_task(reinterpret_cast<remote::plain_function>(r.code));
  h.argument_bytes = r.argument_bytes;
  h.handle = handle;
  h.non_preemptable = r.policy == GMT_NON_PREEMPTABLE ? 1 : 0;
  packed<call_header>::write(h, words.data());
  if (r.argument_bytes != 0) std::memcpy(words.data() + k_header_words, r.arguments, r.argument_bytes);
  return words;
}

bool wants_returned(const return_place& p) noexcept { return p.buffer != nullptr || p.size != nullptr; }

// `place`: where the request's return_place lives until the call has ended.
void begin_call(detail::completion& calls, const call_request& r, gmt_handle_t handle, return_place& place) {
  auto words = pack(r, handle);
  count(event::call);
  if (!wants_returned(r.returned)) return detail::begin_call(calls, r.node, detail::callee_of<run_call>(), words);
  place = r.returned;
  auto h = packed<call_header>::read(words.data());
  h.place = detail::expect_answer(calls, r.node, &place);
  packed<call_header>::write(h, words.data());
  try {
    detail::begin_call(calls, r.node, detail::callee_of<run_call>(), words);
  } catch (...) {
    detail::forget_answer(calls, r.node, h.place);
    throw;
  }
}

void begin_calls_of_all(detail::completion& calls, call_request& r, gmt_handle_t handle) {
  r.returned = {};
  return_place none;
  for (r.node = 0; r.node < detail::port_here().nodes; ++r.node) begin_call(calls, r, handle, none);
}

}  // namespace

void run(const call_request& r) {
  return_place place;
  detail::completion calls;
  begin_call(calls, r, GMT_HANDLE_NULL, place);
  calls.wait_and_rethrow();
}

void begin(const call_request& r) {
  task_state* const s = task_state::here();
  if (s == nullptr) return run(r);  // nobody would wait for it
  begun_operations& b = s->operations();
  if (hold_back(b.calls)) b.places.clear();
  if (!wants_returned(r.returned)) {
    return_place none;
    return begin_call(b.calls, r, GMT_HANDLE_NULL, none);
  }
  begin_call(b.calls, r, GMT_HANDLE_NULL, b.places.emplace_back());
}

void begin_with_handle(const call_request& r, gmt_handle_t handle) {
  if (handle == GMT_HANDLE_NULL) return begin(r);
  spawn_under(r.name, handle, [&](handle_spawn& spawn) { begin_call(spawn.calls, r, handle, spawn.place); });
}

void run_on_all(call_request r) {
  detail::completion calls;
  begin_calls_of_all(calls, r, GMT_HANDLE_NULL);
  calls.wait_and_rethrow();
}

void begin_on_all(call_request r) {
  task_state* const s = task_state::here();
  if (s == nullptr) return run_on_all(r);
  hold_back(s->operations().calls);
  begin_calls_of_all(s->operations().calls, r, GMT_HANDLE_NULL);
}

void begin_on_all_with_handle(call_request r, gmt_handle_t handle) {
  if (handle == GMT_HANDLE_NULL) return begin_on_all(r);
  spawn_under(r.name, handle, [&](handle_spawn& spawn) { begin_calls_of_all(spawn.calls, r, handle); });
}

bool has_room(const call_request& r) {
  if (r.node >= detail::port_here().nodes)
    refuse(r.name, "there is no such node; nodes are numbered from 0 to gmt_num_nodes() - 1");
  const remote::call_credits& credits = detail::port_here().context->ports->credits();
  constexpr std::size_t k_words_before = 2;  // of every call
  const std::uint64_t cost =
      remote::call_credits::cost(k_words_before + k_header_words + detail::words_for(r.argument_bytes));
  return credits.outstanding(r.node) + cost <= credits.window_words();
}

}  // namespace shoal::gmt

void gmt_wait_execute_nb() {
  shoal::gmt::task_state* const s = shoal::gmt::task_state::here();
  if (s == nullptr || s->begun == nullptr) return;
  s->begun->calls.wait();
  s->begun->places.clear();
  s->begun->calls.rethrow();
}
