// SPDX-License-Identifier: Apache-2.0
// The part of shoal/core.h about arrays and their elements.
#include <cstddef>
#include <cstdint>

#include "array/untyped_access.hpp"
#include "cluster/core_error.hpp"
#include "shoal/array.hpp"
#include "shoal/core.h"
#include "shoal/detail/array_access.hpp"

namespace shoal::cluster {
namespace {

using detail::array_layout;
using detail::element;
using detail::verb;

static_assert(SHOAL_U8 == static_cast<int>(element::u8) && SHOAL_U64 == static_cast<int>(element::u64) &&
              SHOAL_I8 == static_cast<int>(element::i8) && SHOAL_I64 == static_cast<int>(element::i64) &&
              SHOAL_F32 == static_cast<int>(element::f32) && SHOAL_F64 == static_cast<int>(element::f64) &&
              SHOAL_BYTES == static_cast<int>(array::k_bytes_only));
static_assert(SHOAL_PUT == static_cast<int>(verb::put) && SHOAL_GET == static_cast<int>(verb::get) &&
              SHOAL_ADD == static_cast<int>(verb::add) && SHOAL_FETCH_ADD == static_cast<int>(verb::fetch_add) &&
              SHOAL_MIN == static_cast<int>(verb::min) && SHOAL_FETCH_MIN == static_cast<int>(verb::fetch_min) &&
              SHOAL_MAX == static_cast<int>(verb::max) && SHOAL_FETCH_MAX == static_cast<int>(verb::fetch_max) &&
              SHOAL_AND == static_cast<int>(verb::bit_and) && SHOAL_FETCH_AND == static_cast<int>(verb::fetch_and) &&
              SHOAL_OR == static_cast<int>(verb::bit_or) && SHOAL_FETCH_OR == static_cast<int>(verb::fetch_or) &&
              SHOAL_EXCHANGE == static_cast<int>(verb::exchange) &&
              SHOAL_COMPARE_EXCHANGE == static_cast<int>(verb::compare_exchange) &&
              SHOAL_XOR == static_cast<int>(verb::bit_xor) && SHOAL_FETCH_XOR == static_cast<int>(verb::fetch_xor));
static_assert(SHOAL_PARTITION == static_cast<int>(distribution::partition) &&
              SHOAL_LOCAL == static_cast<int>(distribution::local) &&
              SHOAL_REMOTE_BLOCKS == static_cast<int>(distribution::remote) &&
              SHOAL_CYCLIC == static_cast<int>(distribution::cyclic) &&
              SHOAL_BLOCK_CYCLIC == static_cast<int>(distribution::block_cyclic) &&
              SHOAL_BLOCKS == static_cast<int>(distribution::blocks) &&
              SHOAL_OWNED == static_cast<int>(distribution::owned));

constexpr std::size_t k_type_bytes[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

// The size of an element; 0 if type and size contradict each other.
std::size_t element_bytes_of(int type, std::size_t given) noexcept {
  if (type == SHOAL_BYTES) return given <= ~std::uint32_t{0} ? given : 0;
  const std::size_t size = k_type_bytes[type];
  return given == 0 || given == size ? size : 0;
}

// Calls f(layout) if there is such an array.
template <class F>
int with_array(shoal_array array, shoal_error* error, F&& f) noexcept {
  return in_job(error, [&] {
    const array_layout* const layout = array::find(array);
    return layout == nullptr ? status_of(array::refusal::no_array, error, array, 0) : f(*layout);
  });
}

constexpr const char* k_null = "a pointer that is needed is NULL";

array::untyped_access access_of(int verb, int type, shoal_array array, std::uint64_t index, const void* operand,
                                const void* desired, void* result) noexcept {
  // Unknown numbers become `count`, or one more; both are refused.
  const auto what = verb >= 0 && verb < static_cast<int>(verb::count) ? verb : static_cast<int>(verb::count);
  const auto kind = type >= 0 && type <= SHOAL_BYTES ? type : SHOAL_BYTES + 1;
  return {static_cast<detail::verb>(what), static_cast<element>(kind), array, index, operand, desired, result};
}

distribution_plan plan_of(const shoal_spread& spread) {
  distribution_plan plan(static_cast<distribution>(spread.distribution));
  plan.start = spread.start;
  if (spread.distribution == SHOAL_BLOCK_CYCLIC) plan.block = spread.block;
  if (spread.distribution == SHOAL_BLOCKS) plan.bounds.assign(spread.bounds, spread.bounds + spread.parts + 1);
  return plan;
}

}  // namespace
}  // namespace shoal::cluster

using namespace shoal;  // for the C functions below
using namespace shoal::cluster;
using array::refusal;

int shoal_array_create(int type, size_t element_bytes, uint64_t size, int distribution, shoal_array* array,
                       shoal_error* error) {
  shoal_spread spread = {};
  spread.distribution = distribution;
  return shoal_array_create_spread(type, element_bytes, size, &spread, array, error);
}

int shoal_array_create_spread(int type, size_t element_bytes, uint64_t size, const shoal_spread* spread,
                              shoal_array* array, shoal_error* error) {
  return in_job(error, [&] {
    if (array == nullptr || spread == nullptr) return fail(error, SHOAL_NO_OPERAND, k_null);
    if (type < SHOAL_U8 || type > SHOAL_BYTES) return fail(error, SHOAL_INVALID_ARGUMENT, "there is no such type");
    if (spread->distribution < SHOAL_PARTITION || spread->distribution > SHOAL_BLOCKS)
      return fail(error, SHOAL_INVALID_ARGUMENT, "there is no such distribution");
    if (spread->distribution == SHOAL_BLOCKS && spread->bounds == nullptr) return fail(error, SHOAL_NO_OPERAND, k_null);
    const std::size_t bytes = element_bytes_of(type, element_bytes);
    if (bytes == 0)
      return fail(error, SHOAL_INVALID_ARGUMENT,
                  "element_bytes is the size of SHOAL_BYTES elements, at least 1; of other types 0 or their size");
    if (size == 0) return fail(error, SHOAL_INVALID_ARGUMENT, "an array has at least one element");
    memory_report report;
    *array =
        detail::allocate_array(size, bytes, static_cast<detail::element>(type), plan_of(*spread), {}, &report).id();
    return static_cast<int>(SHOAL_OK);
  });
}

int shoal_array_free(shoal_array array, shoal_error* error) {
  return with_array(array, error, [&](const detail::array_layout& layout) {
    const detail::array_layout last = layout;  // the table's copy may disappear while the nodes free their parts
    detail::free_array(last);
    return static_cast<int>(SHOAL_OK);
  });
}

int shoal_array_describe(shoal_array array, shoal_array_info* info, shoal_error* error) {
  return with_array(array, error, [&](const detail::array_layout& layout) {
    if (info == nullptr) return fail(error, SHOAL_NO_OPERAND, k_null);
    *info = {layout.size, layout.element_bytes, static_cast<int>(layout.type), static_cast<int>(layout.kind)};
    return static_cast<int>(SHOAL_OK);
  });
}

int shoal_array_owner(shoal_array array, uint64_t index, uint32_t* node, shoal_error* error) {
  return with_array(array, error, [&](const detail::array_layout& layout) {
    if (node == nullptr) return fail(error, SHOAL_NO_OPERAND, k_null);
    if (index >= layout.size) return status_of(refusal::out_of_range, error, array, index);
    *node = layout.locate(index).node;
    return static_cast<int>(SHOAL_OK);
  });
}

int shoal_array_local(shoal_array array, shoal_part* part, shoal_error* error) {
  return with_array(array, error, [&](const detail::array_layout& layout) {
    if (part == nullptr) return fail(error, SHOAL_NO_OPERAND, k_null);
    if (layout.kind == distribution::owned)
      return fail(error, SHOAL_INVALID_ARGUMENT, "the part of an array with an owner function is not regular");
    const detail::port& p = detail::this_port();
    const auto range = layout.local_range(p.node);
    *part = {p.bases[p.node] + layout.offset, range.first, range.count, range.stride, range.run};
    return static_cast<int>(SHOAL_OK);
  });
}

int shoal_access(int verb, int type, shoal_array array, uint64_t index, const void* operand, const void* desired,
                 void* result, shoal_error* error) {
  return in_job(error, [&] {
    return status_of(array::run_access(access_of(verb, type, array, index, operand, desired, result)), error, array,
                     index);
  });
}

int shoal_async_access(int verb, int type, shoal_array array, uint64_t index, const void* operand, const void* desired,
                       void* result, shoal_error* error) {
  return in_job(error, [&] {
    return status_of(array::begin_access(access_of(verb, type, array, index, operand, desired, result)), error, array,
                     index);
  });
}

int shoal_get_range(shoal_array array, uint64_t first, uint64_t count, void* target, shoal_error* error) {
  return in_job(error,
                [&] { return status_of(array::run_get(array, first, count, target), error, array, first, count); });
}

int shoal_put_range(shoal_array array, uint64_t first, uint64_t count, const void* values, shoal_error* error) {
  return in_job(error,
                [&] { return status_of(array::run_put(array, first, count, values), error, array, first, count); });
}

int shoal_async_get_range(shoal_array array, uint64_t first, uint64_t count, void* target, shoal_error* error) {
  return in_job(error,
                [&] { return status_of(array::begin_get(array, first, count, target), error, array, first, count); });
}

int shoal_async_put_range(shoal_array array, uint64_t first, uint64_t count, const void* values, shoal_error* error) {
  return in_job(error,
                [&] { return status_of(array::begin_put(array, first, count, values), error, array, first, count); });
}

int shoal_gather(shoal_array array, const uint64_t* indices, uint64_t count, void* values, shoal_error* error) {
  return in_job(error, [&] {
    std::uint64_t bad = 0;
    const refusal r = array::gather(array, indices, count, values, bad);
    return status_of(r, error, array, bad);
  });
}

int shoal_scatter(shoal_array array, const uint64_t* indices, uint64_t count, const void* values, shoal_error* error) {
  return in_job(error, [&] {
    std::uint64_t bad = 0;
    const refusal r = array::scatter(array, indices, count, values, bad);
    return status_of(r, error, array, bad);
  });
}

int shoal_fill(shoal_array array, const void* value, shoal_error* error) {
  return in_job(error, [&] { return status_of(array::fill(array, value), error, array, 0); });
}

int shoal_copy(shoal_array to, uint64_t to_first, shoal_array from, uint64_t from_first, uint64_t count,
               shoal_error* error) {
  return in_job(
      error, [&] { return status_of(array::copy(to, to_first, from, from_first, count), error, to, to_first, count); });
}

int shoal_wait(shoal_error* error) {
  return in_job(error, [] { return shoal::wait(), static_cast<int>(SHOAL_OK); });
}

int shoal_flush(shoal_error* error) {
  return in_job(error, [] { return shoal::flush(), static_cast<int>(SHOAL_OK); });
}
