// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/library/window.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "tools/mpi-threads/library/companion.hpp"

namespace shoal::mpi_threads {
namespace {

constexpr std::int64_t k_writer = std::int64_t{1}
                                  << 40;  // a writer's share of a lock word; the bits below count readers

// Handles are numbers in one library and pointers in another.
template <typename Handle>
std::uint64_t key_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uint64_t>(handle);
  }
}

class companions {
public:
  template <typename Handle>
  std::shared_ptr<companion> find(Handle handle) {
    const std::lock_guard guard(mutex_);
    const auto place = all_.find(key_of(handle));
    return place == all_.end() ? nullptr : place->second;
  }
  template <typename Handle>
  void add(Handle handle, const std::shared_ptr<companion>& c) {
    const std::lock_guard guard(mutex_);
    all_[key_of(handle)] = c;
  }
  template <typename Handle>
  void remove(Handle handle) {
    const std::lock_guard guard(mutex_);
    all_.erase(key_of(handle));
  }

private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<companion>> all_;
};

companions& windows() {
  static companions all;
  return all;
}

companions& files() {
  static companions all;
  return all;
}

// Adds to the word of a process and returns its old value. Polls, because the target's library may have to execute the
// operation.
// (Compare-and-swap is not used: in Open MPI 4.1 it crashes if the target is the process itself.)
int add_to_word(const inside& in, int call, companion& c, int target, std::int64_t more, std::int64_t* before) {
  return twin_within(in, call, MPI_STATUS_IGNORE, [&](MPI_Request* made) {
    return PMPI_Rget_accumulate(&more, 1, MPI_INT64_T, before, 1, MPI_INT64_T, target, c.slot, 1, MPI_INT64_T, MPI_SUM,
                                c.with->words, made);
  });
}

// Adds only to a word that was read as free: who has to take back its share keeps others from getting the lock.
int take(const inside& in, int call, companion& c, int target, bool exclusive) {
  const std::int64_t mine = exclusive ? k_writer : 1;
  const auto free = [exclusive](std::int64_t word) { return exclusive ? word == 0 : word < k_writer; };
  for (bool taken = false; !taken;) {
    std::int64_t before = 0, ignored = 0;
    int code = add_to_word(in, call, c, target, 0, &before);
    if (code == MPI_SUCCESS && free(before)) {
      code = add_to_word(in, call, c, target, mine, &before);
      taken = free(before);
      if (code == MPI_SUCCESS && !taken) code = add_to_word(in, call, c, target, -mine, &ignored);
    }
    if (code != MPI_SUCCESS) return code;
    if (!taken) g_arbiter->give_way();
  }
  const std::lock_guard guard(c.mutex);
  c.held[target] = mine;
  return MPI_SUCCESS;
}

int give_back(const inside& in, int call, companion& c, int target) {
  std::int64_t amount = 0, ignored = 0;
  {
    const std::lock_guard guard(c.mutex);
    const auto place = c.held.find(target);
    if (place == c.held.end()) return MPI_SUCCESS;
    amount = place->second;
    c.held.erase(place);
  }
  return add_to_word(in, call, c, target, -amount, &ignored);
}

constexpr int k_any = -1;

bool is_held(companion& c, int target) {
  const std::lock_guard guard(c.mutex);
  return target == k_any ? !c.held.empty() : c.held.contains(target);
}

bool is_target(companion& c, int rank) {
  int size = 0;
  PMPI_Comm_size(c.comm(), &size);
  return rank >= 0 && rank < size;
}

// Translates the processes of a group to ranks of the window.
int ranks_of(companion& c, MPI_Group group, std::vector<int>& ranks) {
  int size = 0;
  int code = PMPI_Group_size(group, &size);
  if (code != MPI_SUCCESS || size == 0) return code;
  std::vector<int> numbers(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) numbers[static_cast<std::size_t>(i)] = i;
  ranks.resize(numbers.size());
  MPI_Group all = MPI_GROUP_NULL;
  code = PMPI_Comm_group(c.comm(), &all);
  if (code == MPI_SUCCESS) code = PMPI_Group_translate_ranks(group, size, numbers.data(), all, ranks.data());
  if (code == MPI_SUCCESS) code = PMPI_Group_free(&all);
  return code;
}

}  // namespace

