// SPDX-License-Identifier: Apache-2.0
// A rank's call of a collective operation, until the operation has been carried out.
// Who may call: the worker that has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "mpi-abi/mpi.h"
#include "rank/buffer.hpp"
#include "rank/communicator.hpp"
#include "rank/datatype/datatype.hpp"
#include "rank/operation.hpp"

namespace shoal::rank {

struct request;

enum class collective : std::uint8_t {
  barrier,
  broadcast,
  gather,
  scatter,
  all_gather,
  all_to_all,
  reduce,
  all_reduce,
  reduce_scatter,
  scan,
  exscan
};
constexpr bool reduces(collective kind) noexcept { return kind >= collective::reduce; }
/// "MPI_Bcast".
const char* name_of(collective kind) noexcept;

/// The blocks of a buffer that belong to the ranks: all of the buffer's count, one behind the other; or as arrays of the
/// program say, which it leaves alone until the operation has completed.
struct block_list {
  const void* counts = nullptr;  // int or, if wide, MPI_Count
  const void* places =
      nullptr;  // int or, if places_are_wide, MPI_Aint; in extents of the type, or in bytes if there are types
  const MPI_Datatype* types = nullptr;
  bool wide = false;
  bool places_are_wide = false;

  MPI_Count count(int rank, const buffer& all) const noexcept {
    if (counts == nullptr) return all.count;
    return wide ? static_cast<const MPI_Count*>(counts)[rank] : static_cast<const int*>(counts)[rank];
  }
  MPI_Aint place(int rank) const noexcept {
    return places_are_wide ? static_cast<const MPI_Aint*>(places)[rank] : static_cast<const int*>(places)[rank];
  }
  /// The block of a rank in `all`.
  buffer block(int rank, const buffer& all) const;
};

/// What all members have given to an agreement of the library's own, once for all members in the process.
class agreed_list : public std::vector<std::int64_t> {
public:
  using vector::vector;
  /// The ranks of each color, ordered by key, if each member has given `each` values, of which the first is a color and
  /// the second a key. Found once, by the first who asks: O(n log n). Any worker; does not switch tasks.
  using colors = std::map<std::int64_t, std::vector<int>>;
  const colors& by_color(std::size_t each) const;

private:
  mutable std::once_flag found_;
  mutable colors by_color_;
};
using agreed_values = std::shared_ptr<const agreed_list>;

struct collective_call {
  collective kind = collective::barrier;
  int rank = 0;        // of its group
  bool upper = false;  // of an intercommunicator: which of the two groups
  int root = 0;
  request* done = nullptr;  // completes; nullptr: a task waits
  bool in_place = false;
  bool absent = false;  // of another process: only what it gives is here
  buffer send, receive;
  block_list sent, received;
  agreed_values* agreed = nullptr;  // of MPI_Allgather: where the result goes instead of `receive`
  std::uint64_t number = 0;         // of a persistent operation: where its members meet
  // Elements of MPI_Reduce_scatter's result for this rank; for the others as `sent` counts, or, without counts, as many.
  MPI_Count results = 0;
  operation_ref op;
  std::vector<type_ref> kept;  // datatypes that the program may free before the operation has ended
  std::vector<std::shared_ptr<std::byte[]>> kept_arrays;  // copies of those that the lists refer to
  std::uint64_t ready_since = 0;                          // of profile_clock(): a task that waits could go on
};

/// Keeps the datatypes of a call, which has so many blocks of its own for others, and of others for it; and the arrays of
/// its lists: the program should leave them alone, but other libraries read them at once, and programs rely on it (mpi4py
/// frees those of Iallgatherv).
void keep_arguments(collective_call& call, int sent_blocks, int received_blocks);

/// The call of a request, made at its first use.
collective_call& new_call(request& r);

}  // namespace shoal::rank
