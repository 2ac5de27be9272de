// SPDX-License-Identifier: Apache-2.0
// The events of a trace: what a worker writes when something happens, in 24 bytes.
// Who may call: anyone. Never switches tasks. Test: tests/unit/trace/trace_file_test.cpp.
#pragma once

#include <cstdint>

namespace shoal::trace {

/// What the three fields of an event are is said beside its kind.
enum class event_kind : std::uint16_t {
  none,
  task_begin,    // small: how it was found (0 own, 1 stolen)   value: address of its code
  task_name,     // value: address of code that names what runs; 0: the main task
  task_label,    // number: name of what runs, given by the program
  task_end,      //
  task_wait,     // small: why (detail::wait_kind)   number: its stack   value: address of the lock or the like; 0: none
  task_resume,   // number: its stack   value: address of its code
  state,         // small: worker_state
  steal,         // number: from which worker
  send,          // number: to which node   value: message_value(), of this worker's messages to the node
  receive,       // small: the worker that sent it   number: from which node   value: the same
  region_begin,  // number: name
  region_end,    // number: name
  mark,          // number: name   value: the program's
  call_begin,    // of a library, by the task that runs. number: name
  call_end,      //
  mail_send,  // small: to which worker   number: of which node   value: message_value(), by its place in the ring there
  mail_receive,   // number: from which node  value: the same
  reply_send,     // small: to the requests of which worker   else as send, of the buffers of replies to it
  reply_receive,  // as receive, without small
};

/// What a worker is at between tasks.
enum class worker_state : std::uint16_t { running, looking, stealing, messages, spinning, parked };

struct event {
  std::uint64_t ticks = 0;  // of base::ticks()
  event_kind kind = event_kind::none;
  std::uint16_t small = 0;
  std::uint32_t number = 0;
  std::uint64_t value = 0;
};
static_assert(sizeof(event) == 24);

/// Of send and receive: at most 4 GiB, and the low half of the number.
constexpr std::uint64_t message_value(std::uint64_t bytes, std::uint64_t number) noexcept {
  return bytes << 32 | (number & 0xffffffffU);
}

}  // namespace shoal::trace
