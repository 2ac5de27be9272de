// SPDX-License-Identifier: Apache-2.0
// `shoal info`: the properties of this machine, and every setting with the origin of its value.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/settings.hpp"
#include "bench/machine_facts.hpp"
#include "machine/control_group.hpp"
#include "machine/memory_info.hpp"
#include "machine/memory_placement.hpp"
#include "machine/page_choice.hpp"
#include "machine/process.hpp"
#include "machine/process_limits.hpp"
#include "machine/socket.hpp"
#include "machine/topology.hpp"
#include "net/channel.hpp"
#include "runtime/config.hpp"
#include "runtime/transports.hpp"
#include "sched/steal_policies.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/mpi_paths.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using rows = std::vector<std::pair<std::string, std::string>>;

void print_section(const char* title, const rows& lines) {
  std::size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  fmt::print("{}\n", title);
  for (const auto& [name, value] : lines) fmt::print("  {:<{}}  {}\n", name, width, value);
}

void print_machine(const bench::machine_facts& facts) {
  machine::topology machine = machine::topology::discover();
  double quota = machine.cpu_quota();
  print_section("machine",
                {{"processor", facts.cpu_model},
                 {"kernel", facts.kernel},
                 {"packages, memory nodes, cores",
                  fmt::format("{}, {}, {}", machine.packages(), machine.numa_nodes(), machine.cores())},
                 {"caches", machine.caches()},
                 {"processors allowed", machine.affinity()},
                 {"control group's limit", std::isfinite(quota) ? fmt::format("{:.2f} processors", quota) : "none"},
                 {"useful number of workers", std::to_string(machine.usable_processors())}});
}

void print_memory() {
  machine::memory_status memory = machine::memory_info();
  bool limited = memory.group.limit_bytes != machine::k_no_limit;
  rows lines = {{"total", machine::describe_bytes(memory.total_bytes)},
                {"available", machine::describe_bytes(memory.available_bytes)},
                {"control group's limit", limited ? machine::describe_bytes(memory.group.limit_bytes) : "none"}};
  if (limited) lines.emplace_back("free of it", machine::describe_bytes(memory.group.available_bytes()));
  lines.emplace_back("usable by Shoal", machine::describe_bytes(memory.usable_bytes()));
  print_section("memory", lines);
}

std::string describe_pool(std::size_t page_bytes) {
  const machine::page_pool pool = machine::read_page_pool(page_bytes);
  return fmt::format("{} free of {}", pool.free_pages, pool.pages);
}

void print_pages(const bench::machine_facts& facts) {
  print_section("pages", {{"page size", machine::describe_bytes(machine::page_size())},
                          {"2 MiB pages, private memory", facts.huge_pages},
                          {"2 MiB pages, shared memory", facts.shared_huge_pages},
                          {"2 MiB pages in the pool", describe_pool(machine::k_huge_page_bytes)},
                          {"1 GiB pages in the pool", describe_pool(machine::k_giant_page_bytes)}});
}

// What the choices of the settings give on this machine now.
void print_chosen_pages() {
  base::settings all = runtime::all_settings();
  const runtime::config c = runtime::read_config(all);
  const auto outcome = [](machine::page_choice choice, const machine::page_facts& facts) {
    try {
      return fmt::format("{}: {}", to_string(choice), machine::describe(machine::plan_pages(choice, facts, "this")));
    } catch (const error& e) {
      return fmt::format("{}: refused: {}", to_string(choice), e.what());
    }
  };
  print_section("pages that are given",
                {{"global memory (pages)", outcome(c.pages, machine::shared_page_facts())},
                 {"stacks (stack_pages)", outcome(c.stack_pages, machine::private_page_facts())}});
}

void print_policies() {
  rows lines;
  for (auto& [form, help] : sched::known_steal_policies()) lines.emplace_back(form, help);
  print_section("victim policies (setting steal)", lines);
}

