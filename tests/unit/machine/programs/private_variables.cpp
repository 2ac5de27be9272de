// SPDX-License-Identifier: Apache-2.0
// A program of which program_copies_test.cpp loads copies: variables of all kinds, constructors, destructors, exceptions.
#include <cstdlib>
#include <stdexcept>
#include <string>

// Which g++ marks as unique in a process.
inline int of_all_units = 0;

namespace {

constexpr int k_constant[64] = {41, 42, 43};  // read-only data
int in_data = 7;
int in_bss;
volatile char large[20000];  // several pages; volatile, or compilers keep only what is used
thread_local int of_thread = 5;
int* const relocated = &in_data;  // an address that the loader fills in

struct counted {
  std::string text = "made";
  int* ended = nullptr;
  ~counted() {
    if (ended != nullptr) ++*ended;
  }
};
counted with_destructor;

int static_local() {
  static int calls = 100;
  return ++calls;
}

}  // namespace

extern "C" {

// Changes every variable once more; the sum of all tells whether others have changed them, too.
int step() {
  ++*relocated;
  ++in_bss;
  ++of_all_units;
  ++of_thread;
  large[10'000] = static_cast<char>(large[10'000] + 1);
  with_destructor.text += 'x';
  return in_data + in_bss + of_all_units + of_thread + large[10'000] + static_cast<int>(with_destructor.text.size()) +
         static_local() + k_constant[1];
}
const int* constant() { return k_constant; }
int* variable() { return &in_data; }
void count_end(int* ended) { with_destructor.ended = ended; }
int thrown(int n) {
  try {
    if (n > 0) throw std::runtime_error("of a copy");
    return 0;
  } catch (const std::exception&) {
    return n;
  }
}
int program_main(int argc, char** argv) { return argc + (argv != nullptr ? std::atoi(argv[0]) : 0); }
}
