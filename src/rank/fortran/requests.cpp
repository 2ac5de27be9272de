// SPDX-License-Identifier: Apache-2.0
// Procedures with arrays of requests. Their indices begin with 1 in Fortran.
#include <vector>

#include "rank/fortran/arguments.hpp"

using namespace shoal::rank::fortran;  // NOLINT: the procedures of a Fortran interface

namespace {

// The handles of an array of numbers; the numbers of requests that have gone are MPI_REQUEST_NULL afterwards.
class request_array {
public:
  request_array(const int* count, int* numbers) : count_(*count), numbers_(numbers) {
    all_.resize(static_cast<std::size_t>(std::max(count_, 0)));
    for (std::size_t i = 0; i < all_.size(); ++i) take(numbers[i], all_[i]);
  }
  int count() const noexcept { return count_; }
  MPI_Request* data() noexcept { return all_.data(); }
  void give_back() noexcept {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i] == MPI_REQUEST_NULL) numbers_[i] = number_of(MPI_REQUEST_NULL);
    }
  }

private:
  const int count_;
  int* const numbers_;
  std::vector<MPI_Request> all_;
};

MPI_Status* status_at(word at) noexcept { return static_cast<MPI_Status*>(address_of(at)); }

void give_index(int* at, int index) noexcept { *at = index == MPI_UNDEFINED ? index : index + 1; }

void give_indices(int* at, int count) noexcept {
  for (int i = 0; i < count; ++i) ++at[i];  // none if the count is MPI_UNDEFINED
}

}  // namespace

SHOAL_FORTRAN_PROCEDURE(void, startall, (const int* count, int* requests, int* ierror)) {
  request_array all(count, requests);
  report(ierror, PMPI_Startall(all.count(), all.data()));
}

SHOAL_FORTRAN_PROCEDURE(void, waitall, (const int* count, int* requests, word statuses, int* ierror)) {
  const call_site site(__builtin_return_address(0));
  request_array all(count, requests);
  const int code = PMPI_Waitall(all.count(), all.data(), status_at(statuses));
  all.give_back();
  report(ierror, code);
}

SHOAL_FORTRAN_PROCEDURE(void, waitany, (const int* count, int* requests, int* index, word status, int* ierror)) {
  const call_site site(__builtin_return_address(0));
  request_array all(count, requests);
  int at = MPI_UNDEFINED;
  const int code = PMPI_Waitany(all.count(), all.data(), &at, status_at(status));
  all.give_back();
  give_index(index, at);
  report(ierror, code);
}

SHOAL_FORTRAN_PROCEDURE(void, waitsome,
                        (const int* count, int* requests, int* outcount, int* indices, word statuses, int* ierror)) {
  const call_site site(__builtin_return_address(0));
  request_array all(count, requests);
  const int code = PMPI_Waitsome(all.count(), all.data(), outcount, indices, status_at(statuses));
  all.give_back();
  if (code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS) give_indices(indices, *outcount);  // else C has not set it
  report(ierror, code);
}

SHOAL_FORTRAN_PROCEDURE(void, testall, (const int* count, int* requests, int* flag, word statuses, int* ierror)) {
  request_array all(count, requests);
  const int code = PMPI_Testall(all.count(), all.data(), flag, status_at(statuses));
  all.give_back();
  report(ierror, code);
}

SHOAL_FORTRAN_PROCEDURE(void, testany,
                        (const int* count, int* requests, int* index, int* flag, word status, int* ierror)) {
  request_array all(count, requests);
  int at = MPI_UNDEFINED;
  const int code = PMPI_Testany(all.count(), all.data(), &at, flag, status_at(status));
  all.give_back();
  give_index(index, at);
  report(ierror, code);
}

SHOAL_FORTRAN_PROCEDURE(void, testsome,
                        (const int* count, int* requests, int* outcount, int* indices, word statuses, int* ierror)) {
  request_array all(count, requests);
  const int code = PMPI_Testsome(all.count(), all.data(), outcount, indices, status_at(statuses));
  all.give_back();
  if (code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS) give_indices(indices, *outcount);  // else C has not set it
  report(ierror, code);
}

SHOAL_FORTRAN_PROCEDURE(void, request_get_status_all,
                        (const int* count, int* requests, int* flag, word statuses, int* ierror)) {
  request_array all(count, requests);
  report(ierror, PMPI_Request_get_status_all(all.count(), all.data(), flag, status_at(statuses)));
}

SHOAL_FORTRAN_PROCEDURE(void, request_get_status_any,
                        (const int* count, int* requests, int* index, int* flag, word status, int* ierror)) {
  request_array all(count, requests);
  int at = MPI_UNDEFINED;
  const int code = PMPI_Request_get_status_any(all.count(), all.data(), &at, flag, status_at(status));
  give_index(index, at);
  report(ierror, code);
}

SHOAL_FORTRAN_PROCEDURE(void, request_get_status_some,
                        (const int* count, int* requests, int* outcount, int* indices, word statuses, int* ierror)) {
  request_array all(count, requests);
  const int code = PMPI_Request_get_status_some(all.count(), all.data(), outcount, indices, status_at(statuses));
  if (code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS) give_indices(indices, *outcount);  // else C has not set it
  report(ierror, code);
}

// A status is the same in both modules of Fortran.
SHOAL_FORTRAN_PROCEDURE(void, status_f2f08, (const int* from, int* to, int* ierror)) {
  std::copy_n(from, MPI_F_STATUS_SIZE, to);
  report(ierror, MPI_SUCCESS);
}

SHOAL_FORTRAN_PROCEDURE(void, status_f082f, (const int* from, int* to, int* ierror)) {
  std::copy_n(from, MPI_F_STATUS_SIZE, to);
  report(ierror, MPI_SUCCESS);
}
