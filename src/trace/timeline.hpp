// SPDX-License-Identifier: Apache-2.0
// The traces of all nodes of a job on one line of time: what each worker did when, and the messages between them.
// Nodes of one machine share a clock. For other machines the world's clock is taken, corrected so that no message arrives
// before it was sent.
// Who may call: one thread at a time. Never switches tasks. Cost: linear in the events. Test:
// tests/unit/trace/timeline_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/trace_file.hpp"

namespace shoal::trace {

/// `unknown`: the events that would tell are not in the trace.
enum class activity : std::uint8_t { task, runtime, looking, messages, parked, unknown };
inline constexpr std::size_t k_activities = 6;

struct slice {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  activity what = activity::runtime;
  std::uint32_t name = 0;  // of a task: of the timeline's words
  std::uint32_t call = 0;  // of a library, in which the task is: "MPI_Recv"; 0: in none
};

/// A task's call of a library, with its waits.
struct call_slice {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t name = 0;  // of the task
  std::uint32_t call = 0;
};

struct region_slice {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t name = 0;
};

/// Of trace_mark().
struct mark_moment {
  std::uint64_t at_ns = 0;
  std::uint32_t name = 0;
  std::uint64_t value = 0;
};

struct wait_slice {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t name = 0;  // of the task
  std::uint32_t why = 0;   // of the words; in a call: its name
  std::uint64_t lock = 0;  // the address of a lock, condition variable or the like; 0: none
};

/// What the kernel took from a worker.
struct kernel_slice {
  std::uint64_t begin_ns = 0;
  std::uint64_t ns = 0;
  std::uint32_t name = 0;  // of the words: "timer interrupt"
};

struct track {
  std::uint32_t node = 0;
  std::uint32_t worker = 0;
  std::vector<slice> slices;          // one after the other, without gaps from the first event to the end
  std::vector<region_slice> regions;  // by their ends
  std::vector<mark_moment> marks;
  std::vector<wait_slice> waits;     // by their ends
  std::vector<call_slice> calls;     // by their ends
  std::vector<kernel_slice> kernel;  // if it was asked for
  std::uint32_t thread = 0;          // the system's number; 0: not known
  std::string machine;
  std::uint64_t tasks = 0;  // begun
  std::uint64_t steals = 0;
  std::uint64_t left_out = 0;  // events for which there was no room
};

struct message {
  std::uint32_t from = 0;  // a track
  std::uint32_t to = 0;
  std::uint64_t sent_ns = 0;
  std::uint64_t received_ns = 0;
  std::uint64_t bytes = 0;
  bool is_reply = false;  // to what tasks have sent
};

/// Functions that have called each other, found by samples.
struct sampled_stack {
  std::vector<std::uint32_t> names;  // of the words; the outermost first: the task
  std::uint64_t count = 0;
  std::uint64_t ns = 0;  // of processor time
};

struct timeline {
  std::string program;
  std::uint64_t length_ns = 0;     // it begins at 0
  std::uint64_t begin_raw_ns = 0;  // of the first machine's clock, for the kernel's events
  std::uint32_t nodes = 0;
  std::vector<track> tracks;  // by node and worker
  std::vector<message> messages;
  std::uint64_t unmatched_messages = 0;   // the other end is not in the trace
  std::vector<std::uint32_t> unfinished;  // nodes that did not end in order
  std::vector<std::string> words = {""};
  std::vector<sampled_stack> stacks;   // each once, of all workers; empty: no samples
  std::uint64_t ns_without_stack = 0;  // of samples for which there was no room
  std::vector<double> clock_shift_ns;  // per node: by how much its machine's clock was corrected
};

timeline make_timeline(const std::vector<node_trace>& nodes);

/// Adds what the kernel of the first machine did to a thread, at `raw_ns` of its clock CLOCK_MONOTONIC_RAW. False: no
/// worker has this thread.
bool add_kernel_slice(timeline& t, std::uint32_t thread, std::uint64_t raw_ns, std::uint64_t ns,
                      const std::string& name);

}  // namespace shoal::trace
