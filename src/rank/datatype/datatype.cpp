// SPDX-License-Identifier: Apache-2.0
#include "rank/datatype/datatype.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

namespace shoal::rank {
namespace {

constexpr std::uintptr_t k_first_type = 0x200;
constexpr std::uintptr_t k_type_handles = 0x100;

// By handle.
class predefined_table {
public:
  predefined_table() {
    for (const predefined_type& p : predefined_types())
      by_handle_[p.handle - k_first_type] = std::make_unique<datatype>(p);
  }
  const datatype* find(std::uintptr_t handle) const noexcept {
    return handle - k_first_type < k_type_handles ? by_handle_[handle - k_first_type].get() : nullptr;
  }

private:
  std::array<std::unique_ptr<datatype>, k_type_handles> by_handle_;
};

std::vector<type_part> parts_of_basic(basic kind) {
  using enum basic;
  if (kind == short_int) return {{0, 2, 1, 0}, {4, 4, 1, 0}};
  return {{0, size_of(kind), 1, 0}};
}

}  // namespace

datatype::datatype(const predefined_type& p, type_origin origin)
    : datatype({parts_of_basic(p.kind)}, {{{p.kind, 1}}}, {0, static_cast<std::int64_t>(extent_of(p.kind))},
               std::move(origin)) {
  predefined_ = &p;
  committed_ = true;
}

datatype::datatype(type_layout layout, type_elements elements, const type_bounds& bounds, type_origin origin)
    : handle_object(k_kind),
      layout_(std::move(layout)),
      elements_(std::move(elements)),
      lower_(bounds.lower),
      extent_(bounds.upper - bounds.lower),
      bounds_set_(bounds.set),
      origin_(std::move(origin)) {
  const std::vector<type_part>& parts = layout_.parts;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  begins_.reserve(parts.size() + 1);
  std::uint64_t once = 0;
  for (const type_part& p : parts) {
    begins_.push_back(once);
    once += p.size();
    const std::int64_t other = p.offset + static_cast<std::int64_t>(p.count - 1) * p.stride;
    first = std::min({first, p.offset, other});
    last = std::max({last, p.offset + static_cast<std::int64_t>(p.bytes), other + static_cast<std::int64_t>(p.bytes)});
  }
  begins_.push_back(once);
  size_ = once * layout_.times;
  if (!parts.empty()) {
    const std::int64_t far = static_cast<std::int64_t>(layout_.times - 1) * layout_.distance;
    true_lower_ = std::min(first, first + far);
    true_extent_ = std::max(last, last + far) - true_lower_;
  }
  solid_ = parts.empty() || (parts.size() == 1 && parts[0].count == 1 && parts[0].offset == 0 && layout_.times == 1 &&
                             extent_ == static_cast<std::int64_t>(size_));
}

const datatype& type_of(MPI_Datatype handle) {
  static const predefined_table all;
  if (is_predefined(handle)) {
    if (const datatype* const t = all.find(reinterpret_cast<std::uintptr_t>(handle)); t != nullptr) return *t;
    throw mpi_error(MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL
                                      ? "the datatype is MPI_DATATYPE_NULL"
                                      : "no handle of a datatype, or of one that is not there on this machine");
  }
  return object_of<datatype>(handle);
}

MPI_Datatype handle_of_type(const datatype& t) noexcept {
  return t.is_predefined() && t.origin().combiner == MPI_COMBINER_NAMED
             ? reinterpret_cast<MPI_Datatype>(t.predefined()->handle)
             : reinterpret_cast<MPI_Datatype>(const_cast<handle_object*>(static_cast<const handle_object*>(&t)));
}

}  // namespace shoal::rank
