// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are loaded while the process runs. They stay until it ends.
// Who may call: any thread, at set-up. Never switches tasks; runs the constructors of what it loads.
// Guarantees: load_library() binds all functions at once, so that one that is missing shows now; it throws
// errc::unsupported with the loader's own reason. Shown by tests/unit/machine/library_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace shoal::machine {

/// `for_all`: libraries loaded later may use its symbols, and those of what it needs, without naming it.
/// If this process has a function `before_own` already, what is loaded uses its own functions and those of what it needs
/// before others of the same names.
void* load_library(const std::string& path, bool for_all, const char* before_own = nullptr);
/// A loaded library stays loaded until the process ends, also if the one that loaded it closes it.
void keep_loaded(const std::string& path) noexcept;
/// The address of a symbol, or nullptr.
void* find_symbol(void* library, const char* name) noexcept;

/// Where Shoal's own plugins lie: the given folder (a setting; may be empty), beside the program, where Shoal was
/// built, where it was to be installed.
std::vector<std::string> plugin_folders(const std::string& first);

}  // namespace shoal::machine
