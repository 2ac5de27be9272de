// SPDX-License-Identifier: Apache-2.0
// Barriers, broadcasts and reductions of few bytes, by messages over a communicator of this library: the non-blocking
// versions, which otherwise replace the blocking ones, take the libraries twice as long. A communicator gets its own one
// at its k_first-th such call, if all members have fewer than k_most of them.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>

#include "tools/mpi-threads/library/collective.hpp"
#include "tools/mpi-threads/library/wrapping.hpp"

namespace shoal::mpi_threads {
namespace {

constexpr unsigned k_first = 32;
constexpr std::size_t k_most = 256;
constexpr std::size_t k_most_bytes = 2048;
constexpr int k_most_children = 31;  // of a process in a broadcast

// What is kept for a communicator, as its attribute. Only the owner of the lock uses it.
struct lane {
  unsigned calls = 0;
  MPI_Comm comm = MPI_COMM_NULL;  // null: not made yet, or not to be made
  int rank = 0;
  int size = 0;
};

std::set<lane*> g_lanes;  // those with a communicator

void free_lane(lane& of) {
  if (of.comm == MPI_COMM_NULL) return;
  g_lanes.erase(&of);
  PMPI_Comm_free(&of.comm);
}
int forget_lane(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<lane> of(static_cast<lane*>(value));
  free_lane(*of);
  return MPI_SUCCESS;
}
int lane_keyval() {
  static int keyval = MPI_KEYVAL_INVALID;
  if (keyval == MPI_KEYVAL_INVALID) PMPI_Comm_create_keyval(copy_none, forget_lane, &keyval, nullptr);
  return keyval;
}

lane* lane_of(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, lane_keyval(), static_cast<void*>(&value), &found) != MPI_SUCCESS) return nullptr;
  if (found != 0) return static_cast<lane*>(value);
  auto made = std::make_unique<lane>();
  int between = 0;
  PMPI_Comm_test_inter(comm, &between);
  PMPI_Comm_rank(comm, &made->rank);
  PMPI_Comm_size(comm, &made->size);
  if (between != 0 || made->size < 2) made->calls = k_first;  // never
  if (PMPI_Comm_set_attr(comm, lane_keyval(), made.get()) != MPI_SUCCESS) return nullptr;
  return made.release();
}

// Makes the lane of a communicator. All members are in their k_first-th call, so all are here.
int make_lane(const inside& in, int call, MPI_Comm comm, lane& of) {
  std::int64_t full = 0, full_somewhere = 1;
  int code = twin_within(in, call, MPI_STATUS_IGNORE, [&](MPI_Request* made) {
    full = g_lanes.size() < k_most ? 0 : 1;
    return PMPI_Iallreduce(&full, &full_somewhere, 1, MPI_INT64_T, MPI_MAX, comm, made);
  });
  if (code != MPI_SUCCESS || full_somewhere != 0) return code;
  MPI_Comm made_comm = MPI_COMM_NULL;
  code = section(call, members(comm), [&] {
    MPI_Group all = MPI_GROUP_NULL;
    int failed = PMPI_Comm_group(comm, &all);
    if (failed != MPI_SUCCESS) return failed;
    failed = PMPI_Comm_create(comm, all, &made_comm);  // unlike a duplicate, it takes over no attributes
    PMPI_Group_free(&all);
    return failed;
  });
  if (code != MPI_SUCCESS) return code;
  return held(in, call, k_high, [&] {
    PMPI_Comm_set_errhandler(made_comm, MPI_ERRORS_RETURN);  // errors are reported on the program's communicator
    of.comm = made_comm;
    g_lanes.insert(&of);
    return MPI_SUCCESS;
  });
}

// A buffer that is not worth messages of this library, or whose description is the library's to refuse.
constexpr std::size_t k_too_many = k_most_bytes + 1;
std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  if (count < 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0)
    return k_too_many;
  return std::min(static_cast<std::size_t>(count) * static_cast<std::size_t>(size), k_too_many);
}

