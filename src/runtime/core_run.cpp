// SPDX-License-Identifier: Apache-2.0
#include "shoal/core_run.h"

#include "shoal/run.hpp"

int shoal_run(int* argc, char** argv, int (*main_task)(void* argument), void* argument) {
  int none = 0;
  return shoal::detail::run(argc != nullptr ? argc : &none, argv, {}, [&] { return main_task(argument); });
}
