// SPDX-License-Identifier: Apache-2.0
// Completion, probes and exchanges: all poll in the low-priority class.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include "tools/mpi-threads/library/wrapping.hpp"

namespace shoal::mpi_threads::own {
namespace {

// Removes requests that a completion call freed from the outstanding ones. Copies the handles only if dangling requests
// are counted.
class freed {
public:
  freed(int count, const MPI_Request* requests) {
    if (g_dangling != nullptr && count > 0) before_.assign(requests, requests + count);
  }
  void now(const MPI_Request* requests) const {
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (before_[i] != MPI_REQUEST_NULL && requests[i] == MPI_REQUEST_NULL) g_dangling->remove(before_[i]);
    }
  }

private:
  std::vector<MPI_Request> before_;
};

// One poll by the program itself. If it finds nothing the thread yields, because programs poll in loops.
template <typename Poll>
int poll_once(int call, const int* found, Poll&& poll) {
  const inside in(call);
  const int status = held(in, call, k_low, poll);
  if (status == MPI_SUCCESS && *found == 0) {
    thread_local unsigned fruitless = 0;
    if (++fruitless % (g_arbiter->one_caller() ? 256 : 4) == 0) g_arbiter->give_way();
  }
  return status;
}

template <typename Poll>
int poll_until(int call, Poll&& poll) {
  const inside in(call);
  return until(in, call, poll);
}

}  // namespace

int Wait(MPI_Request* request, MPI_Status* status) {
  const freed f(1, request);
  return poll_until(number::Wait, [&](int* flag) {
    const int code = PMPI_Test(request, flag, status);
    f.now(request);
    return code;
  });
}

int Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const freed f(count, requests);
  return poll_until(number::Waitall, [&](int* flag) {
    const int code = PMPI_Testall(count, requests, flag, statuses);
    f.now(requests);
    return code;
  });
}

int Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const freed f(count, requests);
  return poll_until(number::Waitany, [&](int* flag) {
    const int code = PMPI_Testany(count, requests, index, flag, status);
    f.now(requests);
    return code;
  });
}

int Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  const freed f(count, requests);
  return poll_until(number::Waitsome, [&](int* flag) {
    const int code = PMPI_Testsome(count, requests, done, indices, statuses);
    f.now(requests);
    *flag = *done != 0 ? 1 : 0;  // an index, or MPI_UNDEFINED: no request was active
    return code;
  });
}

int Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const freed f(1, request);
  return poll_once(number::Test, flag, [&] {
    const int code = PMPI_Test(request, flag, status);
    f.now(request);
    return code;
  });
}

int Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const freed f(count, requests);
  return poll_once(number::Testall, flag, [&] {
    const int code = PMPI_Testall(count, requests, flag, statuses);
    f.now(requests);
    return code;
  });
}

int Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const freed f(count, requests);
  return poll_once(number::Testany, flag, [&] {
    const int code = PMPI_Testany(count, requests, index, flag, status);
    f.now(requests);
    return code;
  });
}

int Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  const freed f(count, requests);
  return poll_once(number::Testsome, done, [&] {
    const int code = PMPI_Testsome(count, requests, done, indices, statuses);
    f.now(requests);
    return code;
  });
}

int Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return poll_once(number::Request_get_status, flag, [&] { return PMPI_Request_get_status(request, flag, status); });
}

#if MPI_VERSION >= 4
int Parrived(MPI_Request request, int partition, int* flag) {
  return poll_once(number::Parrived, flag, [&] { return PMPI_Parrived(request, partition, flag); });
}
#endif

int Request_free(MPI_Request* request) {
  const freed f(1, request);
  return mpi_threads::request(number::Request_free, [&] {
    const int code = PMPI_Request_free(request);
    f.now(request);
    return code;
  });
}

int Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return poll_until(number::Probe, [&](int* flag) { return PMPI_Iprobe(source, tag, comm, flag, status); });
}

int Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return poll_once(number::Iprobe, flag, [&] { return PMPI_Iprobe(source, tag, comm, flag, status); });
}

int Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return poll_until(number::Mprobe, [&](int* flag) { return PMPI_Improbe(source, tag, comm, flag, message, status); });
}

int Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  return poll_once(number::Improbe, flag, [&] { return PMPI_Improbe(source, tag, comm, flag, message, status); });
}

namespace {

// Posts a receive and a send, in this order, under one acquisition, and completes both. For MPI_PROC_NULL `receive` is
// the blocking call, because MPICH's non-blocking one returns another source and tag.
template <typename Receive, typename Send>
int exchange(int call, int from, MPI_Status* status, Receive&& receive, Send&& send) {
  const inside in(call);
  if (from == MPI_PROC_NULL) {
    const int code = twin_within(in, call, MPI_STATUS_IGNORE, send);
    return code != MPI_SUCCESS ? code : held(in, call, k_high, [&] { return receive(nullptr); });
  }
  MPI_Request in_request = MPI_REQUEST_NULL, out_request = MPI_REQUEST_NULL;
  const int code = held(in, call, k_high, [&] {
    const int received = receive(&in_request);
    return received != MPI_SUCCESS ? received : send(&out_request);
  });
  if (code != MPI_SUCCESS) {
    // The receive must not stay pending on the caller's buffer.
    if (in_request == MPI_REQUEST_NULL) return code;
    held(in, call, k_high, [&] { return PMPI_Cancel(&in_request); });
    until(in, call, [&](int* flag) { return PMPI_Test(&in_request, flag, MPI_STATUS_IGNORE); });
    return code;
  }
  const int sent = until(in, call, [&](int* flag) { return PMPI_Test(&out_request, flag, MPI_STATUS_IGNORE); });
  const int got = until(in, call, [&](int* flag) { return PMPI_Test(&in_request, flag, status); });
  return sent != MPI_SUCCESS ? sent : got;
}

// Whether the packed size exceeds an int.
bool large(int count, MPI_Datatype type) {
  MPI_Count each = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &each) != MPI_SUCCESS) return false;
  return each > INT_MAX / 2 / count;  // leaves room for the overhead of packing
}

// Copies the memory from the first byte to the last. `place` receives the address in the copy that corresponds to
// `buffer`.
[[maybe_unused]] int copied(const void* buffer, int count, MPI_Datatype type, std::vector<char>& copy,
                            const char** place) {
  MPI_Count low = 0, extent = 0, true_low = 0, true_extent = 0;
  if (const int failed = PMPI_Type_get_extent_x(type, &low, &extent); failed != MPI_SUCCESS) return failed;
  if (const int failed = PMPI_Type_get_true_extent_x(type, &true_low, &true_extent); failed != MPI_SUCCESS)
    return failed;
  const MPI_Count last = extent * (count - 1);
  const MPI_Count begin = true_low + std::min<MPI_Count>(last, 0),
                  end = true_low + std::max<MPI_Count>(last, 0) + true_extent;
  copy.resize(static_cast<std::size_t>(end - begin));
  const auto from = reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(begin);
  std::memcpy(copy.data(), reinterpret_cast<const char*>(from), copy.size());
  *place =
      reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(copy.data()) - static_cast<std::uintptr_t>(begin));
  return MPI_SUCCESS;
}

// Handles a failed allocation of the copy for an exchange in place.
template <typename Call>
int with_memory(MPI_Comm comm, Call&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
  return MPI_ERR_NO_MEM;
}

}  // namespace

int Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  if (from == MPI_PROC_NULL)
    return mpi_threads::request(number::Recv, [&] { return PMPI_Recv(buffer, count, type, from, tag, comm, status); });
  return twin(number::Recv, status,
              [&](MPI_Request* made) { return PMPI_Irecv(buffer, count, type, from, tag, comm, made); });
}

int Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
             MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  return exchange(
      number::Sendrecv, from, status,
      [&](MPI_Request* made) {
        return made == nullptr ? PMPI_Recv(in, in_count, in_type, from, in_tag, comm, status)
                               : PMPI_Irecv(in, in_count, in_type, from, in_tag, comm, made);
      },
      [&](MPI_Request* made) { return PMPI_Isend(out, out_count, out_type, to, out_tag, comm, made); });
}

int Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                     MPI_Comm comm, MPI_Status* status) {
#if MPI_VERSION >= 4
  if (large(count, type)) return Sendrecv_replace_c(buffer, count, type, to, out_tag, from, in_tag, comm, status);
#endif
  std::vector<char> packed;
  int bytes = 0;
  const char* whole = nullptr;  // a copy with the original layout, used if the packed size exceeds an int
  if (to != MPI_PROC_NULL) {
    const int code = mpi_threads::request(number::Sendrecv_replace, [&] {
      return with_memory(comm, [&] {
        if (large(count, type)) return copied(buffer, count, type, packed, &whole);
        int room = 0;
        if (const int failed = PMPI_Pack_size(count, type, comm, &room); failed != MPI_SUCCESS) return failed;
        packed.resize(static_cast<std::size_t>(room) + 1);
        return PMPI_Pack(buffer, count, type, packed.data(), room, &bytes, comm);
      });
    });
    if (code != MPI_SUCCESS) return code;
  }
  return exchange(
      number::Sendrecv_replace, from, status,
      [&](MPI_Request* made) {
        return made == nullptr ? PMPI_Recv(buffer, count, type, from, in_tag, comm, status)
                               : PMPI_Irecv(buffer, count, type, from, in_tag, comm, made);
      },
      [&](MPI_Request* made) {
        return whole != nullptr ? PMPI_Isend(whole, count, type, to, out_tag, comm, made)
                                : PMPI_Isend(packed.data(), bytes, MPI_PACKED, to, out_tag, comm, made);
      });
}

#if MPI_VERSION >= 4
int Recv_c(void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  if (from == MPI_PROC_NULL)
    return mpi_threads::request(number::Recv_c,
                                [&] { return PMPI_Recv_c(buffer, count, type, from, tag, comm, status); });
  return twin(number::Recv_c, status,
              [&](MPI_Request* made) { return PMPI_Irecv_c(buffer, count, type, from, tag, comm, made); });
}

int Sendrecv_c(const void* out, MPI_Count out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
               MPI_Count in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  return exchange(
      number::Sendrecv_c, from, status,
      [&](MPI_Request* made) {
        return made == nullptr ? PMPI_Recv_c(in, in_count, in_type, from, in_tag, comm, status)
                               : PMPI_Irecv_c(in, in_count, in_type, from, in_tag, comm, made);
      },
      [&](MPI_Request* made) { return PMPI_Isend_c(out, out_count, out_type, to, out_tag, comm, made); });
}

int Sendrecv_replace_c(void* buffer, MPI_Count count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                       MPI_Comm comm, MPI_Status* status) {
  std::vector<char> packed;
  MPI_Count bytes = 0;
  if (to != MPI_PROC_NULL) {
    const int code = mpi_threads::request(number::Sendrecv_replace_c, [&] {
      return with_memory(comm, [&] {
        MPI_Count room = 0;
        if (const int failed = PMPI_Pack_size_c(count, type, comm, &room); failed != MPI_SUCCESS) return failed;
        packed.resize(static_cast<std::size_t>(room) + 1);
        return PMPI_Pack_c(buffer, count, type, packed.data(), room, &bytes, comm);
      });
    });
    if (code != MPI_SUCCESS) return code;
  }
  return exchange(
      number::Sendrecv_replace_c, from, status,
      [&](MPI_Request* made) {
        return made == nullptr ? PMPI_Recv_c(buffer, count, type, from, in_tag, comm, status)
                               : PMPI_Irecv_c(buffer, count, type, from, in_tag, comm, made);
      },
      [&](MPI_Request* made) { return PMPI_Isend_c(packed.data(), bytes, MPI_PACKED, to, out_tag, comm, made); });
}
#endif

}  // namespace shoal::mpi_threads::own