// Whether values of this type may be copied as bytes, and combined in any order.
bool is_simple(MPI_Datatype type, MPI_Op op) {
  int size = 0, commutes = 0;
  MPI_Aint low = 0, extent = 0;
  if (op == MPI_OP_NULL || PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS || commutes == 0) return false;
  if (PMPI_Type_size(type, &size) != MPI_SUCCESS || PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS)
    return false;
  return low == 0 && extent == size;
}

struct round_of_messages {
  MPI_Request requests[k_most_children];
  int posted = 0;

  int send(const lane& by, const void* buffer, int count, MPI_Datatype type, int to) {
    return counted(PMPI_Isend(buffer, count, type, to, 0, by.comm, &requests[posted]));
  }
  int receive(const lane& by, void* buffer, int count, MPI_Datatype type, int from) {
    return counted(PMPI_Irecv(buffer, count, type, from, 0, by.comm, &requests[posted]));
  }

private:
  int counted(int code) {
    if (code == MPI_SUCCESS) ++posted;
    return code;
  }
};

// Dissemination: after each round a process knows of twice as many processes before it that they are there.
struct barrier {
  std::int64_t distance = 1;

  static bool fits() { return true; }
  static bool fits(const lane&) { return true; }
  int begin(const lane& by, round_of_messages& round) {
    if (distance >= by.size) return MPI_SUCCESS;
    const int to = static_cast<int>((by.rank + distance) % by.size);
    const int from = static_cast<int>((by.rank + by.size - distance) % by.size);
    distance *= 2;
    const int code = round.receive(by, nullptr, 0, MPI_BYTE, from);
    return code != MPI_SUCCESS ? code : round.send(by, nullptr, 0, MPI_BYTE, to);
  }
};

// A binomial tree: a process has the number of its parent but for the lowest bit. In the first round it receives, in the
// second it sends to its children.
struct broadcast {
  void* buffer;
  int count;
  MPI_Datatype type;
  int root;
  unsigned rounds = 0;

  bool fits() const { return bytes_of(count, type) <= k_most_bytes; }
  bool fits(const lane& by) const { return root >= 0 && root < by.size; }
  int begin(const lane& by, round_of_messages& round) {
    const std::int64_t number = (by.rank + static_cast<std::int64_t>(by.size) - root) % by.size;
    const auto rank_of = [&](std::int64_t n) { return static_cast<int>((n + root) % by.size); };
    std::int64_t bit = 1;
    while (bit < by.size && (number & bit) == 0) bit *= 2;
    if (number == 0 && rounds == 0) rounds = 1;
    if (rounds == 2) return MPI_SUCCESS;
    if (++rounds == 1) return round.receive(by, buffer, count, type, rank_of(number - bit));
    int code = MPI_SUCCESS;
    for (std::int64_t child = bit / 2; child > 0 && code == MPI_SUCCESS; child /= 2)
      if (number + child < by.size) code = round.send(by, buffer, count, type, rank_of(number + child));
    return code;
  }
};

// Recursive doubling in 2^n processes: in each step both partners combine the same two values, so all results are equal
// to the last bit.
struct reduction {
  const void* out;
  void* into;
  int count;
  MPI_Datatype type;
  MPI_Op op;
  int distance = 0;
  std::size_t bytes = 0;
  alignas(std::max_align_t) std::byte ours[k_most_bytes];
  alignas(std::max_align_t) std::byte theirs[k_most_bytes];

  bool fits() {
    bytes = bytes_of(count, type);
    return bytes > 0 && bytes <= k_most_bytes && is_simple(type, op);
  }
  static bool fits(const lane& by) { return std::has_single_bit(static_cast<unsigned>(by.size)); }
  int begin(const lane& by, round_of_messages& round) {
    int code = MPI_SUCCESS;
    if (distance == 0 && out != MPI_IN_PLACE) std::memcpy(into, out, bytes);
    if (distance > 0) code = PMPI_Reduce_local(theirs, into, count, type, op);
    distance = distance == 0 ? 1 : 2 * distance;
    if (code != MPI_SUCCESS || distance >= by.size) return code;
    std::memcpy(ours, into, bytes);
    code = round.receive(by, theirs, count, type, by.rank ^ distance);
    return code != MPI_SUCCESS ? code : round.send(by, ours, count, type, by.rank ^ distance);
  }
};

