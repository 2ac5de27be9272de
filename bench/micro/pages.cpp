// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/pages.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "machine/hardware_counter.hpp"
#include "machine/memory_info.hpp"
#include "machine/topology.hpp"
#include "runtime/job.hpp"
#include "runtime/profile_report.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

struct pages_options {
  measuring_options measuring;
  std::size_t least_mb = 1;
  std::size_t most_mb = 256;
  bool no_kernels = false;
  std::string picture;
};

// The largest workload, randperm, has arrays of 1.5 tables, and its check another quarter.
constexpr std::uint64_t k_most_arrays = 2;

void require_of_pool(std::size_t page_bytes, std::uint64_t bytes) {
  if (page_bytes == 0) return;
  const machine::page_pool pool = machine::read_page_pool(page_bytes);
  const std::uint64_t need = (bytes + page_bytes - 1) / page_bytes;
  if (need > pool.free_pages)
    throw error(errc::out_of_memory, fmt::format("tables of this size take {} such pages, and {} are free in the pool; "
                                                 "lower --max-mb or reserve more",
                                                 need, pool.free_pages));
}

// Which of k_page_sizes this machine has for all workloads; why not the others.
struct page_sizes_here {
  std::vector<std::size_t> there;
  std::string missing;
};

page_sizes_here find_page_sizes(const pages_options& o) {
  page_sizes_here found;
  for (std::size_t k = 0; k < k_page_sizes.size(); ++k) {
    const machine::page_choice pages = k_page_sizes[k];
    try {
      if (pages != machine::page_choice::small) {
        const machine::page_plan plan = machine::plan_pages(pages, machine::private_page_facts(), "a table");
        require_of_pool(plan.pool_page_bytes, k_most_arrays * (std::uint64_t{o.most_mb} << 20));
      }
      found.there.push_back(k);
    } catch (const error& e) {
      found.missing += fmt::format("no measurements with {}: {}\n", to_string(pages), e.what());
    }
  }
  return found;
}

std::string metric_name(std::size_t workload, std::size_t k, std::size_t bytes, const char* of = "") {
  return fmt::format("{}{}_{}_{}mb", of, k_page_workloads[workload].name, to_string(k_page_sizes[k]), bytes >> 20);
}

void record_sample(report& result, std::size_t workload, std::size_t k, std::size_t bytes, const page_sample& s) {
  result.record(metric_name(workload, k, bytes), k_page_workloads[workload].unit, s.value);
  if (s.misses) result.record(metric_name(workload, k, bytes, "tlb_misses_"), "", *s.misses);
  if (k != 0) result.record(metric_name(workload, k, bytes, "given_"), "%", s.given * 100);
  if (workload < k_page_loops)
    result.check("sums", s.right, "each table has what was written into it");
  else
    result.check("kernels", s.right, "each kernel's result is right");
  result.check("small_pages", k != 0 || s.given == 0, "no memory of 4k is on larger pages");
}

page_row row_of(const report& result, std::size_t bytes) {
  page_row row;
  row.bytes = bytes;
  for (std::size_t w = 0; w < k_page_workloads.size(); ++w) {
    for (std::size_t k = 0; k < k_page_sizes.size(); ++k) {
      page_cell& cell = row.cells[w][k];
      if (const metric* const m = result.find_metric(metric_name(w, k, bytes))) cell.value = m->median();
      if (const metric* const m = result.find_metric(metric_name(w, k, bytes, "tlb_misses_")))
        cell.misses = m->median();
      if (const metric* const m = result.find_metric(metric_name(w, k, bytes, "given_"))) cell.given = m->min() / 100;
    }
  }
  return row;
}

// Each loop on all sizes in turn, so that a disturbance meets them alike.
void measure_loops(report& result, const std::vector<std::size_t>& sizes, const std::vector<page_loops>& loops,
                   std::size_t bytes, double seconds) {
  const machine::affinity_scope keeps;
  machine::pin_this_thread(machine::topology::discover().choose(1, 0, 1).pus.front());
  for (std::size_t w = 0; w < k_page_loops; ++w)
    for (std::size_t i = 0; i < sizes.size(); ++i) record_sample(result, w, sizes[i], bytes, loops[i].run(w, seconds));
}

