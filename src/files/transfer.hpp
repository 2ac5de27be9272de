// SPDX-License-Identifier: Apache-2.0
// An array's file, written or read by all nodes that have a part of it (part.hpp).
// Who may call: tasks. They switch tasks. Errors: shoal::error, also where another node throws it.
// Shown by tests/cluster/files_test.cpp.
#pragma once

#include <string>

#include "files/part.hpp"
#include "shoal/remote_error.hpp"

namespace shoal::files {

/// Makes the file and writes all of it, to the disk if `sync`; what is there is overwritten.
void write_file(const std::string& path, const part& p, bool sync);
/// Makes it, with its size and header, but without its elements.
void begin_file(const std::string& path, const array_file& file);
/// Looks at the header. `wanted`: throws mismatch if the file has another type.
array_file open_file(const std::string& path, file_type wanted, file_format format);
void read_file(const std::string& path, const part& p);

/// Throws e as it was thrown on its node, naming that.
[[noreturn]] void rethrow_here(const remote_error& e);

}  // namespace shoal::files
