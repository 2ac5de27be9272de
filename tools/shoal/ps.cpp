// SPDX-License-Identifier: Apache-2.0
// `shoal ps`: the jobs and pools of this user on this machine, what each task waits for, and with --memory what each
// process and node takes, and for what. Asks the processes themselves (src/runtime/hang_watch.hpp).
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "machine/local_service.hpp"
#include "machine/memory_info.hpp"
#include "runtime/memory_answer.hpp"
#include "runtime/wait_report.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

constexpr std::int64_t k_ask_ns = 3'000'000'000;

struct seen_job {
  std::string program;
  unsigned nodes = 0;  // that it has
  std::vector<runtime::node_waits> here;
  std::map<std::string, std::uint64_t> resident_bytes;  // by process
  std::vector<runtime::node_memory> memory;
};

std::string first_line_of(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::uint64_t resident_bytes(const std::string& process) {
  std::istringstream in(first_line_of("/proc/" + process + "/statm"));
  std::uint64_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * machine::page_size();
}

// The answer to "list": for each job a line, then those of runtime::to_text().
void read_answer(const std::string& process, const std::string& text, std::map<std::string, seen_job>& jobs) {
  seen_job* job = nullptr;
  std::string part;
  const auto take = [&] {
    if (auto waits = runtime::parse_waits(part); waits && job != nullptr)
      for (auto& one : *waits) job->here.push_back(std::move(one));
    part.clear();
  };
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("job\t")) {
      part += line + "\n";
      continue;
    }
    take();
    std::istringstream fields(line.substr(4));
    std::string id;
    unsigned nodes = 0;
    fields >> id >> nodes;
    job = &jobs[id];
    job->nodes = nodes;
    job->program = first_line_of("/proc/" + process + "/comm");
    job->resident_bytes[process] = resident_bytes(process);
  }
  take();
}

// The answer to "memory": for each job a line, then those of runtime::to_text().
void read_memory(const std::string& text, std::map<std::string, seen_job>& jobs) {
  constexpr std::string_view k_job = "job\t";
  for (std::size_t at = 0; text.compare(at, k_job.size(), k_job) == 0;) {
    const std::size_t begin = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::size_t end = std::min(text.find("\njob\t", begin - 1), text.size() - 1) + 1;
    const std::string id = text.substr(at + k_job.size(), begin - 1 - at - k_job.size());
    const auto found = jobs.find(id);
    auto nodes = runtime::parse_memories(std::string_view(text).substr(begin, end - begin));
    if (found != jobs.end() && nodes)
      for (auto& one : *nodes) found->second.memory.push_back(std::move(one));
    at = end;
  }
}

void print(const std::string& id, const seen_job& job, bool memory) {
  std::uint64_t tasks = 0;
  unsigned workers = 0;
  for (const auto& n : job.here) {
    tasks += n.waiting;
    workers += n.workers;
  }
  const std::uint64_t ranks = runtime::ranks_of(job.here);
  const std::uint64_t waiting = ranks == 0 ? tasks : ranks;
  fmt::print("{} {}: {}, {}, {} wait{}\n", job.program, id, base::counted(job.nodes, "node"),
             base::counted(workers, "worker"), base::counted(waiting, ranks == 0 ? "task" : "rank"),
             waiting == 1 ? "s" : "");
  if (job.here.size() < job.nodes)
    fmt::print("  {} of its nodes did not answer, or run on other machines\n", job.nodes - job.here.size());
  if (memory)
    for (const auto& [process, bytes] : job.resident_bytes)
      fmt::print("  process {}: {} resident\n", process, machine::describe_bytes(bytes));
  if (!job.memory.empty()) fmt::print("{}\n", runtime::table_of(job.memory));
  fmt::print("{}\n", runtime::table_of(job.here));
}

int show(bool memory) {
  std::map<std::string, seen_job> jobs;
  for (const std::string& name : machine::services()) {
    if (const auto text = machine::ask(name, "list", k_ask_ns)) {
      read_answer(name.substr(0, name.find('.')), *text, jobs);
      if (!memory) continue;
      if (const auto held = machine::ask(name, "memory", k_ask_ns)) read_memory(*held, jobs);
    } else if (machine::remove_stale(name); machine::tell(name, "list", k_ask_ns))
      fmt::print("process {} does not answer within {} s: it may be stopped\n", name.substr(0, name.find('.')),
                 k_ask_ns / 1'000'000'000);
  }
  for (auto& [id, job] : jobs) std::ranges::sort(job.memory, {}, &runtime::node_memory::node);
  if (jobs.empty())
    fmt::print("no job or pool of this user that answers on this machine (looked in {})\n", machine::runtime_folder());
  for (const auto& [id, job] : jobs) print(id, job, memory);
  return 0;
}

}  // namespace

subcommand_body declare_ps(CLI::App& app) {
  const auto memory = std::make_shared<bool>(false);
  app.add_flag("--memory", *memory,
               "also show what each process and node takes, and the largest arrays and containers");
  return [memory] { return show(*memory); };
}

}  // namespace shoal::tools
