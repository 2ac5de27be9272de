// SPDX-License-Identifier: Apache-2.0
// `shoal bench domains`: the rates and latencies of workers over a network library, for different numbers of shared
// domains, for processes of one worker each, and for poll masks with all messages through one domain. Each set-up is a
// separate job (domains_jobs.cpp); domains_work.cpp runs inside the job.
// Who may call: declare_domains(): the command; measure_domains(): a main task (it switches); the rest: any thread.
// Guarantees: verifies all words that were put, got and added. Source: SYSTEMS, Ibrahim and Yelick 2014.
// Tests: tests/unit/bench/domains_test.cpp, tests/unit/tools/domains_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/subcommand.hpp"

namespace shoal::bench {

enum class domains_op : std::uint8_t {
  put,      // one-sided: the last node is passive
  get,      // the same
  send,     // a message of this size: its handler copies it and acknowledges
  add,      // a message whose handler adds and acknowledges, one at a time
  adds,     // many adds share a message
  add_one,  // one message per add
};
std::string_view domains_op_name(domains_op op) noexcept;
/// Whether it is measured for each size.
inline bool has_sizes(domains_op op) noexcept { return op <= domains_op::send; }

/// The measurements of one job. All workers of the first `initiators` nodes operate on the last node at once.
struct domains_plan {
  std::vector<domains_op> ops;
  std::vector<std::uint32_t> bytes{8};  // sizes of put, get and send
  unsigned initiators = 1;
  unsigned window = 64;  // one-sided operations in flight per worker
  double seconds = 0.02;
  bool pinned = true;

  std::string text() const;
  /// Throws errc::invalid_argument.
  static domains_plan parse(const std::string& text);
};

struct domains_value {
  domains_op op = domains_op::put;
  std::uint32_t bytes = 8;
  double latency_us = 0;  // one operation at a time per worker; 0: not measured
  double mops = 0;        // all workers together; 0: not measured
  bool correct = false;
  std::string said;  // the verified values, or the error

  std::string text() const;
  static domains_value parse(const std::string& text);
};

/// Called by a main task. Sets `one_sided` to false if the transport has no one-sided operations; these are skipped.
std::vector<domains_value> measure_domains(const domains_plan& plan, bool& one_sided);

/// The set-up of a job: one column of a table.
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
/// Starts the job and waits for it. Throws if it fails. `network_memory`: UCX allocates the target memory.
domains_outcome run_domains_job(const domains_setup& setup, const domains_plan& plan, const std::string& transport,
                                bool network_memory);
/// If this process belongs to such a job: executes its part and returns the exit status; else returns -1.
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
/// Runs `pairs` pairs of partners: threads of two processes, or pairs of processes with one thread each.
mpi_value run_mpi_program(const mpi_program& p, unsigned pairs, bool threads, std::uint32_t bytes, double seconds);

/// A curve in a panel of the picture: values at labelled positions from left to right; 0: no value.
struct domains_curve {
  std::string name;
  std::vector<double> values;
};
struct domains_panel {
  std::string title;  // with the unit
  std::vector<std::string> places;
  std::vector<domains_curve> curves;
};
/// SVG: two panels in a row, with logarithmic scales.
std::string domains_picture(const std::vector<domains_panel>& panels, std::string_view title);

subcommand_body declare_domains(CLI::App& app);

}  // namespace shoal::bench
