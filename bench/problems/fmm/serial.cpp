// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/fmm/kernel.hpp"
#include "bench/problems/harness.hpp"
#include "kernels/fmm/forms.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::fmm::problem> m(argc, argv);
  m.run([](problems::fmm::problem& p) { shoal::kernels::fmm::forms().front().run(p.steps, {}); });
  return m.finish();
}
