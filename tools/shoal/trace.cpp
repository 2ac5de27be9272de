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

#include "base/setting_value.hpp"
#include "bench/report.hpp"
#include "machine/file.hpp"
#include "machine/library.hpp"
#include "machine/mapped_file.hpp"
#include "machine/process.hpp"
#include "machine/program_end.hpp"
#include "machine/signals.hpp"
#include "machine/topology.hpp"
#include "noise/measurement.hpp"
#include "runtime/profile_report.hpp"
#include "runtime/trace_names.hpp"
#include "runtime/trace_recording.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/subcommands.hpp"
#include "tools/shoal/trace_kernel.hpp"
#include "trace/flame.hpp"
#include "trace/otf2_writer.hpp"
#include "trace/timeline_output.hpp"

namespace shoal::tools {
namespace {

struct trace_options {
  std::string folder;
  bool folder_is_named = false;
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

machine::exit_status run_traced(const trace_options& o, const machine::interruption& stop) {
  machine::spawn_request request;
  request.arguments = o.program;
  request.environment = environment_of(o);
  machine::child_process program = machine::spawn(request);
  machine::program_end(program, &stop).wait(-1);
  return program.reap();
}

noise::measurement run_with_kernel(const trace_options& o, const machine::interruption& stop) {
  noise::measurement_request request;
  request.program = o.program;
  request.environment = environment_of(o);
  request.stop = &stop;
  const auto machine = machine::topology::discover();
  for (const machine::processor& p : machine.processors()) request.all_processors.push_back(p.pu);
  return noise::measure(request);
}

std::string kernel_file(const trace_options& o) { return fmt::format("{}/{}", o.folder, k_kernel_file); }

// What a run with --kernel has left in the folder.
std::vector<kernel_part> kept_kernel(const trace_options& o) {
  const std::string path = kernel_file(o);
  if (std::filesystem::exists(path)) {
    const auto mapped = machine::mapped_file::read(path);
    return read_kernel_text({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()}, path);
  }
  if (o.kernel)
    throw error(
        errc::not_found,
        fmt::format("the folder {} has no events of the kernel; run the program with --kernel, as root", o.folder));
  return {};
}

struct traced_run {
  int status = 0;   // of the command, too
  std::string end;  // how it ended, if not in order
};

// Runs the program; adds what the kernel did, if that is asked for.
traced_run run_program(const trace_options& o, std::vector<kernel_part>& kernel) {
  const machine::interruption stop;
  machine::exit_status end;
  if (o.kernel) {
    const noise::measurement m = run_with_kernel(o, stop);
    end = *m.program_end;
    if (m.has_events) {
      kernel = kernel_parts(m);
      runtime::write_whole_file(kernel_file(o), "what the kernel did", kernel_text(kernel));
    } else {
      fmt::print(stderr, "without the kernel's events: {}\n", m.why_no_events);
    }
  } else {
    end = run_traced(o, stop);
  }
  if (stop.signal() != 0) return {machine::exit_status{0, stop.signal()}.shell_code(), "the program was interrupted"};
  if (end.clean()) return {};
  return {end.shell_code(), machine::describe_program(end)};
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
  for (const auto& one : std::filesystem::directory_iterator(folder))
    if (one.path().extension() == ".trace" || one.path().filename() == k_kernel_file)
      std::filesystem::remove(one.path());
}

// Made, and held against other runs until the result goes; nothing: another run has it.
std::optional<machine::file> take_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw error(errc::system, fmt::format("the folder {} cannot be made: {}", folder, failed.message()));
  machine::file lock(folder + "/lock", machine::file::purpose::make);
  if (!lock.try_lock()) return std::nullopt;
  return lock;
}

// If another run that goes on has the folder, one that was not named gives way to the next free one.
machine::file own_folder(trace_options& o) {
  constexpr int k_most = 1000;
  const std::string wanted = o.folder;
  for (int n = 2; n < k_most; ++n) {
    if (auto held = take_folder(o.folder)) {
      if (o.folder != wanted)
        fmt::print(stderr, "another run writes into the folder {}: the traces of this one are in {}\n", wanted,
                   o.folder);
      return std::move(*held);
    }
    if (o.folder_is_named) break;
    o.folder = fmt::format("{}-{}", wanted, n);
  }
  throw error(errc::invalid_argument,
              fmt::format("another run of `shoal trace` writes into the folder {}; give another --folder", wanted));
}

void check(const trace_options& o) {
  if (o.read != o.program.empty())
    throw error(errc::invalid_argument, "give a program after --, or --read to show what --folder has");
  for (const std::string& file : {o.page, o.json, o.folded}) bench::require_writable(file, "the result");
  if (!o.paraver.empty()) bench::require_writable(o.paraver + ".prv", "the result");
  if (!o.otf2.empty() && std::filesystem::exists(o.otf2))
    throw error(errc::invalid_argument, fmt::format("{} exists: OTF2 is written into a new folder", o.otf2));
  if (!o.folded.empty() && !o.read && !o.samples)
    throw error(errc::invalid_argument, "--folded writes samples: give --samples, too");
}

// Of a folder that is read.
void check_samples(const trace_options& o, const std::vector<trace::node_trace>& nodes) {
  if (!o.samples && o.folded.empty()) return;
  const auto has_any = [](const trace::node_trace& n) { return !n.samples.empty() || n.ns_without_room > 0; };
  if (std::ranges::none_of(nodes, has_any))
    throw error(errc::not_found,
                fmt::format("the traces in {} have no samples; run the program with --samples", o.folder));
}

// "" if the value may be given to the setting.
std::string judge_events(const std::string& text) {
  const auto& table = runtime::k_trace_settings.settings;
  const auto setting = std::ranges::find(table, "trace_events", &base::setting::name);
  if (base::is_acceptable(*setting, text)) return {};
  return fmt::format("'{}' is no number of events from {} to {}; write 4096, 256K or 4M, for instance", text,
                     setting->min, setting->max);
}

void write_results(const trace_options& o, const trace::timeline& t, trace::otf2_function otf2) {
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
}

int run_trace(trace_options& o) {
  check(o);
  const trace::otf2_function otf2 = o.otf2.empty() ? nullptr : otf2_writer();
  traced_run run;
  std::vector<kernel_part> kernel;
  std::optional<machine::file> held;
  if (!o.read) {
    held = own_folder(o);
    clear_folder(o.folder);
    run = run_program(o, kernel);
    if (!run.end.empty()) fmt::print(stderr, "shoal trace: {}\n", run.end);
  }
  const auto nodes = read_folder(o.folder);
  if (nodes.empty()) {
    if (o.read) throw error(errc::not_found, fmt::format("the folder {} has no trace", o.folder));
    constexpr std::string_view k_why =
        "the program has left no trace: it has not started Shoal, or its settings were read before (SHOAL_TRACE)";
    if (run.status == 0) throw error(errc::not_found, std::string(k_why));
    fmt::print(stderr, "{}\n", k_why);
    return run.status;
  }
  if (!run.end.empty()) fmt::print(stderr, "its trace up to there follows\n");
  if (o.read) {
    check_samples(o, nodes);
    kernel = kept_kernel(o);
  }
  trace::timeline t = trace::make_timeline(nodes);
  add_kernel_parts(t, kernel);
  std::fputs(trace::timeline_text(t).c_str(), stdout);
  write_results(o, t, otf2);
  return run.status;
}

}  // namespace

subcommand_body declare_trace(CLI::App& app) {
  auto o = std::make_shared<trace_options>();
  o->folder = "shoal-trace";
  const CLI::Option* const folder =
      app.add_option("--folder", o->folder,
                     "where the traces of the nodes are written; what is there is replaced (default: if another run "
                     "writes there, shoal-trace-2 and so on)")
          ->capture_default_str();
  app.add_flag("--read", o->read, "run nothing; show the trace that is in the folder");
  app.add_flag("--kernel", o->kernel,
               "with what the kernel took from the workers (as root; see `shoal noise`); --read shows it again");
  app.add_flag("--samples", o->samples,
               "also sample the workers' stacks: a flame graph in the page, functions with the most time");
  app.add_option("--folded", o->folded, "write the sampled stacks as lines for flamegraph.pl, speedscope or inferno")
      ->type_name("FILE");
  app.add_option("--events", o->events, "how many events of each worker are kept, as in 4M (default 256K)")
      ->check(CLI::Validator([](std::string& text) { return judge_events(text); }, "EVENTS"))
      ->type_name("");
  app.add_option("--full", o->full, "when there are more: overwrite (default) keeps the newest, stop the oldest")
      ->check(CLI::IsMember({"overwrite", "stop"}));
  app.add_option("--report", o->page, "write a page for a browser (HTML)")->type_name("FILE");
  app.add_option("--perfetto", o->json, "write JSON for ui.perfetto.dev and chrome://tracing")->type_name("FILE");
  app.add_option("--paraver", o->paraver, "write NAME.prv, NAME.pcf and NAME.row for Paraver")->type_name("NAME");
  app.add_option("--otf2", o->otf2, "write OTF2, the open trace format, into a new folder")->type_name("FOLDER");
  app.add_option("program", o->program, "the program and its arguments, after --");
  app.positionals_at_end();
  return [o, folder] {
    o->folder_is_named = folder->count() > 0;
    return run_trace(*o);
  };
}

}  // namespace shoal::tools
