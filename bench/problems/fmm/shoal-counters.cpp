// SPDX-License-Identifier: Apache-2.0
// A task per cell and step; counters say when it is ready.
#include "bench/problems/fmm/shoal_form.hpp"

int main(int argc, char** argv) { return problems::fmm::run_form(argc, argv, "counters"); }
