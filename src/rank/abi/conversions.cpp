// SPDX-License-Identifier: Apache-2.0
// Handles as integers, for Fortran: predefined ones are their own numbers, others get one at their first conversion
// (MPI 5.0, 19.3.4 and 20).
#include <deque>
#include <mutex>
#include <unordered_map>

#include "rank/abi/entry.hpp"

namespace {

// Of this process. A number stays with its address, also for a later object there.
class handle_numbers {
public:
  int number_of(std::uintptr_t handle) {
    if (handle < shoal::rank::k_predefined_end) return static_cast<int>(handle);
    const std::lock_guard hold(mutex_);
    const auto [at, is_new] =
        numbers_.try_emplace(handle, static_cast<int>(handles_.size() + shoal::rank::k_predefined_end));
    if (is_new) handles_.push_back(handle);
    return at->second;
  }
  std::uintptr_t handle_of(int number) {
    const auto n = static_cast<std::uintptr_t>(number);
    if (n < shoal::rank::k_predefined_end) return n;
    const std::lock_guard hold(mutex_);
    const std::uintptr_t i = n - shoal::rank::k_predefined_end;
    return i < handles_.size() ? handles_[i] : 0;
  }

private:
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, int> numbers_;
  std::deque<std::uintptr_t> handles_;
};

handle_numbers& numbers() {
  static handle_numbers all;
  return all;
}

}  // namespace

extern "C" {
#define MPI_ABI_CONVERTED(name, type)                                                                            \
  int PMPI_##name##_toint(type handle) { return numbers().number_of(reinterpret_cast<std::uintptr_t>(handle)); } \
  MPI_ABI_ALIAS(name##_toint)                                                                                    \
  type PMPI_##name##_fromint(int number) { return reinterpret_cast<type>(numbers().handle_of(number)); }         \
  MPI_ABI_ALIAS(name##_fromint)

MPI_ABI_CONVERTED(Comm, MPI_Comm)
MPI_ABI_CONVERTED(Errhandler, MPI_Errhandler)
MPI_ABI_CONVERTED(Group, MPI_Group)
MPI_ABI_CONVERTED(Info, MPI_Info)
MPI_ABI_CONVERTED(Message, MPI_Message)
MPI_ABI_CONVERTED(Op, MPI_Op)
MPI_ABI_CONVERTED(Request, MPI_Request)
MPI_ABI_CONVERTED(Session, MPI_Session)
MPI_ABI_CONVERTED(Type, MPI_Datatype)
}