int make_window(int call, MPI_Comm comm, MPI_Win* win, const std::function<int()>& work) {
  return section(call, comm, [&] {
    const int code = work();
    if (code != MPI_SUCCESS || !g_meets) return code;
    auto c = std::make_shared<companion>();
    const int failed = join_window(comm, *c);
    if (failed == MPI_SUCCESS) {
      windows().add(*win, c);
    } else {
      PMPI_Win_free(win);
    }
    return failed;
  });
}

int make_file(int call, MPI_Comm comm, MPI_File* file, const std::function<int()>& work) {
  return section(call, comm, [&] {
    const int code = work();
    if (code != MPI_SUCCESS || !g_meets) return code;
    auto c = std::make_shared<companion>();
    const int failed = join_file(comm, *c);
    if (failed == MPI_SUCCESS) {
      files().add(*file, c);
    } else {
      PMPI_File_close(file);
    }
    return failed;
  });
}

int section_on(int call, MPI_Win win, const std::function<int()>& work) {
  const auto c = windows().find(win);
  return section(call, c == nullptr ? members(MPI_COMM_NULL) : c->meeting(), work);
}

int section_on(int call, MPI_File file, const std::function<int()>& work) {
  const auto c = files().find(file);
  return section(call, c == nullptr ? members(MPI_COMM_NULL) : c->meeting(), work);
}

namespace own {

int Win_lock(int type, int rank, int assertion, MPI_Win win) {
  const inside in(number::Win_lock);
  const auto c = windows().find(win);
  // For an invalid type or rank the library reports the error.
  const bool right = type == MPI_LOCK_EXCLUSIVE || type == MPI_LOCK_SHARED;
  const bool checked = (assertion & MPI_MODE_NOCHECK) == 0 && c != nullptr && right && is_target(*c, rank);
  if (c == nullptr && g_unserialized) return unlocked(in, [&] { return PMPI_Win_lock(type, rank, assertion, win); });
  if (checked) {
    if (is_held(*c, rank)) {  // the process would wait for itself
      held(in, number::Win_lock, k_high, [&] { return PMPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC); });
      return MPI_ERR_RMA_SYNC;
    }
    const int code = take(in, number::Win_lock, *c, rank, type == MPI_LOCK_EXCLUSIVE);
    if (code != MPI_SUCCESS) return code;
  }
  const int code = held(in, number::Win_lock, k_high,
                        [&] { return PMPI_Win_lock(checked ? MPI_LOCK_SHARED : type, rank, assertion, win); });
  if (code != MPI_SUCCESS && checked) give_back(in, number::Win_lock, *c, rank);
  return code;
}

int Win_unlock(int rank, MPI_Win win) {
  const inside in(number::Win_unlock);
  const auto c = windows().find(win);
  if (c == nullptr && g_unserialized) return unlocked(in, [&] { return PMPI_Win_unlock(rank, win); });
  const int code = held(in, number::Win_unlock, k_high, [&] { return PMPI_Win_unlock(rank, win); });
  return code != MPI_SUCCESS || c == nullptr ? code : give_back(in, number::Win_unlock, *c, rank);
}

int Win_lock_all(int assertion, MPI_Win win) {
  const inside in(number::Win_lock_all);
  const auto c = windows().find(win);
  if (c == nullptr && g_unserialized) return unlocked(in, [&] { return PMPI_Win_lock_all(assertion, win); });
  int size = 0, code = MPI_SUCCESS, taken = 0;
  if (c != nullptr && (assertion & MPI_MODE_NOCHECK) == 0 && !is_held(*c, k_any)) PMPI_Comm_size(c->comm(), &size);
  for (; taken < size; ++taken) {
    code = take(in, number::Win_lock_all, *c, taken, false);
    if (code != MPI_SUCCESS) break;
  }
  if (code == MPI_SUCCESS)
    code = held(in, number::Win_lock_all, k_high, [&] { return PMPI_Win_lock_all(assertion, win); });
  while (code != MPI_SUCCESS && taken > 0) give_back(in, number::Win_lock_all, *c, --taken);
  return code;
}

