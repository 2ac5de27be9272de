// SPDX-License-Identifier: Apache-2.0
// A program that runs one of the forms of kernels/fmm.
#pragma once

#include <algorithm>
#include <string_view>

#include "bench/problems/fmm/kernel.hpp"
#include "bench/problems/harness.hpp"
#include "kernels/fmm/forms.hpp"
#include "shoal/pool.hpp"

namespace problems::fmm {

inline int run_form(int argc, char** argv, std::string_view name) {
  measurement<problem> m(argc, argv);
  const method::form& form = *std::ranges::find(method::forms(), name, &method::form::name);
  shoal::pool pool(m.workers());
  pool.run([&] { m.run([&form](problem& p) { form.run(p.steps, {&p.tiles, k_block}); }); });
  return m.finish();
}

}  // namespace problems::fmm
