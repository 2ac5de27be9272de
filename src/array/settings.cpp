// SPDX-License-Identifier: Apache-2.0
#include "array/settings.hpp"

namespace shoal::array {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_table[] = {
    {.name = "segment",
     .type = setting_type::size,
     .default_value = "0",
     .help = "address space of a node's part of the global memory; 0: as much as the machine has memory",
     .min = "0",
     .max = "8T"},
    {.name = "huge_pages",
     .type = setting_type::boolean,
     .default_value = "on",
     .help = "global memory on 2 MiB pages where the system gives them"},
};

}  // namespace

const base::setting_table k_array_settings{"array", k_table};

options read_options(const base::settings& s) {
  return {.segment_bytes = s.get_size("segment"), .huge_pages = s.get_bool("huge_pages")};
}

}  // namespace shoal::array
