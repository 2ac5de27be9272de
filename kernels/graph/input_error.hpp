// SPDX-License-Identifier: Apache-2.0
// How the readers of graphs refuse an input: always bad_input (or not_found, system), always with the file's name and,
// for text, the line. Bytes of the input are quoted cut short and with what is not printable escaped, so that a message
// never upsets a terminal. Who may call: anyone; does not switch tasks.
// Shown by tests/unit/kernels_graph/line_reader_test.cpp and all readers' tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::kernels::graph {

/// 'text', at most 40 bytes of it, unprintable bytes as \xNN.
std::string in_quotes(std::string_view text);

/// "file: reason"
[[noreturn]] void refuse(std::string_view file, std::string_view reason);

/// "file:line: reason"
[[noreturn]] void refuse(std::string_view file, std::uint64_t line, std::string_view reason);

}  // namespace shoal::kernels::graph
