// SPDX-License-Identifier: Apache-2.0
// Another program than faults.cpp, for jobs whose nodes do not fit together.
#include "shoal/shoal.hpp"

int main(int argc, char** argv) {
  return shoal::run(argc, argv, [] { shoal::on(shoal::node_count() - 1, [] {}); });
}
