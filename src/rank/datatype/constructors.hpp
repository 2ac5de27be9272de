// SPDX-License-Identifier: Apache-2.0
// Makes datatypes of datatypes. The object comes with one reference, its handle's. Displacements and strides are in
// bytes, if not stated otherwise.
// Who may call: any thread. Errors: mpi_error (MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_TYPE).
#pragma once

#include <cstdint>
#include <span>

#include "rank/datatype/datatype.hpp"

namespace shoal::rank {

/// `length` elements of `of`, the first `at` bytes from the new type's address.
struct type_block {
  std::int64_t at;
  std::int64_t length;
  const datatype* of;
};

/// How many bytes lie between elements of that type. Throws mpi_error: more than a number can tell.
std::int64_t distance_of(std::int64_t elements, const datatype& of);

datatype& make_blocks(std::span<const type_block> blocks, type_origin origin);
/// The same with an extent as a struct of C has: a multiple of the largest alignment in it (MPI 5.0, 5.1); not if bounds
/// were set in one of its types, which are those of the struct then.
datatype& make_struct(std::span<const type_block> blocks, type_origin origin);
/// `count` blocks of `length` elements, `stride` bytes from one to the next.
datatype& make_vector(std::int64_t count, std::int64_t length, std::int64_t stride, const datatype& of,
                      type_origin origin);
datatype& make_resized(const datatype& of, std::int64_t lower, std::int64_t extent, type_origin origin);
datatype& make_duplicate(const datatype& of, type_origin origin);
/// Dimension 0 varies slowest in order C. Starts and sizes in elements.
datatype& make_subarray(std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
                        std::span<const std::int64_t> starts, int order, const datatype& of, type_origin origin);
struct darray_arguments {
  int size, rank;
  std::span<const std::int64_t> sizes;
  std::span<const int> distributions, arguments, processes;
  int order;
};
datatype& make_darray(const darray_arguments& how, const datatype& of, type_origin origin);

}  // namespace shoal::rank
