// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/checkpoint.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "bench/job.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "machine/file.hpp"
#include "machine/process.hpp"
#include "shoal/blocking.hpp"
#include "shoal/checkpoint.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"

namespace shoal::bench {
namespace {

struct checkpoint_options_given {
  measuring_options measuring;
  job_options job;
  std::string folder = ".";
  std::uint64_t bytes = std::uint64_t{1} << 30;
};

double seconds_since(std::uint64_t start_ns) { return static_cast<double>(base::now_ns() - start_ns) * 1e-9; }

// On a thread that may wait for the disk.
double write_plainly(const std::string& path, std::uint64_t bytes) {
  double took_s = 0;
  blocking([&] {
    std::vector<std::uint64_t> block((std::size_t{4} << 20) / sizeof(std::uint64_t));
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = mix64(i);
    const auto data = std::as_bytes(std::span{block});
    const std::uint64_t start_ns = base::now_ns();
    machine::file to(path, machine::file::purpose::replace);
    for (std::uint64_t at = 0; at < bytes; at += data.size())
      to.write_at(data.first(std::min<std::uint64_t>(data.size(), bytes - at)), at);
    to.sync();
    took_s = seconds_since(start_ns);
    machine::remove_file(path);
  });
  return took_s;
}

int run_checkpoint(const checkpoint_options_given& options) {
  report result("shoal bench checkpoint: checkpoints, and plain sequential writing to the same disk");
  result.parameter("nodes", node_count());
  result.parameter("bytes", options.bytes);
  result.parameter("folder", options.folder);
  result.begin(options.measuring);
  bool right = true;
  progress line(static_cast<std::size_t>(options.measuring.repeat));
  for (int repetition = 0; repetition < options.measuring.repeat; ++repetition) {
    line.show(static_cast<std::size_t>(repetition), "writing");
    const checkpoint_time t = measure_checkpoint(options.folder, options.bytes);
    const double mb = static_cast<double>(options.bytes) * 1e-6;
    result.record("plain_mb_s", "MB/s", mb / t.plain_s);
    result.record("checkpoint_mb_s", "MB/s", mb / t.save_s);
    result.record("checkpoint_to_plain", "ratio", t.plain_s / t.save_s);
    result.record("async_pause_ms", "ms", t.pause_s * 1e3);
    result.record("async_mb_s", "MB/s", mb / t.async_s);
    right &= t.right;
  }
  line.clear();
  result.check("restored", right, "every element was restored from the last checkpoint");
  return result.finish(options.measuring);
}

}  // namespace

checkpoint_time measure_checkpoint(const std::string& folder, std::uint64_t bytes) {
  const std::string own = fmt::format("{}/shoal-bench-{}", machine::absolute_path(folder), machine::own_pid());
  global_array<std::uint64_t> a(std::max<std::uint64_t>(bytes / sizeof(std::uint64_t), 1));
  parallel_for(owners_of(a), a.size(), [r = a.ref()](std::uint64_t i) { r.async_put(i, mix64(i)); });
  checkpoint_time t;
  {
    checkpoint saved(own, {.keep = 1});
    saved.add("a", a);
    const auto timed = [](double& took_s, auto&& f) {
      const std::uint64_t start_ns = base::now_ns();
      f();
      took_s = seconds_since(start_ns);
    };
    timed(t.save_s, [&] { saved.save(); });
    t.plain_s = write_plainly(own + "/plain", bytes);
    timed(t.async_s, [&] {
      timed(t.pause_s, [&] { saved.async_save(); });
      saved.wait();
    });
    a->fill(0);
    saved.restore({.always = true});
    t.right = parallel_reduce(
                  owners_of(a), a.size(), std::uint64_t{0},
                  [r = a.ref()](std::uint64_t i) { return r.get(i) == mix64(i) ? 0U : 1U; }, std::plus<>()) == 0;
  }
  blocking([&] { machine::remove_folder(own); });
  return t;
}

subcommand_body declare_checkpoint(CLI::App& app) {
  auto options = std::make_shared<checkpoint_options_given>();
  options->measuring.repeat = 3;
  add_measuring_options(app, options->measuring);
  add_job_options(app, options->job);
  app.add_option("--folder", options->folder, "an existing folder on the disk")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--bytes", options->bytes, "bytes of the array, on all nodes together")
      ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1} << 40))
      ->capture_default_str();
  return [options] { return run_as_job(options->job, [options] { return run_checkpoint(*options); }); };
}

}  // namespace shoal::bench
