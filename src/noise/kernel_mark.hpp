// SPDX-License-Identifier: Apache-2.0
// The kernel's events as the analysis needs them, and the reader that makes them of the tracepoints' records.
// Tests feed the analysis with marks of their own.
// Who may call: one thread at a time. Never switches tasks. Test: tests/unit/noise/kernel_mark_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/tracepoints.hpp"
#include "noise/activity.hpp"

namespace shoal::noise {

/// Words by number: devices, and programs that preempt. 0 is the empty word.
class word_table {
public:
  std::uint32_t number_of(std::string_view word);
  const std::string& word(std::uint32_t number) const { return words_[number]; }

private:
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::vector<std::string> words_ = {""};
};

struct kernel_mark {
  enum class kind : std::uint8_t {
    enter,     // `what` begins
    leave,     // `what` ends
    fault,     // a page fault: only its beginning is known
    switched,  // the processor goes on from `thread` to `other`
    woken,     // `other` can run, on the processor `place`
    forked,    // `thread` has started `other`, a process or a thread
    migrated,  // `other` goes to the processor `place`
    lost,      // the kernel had no room for `count` records
  };
  std::uint64_t time_ns = 0;
  kind is = kind::enter;
  activity what = activity::timer_interrupt;
  bool runnable = false;  // switched: `thread` could have gone on
  std::uint16_t processor = 0;
  std::uint16_t place = 0;
  std::uint32_t detail = 0;         // of the words: the device, or the program of `other`
  std::uint32_t thread_detail = 0;  // of the words: switched: the program of `thread`
  std::int32_t thread = 0;          // the one on the processor
  std::int32_t other = 0;
  std::uint64_t count = 0;
};

/// The tracepoints to record. What this kernel lacks is added to `missing`.
std::vector<machine::tracepoint> noise_tracepoints(const machine::tracepoint_folder& folder,
                                                   std::vector<std::string>& missing);

class mark_reader {
public:
  explicit mark_reader(word_table& words) : words_(words) {}
  /// Empty: the record is of no concern.
  std::optional<kernel_mark> read(const machine::kernel_record& r, unsigned processor);

private:
  word_table& words_;
};

}  // namespace shoal::noise
