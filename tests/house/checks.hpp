// SPDX-License-Identifier: Apache-2.0
// The rules of the source tree that a program can check. Each function takes a tree and returns one line per breach,
// beginning with the path and the line, so that editors find it.
// Test: house_test.cpp: for each rule a tree that keeps it and trees that break it.
#pragma once

#include <span>
#include <string_view>

#include "tree.hpp"

namespace shoal::house {

/// A file includes only its own folder and lower layers (layers.txt); public headers count as the folder that
/// layers.txt names.
findings check_layers(const tree& t);
/// Headers of the operating system and of wrapped libraries are included only by the folder that wraps them.
findings check_doors(const tree& t);
/// Time, sleeping, waking and threads are reached through the executor, except at listed places.
findings check_waits(const tree& t);
/// Processors, their instructions and their page size are named only where they are wrapped.
findings check_processors(const tree& t);
/// More than 400 lines is a remark, more than 700 a failure.
findings check_length(const tree& t);
/// Each folder under src/ has a README.md of at most 30 lines that names its files.
findings check_readme(const tree& t);
/// Each source file names its licence in its first lines.
findings check_spdx(const tree& t);
/// No file contains a path of one machine.
findings check_paths(const tree& t);

struct check {
  std::string_view name;
  findings (*run)(const tree&);
};

std::span<const check> all_checks();

}  // namespace shoal::house
