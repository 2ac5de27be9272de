// SPDX-License-Identifier: Apache-2.0
// The kernel's tracepoints: which there are, how their records are laid out, and recording them, one ring per processor
// (perf_event_open). The description comes from tracefs; where nobody has mounted it, it is attached privately, so the
// machine does not change. Records have times of CLOCK_MONOTONIC_RAW; about 160 ns each are spent in the kernel.
// Who may call: one thread at a time, at set-up and in tools. Never switches tasks. Throws errc::unsupported, with what
// to do, if the kernel or the privileges do not allow it.
//   auto points = machine::tracepoint_folder::open();
//   machine::kernel_recorder recorder({{*points.find("irq:softirq_entry")}}, {{0, 1}}, 1 << 22);
//   recorder.start(); ...; recorder.stop();
//   recorder.for_each(0, [](const machine::kernel_record& r) { ... });
// Test: tests/unit/machine/tracepoints_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/descriptor.hpp"

namespace shoal::machine {

/// Nanoseconds of CLOCK_MONOTONIC_RAW, the clock of the records.
std::uint64_t kernel_clock_ns() noexcept;

/// Nanoseconds since 1970, as the machine believes.
std::uint64_t world_clock_ns() noexcept;

struct tracepoint_field {
  std::string name;
  unsigned offset = 0;
  unsigned bytes = 0;
  bool is_placed = false;  // the field holds the place of a text in the record
};

struct tracepoint {
  std::string name;          // "irq:softirq_entry"
  std::uint16_t number = 0;  // the kernel's
  std::vector<tracepoint_field> fields;

  /// Null if there is none of this name.
  const tracepoint_field* field(std::string_view wanted) const noexcept;
};

/// The text of a tracepoint's file `format`. Throws errc::bad_input if it has no number.
tracepoint parse_tracepoint(std::string_view name, const std::string& format);

class tracepoint_folder {
public:
  static tracepoint_folder open();

  /// `name` is "group:event". Empty if this kernel does not have it.
  std::optional<tracepoint> find(std::string_view name) const;

private:
  explicit tracepoint_folder(descriptor folder) noexcept : folder_(std::move(folder)) {}
  descriptor folder_;
};

/// Nanoseconds that the kernel spends to record one event, measured with one that the caller can cause. 0: it cannot be
/// measured here.
double measure_record_ns(const tracepoint_folder& folder);

struct kernel_record {
  std::uint64_t time_ns;
  const tracepoint* point;          // null: records were lost here
  std::uint64_t lost;               // how many, then
  std::span<const std::byte> data;  // as the tracepoint's fields say

  std::int64_t number(const tracepoint_field& f) const noexcept;
  std::string_view text(const tracepoint_field& f) const noexcept;
};

/// Splits what was copied out of a ring into records; `use` is called for each. Points by their numbers.
void for_each_record(std::span<const std::byte> copied, std::span<const tracepoint> points,
                     const std::function<void(const kernel_record&)>& use);

class kernel_recorder {
public:
  /// `ring_bytes` per processor: a power of two, of whole pages. Points that this kernel refuses to open are left out:
  /// see `refused`.
  kernel_recorder(std::span<const tracepoint> points, std::span<const unsigned> processors, std::size_t ring_bytes);
  ~kernel_recorder();
  kernel_recorder(const kernel_recorder&) = delete;
  kernel_recorder& operator=(const kernel_recorder&) = delete;

  const std::vector<std::string>& refused() const noexcept { return refused_; }

  void start();
  void stop();
  /// Copies what the rings hold, to make room. True if some ring was more than half full.
  bool drain();
  /// The records of a processor in the order of their times. Drains first.
  void for_each(unsigned processor, const std::function<void(const kernel_record&)>& use);
  /// How many records the kernel had no room for, as far as drained.
  std::uint64_t lost() const;

private:
  struct ring;
  ring& of(unsigned processor);

  std::vector<tracepoint> points_;
  std::vector<ring> rings_;
  std::vector<std::string> refused_;
};

}  // namespace shoal::machine
