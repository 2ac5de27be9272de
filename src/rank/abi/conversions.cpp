// SPDX-License-Identifier: Apache-2.0
// Handles as integers, for Fortran: predefined ones are their own numbers, others get one at their first conversion
// (MPI 5.0, 19.3.4 and 20).
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "rank/abi/entry.hpp"

namespace {

// Of this process. A number stays with its address, also for a later object there; so reading needs no lock.
class handle_numbers {
public:
  int number_of(std::uintptr_t handle) {
    if (handle < shoal::rank::k_predefined_end) return static_cast<int>(handle);
    // Another handle may have left its number here: then the handle of that number is another one, too.
    std::atomic<int>& guess = guesses_[(handle >> 4) % guesses_.size()];
    if (const int known = guess.load(std::memory_order_relaxed); known != 0 && handle_of(known) == handle) return known;
    const std::lock_guard hold(mutex_);
    const auto [at, is_new] =
        numbers_.try_emplace(handle, static_cast<int>(numbers_.size() + shoal::rank::k_predefined_end));
    if (is_new) place_of(static_cast<std::size_t>(at->second)).store(handle, std::memory_order_release);
    guess.store(at->second, std::memory_order_relaxed);
    return at->second;
  }
  std::uintptr_t handle_of(int number) const noexcept {
    const auto n = static_cast<std::uintptr_t>(number);
    if (n < shoal::rank::k_predefined_end) return n;
    if (number < 0) return 0;
    const place p = find(n);
    const slot* const block = blocks_[p.block].load(std::memory_order_acquire);   // partner: place_of()
    return block == nullptr ? 0 : block[p.slot].load(std::memory_order_acquire);  // partner: number_of()
  }

private:
  using slot = std::atomic<std::uintptr_t>;
  struct place {
    std::size_t block;
    std::size_t slot;
  };
  static constexpr std::size_t k_first_block = 1024;  // each further one is twice as large

  static place find(std::size_t number) noexcept {
    const std::size_t i = number - shoal::rank::k_predefined_end + k_first_block;
    const auto block = static_cast<std::size_t>(std::bit_width(i / k_first_block)) - 1;
    return {block, i - (k_first_block << block)};
  }
  slot& place_of(std::size_t number) {
    const place p = find(number);
    if (blocks_[p.block].load(std::memory_order_relaxed) == nullptr) {
      owned_[p.block] = std::make_unique<slot[]>(k_first_block << p.block);
      blocks_[p.block].store(owned_[p.block].get(), std::memory_order_release);  // partner: handle_of()
    }
    return owned_[p.block][p.slot];
  }

  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, int> numbers_;
  std::array<std::unique_ptr<slot[]>, 22> owned_;
  std::array<std::atomic<slot*>, 22> blocks_{};
  std::array<std::atomic<int>, 4096> guesses_{};
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
MPI_ABI_CONVERTED(File, MPI_File)
MPI_ABI_CONVERTED(Group, MPI_Group)
MPI_ABI_CONVERTED(Info, MPI_Info)
MPI_ABI_CONVERTED(Message, MPI_Message)
MPI_ABI_CONVERTED(Op, MPI_Op)
MPI_ABI_CONVERTED(Request, MPI_Request)
MPI_ABI_CONVERTED(Session, MPI_Session)
MPI_ABI_CONVERTED(Type, MPI_Datatype)
MPI_ABI_CONVERTED(Win, MPI_Win)
}
