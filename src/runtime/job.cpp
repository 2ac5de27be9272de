// SPDX-License-Identifier: Apache-2.0
#include "runtime/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/thrown.hpp"
#include "launch/launcher_signs.hpp"
#include "launch/local_launch.hpp"
#include "machine/descriptor.hpp"
#include "machine/memory_info.hpp"
#include "machine/process.hpp"
#include "machine/process_limits.hpp"
#include "runtime/hosted_nodes.hpp"
#include "runtime/simulation.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/error.hpp"
#include "shoal/job.hpp"
#include "shoal/run.hpp"

namespace shoal::runtime {

std::string describe_failure(const std::exception& e) {
  // Memory and threads that the system refuses come as bare words of the C++ library.
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr)
    return fmt::format("the system refused memory ({}): {}", e.what(), machine::describe_address_space_limits());
  const auto* refused = dynamic_cast<const std::system_error*>(&e);
  if (refused == nullptr || refused->code() != std::errc::resource_unavailable_try_again) return e.what();
  return fmt::format("the system refused to start a thread ({}): {}", e.what(), machine::describe_process_limits());
}

bool is_launched() { return launch::launched() || launch::is_externally_launched(); }

int run_in_process(config c, const std::function<int()>& main_task) {
  return run_here(*host_in_process(std::move(c)), main_task);
}

int run_job(const config& c, const std::function<int()>& main_task) { return run_here(*host_job(c), main_task); }

}  // namespace shoal::runtime

namespace shoal::runtime {
namespace {

constexpr const char* k_prefix = "--shoal-";

// Takes --shoal-NAME=VALUE out of the command line.
void take_arguments(base::settings& s, int* argc, char** argv) {
  std::vector<char*> kept;  // argv changes only if all are right
  for (int i = 0; i < *argc; ++i) {
    const std::string text = argv[i];
    const auto equals = text.find('=');
    if (i == 0 || text.rfind(k_prefix, 0) != 0) {
      kept.push_back(argv[i]);
      continue;
    }
    if (equals == std::string::npos)
      throw error(
          errc::invalid_argument,
          fmt::format("{} has no value; write for instance --shoal-workers=2 (`shoal info` lists the settings)", text));
    std::string name = text.substr(std::strlen(k_prefix), equals - std::strlen(k_prefix));
    std::replace(name.begin(), name.end(), '-', '_');
    s.set(name, text.substr(equals + 1), base::setting_origin::command_line);
  }
  if (static_cast<int>(kept.size()) == *argc) return;
  std::ranges::copy(kept, argv);
  argv[kept.size()] = nullptr;
  *argc = static_cast<int>(kept.size());
}

// The system keeps eight bits of a status: without this a failure with 256 would pass for success.
int exit_status(int status) noexcept { return status >= 0 && status <= 255 ? status : 1; }

}  // namespace

config read_config(int* argc, char** argv, const run_options& options) {
  auto s = all_settings();
  take_arguments(s, argc, argv);
  for (const auto& [name, value] : options.settings) s.set(name, value);
  s.check(!launch::another_process_warns());
  return read_config(s);
}

int status_of(const std::function<int()>& run) noexcept {
  try {
    return exit_status(run());
  } catch (const std::exception& e) {
    base::write_line("", describe_failure(e));
  } catch (...) {
    base::write_line("", fmt::format("the main task ended with {}", base::sentence_of_thrown()));
  }
  return 1;
}

}  // namespace shoal::runtime

namespace shoal::detail {

int run(int* argc, char** argv, const run_options& options, const std::function<int()>& main_task) {
  machine::open_standard_descriptors();
  return runtime::status_of([&] { return runtime::run_job(runtime::read_config(argc, argv, options), main_task); });
}

}  // namespace shoal::detail

namespace shoal {

struct job::state {
  explicit state(const runtime::config& c) : nodes(runtime::host_job(c)) {}

  const int process = machine::own_pid();
  const std::unique_ptr<runtime::hosted_nodes> nodes;
  std::mutex ending;  // held until the job has ended: any thread may call end()
  bool ended = false;
};

job::job(const run_options& options) {
  int argc = 0;
  start(&argc, nullptr, options);
}

job::job(int& argc, char** argv, const run_options& options) { start(&argc, argv, options); }

void job::start(int* argc, char** argv, const run_options& options) {
  if (detail::t_worker != nullptr)
    throw error(errc::invalid_argument,
                "a job is made by a task, and jobs do not nest: its destructor would block the worker; make it on a "
                "thread of the program");
  machine::open_standard_descriptors();
  const base::log_context before = base::current_log_context();  // of the caller's thread: the nodes set theirs
  try {
    const runtime::config c = runtime::read_config(argc, argv, options);
    if (runtime::is_simulated(c))
      throw error(
          errc::unsupported,
          "transport sim runs all workers in the thread that waits for them, and a shoal::job has none; give its "
          "main tasks to shoal::run, or set SHOAL_TRANSPORT to another transport");
    state_ = std::make_unique<state>(c);
    state_->nodes->first().start();  // first: while no other node serves, an error is simply thrown
    state_->nodes->begin();
  } catch (const std::system_error& e) {
    base::set_log_context(before);
    throw error(errc::system, runtime::describe_failure(e));
  } catch (...) {
    base::set_log_context(before);
    throw;
  }
  base::set_log_context(before);
}

job::~job() {
  if (state_->process != machine::own_pid()) {
    static_cast<void>(state_.release());  // a copy made by fork(): its threads do not exist here
    return;
  }
  try {
    end();
  } catch (const std::exception& e) {
    base::warn("a job did not end in order: {}", e.what());
  }
}

std::uint32_t job::node() const noexcept { return state_->nodes->first().number(); }
std::uint32_t job::nodes() const noexcept { return state_->nodes->first().count(); }

void job::check_outside() noexcept {
  SHOAL_ASSERT(detail::t_worker == nullptr,
               "job::run and job::end block their thread, and this one is a worker: from a task use a task_group");
}

void job::begin(std::unique_ptr<detail::submission> s) {
  if (state_->process != machine::own_pid())
    throw error(errc::unsupported,
                "this job belongs to the process that has forked: its workers do not exist in the child; make a job "
                "there");
  if (node() != 0)
    throw error(errc::unsupported,
                fmt::format("main tasks run on node 0, and this is node {}: call end() here, which serves until node 0 "
                            "ends the job",
                            node()));
  state_->nodes->first().main_tasks().begin(std::move(s));
}

void job::end() {
  check_outside();
  if (state_->process != machine::own_pid()) return;
  const std::lock_guard one(state_->ending);
  if (std::exchange(state_->ended, true)) return;
  const base::log_context before = base::current_log_context();
  base::set_log_context({.level = before.level, .node = nodes() > 1 ? static_cast<int>(node()) : -1});
  std::exception_ptr thrown;
  try {
    state_->nodes->first().finish();
    state_->nodes->end(nullptr);
  } catch (...) {
    thrown = std::current_exception();
  }
  base::set_log_context(before);
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace shoal
