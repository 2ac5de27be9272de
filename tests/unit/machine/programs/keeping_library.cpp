// SPDX-License-Identifier: Apache-2.0
// A library that keeps something, which private_library.cpp uses.
namespace {
int kept = 0;
}

extern "C" int keep(int more) { return kept += more; }