// Goes on until messages are missing, or sets the flag.
template <typename Algorithm>
int go_on(Algorithm& algorithm, const lane& by, round_of_messages& round, int* flag) {
  for (;;) {
    int done = 1;
    int code = MPI_SUCCESS;
    if (round.posted > 0) code = PMPI_Testall(round.posted, round.requests, &done, MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS || done == 0) return code;
    round.posted = 0;
    code = algorithm.begin(by, round);
    if (code != MPI_SUCCESS) return code;
    if (round.posted == 0) {
      *flag = 1;
      return code;
    }
  }
}

// By messages over the lane of the communicator, if it has one and the call fits; else by the library's non-blocking
// version, which `start` begins. The first poll follows under the same acquisition.
template <typename Algorithm, typename Start>
int collective(int call, MPI_Comm comm, Algorithm&& algorithm, Start&& start) {
  const inside in(call);
  lane* of = nullptr;
  bool makes_lane = false;
  round_of_messages round;
  MPI_Request made = MPI_REQUEST_NULL;
  int flag = 0;
  const auto has_lane = [&] { return of != nullptr && of->comm != MPI_COMM_NULL && algorithm.fits(*of); };
  const auto begin = [&] {
    if (has_lane()) return go_on(algorithm, *of, round, &flag);
    const int code = start(&made);
    return code != MPI_SUCCESS ? code : PMPI_Test(&made, &flag, MPI_STATUS_IGNORE);
  };
  int code = held(in, call, k_high, [&] {
    if (comm != MPI_COMM_NULL && algorithm.fits()) of = lane_of(comm);
    if (of != nullptr && of->calls < k_first) makes_lane = ++of->calls == k_first;
    return makes_lane ? MPI_SUCCESS : begin();
  });
  if (makes_lane && code == MPI_SUCCESS) {
    code = make_lane(in, call, comm, *of);
    if (code == MPI_SUCCESS) code = held(in, call, k_high, begin);
  }
  if (code == MPI_SUCCESS && flag == 0)
    code = until(in, call, [&](int* done) {
      return made == MPI_REQUEST_NULL ? go_on(algorithm, *of, round, done) : PMPI_Test(&made, done, MPI_STATUS_IGNORE);
    });
  if (code == MPI_SUCCESS || !has_lane()) return code;
  return held(in, call, k_high, [&] {
    PMPI_Comm_call_errhandler(comm, code);
    return code;
  });
}

}  // namespace

void free_lanes() {
  while (!g_lanes.empty()) free_lane(**g_lanes.begin());
}

namespace own {

int Barrier(MPI_Comm comm) {
  return collective(number::Barrier, comm, barrier(), [&](MPI_Request* made) { return PMPI_Ibarrier(comm, made); });
}

int Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return collective(number::Bcast, comm, broadcast{buffer, count, type, root},
                    [&](MPI_Request* made) { return PMPI_Ibcast(buffer, count, type, root, comm, made); });
}

int Allreduce(const void* out, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  reduction algorithm;
  algorithm.out = out;
  algorithm.into = into;
  algorithm.count = count;
  algorithm.type = type;
  algorithm.op = op;
  return collective(number::Allreduce, comm, algorithm,
                    [&](MPI_Request* made) { return PMPI_Iallreduce(out, into, count, type, op, comm, made); });
}

#if MPI_VERSION >= 4
int Bcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return twin(number::Bcast_c, MPI_STATUS_IGNORE,
              [&](MPI_Request* made) { return PMPI_Ibcast_c(buffer, count, type, root, comm, made); });
}

int Allreduce_c(const void* out, void* into, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return twin(number::Allreduce_c, MPI_STATUS_IGNORE,
              [&](MPI_Request* made) { return PMPI_Iallreduce_c(out, into, count, type, op, comm, made); });
}
#endif

}  // namespace own
}  // namespace shoal::mpi_threads
