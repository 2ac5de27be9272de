// SPDX-License-Identifier: Apache-2.0
// The name of a type as a program writes it, from std::type_info::name().
// Who may call: any thread; it allocates. Never switches tasks. Test: tests/unit/base/thrown_test.cpp.
#pragma once

#include <string>

namespace shoal::base {

/// `mangled` itself if it is no such name.
std::string demangled(const char* mangled);

}  // namespace shoal::base
