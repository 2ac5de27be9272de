// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/call.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <typeinfo>
#include <utility>
#include <vector>

#include "fiber/sanitizer.hpp"
#include "remote/code.hpp"
#include "remote/late_images.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/remote_error.hpp"
#include "shoal/task.hpp"

namespace shoal::detail {
namespace {

constexpr std::size_t k_most_text_bytes = 2000;

std::string readable(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : mangled;
  std::free(text);
  return result;
}

failure current_failure(std::uint32_t node) {
  failure f;
  f.node = node;
  f.code = static_cast<int>(errc::remote);
  try {
    throw;
  } catch (const remote_error& e) {  // already on its way
    f.code = static_cast<int>(e.code());
    f.node = e.node();
    f.type = e.type();
    f.message = e.message();
  } catch (const error& e) {
    f.code = static_cast<int>(e.code());
    f.type = "shoal::error";
    f.message = e.what();
  } catch (const std::exception& e) {
    f.type = readable(typeid(e).name());
    f.message = e.what();
  } catch (...) {
    const auto* type = abi::__cxa_current_exception_type();
    f.type = type != nullptr ? readable(type->name()) : "an unknown type";
  }
  return f;
}

// What travels as the answer to a call that failed: code and node, the two lengths, the texts.
std::vector<std::uint64_t> pack(call_state* state, const failure& f) {
  const std::string type = f.type.substr(0, k_most_text_bytes);
  const std::string message = f.message.substr(0, k_most_text_bytes);
  std::vector<std::uint64_t> words(4 + words_for(type.size()) + words_for(message.size()));
  words[0] = reinterpret_cast<std::uintptr_t>(state);
  words[1] = static_cast<std::uint64_t>(f.code);
  words[2] = f.node;
  words[3] = type.size() << 32 | message.size();
  std::memcpy(words.data() + 4, type.data(), type.size());
  std::memcpy(words.data() + 4 + words_for(type.size()), message.data(), message.size());
  return words;
}

void receive_failure(const arrival& a) noexcept {
  auto* state = reinterpret_cast<call_state*>(a.payload[0]);
  failure f;
  f.code = static_cast<int>(a.payload[1]);
  f.node = static_cast<std::uint32_t>(a.payload[2]);
  const std::size_t type_bytes = a.payload[3] >> 32;
  const std::size_t message_bytes = a.payload[3] & 0xffffffff;
  const auto* text = reinterpret_cast<const char*>(a.payload.data() + 4);
  f.type.assign(text, type_bytes);
  f.message.assign(text + words_for(type_bytes) * sizeof(std::uint64_t), message_bytes);
  state->failed(std::move(f));
}

void receive_answer(const arrival& a) noexcept {
  reinterpret_cast<call_state*>(a.payload[0])->answered(a.payload.subspan(1));
}

// A call that has arrived: a task that runs the function and sends the answer.
struct called_task final : task {
  call_state* state = nullptr;  // on the calling node
  callee code = nullptr;
  std::uint32_t from = 0;
  std::uint32_t words = 0;
  bool much = false;  // the answer may be long

  std::uint64_t* arguments() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
  static std::size_t bytes(std::size_t words) noexcept { return sizeof(called_task) + words * sizeof(std::uint64_t); }

  void execute() noexcept {
    worker_base& w = *t_worker;
    const std::uint64_t issued = *w.async_issued;
    const std::uint32_t here = this_port().node;
    const std::uint32_t to = from;
    try {
      // Long answers are made on the heap: stacks are small.
      std::array<std::uint64_t, 1 + 64> small;
      std::unique_ptr<std::uint64_t[]> large;
      std::uint64_t* answer = small.data();
      if (much) {
        large = std::make_unique_for_overwrite<std::uint64_t[]>(1 + k_most_call_words);
        answer = large.get();
      }
      answer[0] = reinterpret_cast<std::uintptr_t>(state);
      const std::size_t answered = code(from, {arguments(), words}, answer + 1);
      settle(issued);
      send(w, to, receive_answer, {answer, 1 + answered});
    } catch (...) {
      const failure f = current_failure(here);
      settle(issued);
      send(w, to, receive_failure, pack(state, f));
    }
    deallocate(w, this, bytes(words));
  }
};

void receive_call(const arrival& a) noexcept {
  const std::size_t words = a.payload.size() - 2;
  void* room = allocate(a.worker, called_task::bytes(words));
  auto* t = new (room) called_task;
  t->run = [](task& self) noexcept { static_cast<called_task&>(self).execute(); };
  t->state = reinterpret_cast<call_state*>(a.payload[0]);
  t->code = remote::decode_function<callee>(a.payload[1] & k_offset_mask);
  t->much = (a.payload[1] >> 63) != 0;
  t->from = a.from;
  t->words = static_cast<std::uint32_t>(words);
  std::memcpy(t->arguments(), a.payload.data() + 2, words * sizeof(std::uint64_t));
  spawn(a.worker, *t);
}

}  // namespace

call_state::~call_state() { wait_for_all(); }

void call_state::one_less() noexcept {
  fiber::release_to(this);
  if (ended_.fetch_add(1, std::memory_order_acq_rel) == -1) wake(waiter_);
}

void call_state::answered(std::span<const std::uint64_t> words) noexcept {
  if (!words.empty()) {
    SHOAL_ASSERT(words.size() <= answer_words_, "an answer is longer than what was asked for");
    std::copy(words.begin(), words.end(), answer_);
  }
  one_less();
}

void call_state::failed(failure f) noexcept {
  if (!has_failed_.exchange(true, std::memory_order_acq_rel)) failure_ = std::make_unique<failure>(std::move(f));
  one_less();
}

void call_state::wait_for_all() noexcept {
  if (begun_ == 0) return;
  waiter_ = this_task();
  const std::int64_t awaited = std::exchange(begun_, 0);
  if (ended_.fetch_sub(awaited, std::memory_order_acq_rel) != awaited) leave();
  fiber::acquire_from(this);
}

void call_state::wait() {
  wait_for_all();
  if (!failure_) return;
  const std::unique_ptr<failure> f = std::move(failure_);
  has_failed_.store(false, std::memory_order_relaxed);
  throw remote_error(static_cast<errc>(f->code), f->node, f->type, f->message);
}

void rethrow_as_remote() {
  const failure f = current_failure(this_port().node);
  throw remote_error(static_cast<errc>(f.code), f.node, f.type, f.message);
}

void begin_call(call_state& state, std::uint32_t node, callee code, std::span<const std::uint64_t> arguments,
                std::uint64_t* answer, std::size_t answer_words) {
  constexpr std::size_t k_small_answer_words = 64;
  SHOAL_ASSERT(arguments.size() <= k_most_call_words && answer_words <= k_most_call_words, "a call is too long");
  std::vector<std::uint64_t> words(2 + arguments.size());
  words[0] = reinterpret_cast<std::uintptr_t>(&state);
  words[1] = remote::encode_code_of_task(reinterpret_cast<void (*)()>(code)) |
             (answer_words > k_small_answer_words ? std::uint64_t{1} << 63 : 0);
  std::copy(arguments.begin(), arguments.end(), words.begin() + 2);
  if (answer != nullptr) {
    state.answer_ = answer;
    state.answer_words_ = answer_words;
  }
  ++state.begun_;
  send(*t_worker, node, receive_call, words);
}

}  // namespace shoal::detail
