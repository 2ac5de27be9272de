// SPDX-License-Identifier: Apache-2.0
// shoal trace: runs a program with a trace of its workers, or reads one, and shows it.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report.hpp"
#include "machine/library.hpp"
#include "machine/mapped_file.hpp"
#include "machine/process.hpp"
#include "machine/topology.hpp"
#include "noise/measurement.hpp"
#include "noise/summary.hpp"
#include "runtime/profile_report.hpp"
#include "runtime/trace_names.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/subcommands.hpp"
#include "trace/flame.hpp"
#include "trace/otf2_writer.hpp"
#include "trace/timeline_output.hpp"

namespace shoal::tools {
namespace {

struct trace_options {
  std::string folder;
  bool read = false;
  bool kernel = false;
  bool samples = false;
  std::string events;
  std::string full;
  std::string page;
  std::string json;
  std::string paraver;
  std::string otf2;
  std::string folded;
  std::vector<std::string> program;
};

std::vector<trace::node_trace> read_folder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& one : std::filesystem::directory_iterator(folder, failed))
    if (one.path().extension() == ".trace") files.push_back(one.path().string());
  if (failed) throw error(errc::not_found, fmt::format("the folder {} cannot be read: {}", folder, failed.message()));
  std::ranges::sort(files);
  // "node-0-1234-0.trace": of a job each node is one process.
  std::map<std::string, std::string> process_of;
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).stem().string();
    const std::size_t number = name.find('-', 5);
    const std::string process = number == std::string::npos ? "" : name.substr(number, name.rfind('-') - number);
    const auto [at, is_new] = process_of.try_emplace(name.substr(0, number), process);
    if (at->second != process)
      throw error(
          errc::bad_input,
          fmt::format("the folder {} has traces of several runs; remove those of the others, as {}", folder, file));
  }
  std::vector<trace::node_trace> nodes;
  for (const std::string& file : files) {
    const auto mapped = machine::mapped_file::read(file);
    nodes.push_back(trace::read_trace(mapped.bytes(), file));
    runtime::name_code(nodes.back());
  }
  std::ranges::stable_sort(nodes, {}, [](const trace::node_trace& t) { return t.form.node; });
  return nodes;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%d/%m/%Y at %H:%M}", fmt::localtime(now));
}

std::vector<std::string> environment_of(const trace_options& o) {
  std::vector<std::string> all{"SHOAL_TRACE=" + std::filesystem::absolute(o.folder).string()};
  if (!o.events.empty()) all.push_back("SHOAL_TRACE_EVENTS=" + o.events);
  if (!o.full.empty()) all.push_back("SHOAL_TRACE_FULL=" + o.full);
  if (o.samples) all.push_back("SHOAL_TRACE_SAMPLES=on");
  return all;
}

machine::exit_status run_traced(const trace_options& o) {
  machine::spawn_request request;
  request.arguments = o.program;
  request.environment = environment_of(o);
  return machine::spawn(request).reap();
}

noise::measurement run_with_kernel(const trace_options& o) {
  noise::measurement_request request;
  request.program = o.program;
  request.environment = environment_of(o);
  const auto machine = machine::topology::discover();
  for (const machine::processor& p : machine.processors()) request.all_processors.push_back(p.pu);
  return noise::measure(request);
}

void add_kernel(trace::timeline& t, const noise::measurement& m) {
  for (const noise::interruption& i : m.record.interruptions)
    for (const noise::interruption_part& p : i.parts)
      trace::add_kernel_slice(t, static_cast<std::uint32_t>(i.thread), p.begin_ns, p.ns,
                              noise::describe(p.what, p.detail, m.words));
  for (trace::track& one : t.tracks) std::ranges::stable_sort(one.kernel, {}, &trace::kernel_slice::begin_ns);
}

// The plugin that writes OTF2; before the program runs, so that nobody waits for nothing.
trace::otf2_function otf2_writer() {
  for (const std::string& folder : machine::plugin_folders("")) {
    const std::filesystem::path file = std::filesystem::path(folder) / trace::k_otf2_plugin;
    if (std::error_code ignored; !std::filesystem::is_regular_file(file, ignored)) continue;
    void* const plugin = machine::load_library(file.string(), false);
    const auto* const version = static_cast<const char*>(machine::find_symbol(plugin, trace::k_otf2_version));
    void* const found = machine::find_symbol(plugin, trace::k_otf2_function);
    if (found == nullptr || version == nullptr || std::string_view(version) != SHOAL_VERSION)
      throw error(errc::mismatch, fmt::format("{} is of another Shoal than {}; build and install both together",
                                              file.string(), SHOAL_VERSION));
    return reinterpret_cast<trace::otf2_function>(found);
  }
  throw error(errc::unsupported,
              "this build does not write OTF2; install its library (Debian: libotf2-trace-dev), and "
              "build again");
}

void write_otf2(trace::otf2_function write, const trace::timeline& t, const std::string& folder) {
  std::array<char, 500> why_not{};
  if (!write(t, folder.c_str(), why_not.data(), why_not.size()))
    throw error(errc::system,
                fmt::format("the trace cannot be written to {} as OTF2: {}; give a folder that does not exist", folder,
                            why_not.data()));
  fmt::print("{}/shoal.otf2 is for Vampir, Score-P's tools and otf2-print\n", folder);
}

