// SPDX-License-Identifier: Apache-2.0
// Waits and tests of requests, and the rest that one can do with them (MPI 5.0, 3.7, 3.9).
#include <algorithm>
#include <span>

#include "rank/abi/arguments.hpp"
#include "rank/program_call.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

using handles = std::span<MPI_Request>;

handles checked(int count, MPI_Request* at) {
  if (count < 0) throw mpi_error(MPI_ERR_COUNT, fmt::format("there are {} requests, fewer than 0", count));
  if (count > 0 && at == nullptr) throw mpi_error(MPI_ERR_REQUEST, "the array of requests is null");
  for (int i = 0; i < count; ++i)
    if (at[i] != MPI_REQUEST_NULL) object_of<request>(at[i]);
  return {at, static_cast<std::size_t>(count)};
}

// nullptr: there is nothing to wait for.
request* active_request(MPI_Request h) {
  if (h == MPI_REQUEST_NULL) return nullptr;
  request& r = object_of<request>(h);
  return r.active ? &r : nullptr;
}

MPI_Status* at(MPI_Status* statuses, std::size_t i) noexcept {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

void set_error(MPI_Status* s, int error) noexcept {
  if (s != MPI_STATUS_IGNORE) s->MPI_ERROR = error;
}

communicator* where_of(const request& r) noexcept { return r.where.get(); }

int end(caller& c, MPI_Request& h, request& r, MPI_Status* status) {
  if (r.error != MPI_SUCCESS && !c.kept) c.kept = communicator_ref(where_of(r));
  if (!r.persistent) h = MPI_REQUEST_NULL;
  return collect(r, status);
}

// The same for one request, whose error is the function's.
void end_alone(caller& c, MPI_Request& h, request& r, MPI_Status* status, communicator*& where) {
  if (r.error == MPI_SUCCESS) [[likely]] {
    const int error = end(c, h, r, status);
    where = c.kept.get();
    return throw_if_failed(error);
  }
  const std::string why = failure_text(r, r.error);
  const int error = end(c, h, r, status);
  where = c.kept.get();
  throw mpi_error(error, why);
}

// Of several requests, whose errors are in their statuses.
void end_of_several(caller& c, MPI_Request& h, request& r, std::size_t i, MPI_Status* status, std::string& failure) {
  if (r.error != MPI_SUCCESS) [[unlikely]]
    note_failure(failure, i, failure_text(r, r.error));
  const int error = end(c, h, r, status);
  set_error(status, error);
  if (error != MPI_SUCCESS) [[unlikely]]
    note_failure(failure, i, "the operation failed");
}

wait_note note_of(const caller& c, const request& r) noexcept {
  const auto what = r.kind == request_kind::receive      ? wait_note::kind::receive
                    : r.kind == request_kind::send       ? wait_note::kind::send
                    : r.kind == request_kind::collective ? wait_note::kind::collective
                                                         : wait_note::kind::some_request;
  return c.note(what, r.where.get(), r.peer, r.wanted_tag);
}

// Waits for `wanted` more of those that have not completed.
void await_some(const caller& c, handles all, std::size_t wanted, const request& shown) {
  waiter w(wanted);
  for (const MPI_Request h : all)
    if (request* const r = active_request(h); r != nullptr && !r->complete) r->awaited = &w;
  const wait_note note = note_of(c, shown);
  w.await(note);
  for (const MPI_Request h : all)
    if (request* const r = active_request(h); r != nullptr && r->awaited == &w) r->awaited = nullptr;
}

// All have completed.
void collect_all(caller& c, handles all, MPI_Status* statuses, communicator*& where) {
  std::string failure;
  for (std::size_t i = 0; i < all.size(); ++i) {
    request* const r = active_request(all[i]);
    if (r == nullptr) {
      set_empty(at(statuses, i));
      set_error(at(statuses, i), MPI_SUCCESS);
      continue;
    }
    end_of_several(c, all[i], *r, i, at(statuses, i), failure);
  }
  where = c.kept.get();
  if (!failure.empty()) throw mpi_error(MPI_ERR_IN_STATUS, failure);
}

struct found_request {
  request* complete = nullptr;
  std::size_t index = 0;
  request* pending = nullptr;  // the first one
};

found_request find_complete(handles all) {
  found_request f;
  for (std::size_t i = 0; i < all.size(); ++i) {
    request* const r = active_request(all[i]);
    if (r == nullptr) continue;
    if (r->complete) {
      f.complete = r;
      f.index = i;
      return f;
    }
    if (f.pending == nullptr) f.pending = r;
  }
  return f;
}

void end_one(caller& c, handles all, const found_request& f, int* index, MPI_Status* status, communicator*& where) {
  output(index) = static_cast<int>(f.index);
  end_alone(c, all[f.index], *f.complete, status, where);
}

// How many; those of them that have completed end.
int end_complete(caller& c, handles all, int* indices, MPI_Status* statuses, communicator*& where) {
  int n = 0;
  std::string failure;
  for (std::size_t i = 0; i < all.size(); ++i) {
    request* const r = active_request(all[i]);
    if (r == nullptr || !r->complete) continue;
    MPI_Status* const status = at(statuses, static_cast<std::size_t>(n));
    output(indices + n) = static_cast<int>(i);
    end_of_several(c, all[i], *r, i, status, failure);
    ++n;
  }
  where = c.kept.get();
  if (!failure.empty()) throw mpi_error(MPI_ERR_IN_STATUS, failure);
  return n;
}

// Of a generalized request that was freed before it is complete.
void release_state(request& r) noexcept {
  if (r.free_state != nullptr) call_program([&] { return r.free_state(r.state); });
}

void start(MPI_Request h) {
  request& r = object_of<request>(h);
  if (!r.persistent) throw mpi_error(MPI_ERR_REQUEST, "only persistent requests can be started");
  if (r.active) throw mpi_error(MPI_ERR_REQUEST, "the request has been started already and is not complete");
  r.active = true;
  try {
    r.begin(r);
  } catch (const mpi_error&) {
    r.active = false;  // as before the call
    throw;
  }
}

}  // namespace

