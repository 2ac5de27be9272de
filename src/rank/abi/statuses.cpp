// SPDX-License-Identifier: Apache-2.0
// MPI_Status, and those functions that show several requests without an end to them (MPI 5.0, 3.2.5, 3.7.6).
#include <algorithm>
#include <span>

#include "rank/abi/arguments.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

// Whether there is nothing to wait for.
bool is_idle(MPI_Request h) { return h == MPI_REQUEST_NULL || !object_of<request>(h).active; }
bool is_complete(MPI_Request h) { return is_idle(h) || object_of<request>(h).complete; }

void show_handle(MPI_Request h, MPI_Status* status) {
  if (is_idle(h)) return set_empty(status);
  if (const int error = show(object_of<request>(h), status); error != MPI_SUCCESS)
    throw mpi_error(error, "the program's function that gives a request's status failed");
}

std::span<const MPI_Request> span_of(int count, const MPI_Request* at) {
  if (count < 0) throw mpi_error(MPI_ERR_COUNT, fmt::format("there are {} requests, fewer than 0", count));
  return {at, static_cast<std::size_t>(count)};
}

}  // namespace

extern "C" {

int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
                                MPI_Status* array_of_statuses) {
  return enter([&](caller& c) {
    const auto all = span_of(count, array_of_requests);
    if (!std::ranges::all_of(all, is_complete)) give_way(c);
    output(flag) = std::ranges::all_of(all, is_complete) ? 1 : 0;
    if (*flag == 0 || array_of_statuses == MPI_STATUSES_IGNORE) return;
    for (std::size_t i = 0; i < all.size(); ++i) show_handle(all[i], array_of_statuses + i);
  });
}
MPI_ABI_ALIAS(Request_get_status_all)

int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int* indx, int* flag,
                                MPI_Status* status) {
  return enter([&](caller& c) {
    const auto all = span_of(count, array_of_requests);
    output(indx) = MPI_UNDEFINED;
    if (std::ranges::all_of(all, is_idle)) {
      output(flag) = 1;
      return set_empty(status);
    }
    const auto find = [&] {
      return std::ranges::find_if(all, [](MPI_Request h) { return !is_idle(h) && is_complete(h); });
    };
    auto at = find();
    if (at == all.end()) {
      give_way(c);
      at = find();
    }
    output(flag) = at != all.end() ? 1 : 0;
    if (*flag == 0) return;
    *indx = static_cast<int>(at - all.begin());
    show_handle(*at, status);
  });
}
MPI_ABI_ALIAS(Request_get_status_any)

int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
                                 int array_of_indices[], MPI_Status* array_of_statuses) {
  return enter([&](caller& c) {
    const auto all = span_of(incount, array_of_requests);
    int& n = output(outcount);
    n = MPI_UNDEFINED;
    if (std::ranges::all_of(all, is_idle)) return;
    give_way(c);
    n = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (is_idle(all[i]) || !is_complete(all[i])) continue;
      output(array_of_indices + n) = static_cast<int>(i);
      if (array_of_statuses != MPI_STATUSES_IGNORE) show_handle(all[i], array_of_statuses + n);
      ++n;
    }
  });
}
MPI_ABI_ALIAS(Request_get_status_some)

int PMPI_Test_cancelled(const MPI_Status* status, int* flag) {
  return enter([&](caller&) { output(flag) = is_cancelled(output(status)) ? 1 : 0; });
}
MPI_ABI_ALIAS(Test_cancelled)

int PMPI_Status_set_cancelled(MPI_Status* status, int flag) {
  return enter([&](caller&) { set_cancelled(output(status), flag != 0); });
}
MPI_ABI_ALIAS(Status_set_cancelled)

int PMPI_Status_get_error(const MPI_Status* status, int* error) {
  return enter([&](caller&) { output(error) = output(status).MPI_ERROR; });
}
MPI_ABI_ALIAS(Status_get_error)

int PMPI_Status_get_source(const MPI_Status* status, int* source_rank) {
  return enter([&](caller&) { output(source_rank) = output(status).MPI_SOURCE; });
}
MPI_ABI_ALIAS(Status_get_source)

int PMPI_Status_get_tag(const MPI_Status* status, int* tag) {
  return enter([&](caller&) { output(tag) = output(status).MPI_TAG; });
}
MPI_ABI_ALIAS(Status_get_tag)

int PMPI_Status_set_error(MPI_Status* status, int error) {
  return enter([&](caller&) { output(status).MPI_ERROR = error; });
}
MPI_ABI_ALIAS(Status_set_error)

int PMPI_Status_set_source(MPI_Status* status, int source_rank) {
  return enter([&](caller&) { output(status).MPI_SOURCE = source_rank; });
}
MPI_ABI_ALIAS(Status_set_source)

int PMPI_Status_set_tag(MPI_Status* status, int tag) {
  return enter([&](caller&) { output(status).MPI_TAG = tag; });
}
MPI_ABI_ALIAS(Status_set_tag)
}
