// SPDX-License-Identifier: Apache-2.0
// Datatypes: making, sizes, packing (MPI 5.0, chapter 5).
#include <algorithm>
#include <cstring>
#include <limits>

#include "rank/abi/arguments.hpp"
#include "rank/datatype/constructors.hpp"
#include "rank/datatype/external32.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

// What a constructor was called with, for MPI_Type_get_contents. Counts are int in one form of a function, and
// MPI_Count in the other.
struct made_by {
  template <class Count>
  made_by(int combiner, Count number) : large(sizeof(Count) == sizeof(MPI_Count)) {
    if (number < 0) throw mpi_error(MPI_ERR_COUNT, fmt::format("the count is {}, below 0", number));
    origin.combiner = combiner;
    origin.large = large;
  }
  made_by& integer(std::int64_t v) {
    origin.integers.push_back(v);
    return *this;
  }
  made_by& count(std::int64_t v) {
    (large ? origin.counts : origin.integers).push_back(v);
    return *this;
  }
  made_by& address(std::int64_t v) {
    (large ? origin.counts : origin.addresses).push_back(v);
    return *this;
  }
  made_by& integers(const int* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) integer(output(at + i));
    return *this;
  }
  template <class Count>
  made_by& counts(const Count* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) count(output(at + i));
    return *this;
  }
  template <class Wide>
  made_by& addresses(const Wide* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) address(output(at + i));
    return *this;
  }
  const datatype& type(MPI_Datatype h) {
    const datatype& t = type_of(h);
    origin.handles.push_back(h);
    origin.types.emplace_back(&t);
    return t;
  }
  static std::int64_t checked_count(std::int64_t n) {
    if (n < 0) throw mpi_error(MPI_ERR_COUNT, fmt::format("the count is {}, below 0", n));
    return n;
  }

  const bool large;
  type_origin origin;
};

void give(datatype& made, MPI_Datatype* result) {
  if (result == nullptr) {
    made.drop_reference();
    throw mpi_error(MPI_ERR_ARG, "a pointer to a result is null");
  }
  *result = handle_of_type(made);
}

template <class Count>
std::vector<std::int64_t> wide(const Count* at, std::int64_t n) {
  return {at, at + n};
}

// MPI_UNDEFINED where the value does not fit.
template <class Count>
void store(Count* to, std::int64_t value) {
  output(to) = static_cast<Count>(value > std::numeric_limits<Count>::max() ? std::int64_t{MPI_UNDEFINED} : value);
}

std::uint64_t values_in(const type_elements& all) {
  std::uint64_t n = 0;
  for (const type_run& r : all.runs) n += r.count * values_in(r.kind);
  return n * all.times;
}

// How many basic elements so many bytes are; MPI_UNDEFINED if they end within one. A pair is two of them.
std::int64_t elements_in(std::uint64_t bytes, const datatype& t) {
  if (t.size() == 0) return bytes == 0 ? 0 : std::int64_t{MPI_UNDEFINED};
  const type_elements& all = t.elements();
  const std::uint64_t once = t.size() / all.times;
  std::uint64_t n = bytes / once * (values_in(all) / all.times);
  std::uint64_t rest = bytes % once;
  for (const type_run& r : all.runs) {
    const std::uint64_t size = size_of(r.kind);
    const std::uint64_t some = std::min(r.count, rest / size);
    n += some * values_in(r.kind);
    rest -= some * size;
    if (some == r.count) continue;
    if (const std::uint64_t first = size_of(parts_of(r.kind).value); rest >= first && rest > 0 && first < size) {
      ++n;  // the value of a pair
      rest -= first;
    }
    break;
  }
  return rest == 0 ? static_cast<std::int64_t>(n) : std::int64_t{MPI_UNDEFINED};
}

std::uint64_t bytes_of_elements(std::int64_t n, const datatype& t) {
  if (n < 0) throw mpi_error(MPI_ERR_COUNT, fmt::format("the count is {}, below 0", n));
  const type_elements& all = t.elements();
  const std::uint64_t per_time = values_in(all) / all.times;
  if (per_time == 0) return 0;
  std::uint64_t bytes = static_cast<std::uint64_t>(n) / per_time * (t.size() / all.times);
  std::uint64_t rest = static_cast<std::uint64_t>(n) % per_time;
  for (const type_run& r : all.runs) {
    const std::uint64_t some = std::min(r.count, rest / values_in(r.kind));
    bytes += some * size_of(r.kind);
    rest -= some * values_in(r.kind);
    if (some == r.count) continue;
    if (rest > 0) bytes += size_of(parts_of(r.kind).value);
    break;
  }
  return bytes;
}

// What so many elements take; throws mpi_error.
std::uint64_t bytes_of_count(std::int64_t count, std::uint64_t size) {
  if (count < 0) throw mpi_error(MPI_ERR_COUNT, fmt::format("the count is {}, below 0", count));
  return checked_bytes(count, size);
}

std::byte* room_for(void* at, std::int64_t size, std::int64_t position, std::uint64_t bytes) {
  if (bytes == 0 && at == nullptr) return nullptr;
  if (position < 0 || size < 0 || static_cast<std::uint64_t>(size) < static_cast<std::uint64_t>(position) + bytes)
    throw mpi_error(MPI_ERR_TRUNCATE,
                    fmt::format("the packed buffer of {} bytes has no room for {} bytes at {}", size, bytes, position));
  return &output(static_cast<std::byte*>(at)) + position;
}

void check_representation(const char* datarep) {
  if (datarep == nullptr || std::strcmp(datarep, "external32") != 0)
    throw mpi_error(MPI_ERR_ARG, "the only external data representation is \"external32\"");
}

}  // namespace

extern "C" {

#include "rank/abi/narrow.inc"

#include "rank/abi/datatypes.inc"

#include "rank/abi/large.inc"

#include "rank/abi/datatypes.inc"

int PMPI_Type_commit(MPI_Datatype* type) {
  return enter([&](caller&) { const_cast<datatype&>(type_of(output(type))).commit(); });
}
MPI_ABI_ALIAS(Type_commit)

int PMPI_Type_size_x(MPI_Datatype type, MPI_Count* size) {
  return enter([&](caller&) { output(size) = static_cast<MPI_Count>(type_of(type).size()); });
}
MPI_ABI_ALIAS(Type_size_x)

int PMPI_Type_get_extent_x(MPI_Datatype type, MPI_Count* lb, MPI_Count* extent) {
  return PMPI_Type_get_extent_c(type, lb, extent);
}
MPI_ABI_ALIAS(Type_get_extent_x)

int PMPI_Type_get_true_extent_x(MPI_Datatype type, MPI_Count* true_lb, MPI_Count* true_extent) {
  return PMPI_Type_get_true_extent_c(type, true_lb, true_extent);
}
MPI_ABI_ALIAS(Type_get_true_extent_x)

int PMPI_Get_elements_x(const MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  return PMPI_Get_elements_c(status, type, count);
}
MPI_ABI_ALIAS(Get_elements_x)

int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype type, MPI_Count count) {
  return PMPI_Status_set_elements_c(status, type, count);
}
MPI_ABI_ALIAS(Status_set_elements_x)
}
