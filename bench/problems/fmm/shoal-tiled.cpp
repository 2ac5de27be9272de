// SPDX-License-Identifier: Apache-2.0
// Loops over tiles, with barriers.
#include "bench/problems/fmm/shoal_form.hpp"

int main(int argc, char** argv) { return problems::fmm::run_form(argc, argv, "tiled"); }
