// SPDX-License-Identifier: Apache-2.0
// Names of the code in a trace: as the program gives them at its end, and for a program that has crashed or was killed
// from the files of its program and libraries, if these are still as they were.
// Who may call: any thread; files are read. Never switches tasks. Test: tests/unit/runtime/trace_names_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "trace/trace_file.hpp"

namespace shoal::runtime {

/// `symbol`: demangled, or empty; `place`: "program+0x1234".
std::string task_code_name(const std::string& symbol, const std::string& place);
std::string sampled_code_name(const std::string& symbol, const std::string& place);

/// The programs and libraries of this process.
std::vector<trace::code_image> traced_images();

/// Names code that has no name yet.
void name_code(trace::node_trace& t);

}  // namespace shoal::runtime
