// SPDX-License-Identifier: Apache-2.0
// Errors of the graph readers: always bad_input (or not_found, system), with the file name and, for text, the line.
// Quotes from the input are shortened and unprintable characters are escaped, so that a message cannot affect a
// terminal.
// Who may call: any thread; does not switch tasks. Test: tests/unit/graph/line_reader_test.cpp and the tests of
// all readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::graph {

/// 'text', at most 40 bytes, unprintable bytes as \xNN.
std::string in_quotes(std::string_view text);

/// "file: reason"
[[noreturn]] void refuse(std::string_view file, std::string_view reason);

/// "file:line: reason"
[[noreturn]] void refuse(std::string_view file, std::uint64_t line, std::string_view reason);

}  // namespace shoal::graph
