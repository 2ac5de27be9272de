// SPDX-License-Identifier: Apache-2.0
// The fast multipole method as a program of tasks, in five forms: three with a barrier between stages, two in which data
// that is ready starts what needs it.
//   static         loops over cells, each worker its own share
//   dynamic        loops over cells, one by one to whoever is free
//   tiled          loops over tiles of neighbouring cells, whose spectra are multiplied block by block
//   counters       a task per cell and step; counters say when it is ready, and the end of a step starts the next
//   tiled-data     a task per tile and step, ordered by the memory that it says it reads and writes (task_flow)
// and `serial`: one cell after the other, without tasks.
// Source: the comparison of fork-join and data-driven execution of this method by Amer et al. (2013), which adds tiles.
// Who may call: tasks of a pool or a job; all but serial switch tasks. Test: tests/unit/fmm/fmm_test.cpp; measured by
// `shoal fmm`.
#pragma once

#include <span>
#include <string_view>

#include "kernels/fmm/steps.hpp"
#include "kernels/fmm/tiling.hpp"

namespace shoal::kernels::fmm {

struct form_options {
  const tiling* tiles = nullptr;  // for the tiled forms
  std::size_t block = 0;          // groups of frequencies; see steps::across
};

struct form {
  std::string_view name;
  std::string_view what;
  void (*run)(steps&, const form_options&);
};

/// The serial one first.
std::span<const form> forms() noexcept;

}  // namespace shoal::kernels::fmm
