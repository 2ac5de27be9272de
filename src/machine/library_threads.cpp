// SPDX-License-Identifier: Apache-2.0
#include "machine/library_threads.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace shoal::machine {
namespace {

using get_number = int (*)();
using set_number = void (*)(int);
using exchange_number = int (*)(int);

template <class Function>
Function loaded(const char* name) noexcept {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

bool is_set(const char* variable) noexcept { return std::getenv(variable) != nullptr; }

// The workers that have OpenBLAS use one thread, and the number before.
struct openblas_users {
  std::mutex lock;
  unsigned count = 0;
  int before = 0;
};
openblas_users& users_of_openblas() {
  static openblas_users all;
  return all;
}

}  // namespace

library_threads::library_threads() noexcept {
  if (is_set("OMP_NUM_THREADS")) return;  // the other libraries follow it, too
  const auto most = loaded<get_number>("omp_get_max_threads");
  if (const auto set = loaded<set_number>("omp_set_num_threads"); set != nullptr && most != nullptr) {
    openmp_before_ = most();
    set(1);
  }
  if (!is_set("MKL_NUM_THREADS"))
    if (const auto set = loaded<exchange_number>("MKL_Set_Num_Threads_Local"); set != nullptr) mkl_before_ = set(1);
  const auto set = loaded<set_number>("openblas_set_num_threads");
  const auto get = loaded<get_number>("openblas_get_num_threads");
  if (set == nullptr || get == nullptr || is_set("OPENBLAS_NUM_THREADS")) return;
  openblas_users& all = users_of_openblas();
  const std::lock_guard hold(all.lock);
  if (all.count++ == 0) {
    all.before = get();
    set(1);
  }
  counts_openblas_ = true;
}

library_threads::~library_threads() {
  if (openmp_before_ != 0)
    if (const auto set = loaded<set_number>("omp_set_num_threads"); set != nullptr) set(openmp_before_);
  if (mkl_before_ >= 0)
    if (const auto set = loaded<exchange_number>("MKL_Set_Num_Threads_Local"); set != nullptr) set(mkl_before_);
  if (!counts_openblas_) return;
  openblas_users& all = users_of_openblas();
  const std::lock_guard hold(all.lock);
  if (--all.count != 0) return;
  if (const auto set = loaded<set_number>("openblas_set_num_threads"); set != nullptr) set(all.before);
}

std::string oversubscribing_library(unsigned workers, unsigned processors) {
  constexpr std::pair<const char*, const char*> k_known[] = {{"OMP_NUM_THREADS", "omp_get_max_threads"},
                                                             {"MKL_NUM_THREADS", "MKL_Set_Num_Threads_Local"},
                                                             {"OPENBLAS_NUM_THREADS", "openblas_get_num_threads"}};
  for (const auto& [variable, function] : k_known) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || dlsym(RTLD_DEFAULT, function) == nullptr) continue;
    const unsigned long threads = std::strtoul(value, nullptr, 10);
    if (threads > 1 && threads * workers > processors) return fmt::format("{}={}", variable, value);
  }
  return {};
}

}  // namespace shoal::machine
