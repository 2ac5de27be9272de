// SPDX-License-Identifier: Apache-2.0
// A program whose library keeps something: program_copies_test.cpp loads copies with libraries of their own.
extern "C" {
int keep(int more);
int use(int more) { return keep(more); }
}
