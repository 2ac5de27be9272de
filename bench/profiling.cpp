// SPDX-License-Identifier: Apache-2.0
#include "bench/profiling.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/settings.hpp"
#include "bench/real_range.hpp"
#include "runtime/config.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::bench {
namespace {

// Replaces each group of `every` values by its mean; drops the rest at the end.
void thin(std::vector<std::uint32_t>& values, std::size_t every) {
  const std::size_t kept = values.size() / every;
  for (std::size_t i = 0; i < kept; ++i) {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < every; ++k) sum += values[i * every + k];
    values[i] = static_cast<std::uint32_t>((sum + every / 2) / every);
  }
  values.resize(kept);
}

void thin_to(profile& p, double interval_seconds) {
  const auto every = static_cast<std::size_t>(std::llround(interval_seconds / p.interval_seconds));
  if (every > 1) {
    thin(p.running, every);
    thin(p.offered, every);
  }
  p.interval_seconds = interval_seconds;
}

}  // namespace

void profile_choice::apply(base::settings& s) const {
  const auto set = [&s](const char* name, const std::string& value) {
    s.set(name, value, base::setting_origin::command_line);
  };
  if (on) set("profile", "on");
  if (!json.empty()) set("profile_json", json);
  if (!picture.empty()) set("profile_picture", picture);
  if (serial_seconds > 0) set("profile_serial_seconds", fmt::format("{}", serial_seconds));
}

void add_profile_options(CLI::App& app, profile_choice& choice) {
  app.add_flag("--profile", choice.on, "print a profile of the workers' time, on standard error at the end");
  app.add_option("--profile-json", choice.json,
                 "write it as a JSON object; with several nodes one FILE each, with .0, .1, ... before its last dot")
      ->type_name("FILE");
  app.add_option("--profile-picture", choice.picture, "write it as a picture (SVG), named likewise")->type_name("FILE");
  app.add_option("--profile-serial", choice.serial_seconds,
                 "time of the same work without tasks; shows the additional time with tasks (one node)")
      ->type_name("SECONDS")
      ->check(real_range(1e-9, 1e9));
}

void append(profile& to, const profile& next) {
  SHOAL_ASSERT(to.workers.size() == next.workers.size(), "profiles of pools of different sizes are not one profile");
  profile more = next;
  const double interval = std::max(to.interval_seconds, more.interval_seconds);
  if (interval > 0) {
    thin_to(to, interval);
    thin_to(more, interval);
  }
  to.running.insert(to.running.end(), more.running.begin(), more.running.end());
  to.offered.insert(to.offered.end(), more.offered.begin(), more.offered.end());
  constexpr std::size_t k_most_samples = 8192;
  while (to.running.size() > k_most_samples) thin_to(to, 2 * to.interval_seconds);
  to.wall_seconds += more.wall_seconds;
  if (to.serial_seconds && more.serial_seconds) *to.serial_seconds += *more.serial_seconds;
  for (std::size_t i = 0; i < to.workers.size(); ++i) {
    profile pair;
    pair.workers = {to.workers[i], more.workers[i]};
    to.workers[i] = pair.total();
  }
}

profile_collector::profile_collector(const profile_choice& choice) {
  auto s = runtime::all_settings();
  choice.apply(s);
  s.check();
  wish_ = runtime::read_config(s).profiling;
  files_ = runtime::claim_profile_files(wish_, 0, 1);
}

void profile_collector::add(const profile& p) {
  if (all_)
    append(*all_, p);
  else
    all_ = p;
}

void profile_collector::finish() const {
  if (all_) runtime::report_profile(*all_, files_, 0, 1);
}

}  // namespace shoal::bench
