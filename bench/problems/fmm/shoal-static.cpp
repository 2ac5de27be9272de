// SPDX-License-Identifier: Apache-2.0
// Loops over cells, with barriers; each worker its share.
#include "bench/problems/fmm/shoal_form.hpp"

int main(int argc, char** argv) { return problems::fmm::run_form(argc, argv, "static"); }
