// SPDX-License-Identifier: Apache-2.0
// A measurement of noise as tables for a terminal, and as a page for a browser.
// Who may call: one thread at a time. Never switches tasks; nothing is written: callers do. Test:
// tests/unit/noise/text_test.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "noise/measurement.hpp"

namespace shoal::noise {

/// Series, classes, events, explained share, counters, advice.
std::string noise_text(const measurement& m);
/// The `most` longest detours one by one, with what the kernel did meanwhile; of a program its longest interruptions.
std::string explained_text(const measurement& m, std::size_t most);
/// Begin and noise of each quantum, and each detour: tab-separated lines with a head.
std::string raw_text(const measurement& m);
/// One self-contained page: the charts over each other, tables, histograms, detours, advice. `title` is escaped.
std::string noise_page(const measurement& m, std::string_view title);

}  // namespace shoal::noise
