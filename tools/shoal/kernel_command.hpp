// SPDX-License-Identifier: Apache-2.0
// What the subcommands of kernels have in common: options, the job, repeated runs with progress, the checks, the table
// and the JSON object. A subcommand derives its kernel from kernel_case; its body is one call of run_kernel():
//   return [o] { return run_kernel(o->common, [o] { return std::make_unique<histogram_case>(*o); }); };
// Metrics: `rate` (items per second of each run, in millions), `time_s` of each run, `construction_s`; check
// `validated`: the result of every run, unless --no-validate.
// Who may call: the command's main thread; the functions of kernel_case run in the job's main task.
// Shown by tests/unit/tools/kernels_test.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bench/job.hpp"
#include "bench/report.hpp"
#include "bench/subcommand.hpp"

namespace shoal::tools {

struct kernel_options {
  bench::job_options job;
  std::string form = "fast";
  std::uint64_t seed = 1;
  int repeat = 3;
  bool validate = true;
  std::string json;
};

/// --form (fast, simple), --seed, --repeat, --no-validate, --json, and the options of the job.
void add_kernel_options(CLI::App& app, kernel_options& options);

/// A kernel on its data.
class kernel_case {
public:
  explicit kernel_case(std::string name, std::string item) : name_(std::move(name)), item_(std::move(item)) {}
  kernel_case(const kernel_case&) = delete;
  kernel_case& operator=(const kernel_case&) = delete;
  virtual ~kernel_case() = default;

  const std::string& name() const noexcept { return name_; }
  /// What the rate counts, for instance "updates".
  const std::string& item() const noexcept { return item_; }

  /// Makes the data. Throws shoal::error for bad input.
  virtual void construct() = 0;
  /// Adds the parameters of the data to those of the job.
  virtual void describe(bench::report& r) const = 0;
  /// Before each run, not timed: brings the data back to its first state.
  virtual void reset() {}
  /// One run, timed; returns how many items it has worked on.
  virtual std::uint64_t run() = 0;
  /// After each run: adds metrics of its own.
  virtual void record(bench::report&) const {}
  /// Compares the result of the last run with what it must be. Empty: right; else what is wrong.
  virtual std::string verify() = 0;

private:
  std::string name_;
  std::string item_;
};

/// Starts the job and, in its main task, makes the kernel, runs it and reports. Returns the exit status.
int run_kernel(const kernel_options& options, const std::function<std::unique_ptr<kernel_case>()>& make);

/// Throws shoal::error unless `bytes` of data for the kernel, and the nodes of the job, fit into the machine's memory.
void require_kernel_memory(const kernel_options& options, std::uint64_t bytes, const std::string& what);

}  // namespace shoal::tools
