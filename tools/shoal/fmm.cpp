// SPDX-License-Identifier: Apache-2.0
// `shoal fmm`: the fast multipole method in five forms of tasks, side by side: time, speed-up over one cell after the
// other, where the workers' time goes, and how many of them work over time. Compared with sums over all bodies.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/subcommand.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/subcommands.hpp"

#ifdef SHOAL_HAS_FMM

#include "base/clock.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "kernels/fmm/check.hpp"
#include "kernels/fmm/forms.hpp"
#include "runtime/profile_report.hpp"
#include "shoal/profile.hpp"
#include "tools/shoal/fmm_picture.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct fmm_options {
  std::uint64_t bodies = 100'000;
  std::string distribution = "uniform";
  int order = 6;
  unsigned leaf_bodies = 60;
  std::vector<std::string> forms;
  unsigned tile = 32;
  std::size_t block = 16;
  std::vector<unsigned> workers;
  std::uint64_t seed = 1;
  int repeat = 3;
  bool validate = true;
  std::string json;
  std::string picture;
};

std::vector<const fmm::form*> chosen_forms(const std::vector<std::string>& names) {
  std::vector<const fmm::form*> all;
  for (const fmm::form& f : fmm::forms())
    if (names.empty() || std::ranges::find(names, f.name) != names.end()) all.push_back(&f);
  for (const std::string& name : names) {
    if (std::ranges::find(fmm::forms(), name, &fmm::form::name) != fmm::forms().end()) continue;
    std::string known;
    for (const fmm::form& f : fmm::forms()) known += fmt::format("{}{}", known.empty() ? "" : ", ", f.name);
    throw error(errc::invalid_argument, fmt::format("--form {}: there are {}", name, known));
  }
  return all;
}

// Each point more per edge is nearly a digit more, as far as doubles go.
double most_error(int order) { return std::max(std::pow(10.0, 1 - order), 1e-8); }

profile measure(fmm::steps& s, const fmm::form& f, const fmm::form_options& how, unsigned workers,
                double serial_seconds) {
  profile measured;
  bench::run_on_workers(workers, [&] {
    profile_options options;
    if (serial_seconds > 0) options.serial_seconds = serial_seconds;
    options.interval_seconds = std::clamp(serial_seconds / workers / 100, 1e-4, 5e-3);
    profile_span span = begin_profile(options);
    f.run(s, how);
    measured = span.end();
  });
  return measured;
}

double serial_seconds(fmm::steps& s, int repeat) {
  std::vector<double> seconds;
  for (int i = 0; i <= repeat; ++i) {  // the first touches the memory
    const std::uint64_t begun = base::now_ns();
    fmm::forms().front().run(s, {});
    seconds.push_back(static_cast<double>(base::now_ns() - begun) * 1e-9);
  }
  std::sort(seconds.begin() + 1, seconds.end());
  return seconds[1 + static_cast<std::size_t>(repeat - 1) / 2];
}