extern "C" {

int PMPI_Wait(MPI_Request* request_handle, MPI_Status* status) {
  return enter([&](caller& c, communicator*& where) {
    MPI_Request& h = output(request_handle);
    request* const r = active_request(h);
    if (r == nullptr) return set_empty(status);
    if (!r->complete) {
      waiter w;
      r->awaited = &w;
      const wait_note note = note_of(c, *r);
      w.await(note);
    }
    end_alone(c, h, *r, status, where);
  });
}
MPI_ABI_ALIAS(Wait)

int PMPI_Test(MPI_Request* request_handle, int* flag, MPI_Status* status) {
  return enter([&](caller& c, communicator*& where) {
    MPI_Request& h = output(request_handle);
    int& done = output(flag);
    request* const r = active_request(h);
    done = 1;
    if (r == nullptr) return set_empty(status);
    if (!r->complete) {
      give_way(c);
      if (!r->complete) {
        done = 0;
        return;
      }
    }
    end_alone(c, h, *r, status, where);
  });
}
MPI_ABI_ALIAS(Test)

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  return enter([&](caller& c, communicator*& where) {
    const handles all = checked(count, array_of_requests);
    std::size_t missing = 0;
    request* shown = nullptr;
    for (const MPI_Request h : all) {
      request* const r = active_request(h);
      if (r == nullptr || r->complete) continue;
      ++missing;
      shown = r;
    }
    if (missing != 0) await_some(c, all, missing, *shown);
    collect_all(c, all, array_of_statuses, where);
  });
}
MPI_ABI_ALIAS(Waitall)

int PMPI_Testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses) {
  return enter([&](caller& c, communicator*& where) {
    const handles all = checked(count, array_of_requests);
    const auto pending = [&] {
      return std::ranges::any_of(all, [](MPI_Request h) {
        const request* const r = active_request(h);
        return r != nullptr && !r->complete;
      });
    };
    int& done = output(flag);
    done = 0;
    if (pending()) {
      give_way(c);
      if (pending()) return;
    }
    done = 1;
    collect_all(c, all, array_of_statuses, where);
  });
}
MPI_ABI_ALIAS(Testall)

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status) {
  return enter([&](caller& c, communicator*& where) {
    const handles all = checked(count, array_of_requests);
    found_request f = find_complete(all);
    while (f.complete == nullptr && f.pending != nullptr) {
      await_some(c, all, 1, *f.pending);
      f = find_complete(all);
    }
    if (f.complete != nullptr) return end_one(c, all, f, indx, status, where);
    output(indx) = MPI_UNDEFINED;
    set_empty(status);
  });
}
MPI_ABI_ALIAS(Waitany)

