// SPDX-License-Identifier: Apache-2.0
// The part of gmt.h about arrays.
#include "gmt/alloc.hpp"

#include <cstring>
#include <new>
#include <string_view>

#include "base/log.hpp"
#include "gmt/array.hpp"
#include "gmt/names.hpp"
#include "gmt/node_state.hpp"
#include "shoal/array.hpp"
#include "shoal/error.hpp"

namespace shoal::gmt {
namespace {

distribution_plan plan_of(int policy, std::uint32_t caller) {
  const std::uint32_t nodes = detail::port_here().nodes;
  switch (policy) {
    case GMT_ALLOC_LOCAL:
    case GMT_ALLOC_REMOTE: {
      distribution_plan p(policy == GMT_ALLOC_LOCAL ? distribution::local : distribution::remote);
      p.here = caller;
      return p;
    }
    case GMT_ALLOC_PARTITION_FROM_RANDOM:
      return partition_from(static_cast<std::uint32_t>(node_state::here().random() % nodes));
    case GMT_ALLOC_PARTITION_FROM_HERE: return partition_from(caller);
    default: return distribution::partition;  // of replicated and per node, too: their sizes are multiples
  }
}

}  // namespace

detail::array_layout allocate(std::uint64_t size, std::uint32_t element_bytes, int type, std::uint32_t caller,
                              std::string_view name) {
  memory_report report;
  constexpr detail::element kind = array::k_bytes_only;
  count(event::array);
  return detail::allocate_array(size, element_bytes, kind, plan_of(type & k_policy_mask, caller), {{.name = name}, {}},
                                &report);
}

}  // namespace shoal::gmt

using namespace shoal::gmt;  // for the C functions below

gmt_data_t gmt_alloc(uint64_t num_elems, uint64_t bytes_per_elem, alloc_type_t alloc_type, const char* name) {
  const int type = static_cast<int>(alloc_type);
  const int policy = type & k_policy_mask;
  if (type < 0 || type >= 64 || policy > GMT_ALLOC_PERNODE) refuse("gmt_alloc", "there is no such allocation policy");
  if (num_elems == 0 || bytes_per_elem == 0) {
    shoal::base::warn("gmt_alloc: an array has at least one element of at least one byte; the handle is GMT_DATA_NULL");
    return GMT_DATA_NULL;
  }
  const std::string_view known_as = name == nullptr ? std::string_view() : std::string_view(name);
  if (known_as.size() > k_most_name_bytes) refuse("gmt_alloc", "the name is longer than 200 bytes");
  if (!is_file_name(known_as))
    refuse("gmt_alloc",
           "the name is too long for a file: with --gmt-state bytes other than letters, digits, - and _ "
           "count three times, and 247 are possible");
  const std::uint32_t nodes = gmt_num_nodes();
  const std::uint64_t parts = policy == GMT_ALLOC_REPLICATE || policy == GMT_ALLOC_PERNODE ? nodes : 1;
  try {
    if (num_elems > ~std::uint64_t{0} / parts / bytes_per_elem || bytes_per_elem > ~std::uint32_t{0})
      throw shoal::error(shoal::errc::out_of_memory, "the array is larger than any memory");
    const auto layout =
        allocate(num_elems * parts, static_cast<std::uint32_t>(bytes_per_elem), type, gmt_node_id(), known_as);
    const gmt_data_t array = data_of(layout, type, !known_as.empty());
    if (known_as.empty() || add_name(known_as, array)) return array;
    shoal::detail::free_array(layout);
    shoal::base::warn("gmt_alloc: there is an array '{}' already; free it, or choose another name", known_as);
  } catch (const shoal::error& e) {
    shoal::base::warn("gmt_alloc: {}", e.what());
  } catch (const std::bad_alloc&) {
    shoal::base::warn("gmt_alloc: there is no memory left on this node");
  }
  return GMT_DATA_NULL;
}

gmt_data_t gmt_alloc_nb(uint64_t num_elems, uint64_t bytes_per_elem, alloc_type_t alloc_type, const char* name) {
  return gmt_alloc(num_elems, bytes_per_elem, alloc_type, name);
}

bool gmt_is_allocated(gmt_data_t array) { return find(array) != nullptr; }

void gmt_free(gmt_data_t array) {
  if (array == GMT_DATA_NULL) return;
  const shoal::detail::array_layout layout = checked("gmt_free", array);  // the table's copy goes
  if ((static_cast<std::uint64_t>(array) & k_named) != 0) remove_name(array);
  shoal::detail::free_array(layout);
}

uint32_t gmt_get_gid(gmt_data_t array) { return checked("gmt_get_gid", array).slot; }

void* gmt_get_local_ptr(gmt_data_t array, uint64_t elem) {
  const shoal::detail::array_layout& layout = checked("gmt_get_local_ptr", array, elem, 1);
  const shoal::detail::port& p = shoal::detail::port_here();
  const auto at = layout.locate(elem);
  return at.node == p.node ? p.bases[p.node] + at.offset : nullptr;
}

uint64_t gmt_get_elem_bytes(gmt_data_t array) { return checked("gmt_get_elem_bytes", array).element_bytes; }

alloc_type_t gmt_get_alloc_type(gmt_data_t array) {
  checked("gmt_get_alloc_type", array);
  return static_cast<alloc_type_t>(type_of(array));
}

uint64_t gmt_count_local_elements(gmt_data_t array) {
  return checked("gmt_count_local_elements", array).local_range(gmt_node_id()).count;
}
