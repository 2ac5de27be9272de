// SPDX-License-Identifier: Apache-2.0
#include "collectives/settings.hpp"

namespace shoal::collectives {
namespace {

constexpr base::setting k_table[] = {
    {.name = "collectives",
     .type = base::setting_type::text,
     .default_value = "",
     .help =
         "algorithms of collective operations, by members and bytes: 'all_gather 0 0 bruck, all_gather 4 64K ring'; "
         "empty: the built-in table"},
};

}  // namespace

const base::setting_table k_collectives_settings{"collectives", k_table};

options read_options(const base::settings& s) { return {algorithm_table(s.get_text("collectives"))}; }

}  // namespace shoal::collectives
