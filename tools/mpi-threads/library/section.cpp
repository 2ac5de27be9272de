// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/library/section.hpp"

#include <algorithm>
#include <vector>

namespace shoal::mpi_threads {

total_order* g_order = nullptr;
MPI_Comm g_world;

int copy_none(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

namespace {

int wait_for(const inside& in, int call, MPI_Request* made) {
  return until(in, call, [&](int* flag) { return PMPI_Test(made, flag, MPI_STATUS_IGNORE); });
}

// Sends a number to one process and receives one from the same or another.
int swap(const inside& in, int call, MPI_Comm comm, int to, int from, int tag, std::int64_t mine,
         std::int64_t* theirs) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int code = held(in, call, k_high, [&] {
    const int received = PMPI_Irecv(theirs, 1, MPI_INT64_T, from, tag, comm, &requests[0]);
    return received != MPI_SUCCESS ? received : PMPI_Isend(&mine, 1, MPI_INT64_T, to, tag, comm, &requests[1]);
  });
  for (MPI_Request& one : requests) {
    if (code == MPI_SUCCESS) code = wait_for(in, call, &one);
  }
  return code;
}

// Dissemination: after each round a process knows the maximum of twice as many processes before it.
int greatest_by_messages(const inside& in, int call, const members& all, std::int64_t mine, std::int64_t* result) {
  int rank = 0, size = 0, code = MPI_SUCCESS;
  PMPI_Comm_rank(all.comm, &rank);
  PMPI_Comm_size(all.comm, &size);
  *result = mine;
  for (std::int64_t distance = 1; distance < size && code == MPI_SUCCESS; distance *= 2) {
    const int to = static_cast<int>((rank + distance) % size), from = static_cast<int>((rank + size - distance) % size);
    std::int64_t before = mine;
    code = swap(in, call, all.comm, to, from, all.tag, *result, &before);
    *result = std::max(*result, before);
  }
  return code;
}

int greatest(const inside& in, int call, const members& all, std::int64_t mine, std::int64_t* result) {
  if (all.tag >= 0) return greatest_by_messages(in, call, all, mine, result);
  return twin_within(in, call, MPI_STATUS_IGNORE, [&](MPI_Request* made) {
    return PMPI_Iallreduce(&mine, result, 1, MPI_INT64_T, MPI_MAX, all.comm, made);
  });
}

int arrive(const inside& in, int call, const members& all) {
  std::int64_t nothing = 0;
  if (all.tag >= 0) return greatest_by_messages(in, call, all, 0, &nothing);
  return twin_within(in, call, MPI_STATUS_IGNORE, [&](MPI_Request* made) { return PMPI_Ibarrier(all.comm, made); });
}

// The maximum over the members of a group, known to all of them afterwards; uses messages over a communicator.
int greatest_of_group(const inside& in, int call, MPI_Comm comm, const std::vector<int>& ranks, int me, int tag,
                      std::int64_t mine, std::int64_t* result) {
  *result = mine;
  if (me != 0) return swap(in, call, comm, ranks[0], ranks[0], tag, mine, result);
  std::vector<std::int64_t> theirs(ranks.size(), mine);
  std::vector<MPI_Request> requests(ranks.size(), MPI_REQUEST_NULL);
  int code = held(in, call, k_high, [&] {
    int posted = MPI_SUCCESS;
    for (std::size_t i = 1; i < ranks.size() && posted == MPI_SUCCESS; ++i)
      posted = PMPI_Irecv(&theirs[i], 1, MPI_INT64_T, ranks[i], tag, comm, &requests[i]);
    return posted;
  });
  for (MPI_Request& one : requests) {
    if (code == MPI_SUCCESS) code = wait_for(in, call, &one);
  }
  if (code != MPI_SUCCESS) return code;
  *result = *std::ranges::max_element(theirs);
  for (std::size_t i = 1; i < ranks.size() && code == MPI_SUCCESS; ++i)
    code = twin_within(in, call, MPI_STATUS_IGNORE, [&](MPI_Request* made) {
      return PMPI_Isend(result, 1, MPI_INT64_T, ranks[i], tag, comm, made);
    });
  return code;
}

std::uint64_t mixed(std::uint64_t so_far, std::uint64_t more) {
  so_far = (so_far ^ more) * 0x9E3779B97F4A7C15U;
  return so_far ^ (so_far >> 29);
}

int delete_none(MPI_Comm, int, void*, void*) { return MPI_SUCCESS; }

// The attribute that stores the number of the section in which a communicator was made. All its members know the
// number, and other communicators have other numbers. Caller: the owner of the lock.
int number_keyval() {
  static int keyval = MPI_KEYVAL_INVALID;
  if (keyval == MPI_KEYVAL_INVALID) PMPI_Comm_create_keyval(copy_none, delete_none, &keyval, nullptr);
  return keyval;
}

int numbered(int code, const MPI_Comm* made, std::int64_t number) {
  if (code == MPI_SUCCESS && *made != MPI_COMM_NULL)
    PMPI_Comm_set_attr(*made, number_keyval(), reinterpret_cast<void*>(static_cast<std::intptr_t>(number)));
  return code;
}

// A number that is the same for all members of a communicator and differs between communicators. Communicators with the
// same processes differ only if the functions below made them.
std::uint64_t identity_of(MPI_Comm comm) {
  void* number = nullptr;
  int found = 0, size = 0;
  PMPI_Comm_get_attr(comm, number_keyval(), static_cast<void*>(&number), &found);
  PMPI_Comm_size(comm, &size);
  return mixed(found != 0 ? reinterpret_cast<std::uintptr_t>(number) : 1, static_cast<std::uint64_t>(size));
}

int greatest_tag() {
  int* greatest = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&greatest), &found);
  return found != 0 ? *greatest : 32767;
}

