// SPDX-License-Identifier: Apache-2.0
// What the kernel took from the workers of a traced program, kept beside the traces, so that `shoal trace --read` shows
// it again: a head with the version, then a line for each part: thread, begin, nanoseconds, name, between tabs.
// Who may call: the command's main thread. Errors: shoal::error names the file and the line. Test:
// tests/unit/tools/trace_kernel_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "noise/measurement.hpp"
#include "trace/timeline.hpp"

namespace shoal::tools {

struct kernel_part {
  std::uint32_t thread = 0;    // the system's number
  std::uint64_t begin_ns = 0;  // CLOCK_MONOTONIC_RAW
  std::uint64_t ns = 0;
  std::string name;

  bool operator==(const kernel_part&) const = default;
};

/// In the folder of the traces.
inline constexpr std::string_view k_kernel_file = "kernel.tsv";

std::vector<kernel_part> kernel_parts(const noise::measurement& m);
std::string kernel_text(std::span<const kernel_part> parts);
/// `path` is for the message.
std::vector<kernel_part> read_kernel_text(std::string_view text, const std::string& path);
/// Parts of threads that are no workers are left out.
void add_kernel_parts(trace::timeline& t, std::span<const kernel_part> parts);

}  // namespace shoal::tools
