// SPDX-License-Identifier: Apache-2.0
// What a job is made of, read from the settings; and the tables of settings themselves, collected from all folders.
// Who may call: one thread, at start. Shown by tests/cluster/settings_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "machine/executor.hpp"
#include "net/message_transport.hpp"
#include "runtime/profile_report.hpp"
#include "sched/pool.hpp"
#include "sched/steal_policies.hpp"

namespace shoal::runtime {

struct config {
  std::uint32_t nodes = 1;  // inproc only; under a launcher it comes from there
  unsigned workers = 0;     // per node; 0: chosen
  bool direct = true;       // nodes of a machine map each other's memory
  bool huge_pages = true;
  bool pin = true;
  base::log_level log = base::log_level::say;
  std::uint64_t segment_bytes = 0;  // 0: chosen
  std::size_t stack_bytes = 0;
  std::size_t most_stacks = 0;
  std::size_t waiting_bytes = 0;
  std::size_t buffer_bytes = 0;
  std::size_t buffers = 0;
  unsigned spin = 0;
  sched::steal_policy_factory steal;  // empty: the standard policy
  std::string topology;               // synthetic, for the distances between workers; empty: this machine's
  profile_wish profiling;
  std::int64_t start_timeout_ns = 0;
  std::string transport = "auto";  // or inproc, shm, ucx, mpi
  std::string plugins;             // a folder to look for them in first
  unsigned domains = 0;            // per node; 0: one for each worker
  std::string domain_lock;
  wait_kind domain_wait = wait_kind::adaptive;
  net::message_route messages = net::message_route::own;
  std::uint32_t poll_mask = 0;
  net::progress_role progress = net::progress_role::workers;
  unsigned helpers = 0;
  bool network_memory = false;
  bool shared_context = false;
  bool own_communicators = false;
  std::uint64_t one_sided_bytes = 0;  // transfers from so many bytes on are the network's own
  std::int64_t silence_ns = 0;        // after which a node is taken for lost; 0: never
  std::string hub_address;
  machine::executor* executor = &machine::threads();  // no setting: chosen by code

  /// What nodes of a job must have in common, in words.
  std::string common() const;
};

/// All settings there are, with what environment and files say; nothing is checked yet.
base::settings all_settings();
/// Throws for what settings::check() cannot judge, too.
config read_config(const base::settings& s);
/// What of it a pool of workers wants to know; where they are placed is not in it.
sched::pool_options scheduler_options(const config& c);

}  // namespace shoal::runtime