// `of`: only these; empty: all.
void print_settings(const std::vector<std::string_view>& of = {}) {
  const base::settings all = runtime::all_settings();
  fmt::print("settings{} (set NAME with SHOAL_NAME in the environment, or in shoal.toml)\n",
             of.empty() ? "" : " about memory");
  const auto wanted = [&of](const base::setting_entry& one) {
    return of.empty() || std::ranges::find(of, one.declaration->name) != of.end();
  };
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const base::setting_entry& one : all.list()) {
    if (!wanted(one)) continue;
    name_width = std::max(name_width, one.declaration->name.size());
    value_width = std::max(value_width, one.value.size());
  }
  for (const base::setting_entry& one : all.list()) {
    if (!wanted(one)) continue;
    fmt::print("  {:<{}}  {:<{}}  from {}; {}; {}\n", one.declaration->name, name_width, one.value, value_width,
               one.origin_text, one.declaration->help, one.range);
  }
  base::settings judged = runtime::all_settings();  // checked after the list, so that the list shows the wrong value
  judged.check();
  static_cast<void>(runtime::read_config(judged));
}

void print_memory_nodes() {
  rows lines;
  const std::vector<unsigned> allowed = machine::allowed_memory_nodes();
  for (const machine::memory_node& n : machine::memory_nodes()) {
    const bool usable = allowed.empty() || std::ranges::find(allowed, n.number) != allowed.end();
    lines.emplace_back(fmt::format("node {}", n.number),
                       fmt::format("{} free of {}{}", machine::describe_bytes(n.free_bytes),
                                   machine::describe_bytes(n.total_bytes), usable ? "" : ", not for this process"));
  }
  if (lines.empty()) lines.emplace_back("nodes", "the system does not say");
  print_section("memory nodes", lines);
}

// What a node of a job takes beside global arrays and containers. What jobs that run hold: `shoal ps --memory`.
void print_buffers() {
  base::settings all = runtime::all_settings();
  const runtime::config c = runtime::read_config(all);
  const unsigned usable = std::max(machine::topology::discover().usable_processors(), 1U);
  const std::uint64_t workers = c.workers != 0 ? c.workers : usable;
  const std::uint64_t bytes = c.buffer_bytes * c.buffers * net::k_traffic_classes * workers;
  print_section("buffers", {{"of a node, for each other node",
                             fmt::format("{} reserved ({}, {} classes, {} of {} each); what is used stays",
                                         machine::describe_bytes(bytes), base::counted(workers, "worker"),
                                         net::k_traffic_classes, c.buffers, machine::describe_bytes(c.buffer_bytes))}});
}

int show_memory(const bench::machine_facts& facts) {
  print_memory();
  print_memory_nodes();
  print_pages(facts);
  print_section("address space", {{"of this process", machine::describe_address_space_limits()}});
  print_buffers();
  print_chosen_pages();
  print_settings({"segment", "pages", "stack", "stacks", "stack_pages", "waiting_memory", "buffer", "buffers",
                  "call_memory", "overflow_memory"});
  return 0;
}

// The script that gdb sources: where it was installed, else in the source tree.
std::string gdb_script() {
  namespace fs = std::filesystem;
  const fs::path here = fs::path(machine::own_executable()).parent_path();
  for (const fs::path& folder :
       {here / ".." / SHOAL_DATA_FOLDER / "shoal" / "gdb", fs::path(SHOAL_SOURCE_DIR) / "tools" / "gdb"})
    if (fs::exists(folder / "shoal.py")) return (folder / "shoal.py").lexically_normal().string();
  throw error(errc::not_found, "the script for gdb is missing: install Shoal as a whole, or build it (./dev build)");
}

// The library's description of a network of one node.
std::string describe_library(const runtime::config& c) {
  try {
    machine::segment segment = machine::segment::create("shoal-info", machine::k_huge_page_bytes);
    segment.map();
    const auto network = runtime::open_network(c, 0, 1, segment, {.one_machine = true});
    return fmt::format("{}; a node's memory is registered {} times for {} domains ({} of {})", network->describe(),
                       network->registrations(), c.workers, machine::describe_bytes(network->registered_bytes()),
                       machine::describe_bytes(segment.capacity()));
  } catch (const error& e) {
    return fmt::format("not here: {}", e.what());
  }
}

