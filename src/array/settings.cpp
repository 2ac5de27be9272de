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
    {.name = "pages",
     .type = setting_type::choice,
     .default_value = "huge-try",
     .help = "pages of global memory; 2m and 1g: or an error, huge-try: 2 MiB as far as the system gives them",
     .choices = machine::k_page_choices},
};

}  // namespace

const base::setting_table k_array_settings{"array", k_table};

options read_options(const base::settings& s) {
  return {.segment_bytes = s.get_size("segment"), .pages = machine::page_choice_of(s.get_text("pages"))};
}

}  // namespace shoal::array
