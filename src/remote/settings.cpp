// SPDX-License-Identifier: Apache-2.0
#include "remote/settings.hpp"

namespace shoal::remote {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_table[] = {
    {.name = "call_memory",
     .type = setting_type::size,
     .default_value = "4M",
     .help = "memory per node for calls that have not begun there; callers share it, with at least 64K each",
     .min = "0"},
    {.name = "helpers",
     .type = setting_type::integer,
     .default_value = "0",
     .help = "threads per node that only execute commands on its memory, for workers that compute for long",
     .min = "0",
     .max = "64"},
    {.name = "one_sided",
     .type = setting_type::size,
     .default_value = "32K",
     .help =
         "copies of so many bytes and more go straight from memory to memory, where the network library can; larger "
         "than segment: none, and nodes of one worker modify elements with plain instructions",
     .min = "1"},
    {.name = "overflow_memory",
     .type = setting_type::size,
     .default_value = "0",
     .help =
         "memory per node for what handlers send while other nodes are slow; 0: 1/16 of the memory for all nodes here",
     .min = "0"},
    {.name = "send_after_us",
     .type = setting_type::integer,
     .default_value = "200",
     .help = "microseconds after which a buffer that a task waits for is sent, although other tasks still add to it",
     .min = "0",
     .max = "1000000"},
};

}  // namespace

const base::setting_table k_remote_settings{"remote", k_table};

options read_options(const base::settings& s) {
  return {.call_memory = s.get_size("call_memory"),
          .helpers = static_cast<unsigned>(s.get_int("helpers")),
          .one_sided_bytes = s.get_size("one_sided"),
          .overflow_memory = s.get_size("overflow_memory"),
          .send_after_us = static_cast<unsigned>(s.get_int("send_after_us"))};
}

}  // namespace shoal::remote
