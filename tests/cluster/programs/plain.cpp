// SPDX-License-Identifier: Apache-2.0
// A program that never starts the runtime: a launcher runs it as many times as there are nodes.
#include <cstdio>

int main(int argc, char**) {
  std::puts("plain");
  return argc - 1;
}