int PMPI_Testany(int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
  return enter([&](caller& c, communicator*& where) {
    const handles all = checked(count, array_of_requests);
    int& done = output(flag);
    done = 1;
    found_request f = find_complete(all);
    if (f.complete == nullptr && f.pending != nullptr) {
      give_way(c);
      f = find_complete(all);
    }
    if (f.complete != nullptr) return end_one(c, all, f, indx, status, where);
    output(indx) = MPI_UNDEFINED;
    set_empty(status);
    done = f.pending == nullptr ? 1 : 0;
  });
}
MPI_ABI_ALIAS(Testany)

int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                  MPI_Status* array_of_statuses) {
  return enter([&](caller& c, communicator*& where) {
    const handles all = checked(incount, array_of_requests);
    found_request f = find_complete(all);
    while (f.complete == nullptr && f.pending != nullptr) {
      await_some(c, all, 1, *f.pending);
      f = find_complete(all);
    }
    output(outcount) = MPI_UNDEFINED;
    if (f.complete == nullptr) return;
    *outcount = static_cast<int>(std::ranges::count_if(all, [](MPI_Request h) {
      const request* const r = active_request(h);
      return r != nullptr && r->complete;
    }));
    end_complete(c, all, array_of_indices, array_of_statuses, where);
  });
}
MPI_ABI_ALIAS(Waitsome)

int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                  MPI_Status* array_of_statuses) {
  return enter([&](caller& c, communicator*& where) {
    const handles all = checked(incount, array_of_requests);
    found_request f = find_complete(all);
    if (f.complete == nullptr && f.pending != nullptr) {
      give_way(c);
      f = find_complete(all);
    }
    output(outcount) = f.pending == nullptr ? MPI_UNDEFINED : 0;
    if (f.complete == nullptr) return;
    *outcount = static_cast<int>(std::ranges::count_if(all, [](MPI_Request h) {
      const request* const r = active_request(h);
      return r != nullptr && r->complete;
    }));
    end_complete(c, all, array_of_indices, array_of_statuses, where);
  });
}
MPI_ABI_ALIAS(Testsome)

int PMPI_Request_free(MPI_Request* request_handle) {
  return enter([&](caller&, communicator*& where) {
    MPI_Request& h = output(request_handle);
    request& r = object_of<request>(h);
    where = where_of(r);
    h = MPI_REQUEST_NULL;
    if (!r.active || r.complete) {
      if (r.kind == request_kind::generalized) release_state(r);
      r.owner->pool.give_back(r);
    } else {
      r.abandoned = true;
      if (r.kind == request_kind::generalized) r.finish = release_state;
    }
  });
}
MPI_ABI_ALIAS(Request_free)

int PMPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  return enter([&](caller& c) {
    const request* const r = active_request(handle);
    int& done = output(flag);
    done = 1;
    if (r == nullptr) return set_empty(status);
    if (!r->complete) give_way(c);
    done = r->complete ? 1 : 0;
    if (r->complete) throw_if_failed(show(*r, status));
  });
}
MPI_ABI_ALIAS(Request_get_status)

int PMPI_Cancel(MPI_Request* request_handle) {
  return enter([&](caller&, communicator*& where) {
    request& r = object_of<request>(output(request_handle));
    where = where_of(r);
    if (r.kind == request_kind::receive) {
      cancel_receive(r);
    } else if (r.kind == request_kind::generalized) {
      if (r.cancel_state != nullptr)
        throw_if_failed(call_program([&] { return r.cancel_state(r.state, r.complete ? 1 : 0); }));
    } else if (r.kind != request_kind::send) {  // a send goes on
      throw mpi_error(MPI_ERR_REQUEST, "only sends and receives can be cancelled");
    }
  });
}
MPI_ABI_ALIAS(Cancel)

int PMPI_Start(MPI_Request* request_handle) {
  return enter([&](caller&, communicator*& where) {
    const MPI_Request h = output(request_handle);
    where = where_of(object_of<request>(h));
    start(h);
  });
}
MPI_ABI_ALIAS(Start)

int PMPI_Startall(int count, MPI_Request array_of_requests[]) {
  return enter([&](caller&) {
    for (const MPI_Request h : checked(count, array_of_requests)) start(h);
  });
}
MPI_ABI_ALIAS(Startall)
}
