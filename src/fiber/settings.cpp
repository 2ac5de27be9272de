// SPDX-License-Identifier: Apache-2.0
#include "fiber/settings.hpp"

namespace shoal::fiber {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_table[] = {
    {.name = "stack",
     .type = setting_type::size,
     .default_value = "64K",
     .help = "address space of a task's stack",
     .min = "16K",
     .max = "64M"},
    {.name = "stacks",
     .type = setting_type::size,
     .default_value = "2M",
     .help = "stacks per node, that is, tasks that can wait at once",
     .min = "64",
     .max = "64M"},
};

}  // namespace

const base::setting_table k_fiber_settings{"fiber", k_table};

options read_options(const base::settings& s) {
  return {.stack_bytes = s.get_size("stack"), .most_stacks = s.get_size("stacks")};
}

}  // namespace shoal::fiber
