// SPDX-License-Identifier: Apache-2.0
#include "sched/settings.hpp"

#include <utility>

#include "machine/topology.hpp"
#include "sched/steal_policies.hpp"

namespace shoal::sched {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_table[] = {
    {.name = "waiting_memory",
     .type = setting_type::size,
     .default_value = "0",
     .help = "memory that waiting iterations may take before new ones are held back; 0: a quarter of what is free",
     .min = "0"},
    {.name = "spin",
     .type = setting_type::integer,
     .default_value = "-1",
     .help = "looks around of a worker with nothing to do before it sleeps; -1: 40, and 300 where ranks of MPI run",
     .min = "-1",
     .max = "1000000"},
    {.name = "blocking_threads",
     .type = setting_type::integer,
     .default_value = "512",
     .help = "threads of a node for calls of shoal::blocking() and files at the same time; further calls wait",
     .min = "1",
     .max = "32768"},
    {.name = "library_threads",
     .type = setting_type::choice,
     .default_value = "one",
     .help =
         "threads of OpenMP, MKL and OpenBLAS that bodies of tasks call: one per worker, or as the libraries choose, "
         "which OMP_NUM_THREADS and the like decide in any case",
     .choices = "one|any"},
    {.name = "share_processors",
     .type = setting_type::boolean,
     .default_value = "off",
     .help =
         "pools and jobs of this user on the machine that have this on divide the processors: each begins tasks on its "
         "share of workers, at least one; they are not pinned unless `pin` is given"},
    {.name = "steal",
     .type = setting_type::text,
     .default_value = k_standard_steal_policy,
     .help = "whom a worker without work tries to steal from: a victim policy by name, with arguments in parentheses"},
    {.name = "topology",
     .type = setting_type::text,
     .default_value = "",
     .help =
         "the machine that victim policies see, in hwloc's synthetic form; empty: this one, where workers are pinned"},
};

}  // namespace

const base::setting_table k_sched_settings{"sched", k_table};

options read_options(const base::settings& s) {
  options o;
  o.waiting_bytes = s.get_size("waiting_memory");
  if (const std::int64_t spin = s.get_int("spin"); spin >= 0) o.spin = static_cast<unsigned>(spin);
  o.blocking_threads = static_cast<std::size_t>(s.get_int("blocking_threads"));
  o.single_threaded_libraries = s.get_text("library_threads") == "one";
  o.shares_processors = s.get_bool("share_processors");
  o.steal = s.judge_text("steal", find_steal_policy);
  o.topology = s.judge_text("topology", [](std::string text) {
    if (!text.empty()) static_cast<void>(machine::topology::synthetic(text));
    return text;
  });
  return o;
}

pool_options make_pool_options(const options& o, const fiber::options& stacks) {
  pool_options p;
  p.stack_bytes = stacks.stack_bytes;
  p.most_stacks = stacks.most_stacks;
  p.stack_pages = stacks.stack_pages;
  p.most_waiting_bytes = o.waiting_bytes;
  p.most_blocking_threads = o.blocking_threads;
  p.single_threaded_libraries = o.single_threaded_libraries;
  p.shares_processors = o.shares_processors;
  p.steal = o.steal;
  if (o.spin) p.spin_rounds = *o.spin;
  return p;
}

}  // namespace shoal::sched
