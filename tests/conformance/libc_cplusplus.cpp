// SPDX-License-Identifier: Apache-2.0
// C++ in ranks: static and thread-local objects have constructors and destructors of each rank, exceptions pass over calls
// of MPI, and one that is being handled is not another rank's. Streams write whole lines.
#include <unistd.h>

#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"

// Not in an unnamed namespace: these are variables that units of a program share.
inline int shared_by_units = 7;

template <class T>
struct per_type {
  static inline int value = 5;
};

// g++ has one such variable in a process for all that have loaded the function.
inline int& of_inline_function() {
  static int value = 6;
  return value;
}

namespace {

int ended = 0;

struct last_object {
  ~last_object() {
    if (ended != 2) _exit(9);  // that of the thread first, then those made later
  }
};
last_object made_first;

struct counted {
  explicit counted(int v) : value(v), text(static_cast<std::size_t>(v), 'x') {}
  ~counted() { ++ended; }
  int value;
  std::string text;
};
counted global(40);
thread_local counted of_thread(20);
const std::map<std::string, int> table{{"one", 1}, {"two", 2}};

std::vector<int>& list() {
  static std::vector<int> all{7};
  return all;
}

void objects() {
  CHECK_EQUAL(global.value, 40);
  CHECK_EQUAL(table.at("two"), 2);
  global.value += rank_;
  of_thread.value += rank_;
  list().push_back(rank_);
  per_type<int>::value += rank_;
  of_inline_function() += rank_;
  shared_by_units += rank_;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(global.value, 40 + rank_);
  CHECK_EQUAL(of_thread.value, 20 + rank_);
  CHECK_EQUAL(per_type<int>::value, 5 + rank_);
  CHECK_EQUAL(of_inline_function(), 6 + rank_);
  CHECK_EQUAL(shared_by_units, 7 + rank_);
  CHECK_EQUAL(list().size(), 2);
  CHECK_EQUAL(list()[1], rank_);
}

struct waits_at_end {
  ~waits_at_end() { MPI_Barrier(MPI_COMM_WORLD); }
};

void thrower(int depth) {
  const waits_at_end w;
  if (depth == 0) throw std::runtime_error("of rank " + std::to_string(rank_));
  thrower(depth - 1);
}

void exceptions() {
  const std::string wanted = "of rank " + std::to_string(rank_);
  try {
    thrower(2);
    CHECK(false);
  } catch (const std::exception& e) {
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(wanted == e.what());
    try {
      if (rank_ % 2 == 0) throw rank_;
    } catch (int number) {
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK_EQUAL(number, rank_);
    }
    if (rank_ % 2 != 0) MPI_Barrier(MPI_COMM_WORLD);
    try {
      throw;
    } catch (const std::runtime_error& again) {
      CHECK(wanted == again.what());
    }
  }
  CHECK(std::current_exception() == nullptr);
  CHECK_EQUAL(std::uncaught_exceptions(), 0);
}

void streams() {
  std::ios_base::sync_with_stdio(false);
  if (rank_ % 2 == 0) std::cout << std::hex << std::showbase;
  std::cerr.precision(rank_ + 2);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL((std::cout.flags() & std::ios_base::hex) != 0, rank_ % 2 == 0);
  CHECK_EQUAL(std::cerr.precision(), rank_ + 2);
  std::cout << std::dec << std::noshowbase;
  std::cout << "rank " << rank_;
  MPI_Barrier(MPI_COMM_WORLD);
  std::cout << " writes";
  MPI_Barrier(MPI_COMM_WORLD);
  std::cout << " one line" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (argc > 1 && rank_ == 1) throw std::runtime_error("of rank 1");  // argument: ends by it
  objects();
  exceptions();
  streams();
  return end();
}