std::string describe_library(const char* name) {
  auto s = runtime::all_settings();
  runtime::config c = runtime::read_config(s);
  c.workers = std::max(machine::topology::discover().usable_processors(), 1U);
  c.transport = name;
  return describe_library(c);
}

// What a library says of itself stands behind this, after whatever else it prints.
constexpr std::string_view k_mark = "library: ";

// By another process, since a library that finds no thread or memory may end the process.
std::string ask_for_library(const char* name) {
  constexpr std::int64_t k_patience_ns = 30'000'000'000;
  try {
    auto [ours, theirs] = machine::socket::pair();
    machine::spawn_request request;
    request.arguments = {machine::own_executable(), "info", "--transport", name};
    request.standard_output = theirs.descriptor();
    machine::child_process child = machine::spawn(request);
    theirs.close();
    std::string text;
    for (machine::poll_set ready;;) {
      std::array<std::byte, 4096> room;
      const machine::transfer got = ours.receive(room);
      if (got.state == machine::stream_state::closed) break;
      text.append(reinterpret_cast<const char*>(room.data()), got.bytes);
      ready.clear();
      ready.add(ours.descriptor(), true, false);
      if (got.state == machine::stream_state::blocked && !ready.wait(k_patience_ns)) {
        child.kill(SIGKILL);
        break;
      }
    }
    const machine::exit_status how = child.reap();
    const std::size_t at = text.rfind(k_mark);
    if (how.clean() && at != std::string::npos) {
      const std::size_t begin = at + k_mark.size();
      return text.substr(begin, text.find('\n', begin) - begin);
    }
    return fmt::format("not here: a process that asked its library {}; {}", machine::describe(how),
                       machine::describe_process_limits());
  } catch (const error& e) {
    return fmt::format("not here: {}", e.what());
  }
}

void print_transports() {
  rows lines{{"shm", "processes of one machine; shared memory without names"},
             {"inproc", "nodes in one process, for tests"}};
  for (const char* name : {"ucx", "mpi"}) lines.emplace_back(name, ask_for_library(name));
  print_section("transports", lines);
}

}  // namespace

subcommand_body declare_info(CLI::App& app) {
  const auto transport = std::make_shared<std::string>();
  app.add_option("--transport", *transport, "only what this transport's library says of itself")
      ->check(CLI::IsMember({"ucx", "mpi"}));
  const auto memory = std::make_shared<bool>(false);
  app.add_flag("--memory", *memory, "only what concerns memory: the machine's, memory nodes, pages, limits, settings")
      ->excludes("--transport");
  const auto mpi = std::make_shared<bool>(false);
  app.add_flag("--mpi", *mpi, "only which functions of MPI shoal mpirun's library has not yet")
      ->excludes("--transport")
      ->excludes("--memory");
  const auto gdb = std::make_shared<bool>(false);
  app.add_flag("--gdb", *gdb,
               "only the path of the script that shows gdb the tasks: gdb -x $(shoal info --gdb) ./program")
      ->excludes("--transport")
      ->excludes("--memory")
      ->excludes("--mpi");
  return [transport, memory, mpi, gdb] {
    if (*gdb) {
      fmt::print("{}\n", gdb_script());
      return 0;
    }
    if (*mpi) machine::become({find_mpi().host, "--functions"}, {});
    if (!transport->empty()) {
      const std::string said = describe_library(transport->c_str());
      fmt::print("\n{}{}\n", k_mark, said);
      return 0;
    }
    bench::machine_facts facts = bench::read_machine_facts();
    if (*memory) return show_memory(facts);
    fmt::print("shoal {}\n", SHOAL_VERSION);
    print_machine(facts);
    print_memory();
    print_pages(facts);
    print_transports();
    print_policies();
    print_settings();
    return 0;
  };
}

}  // namespace shoal::tools
