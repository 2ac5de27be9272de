// SPDX-License-Identifier: Apache-2.0
// What the plugin that writes OTF2 exports: a function, and its version, which must be the command's: they share a type.
// Who may call: one thread. Never switches tasks. Test: tests/cluster/trace_test.cpp, by the format's own reader.
#pragma once

#include <cstddef>

#include "trace/timeline.hpp"

namespace shoal::trace {

inline constexpr const char* k_otf2_plugin = "libshoal_trace_otf2.so";
inline constexpr const char* k_otf2_function = "shoal_write_otf2";
inline constexpr const char* k_otf2_version = "shoal_otf2_version";  // a text: of which Shoal the plugin is

/// Writes FOLDER/shoal.otf2 and the files beside it; the folder must be new. False: `why_not` says why, in at most
/// `bytes`.
using otf2_function = bool (*)(const timeline& t, const char* folder, char* why_not, std::size_t bytes);

}  // namespace shoal::trace
