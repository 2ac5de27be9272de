// SPDX-License-Identifier: Apache-2.0
// The header of NumPy's files: a magic, a version, and a dictionary in Python's notation.
// Who may call: any thread. Never switches tasks. Reference: NumPy Enhancement Proposal 1.
// Shown by tests/unit/files/array_file_test.cpp, tests/fuzz/array_file_fuzz.cpp; against numpy: tests/cluster/files_test.cpp.
#pragma once

#include <span>
#include <string>

#include "files/array_file.hpp"

namespace shoal::files {

/// Version 1.0; its size is a multiple of 64.
std::string npy_header(file_type type, std::span<const std::uint64_t> shape);

/// Sets type, shape, size and where the elements begin.
void read_npy_header(const std::string& path, std::span<const std::byte> begin, array_file& file);

}  // namespace shoal::files
