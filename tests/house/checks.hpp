// SPDX-License-Identifier: Apache-2.0
// The rules of the house that a program can check. Each takes a tree and says what breaks the rule, one sentence per
// breach, with the path and the line first so that editors find it.
// Shown by house_test.cpp: for each rule a tree that keeps it and trees that break it.
#pragma once

#include <span>
#include <string_view>

#include "tree.hpp"

namespace shoal::house {

/// A file includes only its own folder and lower layers (layers.txt); public headers count as their folder.
findings check_layers(const tree& t);
/// Headers of the operating system and of wrapped libraries are included only by the folder that wraps them.
findings check_doors(const tree& t);
/// Time, sleeping, waking and threads are reached through the executor, but for listed places.
findings check_waits(const tree& t);
/// Over 400 lines is told, over 700 fails.
findings check_length(const tree& t);
/// Each folder under src/ has a README.md of at most 30 lines that names its files.
findings check_readme(const tree& t);
/// Each source file says its licence in its first lines.
findings check_spdx(const tree& t);
/// No file names a place of somebody's machine.
findings check_paths(const tree& t);

struct check {
  std::string_view name;
  findings (*run)(const tree&);
};

std::span<const check> all_checks();

}  // namespace shoal::house