int run_fmm(fmm_options o) {
  bench::check_settings();
  const std::vector<const fmm::form*> forms = chosen_forms(o.forms);
  if (o.workers.empty()) o.workers = {bench::default_workers()};
  if (!o.picture.empty()) bench::require_writable(o.picture, "the picture");
  bench::report result("shoal fmm: the fast multipole method in several forms of tasks");
  for (const auto& [name, value] : {std::pair<const char*, std::int64_t>{"bodies", static_cast<std::int64_t>(o.bodies)},
                                    {"order", o.order},
                                    {"leaf_bodies", o.leaf_bodies},
                                    {"tile", o.tile},
                                    {"block", static_cast<std::int64_t>(o.block)},
                                    {"seed", static_cast<std::int64_t>(o.seed)}})
    result.parameter(name, value);
  result.parameter("distribution", o.distribution);

  const std::uint64_t begun = base::now_ns();
  const fmm::tree tree(fmm::make_bodies(o.distribution, o.bodies, o.seed), o.leaf_bodies);
  const fmm::operators maps(o.order);
  const fmm::tiling tiles(tree, o.tile);
  fmm::steps steps(tree, maps);
  result.record("construction_s", "s", static_cast<double>(base::now_ns() - begun) * 1e-9);
  result.parameter("cells", tree.cells.size());
  result.parameter("levels", tree.depth() + 1);
  const bench::measuring_options measuring{.repeat = o.repeat, .seconds = 0, .json = o.json};
  result.begin(measuring);

  bench::progress line(1 + forms.size() * o.workers.size() * static_cast<std::size_t>(o.repeat));
  line.show(0, "one cell after the other");
  const double serial = serial_seconds(steps, o.repeat);
  result.record("serial_s", "s", serial);
  std::vector<fmm_row> rows;
  for (const unsigned workers : o.workers)
    for (const fmm::form* f : forms)
      if (f != &fmm::forms().front()) rows.push_back({std::string(f->name), workers, {}});
  std::optional<fmm::potential_check> sums;
  if (o.validate) sums.emplace(tree.sorted);
  const auto check = [&](std::string_view form) {
    if (!sums) return;
    const double error = sums->error_of(steps);
    result.record("error", "", error);
    result.check("validated", error <= most_error(o.order),
                 fmt::format("{}: a relative error of {:.2e}; order {} is to have {:.0e}", form, error, o.order,
                             most_error(o.order)));
  };
  check("serial");
  std::size_t done = 1;
  std::vector<std::vector<profile>> all(rows.size());
  for (int i = 0; i < o.repeat; ++i)
    for (std::size_t k = 0; k < rows.size(); ++k) {
      line.show(done++, fmt::format("{} with {} workers", rows[k].form, rows[k].workers));
      const auto f = std::ranges::find(fmm::forms(), rows[k].form, &fmm::form::name);
      steps.forget();
      all[k].push_back(measure(steps, *f, {&tiles, o.block}, rows[k].workers, serial));
      result.record(fmt::format("time_s_{}_{}", rows[k].form, rows[k].workers), "s", all[k].back().wall_seconds);
      check(rows[k].form);
    }
  line.clear();
  double best = rows.empty() ? serial : std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::ranges::sort(all[k], {}, &profile::wall_seconds);
    rows[k].measured = all[k][(all[k].size() - 1) / 2];  // the whole of that run
    best = std::min(best, rows[k].measured.wall_seconds);
  }
  result.record("time_s", "s", best);
  result.record("rate", "Mbodies/s", static_cast<double>(o.bodies) / best * 1e-6);
  fmt::print(o.json == "-" ? stderr : stdout, "{}\n", fmm_table(rows, serial));
  if (!o.picture.empty()) runtime::write_whole_file(o.picture, "the picture", fmm_picture(rows, serial));
  return result.finish(measuring);
}

}  // namespace

subcommand_body declare_fmm(CLI::App& app) {
  auto o = std::make_shared<fmm_options>();
  app.add_option("--bodies", o->bodies, "number of bodies")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31))
      ->capture_default_str();
  app.add_option("--distribution", o->distribution, "where they are")
      ->check(CLI::IsMember({"uniform", "ellipsoid"}))
      ->capture_default_str();
  app.add_option("--order", o->order, "points per edge of a cell's surfaces: 4, 6, 8 are about 4, 6, 7 digits")
      ->check(CLI::Range(2, 12))
      ->capture_default_str();
  app.add_option("--leaf", o->leaf_bodies, "most bodies of a leaf")
      ->check(CLI::Range(1U, 1U << 20))
      ->capture_default_str();
  std::string known;
  for (const fmm::form& f : fmm::forms()) known += fmt::format("\n{:<11} {}", f.name, f.what);
  app.add_option("--form", o->forms, "which forms, with commas between (default: all):" + known)->delimiter(',');
  app.add_option("--tile", o->tile, "cells per task of the tiled forms")
      ->check(CLI::Range(1U, 4096U))
      ->capture_default_str();
  app.add_option("--block", o->block, "groups of eight frequencies that the tiled forms multiply at a time; 0: all")
      ->check(CLI::Range(0U, 4096U))
      ->capture_default_str();
  app.add_option("-w,--workers", o->workers, "numbers of workers (default: as many as a job on one node)")
      ->delimiter(',')
      ->check(CLI::Range(1U, 1024U));
  app.add_option("--seed", o->seed, "of the bodies")->capture_default_str();
  app.add_option("--repeat", o->repeat, "runs of each form, in turns")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--validate,!--no-validate", o->validate, "compare with sums over all bodies (default)");
  app.add_option("--json", o->json, "write the result as JSON; -: to standard output")->type_name("FILE");
  app.add_option("--picture", o->picture, "draw shares of time and parallelism over time (SVG)")->type_name("FILE");
  return [o] { return run_fmm(*o); };
}

}  // namespace shoal::tools

#else

namespace shoal::tools {

subcommand_body declare_fmm(CLI::App& app) {
  app.prefix_command();
  return []() -> int {
    throw error(
        errc::unsupported,
        "this command was built without the fast multipole method; install FFTW and Eigen (Debian: libfftw3-dev "
        "libeigen3-dev), and build again");
  };
}

}  // namespace shoal::tools

#endif
