// SPDX-License-Identifier: Apache-2.0
// The trace of one node as a file: a head, names, and the events of each worker. It is written in place while the
// program runs, so that it can be read after a crash, up to there.
// Who may call: layout(), rings: at start, one thread; add_name(): any thread; read: anyone, best after the end.
// Never switches tasks. Errors: shoal::error for what is no trace. Test: tests/unit/trace/trace_file_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event_ring.hpp"
#include "trace/sample_table.hpp"

namespace shoal::trace {

struct trace_form {
  std::uint32_t node = 0;
  std::uint32_t nodes = 1;
  std::uint32_t workers = 1;
  std::uint64_t events = 1U << 18;  // per worker; a power of two
  bool overwrite = true;
  std::uint64_t stacks = 0;    // room for so many sampled ones, per worker; a power of two, or 0
  double ticks_per_us = 1000;  // of base::ticks()
  std::string machine;         // its name
  std::string program;
};

/// The processor's clock, the machine's, and that of the world, at one moment.
struct trace_clock {
  std::uint64_t ticks = 0;
  std::uint64_t raw_ns = 0;    // CLOCK_MONOTONIC_RAW, that of the kernel's events
  std::uint64_t world_ns = 0;  // since 1970
};

/// A program or library with code that runs: what an address in a trace belongs to, also after a crash.
struct code_image {
  std::uint64_t begin = 0;  // address of its first byte there
  std::uint64_t bytes = 0;  // in memory
  std::uint64_t file_bytes = 0;
  std::int64_t file_time_ns = 0;  // when it was written last
  std::string path;

  /// "program+0x1234": the same wherever it was loaded.
  std::string place_of(std::uint64_t address) const;
};

std::size_t trace_bytes(const trace_form& f);

/// The writing side. `memory` has trace_bytes() bytes, all 0, on a page boundary, and outlives this and its rings.
class trace_writer {
public:
  trace_writer(std::span<std::byte> memory, const trace_form& f, const trace_clock& begin);
  trace_writer(const trace_writer&) = delete;
  trace_writer& operator=(const trace_writer&) = delete;

  event_ring& ring(unsigned worker) noexcept { return rings_[worker]; }
  bool takes_samples() const noexcept { return !samples_.empty(); }
  /// Of a trace that takes samples.
  sample_table& samples(unsigned worker) noexcept { return samples_[worker]; }
  /// The number of a name in events; the same name has the same number. 0: there is no more room for names.
  std::uint32_t number_of(std::string_view name);
  /// The name of a reason to wait: of `small` of task_wait.
  void name_wait(std::uint16_t why, std::string_view name);
  /// The name of the code at an address. False: there is no more room for names.
  bool name_code(std::uint64_t address, std::string_view name);
  /// At the start. False: there is no more room for names.
  bool add_image(const code_image& i);
  /// Addresses of code in the events so far, each once.
  std::vector<std::uint64_t> code_addresses() const;
  /// Those in the stacks that samples have found since the last call, each once. One thread at a time.
  std::vector<std::uint64_t> new_sampled_addresses();
  /// The program ends in order. No samples are taken from now on.
  void finish(const trace_clock& end);
  bool is_finished() const noexcept { return finished_.load(std::memory_order_relaxed); }

private:
  struct name_entry;
  std::uint32_t number_of_locked(std::string_view name);
  bool append(std::uint32_t kind, std::uint64_t key, std::string_view name);

  std::span<std::byte> memory_;
  std::vector<event_ring> rings_;
  std::vector<sample_table> samples_;
  std::vector<std::size_t> samples_read_;  // by worker: how many stacks new_sampled_addresses() has seen
  std::atomic<bool> finished_{false};      // partner: samplers
  std::mutex lock_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
};

/// What a file has.
struct node_trace {
  trace_form form;
  trace_clock begin;
  trace_clock end;                          // of a program that crashed: of the last event
  bool is_whole = false;                    // it ended in order
  std::vector<std::vector<event>> workers;  // in the order of time
  std::vector<std::uint64_t> left_out;      // per worker: events for which there was no room
  std::vector<std::uint32_t> threads;       // per worker: the system's number; 0: not known
  std::map<std::uint32_t, std::string> names;
  std::map<std::uint16_t, std::string> waits;
  std::map<std::uint64_t, std::string> code;  // empty after a crash
  std::vector<code_image> images;
  struct sampled_stack {
    std::vector<std::uint64_t> frames;  // the innermost first
    std::uint64_t count = 0;
    std::uint64_t ns = 0;
  };
  std::vector<sampled_stack> samples;      // of all workers
  std::uint64_t samples_without_room = 0;  // stacks for which there was no room
  std::uint64_t ns_without_room = 0;

  double ns_per_tick() const noexcept;
  /// Whose code is there; nullptr: it is not known.
  const code_image* image_at(std::uint64_t address) const noexcept;
  /// Addresses of code in the events, each once.
  std::vector<std::uint64_t> code_addresses() const;
};

node_trace read_trace(std::span<const std::byte> file, const std::string& path);

}  // namespace shoal::trace