// What an earlier run has left there would be taken for a part of this one.
void clear_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw error(errc::system, fmt::format("the folder {} cannot be made: {}", folder, failed.message()));
  for (const auto& one : std::filesystem::directory_iterator(folder))
    if (one.path().extension() == ".trace") std::filesystem::remove(one.path());
}

int run_trace(const trace_options& o) {
  if (o.read != o.program.empty())
    throw error(errc::invalid_argument, "give a program after --, or --read to show what --folder has");
  for (const std::string& file : {o.page, o.json, o.folded}) bench::require_writable(file, "the result");
  if (!o.paraver.empty()) bench::require_writable(o.paraver + ".prv", "the result");
  if (!o.otf2.empty() && std::filesystem::exists(o.otf2))
    throw error(errc::invalid_argument, fmt::format("{} exists: OTF2 is written into a new folder", o.otf2));
  const trace::otf2_function otf2 = o.otf2.empty() ? nullptr : otf2_writer();
  if (!o.folded.empty() && !o.read && !o.samples)
    throw error(errc::invalid_argument, "--folded writes samples: give --samples, too");
  if (o.read && o.samples)
    throw error(errc::invalid_argument, "--samples needs a run: samples are taken while it runs");
  if (o.read && o.kernel) throw error(errc::invalid_argument, "--kernel needs a run: what the kernel did is not kept");
  int status = 0;
  std::optional<noise::measurement> kernel;
  if (!o.read) {
    clear_folder(o.folder);
    if (o.kernel) kernel.emplace(run_with_kernel(o));
    const machine::exit_status end = kernel ? *kernel->program_end : run_traced(o);
    status = end.shell_code();
    if (!end.clean())
      fmt::print(stderr, "shoal trace: the program {}; its trace up to there follows\n", machine::describe(end));
  }
  const auto nodes = read_folder(o.folder);
  if (nodes.empty())
    throw error(errc::not_found,
                o.read
                    ? fmt::format("the folder {} has no trace", o.folder)
                    : std::string("the program has left no trace: it has not started Shoal, or its settings were read "
                                  "before (SHOAL_TRACE)"));
  trace::timeline t = trace::make_timeline(nodes);
  if (kernel && !kernel->has_events) fmt::print(stderr, "without the kernel's events: {}\n", kernel->why_no_events);
  if (kernel) add_kernel(t, *kernel);
  std::fputs(trace::timeline_text(t).c_str(), stdout);
  if (!o.page.empty()) {
    runtime::write_whole_file(o.page, "the page", trace::timeline_page(t));
    fmt::print("the page is {}: open it in a browser\n", o.page);
  }
  if (!o.json.empty()) {
    runtime::write_whole_file(o.json, "the trace", trace::timeline_json(t));
    fmt::print("{}: open it at ui.perfetto.dev or chrome://tracing\n", o.json);
  }
  if (!o.paraver.empty()) {
    const trace::paraver_files files = trace::timeline_paraver(t, today());
    runtime::write_whole_file(o.paraver + ".prv", "the trace", files.prv);
    runtime::write_whole_file(o.paraver + ".pcf", "the trace", files.pcf);
    runtime::write_whole_file(o.paraver + ".row", "the trace", files.row);
    fmt::print("{0}.prv, {0}.pcf and {0}.row are for Paraver\n", o.paraver);
  }
  if (!o.folded.empty()) {
    if (t.stacks.empty()) fmt::print(stderr, "{} is empty: there are no samples\n", o.folded);
    runtime::write_whole_file(o.folded, "the stacks", trace::folded_stacks(t));
  }
  if (otf2 != nullptr) write_otf2(otf2, t, o.otf2);
  return status;
}

}  // namespace

subcommand_body declare_trace(CLI::App& app) {
  auto o = std::make_shared<trace_options>();
  o->folder = "shoal-trace";
  app.add_option("--folder", o->folder, "where the traces of the nodes are written; what is there is replaced")
      ->capture_default_str();
  app.add_flag("--read", o->read, "run nothing; show the trace that is in the folder");
  app.add_flag("--kernel", o->kernel, "with what the kernel took from the workers (as root; see `shoal noise`)");
  app.add_flag("--samples", o->samples,
               "also sample the workers' stacks: a flame graph in the page, functions with the most time");
  app.add_option("--folded", o->folded, "write the sampled stacks as lines for flamegraph.pl, speedscope or inferno")
      ->type_name("FILE");
  app.add_option("--events", o->events, "how many events of each worker are kept, as in 4M (default 256K)");
  app.add_option("--full", o->full, "when there are more: overwrite (default) keeps the newest, stop the oldest")
      ->check(CLI::IsMember({"overwrite", "stop"}));
  app.add_option("--report", o->page, "write a page for a browser (HTML)")->type_name("FILE");
  app.add_option("--perfetto", o->json, "write JSON for ui.perfetto.dev and chrome://tracing")->type_name("FILE");
  app.add_option("--paraver", o->paraver, "write NAME.prv, NAME.pcf and NAME.row for Paraver")->type_name("NAME");
  app.add_option("--otf2", o->otf2, "write OTF2, the open trace format, into a new folder")->type_name("FOLDER");
  app.add_option("program", o->program, "the program and its arguments, after --");
  app.positionals_at_end();
  return [o] { return run_trace(*o); };
}

}  // namespace shoal::tools