// Concurrent calls by the same processes differ in the tag or in the communicator.
int rendezvous_tag(const std::vector<int>& ranks, std::uint64_t identity, int tag, int greatest) {
  std::uint64_t hash = mixed(identity, static_cast<std::uint64_t>(tag));
  for (const int rank : ranks) hash = mixed(hash, static_cast<std::uint64_t>(rank));
  return static_cast<int>((hash >> 33) % (static_cast<std::uint64_t>(greatest) + 1));
}

}  // namespace

int meet_again(const inside& in, int call, const members& all) {
  int between = 0;
  int code = held(in, call, k_high, [&] { return PMPI_Comm_test_inter(all.comm, &between); });
  // On an intercommunicator both operations return the result of the other group; the second round returns that of our
  // own.
  for (int round = 0; round <= between && code == MPI_SUCCESS; ++round) code = arrive(in, call, all);
  return code;
}

int meet(const inside& in, int call, const members& all, std::int64_t* number) {
  int between = 0;
  int code = held(in, call, k_high, [&] { return PMPI_Comm_test_inter(all.comm, &between); });
  if (code == MPI_SUCCESS) code = meet_again(in, call, all);
  if (code != MPI_SUCCESS) return code;
  const std::int64_t mine = g_order->propose();
  std::int64_t agreed = mine;
  code = greatest(in, call, all, mine, &agreed);
  if (code == MPI_SUCCESS && between != 0) {
    const std::int64_t theirs = agreed;
    code = greatest(in, call, all, theirs, &agreed);
    agreed = std::max(agreed, theirs);
  }
  if (code != MPI_SUCCESS) {
    g_order->remove(mine);
    return code;
  }
  g_order->fix(mine, agreed);
  *number = agreed;
  return MPI_SUCCESS;
}

void leave_section(std::int64_t number) { g_order->remove(number); }

int await_turn(std::int64_t number) {
  while (!g_order->first(number)) {
    if (g_over.load(std::memory_order_acquire)) return MPI_ERR_OTHER;
    g_arbiter->give_way();
  }
  return MPI_SUCCESS;
}

namespace {

template <typename Call>
int numbered_section(int call, MPI_Comm comm, MPI_Comm* made, Call&& work) {
  const inside in(call);
  if (!g_meets) return unlocked(in, work);
  if (comm == MPI_COMM_NULL) return held(in, call, k_high, work);
  std::int64_t number = 0;
  const int code = meet(in, call, comm, &number);
  if (code != MPI_SUCCESS) return code;
  return in_turn(
      in, call, number, [&] { return meet_again(in, call, comm); }, [&] { return numbered(work(), made, number); });
}

}  // namespace

namespace own {

int Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return numbered_section(number::Comm_dup, comm, made, [&] { return PMPI_Comm_dup(comm, made); });
}

int Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return numbered_section(number::Comm_dup_with_info, comm, made,
                          [&] { return PMPI_Comm_dup_with_info(comm, info, made); });
}

int Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return numbered_section(number::Comm_split, comm, made, [&] { return PMPI_Comm_split(comm, color, key, made); });
}

int Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return numbered_section(number::Comm_create, comm, made, [&] { return PMPI_Comm_create(comm, group, made); });
}

int Comm_disconnect(MPI_Comm* comm) {
  return section(number::Comm_disconnect, *comm, [&] { return PMPI_Comm_disconnect(comm); });
}

int Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  constexpr int call = number::Comm_create_group;
  const inside in(call);
  auto work = [&] { return PMPI_Comm_create_group(comm, group, tag, made); };
  int size = 0, me = MPI_UNDEFINED;
  std::vector<int> ranks, numbers;
  std::uint64_t identity = 0;
  int greatest = 0;
  const int code = held(in, call, k_high, [&] {
    // Checks only what the rendezvous needs; the call itself reports an invalid communicator or group.
    if (comm == MPI_COMM_NULL || group == MPI_GROUP_NULL) return MPI_SUCCESS;
    MPI_Group all = MPI_GROUP_NULL;
    identity = identity_of(comm);
    greatest = greatest_tag();
    if (int failed = PMPI_Group_size(group, &size); failed != MPI_SUCCESS) return failed;
    if (int failed = PMPI_Group_rank(group, &me); failed != MPI_SUCCESS) return failed;
    for (int i = 0; i < size; ++i) numbers.push_back(i);
    ranks.resize(static_cast<std::size_t>(size));
    if (int failed = PMPI_Comm_group(MPI_COMM_WORLD, &all); failed != MPI_SUCCESS) return failed;
    PMPI_Group_translate_ranks(group, size, numbers.data(), all, ranks.data());
    return PMPI_Group_free(&all);
  });
  if (code != MPI_SUCCESS) return code;
  const bool ours = std::ranges::find(ranks, static_cast<int>(MPI_UNDEFINED)) == ranks.end();
  if (!g_meets) return unlocked(in, work);
  if (me == MPI_UNDEFINED || size < 2 || !ours) return held(in, call, k_high, work);
  const int ours_tag = rendezvous_tag(ranks, identity, tag, greatest);
  std::int64_t agreed = 0, there = 0;
  int failed = greatest_of_group(in, call, g_world, ranks, me, ours_tag, 0, &there);
  if (failed != MPI_SUCCESS) return failed;
  const std::int64_t mine = g_order->propose();
  failed = greatest_of_group(in, call, g_world, ranks, me, ours_tag, mine, &agreed);
  if (failed != MPI_SUCCESS) {
    g_order->remove(mine);
    return failed;
  }
  g_order->fix(mine, agreed);
  auto confirm = [&] { return greatest_of_group(in, call, g_world, ranks, me, ours_tag, 0, &there); };
  return in_turn(in, call, agreed, confirm, [&] { return numbered(work(), made, agreed); });
}

int Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int remote_leader, int tag, MPI_Comm* made) {
  constexpr int call = number::Intercomm_create;
  const inside in(call);
  auto work = [&] { return PMPI_Intercomm_create(local, leader, peers, remote_leader, tag, made); };
  if (local == MPI_COMM_NULL) return held(in, call, k_high, work);
  if (!g_meets) return unlocked(in, work);
  int me = 0;
  int code = held(in, call, k_high, [&] { return PMPI_Comm_rank(local, &me); });
  // First the members of each local group synchronise, then the leaders; then all members get the result.
  auto greatest_of_both = [&](std::int64_t mine, std::int64_t* result) {
    std::int64_t here = 0, theirs = 0;
    int failed = greatest(in, call, local, mine, &here);
    if (failed == MPI_SUCCESS && me == leader)
      failed = swap(in, call, peers, remote_leader, remote_leader, tag, here, &theirs);
    return failed != MPI_SUCCESS ? failed : greatest(in, call, local, std::max(here, theirs), result);
  };
  std::int64_t there = 0, agreed = 0;
  if (code == MPI_SUCCESS) code = greatest_of_both(0, &there);
  if (code != MPI_SUCCESS) return code;
  const std::int64_t mine = g_order->propose();
  code = greatest_of_both(mine, &agreed);
  if (code != MPI_SUCCESS) {
    g_order->remove(mine);
    return code;
  }
  g_order->fix(mine, agreed);
  return in_turn(
      in, call, agreed, [&] { return greatest_of_both(0, &there); }, work);
}

}  // namespace own
}  // namespace shoal::mpi_threads