int Win_unlock_all(MPI_Win win) {
  const inside in(number::Win_unlock_all);
  const auto c = windows().find(win);
  if (c == nullptr && g_unserialized) return unlocked(in, [&] { return PMPI_Win_unlock_all(win); });
  int size = 0;
  int code = held(in, number::Win_unlock_all, k_high, [&] {
    if (c != nullptr) PMPI_Comm_size(c->comm(), &size);
    return PMPI_Win_unlock_all(win);
  });
  for (int target = 0; target < size && code == MPI_SUCCESS; ++target)
    code = give_back(in, number::Win_unlock_all, *c, target);
  return code;
}

// Sends the notices of a post. MPI_Win_start may wait inside the library until all targets have posted; so it first
// waits for these notices without the lock.
int Win_post(MPI_Group group, int assertion, MPI_Win win) {
  const auto c = windows().find(win);
  return request(number::Win_post, [&] {
    std::vector<int> ranks;
    int code = PMPI_Win_post(group, assertion, win);
    if (code == MPI_SUCCESS && c != nullptr && (assertion & MPI_MODE_NOCHECK) == 0) code = ranks_of(*c, group, ranks);
    for (const int rank : ranks) {
      MPI_Request notice = MPI_REQUEST_NULL;
      if (code == MPI_SUCCESS) code = PMPI_Isend(nullptr, 0, MPI_BYTE, rank, c->notice_tag(), c->comm(), &notice);
      if (code == MPI_SUCCESS) code = PMPI_Request_free(&notice);
    }
    return code;
  });
}

int Win_start(MPI_Group group, int assertion, MPI_Win win) {
  const inside in(number::Win_start);
  const auto c = windows().find(win);
  if (c == nullptr && g_unserialized) return unlocked(in, [&] { return PMPI_Win_start(group, assertion, win); });
  if (c != nullptr && (assertion & MPI_MODE_NOCHECK) == 0) {
    std::vector<int> ranks;
    int code = held(in, number::Win_start, k_high, [&] { return ranks_of(*c, group, ranks); });
    for (const int rank : ranks) {
      if (code != MPI_SUCCESS) break;
      code = twin_within(in, number::Win_start, MPI_STATUS_IGNORE, [&](MPI_Request* made) {
        return PMPI_Irecv(nullptr, 0, MPI_BYTE, rank, c->notice_tag(), c->comm(), made);
      });
    }
    if (code != MPI_SUCCESS) return code;
  }
  return held(in, number::Win_start, k_high, [&] { return PMPI_Win_start(group, assertion, win); });
}

int Win_wait(MPI_Win win) {
  const inside in(number::Win_wait);
  return until(in, number::Win_wait, [&](int* flag) { return PMPI_Win_test(win, flag); });
}

int Win_test(MPI_Win win, int* flag) {
  const inside in(number::Win_test);
  return held(in, number::Win_test, k_low, [&] { return PMPI_Win_test(win, flag); });
}

int Win_free(MPI_Win* win) {
  const auto c = windows().find(*win);
  return section(number::Win_free, c == nullptr ? members(MPI_COMM_NULL) : c->meeting(), [&] {
    const MPI_Win before = *win;
    const int code = PMPI_Win_free(win);
    if (code != MPI_SUCCESS || c == nullptr) return code;
    windows().remove(before);
    return leave(*c);
  });
}

int File_close(MPI_File* file) {
  const auto c = files().find(*file);
  return section(number::File_close, c == nullptr ? members(MPI_COMM_NULL) : c->meeting(), [&] {
    const MPI_File before = *file;
    const int code = PMPI_File_close(file);
    if (code != MPI_SUCCESS || c == nullptr) return code;
    files().remove(before);
    return leave(*c);
  });
}

}  // namespace own
}  // namespace shoal::mpi_threads
