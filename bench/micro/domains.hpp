// SPDX-License-Identifier: Apache-2.0
// `shoal bench domains`: what workers reach over a network library, against the number of domains they share, against
// processes of one worker each, and against the mask by which messages are looked at when all come through one domain.
// Each set-up is a job of its own (domains_jobs.cpp); what runs inside a job is domains_work.cpp.
// Who may call: declare_domains() the command; measure_domains() a main task (it switches); the rest any thread.
// Guarantees: what was put, got and added is compared afterwards. Source: SYSTEMS, Ibrahim and Yelick 2014.
// Shown by tests/unit/bench/domains_test.cpp, tests/unit/tools/domains_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/subcommand.hpp"

namespace shoal::bench {

enum class domains_op : std::uint8_t {
  put,      // one-sided: the last node does nothing
  get,      // the same
  send,     // a message of so many bytes that is executed there, which copies them, and acknowledged
  add,      // a message that is executed there and acknowledged, one at a time
  adds,     // many of them travel together
  add_one,  // each travels by itself
};
std::string_view domains_op_name(domains_op op) noexcept;
/// Whether it is measured with each size.
inline bool has_sizes(domains_op op) noexcept { return op <= domains_op::send; }

/// What one job measures. The first `initiators` nodes work, all their workers at once, on the last node.
struct domains_plan {
  std::vector<domains_op> ops;
  std::vector<std::uint32_t> bytes{8};  // of put, get and send
  unsigned initiators = 1;
  unsigned window = 64;  // one-sided operations under way per worker
  double seconds = 0.02;
  bool pinned = true;

  std::string text() const;
  /// Throws errc::invalid_argument.
  static domains_plan parse(const std::string& text);
};

struct domains_value {
  domains_op op = domains_op::put;
  std::uint32_t bytes = 8;
  double latency_us = 0;  // one at a time per worker; 0: not measured
  double mops = 0;        // all workers together; 0: not measured
  bool correct = false;
  std::string said;  // what was compared, or what was wrong

  std::string text() const;
  static domains_value parse(const std::string& text);
};

/// In a main task. `one_sided` is false where the transport has no such operations: they are left out.
std::vector<domains_value> measure_domains(const domains_plan& plan, bool& one_sided);

/// The set-up of a job; one column of a table.
struct domains_setup {
  enum class kind : std::uint8_t { threads, processes, shared, mask } what = kind::threads;
  unsigned count = 1;  // domains, processes, or the mask
  unsigned workers = 2;
  std::string name() const;   // "domains_2", "processes_2", "shared_context", "mask_7"
  std::string title() const;  // "D = 2"
  unsigned initiators() const { return what == kind::processes ? count : 1; }
};

struct domains_outcome {
  std::vector<domains_value> values;
  bool one_sided = false;
};
/// Starts the job and waits for it. Throws where it fails.
/// `network_memory`: UCX allocates what it reaches.
domains_outcome run_domains_job(const domains_setup& setup, const domains_plan& plan, const std::string& transport,
                                bool network_memory);
/// If this process is part of such a job: does its part, and gives the exit status; else -1.
int serve_domains_job();

/// A program of bench/mpi that was built beside this command.
struct mpi_program {
  std::string program, mpi, path, launcher;
};
std::vector<mpi_program> find_mpi_programs();
struct mpi_value {
  bool correct = false;
  double latency_us = 0, mops = 0;
};
/// `pairs` pairs of partners: threads of two processes, or as many pairs of processes of one thread.
mpi_value run_mpi_program(const mpi_program& p, unsigned pairs, bool threads, std::uint32_t bytes, double seconds);

/// One line of a panel of the picture: values at labelled places from left to right; 0: none there.
struct domains_curve {
  std::string name;
  std::vector<double> values;
};
struct domains_panel {
  std::string title;  // with the unit
  std::vector<std::string> places;
  std::vector<domains_curve> curves;
};
/// As SVG: two panels in a row, with logarithmic scales.
std::string domains_picture(const std::vector<domains_panel>& panels, std::string_view title);

subcommand_body declare_domains(CLI::App& app);

}  // namespace shoal::bench