void measure_kernels(report& result, const pages_options& o, std::size_t k, std::size_t bytes) {
  const auto kernels = run_page_kernels(bytes, k_page_sizes[k], o.measuring.seconds);
  for (std::size_t w = 0; w < kernels.size(); ++w) record_sample(result, k_page_loops + w, k, bytes, kernels[w]);
}

int run_pages(const pages_options& o) {
  if (o.most_mb < o.least_mb) throw error(errc::invalid_argument, "--max-mb is less than --min-mb");
  if (!o.no_kernels && runtime::is_launched())
    throw error(errc::invalid_argument, "shoal bench pages starts its own jobs; start it without a launcher");
  if (!o.picture.empty()) require_writable(o.picture, "the picture");
  machine::require_memory(k_most_arrays * (std::uint64_t{o.most_mb} << 20), "the tables");
  report result("shoal bench pages: loops and kernels on pages of 4 KiB, 2 MiB and 1 GiB");
  result.parameter("min_mb", o.least_mb);
  result.parameter("max_mb", o.most_mb);
  result.parameter("kernels", !o.no_kernels);
  const page_sizes_here sizes = find_page_sizes(o);
  const std::string no_counter = machine::hardware_counter::of_tlb_misses().why_not();
  result.parameter("tlb_counter", no_counter.empty());
  result.begin(o.measuring);
  std::vector<std::size_t> tables;
  for (std::size_t mb = o.least_mb; mb <= o.most_mb; mb *= 4) tables.push_back(mb << 20);
  progress line(tables.size() * 2 * static_cast<std::size_t>(o.measuring.repeat));
  std::vector<page_row> rows;
  std::size_t done = 0;
  for (const std::size_t bytes : tables) {
    std::vector<page_loops> loops;
    for (const std::size_t k : sizes.there) loops.emplace_back(bytes, k_page_sizes[k]);
    for (int i = 0; i < o.measuring.repeat; ++i) {
      line.show(done++, machine::describe_bytes(bytes));
      measure_loops(result, sizes.there, loops, bytes, o.measuring.seconds);
    }
    loops.clear();
    for (int i = 0; i < o.measuring.repeat; ++i) {
      line.show(done++, machine::describe_bytes(bytes));
      for (const std::size_t k : sizes.there)
        if (!o.no_kernels) measure_kernels(result, o, k, bytes);
    }
    rows.push_back(row_of(result, bytes));
  }
  line.clear();
  std::FILE* const out = o.measuring.json == "-" ? stderr : stdout;
  fmt::print(out, "{}{}", pages_table(rows), sizes.missing);
  if (!no_counter.empty()) fmt::print(out, "no TLB misses: {}; the ratios of times stand for them\n", no_counter);
  fmt::print(out, "\n");
  if (!o.picture.empty()) runtime::write_whole_file(o.picture, "the picture", pages_picture(rows));
  return result.finish(o.measuring);
}

}  // namespace

subcommand_body declare_pages(CLI::App& app) {
  auto o = std::make_shared<pages_options>();
  o->measuring = {.repeat = 3, .seconds = 0.1, .json = {}};
  add_measuring_options(app, o->measuring);
  app.add_option("--min-mb", o->least_mb, "MiB of the smallest table")
      ->check(CLI::Range(1U, 1U << 20))
      ->capture_default_str();
  app.add_option("--max-mb", o->most_mb, "MiB of the largest one; each is 4 times the one before")
      ->check(CLI::Range(1U, 1U << 20))
      ->capture_default_str();
  app.add_flag("--no-kernels", o->no_kernels, "only the loops without the runtime");
  app.add_option("--picture", o->picture, "draw the ratios (SVG)")->type_name("FILE");
  return [o] { return run_pages(*o); };
}

}  // namespace shoal::bench
