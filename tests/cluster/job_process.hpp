// SPDX-License-Identifier: Apache-2.0
// Runs a job as a user starts it: the command or a program as a process, with its output and exit status. No process
// that it starts outlives the test.
// Who may call: tests, from their main thread. SHOAL_COMMAND and SHOAL_PROGRAMS come from the build.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "machine/process.hpp"

namespace shoal::test {

struct outcome {
  machine::exit_status status;
  std::string text;     // standard output and error together
  double seconds = 0;   // from the start
  bool in_time = true;  // false: it was killed by the test

  bool has(const std::string& part) const { return text.find(part) != std::string::npos; }
};

inline std::ostream& operator<<(std::ostream& out, const outcome& o) {
  return out << machine::describe(o.status) << (o.in_time ? "" : " by the test: it took too long") << " after "
             << o.seconds << " s, having said:\n"
             << o.text;
}

class job_process {
public:
  using clock = std::chrono::steady_clock;

  explicit job_process(std::vector<std::string> arguments, std::vector<std::string> environment = {})
      : output_(unnamed_file()), begin_(clock::now()) {
    // Several processes append at once.
    ::fcntl(output_, F_SETFL, O_APPEND);
    machine::spawn_request request;
    request.arguments = std::move(arguments);
    request.environment = std::move(environment);
    request.standard_output = request.standard_error = output_;
    child_ = machine::spawn(request);
  }
  job_process(const job_process&) = delete;
  job_process& operator=(const job_process&) = delete;
  ~job_process() { ::close(output_); }

  int pid() const { return child_.pid(); }
  void signal(int number) const { child_.kill(number); }

  std::string text() const {
    struct stat status {};
    ::fstat(output_, &status);
    std::string result(static_cast<std::size_t>(status.st_size), '\0');
    const auto got = ::pread(output_, result.data(), result.size(), 0);
    result.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return result;
  }
  /// Waits until `part` has been printed `times` times; false after the time limit.
  bool says(const std::string& part, int times = 1, double seconds = 30) const {
    for (const auto end = clock::now() + std::chrono::duration<double>(seconds); clock::now() < end;) {
      const std::string now = text();
      int found = 0;
      for (std::size_t i = now.find(part); i != std::string::npos; i = now.find(part, i + 1)) ++found;
      if (found >= times) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  outcome wait(double seconds = 60) {
    outcome result;
    const auto limit_ns = static_cast<std::int64_t>(seconds * 1e9);
    const std::array<int, 1> descriptors{child_.descriptor()};
    if (machine::wait_any(descriptors, limit_ns) < 0) {
      result.in_time = false;
      child_.kill(SIGKILL);
    }
    result.status = child_.reap();
    result.seconds = std::chrono::duration<double>(clock::now() - begin_).count();
    result.text = text();
    return result;
  }

private:
  // On disk, because the process under test may run out of memory.
  static int unnamed_file() {
    std::string name = std::filesystem::temp_directory_path() / "shoal-output-XXXXXX";
    const int descriptor = ::mkstemp(name.data());
    ::unlink(name.c_str());
    return descriptor;
  }

  int output_;
  clock::time_point begin_;
  machine::child_process child_;
};

inline std::string program(const std::string& name) { return std::string(SHOAL_PROGRAMS) + "/" + name; }

/// `shoal run` with these options, then the program and its arguments.
inline std::vector<std::string> launch(std::vector<std::string> options, const std::vector<std::string>& what) {
  options.insert(options.begin(), {SHOAL_COMMAND, "run"});
  options.emplace_back("--");
  options.insert(options.end(), what.begin(), what.end());
  return options;
}

/// The same in a shell, after the command `before` ("ulimit -v 1000000;").
inline std::vector<std::string> in_shell(const std::string& before, const std::vector<std::string>& command) {
  std::string line = before + " exec";
  for (const auto& word : command) line += " '" + word + "'";
  return {"/bin/bash", "-c", line};
}

inline outcome run(std::vector<std::string> arguments, std::vector<std::string> environment = {}, double seconds = 60) {
  return job_process(std::move(arguments), std::move(environment)).wait(seconds);
}

/// Node numbers and processes, from the lines "node 1 pid 4711".
inline std::map<int, int> processes_in(const std::string& text) {
  std::map<int, int> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    int node = 0;
    int pid = 0;
    if (std::sscanf(line.c_str(), "node %d pid %d", &node, &pid) == 2) found[node] = pid;
  }
  return found;
}

/// A zombie process is not alive.
inline bool is_alive(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(in, text);
  const auto name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
}

inline bool all_gone_within(const std::map<int, int>& processes, double seconds) {
  const auto any = [&] {
    return std::any_of(processes.begin(), processes.end(), [](auto p) { return is_alive(p.second); });
  };
  for (const auto end = job_process::clock::now() + std::chrono::duration<double>(seconds); any();) {
    if (job_process::clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

/// The files in /dev/shm, except those of MPI libraries and UCX: other tests run at the same time.
inline std::set<std::string> shared_memory_files() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("vader_segment") && !name.starts_with("mpich") && !name.starts_with("ucx_shm_posix"))
      found.insert(name);
  }
  return found;
}

}  // namespace shoal::test
