// SPDX-License-Identifier: Apache-2.0
#include "fiber/settings.hpp"

#include <fmt/format.h>

#include "shoal/error.hpp"

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
     .default_value = "0",
     .help = "stacks per node: tasks that can wait at the same time, 64 or more; 0: as many as the memory allows",
     .min = "0",
     .max = "64M"},
    {.name = "stack_pages",
     .type = setting_type::choice,
     .default_value = "4k",
     .help = "pages of tasks' stacks; on large ones stacks have no guards, and each takes memory for all its size",
     .choices = machine::k_page_choices},
};

}  // namespace

const base::setting_table k_fiber_settings{"fiber", k_table};

options read_options(const base::settings& s) {
  constexpr std::size_t k_least_stacks = 64;
  const options o{.stack_bytes = s.get_size("stack"),
                  .most_stacks = s.get_size("stacks"),
                  .stack_pages = machine::page_choice_of(s.get_text("stack_pages"))};
  if (o.most_stacks != 0 && o.most_stacks < k_least_stacks)
    throw error(errc::invalid_argument,
                fmt::format("the setting stacks must be 0, for as many as the memory allows, or "
                            "between {} and 64M, and is {}",
                            k_least_stacks, o.most_stacks));
  return o;
}

}  // namespace shoal::fiber
