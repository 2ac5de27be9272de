// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/pages.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "base/clock.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "machine/huge_buffer.hpp"
#include "machine/memory_info.hpp"
#include "machine/topology.hpp"
#include "runtime/profile_report.hpp"
#include "shoal/error.hpp"
#include "shoal/random.hpp"
#include "trace/drawing.hpp"

namespace shoal::bench {
namespace {

constexpr std::size_t k_words_of_line = 8;
constexpr double k_of_interest = 1.02;  // a slowdown below is taken for none, as in the literature on page sizes
constexpr std::array<const char*, 2> k_page_names = {"4k", "2m"};

struct pages_options {
  measuring_options measuring;
  std::size_t least_mb = 1;
  std::size_t most_mb = 256;
  std::string picture;
};

// Seconds of `work(n)`, with n so large that it takes about `seconds`; and n.
template <class Work>
std::pair<double, std::uint64_t> timed_loop(double seconds, Work work) {
  for (std::uint64_t n = 10'000;; n *= 4) {
    const std::uint64_t begin = base::now_ns();
    work(n);
    const double passed = static_cast<double>(base::now_ns() - begin) * 1e-9;
    if (passed >= seconds / 2) return {passed, n};
  }
}

class paged_table {
public:
  paged_table(std::size_t bytes, machine::page_kind pages) : memory_(bytes, pages), bytes_(bytes) {}

  // Of huge pages there may be more than the table takes.
  std::span<std::uint64_t> words() const { return memory_.as<std::uint64_t>().first(bytes_ / sizeof(std::uint64_t)); }
  double huge_share() const { return static_cast<double>(memory_.huge_bytes()) / static_cast<double>(memory_.size()); }

  double chase_ns(double seconds, bool& right) const {
    make_cycle(words(), 1);
    const auto [passed, n] =
        timed_loop(seconds, [&](std::uint64_t steps) { ends_at_ = follow(words(), ends_at_, steps); });
    right = right && ends_at_ % k_words_of_line == 0;
    return passed * 1e9 / static_cast<double>(n);
  }
  double update_ns(double seconds, bool& right) const {
    std::ranges::fill(words(), std::uint64_t{0});
    std::uint64_t all = 0;
    const auto [passed, n] = timed_loop(seconds, [&](std::uint64_t updates) {
      update_at_random(words(), updates, all + 1);
      all += updates;
    });
    right = right && sum_of(words()) == all;
    return passed * 1e9 / static_cast<double>(n);
  }
  double stream_gbs(double seconds, bool& right) const {
    constexpr std::uint64_t k_of_a_round = 10'000;  // a whole table is a longer step than an access
    std::ranges::fill(words(), std::uint64_t{3});
    std::uint64_t sum = 0;
    std::uint64_t rounds = 0;
    const double passed = timed_loop(seconds, [&](std::uint64_t steps) {
                            rounds = steps / k_of_a_round;
                            for (std::uint64_t i = 0; i < rounds; ++i) sum = sum_of(words());
                          }).first;
    right = right && sum == 3 * words().size();
    return static_cast<double>(words().size_bytes()) * static_cast<double>(rounds) / passed * 1e-9;
  }

private:
  machine::huge_buffer memory_;
  std::size_t bytes_;
  mutable std::uint64_t ends_at_ = 0;
};

double slowdown(const double (&of)[2], bool more_is_better) { return more_is_better ? of[1] / of[0] : of[0] / of[1]; }

std::string pages_table(const std::vector<page_row>& rows) {
  std::string text = fmt::format(
      "{:>10} {:>24} {:>24} {:>24} {:>10}\n{:>10} {:>8} {:>7} {:>7} {:>8} {:>7} {:>7} {:>8} {:>7} {:>7} {:>10}\n",
      "table", "one after the other, ns", "random updates, ns", "stream, GB/s", "given", "", "4 KiB", "2 MiB", "ratio",
      "4 KiB", "2 MiB", "ratio", "4 KiB", "2 MiB", "ratio", "2 MiB");
  for (const page_row& r : rows)
    text += fmt::format(
        "{:>10} {:>8.2f} {:>7.2f} {:>7.2f} {:>8.2f} {:>7.2f} {:>7.2f} {:>8.1f} {:>7.1f} {:>7.2f} {:>9.0f}%\n",
        machine::describe_bytes(r.bytes), r.chase_ns[0], r.chase_ns[1], slowdown(r.chase_ns, false), r.update_ns[0],
        r.update_ns[1], slowdown(r.update_ns, false), r.stream_gbs[0], r.stream_gbs[1], slowdown(r.stream_gbs, true),
        r.huge_share * 100);
  const auto first = std::ranges::find_if(rows, [](const page_row& r) {
    return slowdown(r.chase_ns, false) > k_of_interest && slowdown(r.update_ns, false) > k_of_interest;
  });
  text += first == rows.end() ? "ordinary pages cost less than 2 % at all these sizes\n"
                              : fmt::format("from {} on, ordinary pages cost more than 2 % of random accesses\n",
                                            machine::describe_bytes(first->bytes));
  return text;
}

int run_pages(const pages_options& o) {
  if (o.most_mb < o.least_mb) throw error(errc::invalid_argument, "--max-mb is less than --min-mb");
  if (!o.picture.empty()) require_writable(o.picture, "the picture");
  machine::require_memory(2 * (std::uint64_t{o.most_mb} << 20), "the tables");
  report result("shoal bench pages: random accesses and a stream on pages of 4 KiB and 2 MiB");
  result.parameter("min_mb", o.least_mb);
  result.parameter("max_mb", o.most_mb);
  result.begin(o.measuring);
  std::vector<std::size_t> sizes;
  for (std::size_t mb = o.least_mb; mb <= o.most_mb; mb *= 4) sizes.push_back(mb << 20);
  const machine::affinity_scope keeps;
  machine::pin_this_thread(machine::topology::discover().choose(1, 0, 1).pus.front());
  progress line(sizes.size() * static_cast<std::size_t>(o.measuring.repeat));
  std::vector<page_row> rows;
  std::size_t done = 0;
  bool right = true;
  bool all_given = true;
  for (const std::size_t bytes : sizes) {
    page_row& row = rows.emplace_back();
    row.bytes = bytes;
    const std::array<paged_table, 2> both = {paged_table(bytes, machine::page_kind::small),
                                             paged_table(bytes, machine::page_kind::huge)};
    row.huge_share = both[1].huge_share();
    result.record(fmt::format("given_2m_{}mb", bytes >> 20), "%", row.huge_share * 100);
    all_given = all_given && row.huge_share > 0.99;
    const std::size_t mb = bytes >> 20;
    for (int i = 0; i < o.measuring.repeat; ++i) {
      line.show(done++, machine::describe_bytes(bytes));
      for (std::size_t k = 0; k < 2; ++k) {
        result.record(fmt::format("ns_per_access_{}_{}mb", k_page_names[k], mb), "ns",
                      both[k].chase_ns(o.measuring.seconds, right));
        result.record(fmt::format("ns_per_update_{}_{}mb", k_page_names[k], mb), "ns",
                      both[k].update_ns(o.measuring.seconds, right));
        result.record(fmt::format("stream_{}_{}mb", k_page_names[k], mb), "GB/s",
                      both[k].stream_gbs(o.measuring.seconds, right));
      }
    }
    for (std::size_t k = 0; k < 2; ++k) {
      row.chase_ns[k] = result.find_metric(fmt::format("ns_per_access_{}_{}mb", k_page_names[k], mb))->median();
      row.update_ns[k] = result.find_metric(fmt::format("ns_per_update_{}_{}mb", k_page_names[k], mb))->median();
      row.stream_gbs[k] = result.find_metric(fmt::format("stream_{}_{}mb", k_page_names[k], mb))->median();
    }
  }
  line.clear();
  result.check("sums", right, "each table has what was written into it");
  std::FILE* const out = o.measuring.json == "-" ? stderr : stdout;
  fmt::print(out, "{}", pages_table(rows));
  if (!all_given) fmt::print(out, "the system has not given 2 MiB pages for all tables: see `shoal info`\n");
  fmt::print(out, "\n");
  if (!o.picture.empty()) runtime::write_whole_file(o.picture, "the picture", pages_picture(rows));
  return result.finish(o.measuring);
}

}  // namespace

void make_cycle(std::span<std::uint64_t> table, std::uint64_t seed) {
  const std::size_t lines = table.size() / k_words_of_line;
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  xoshiro256ss random(seed);
  for (std::size_t i = lines; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (std::size_t i = 0; i < lines; ++i)
    table[order[i] * k_words_of_line] = std::uint64_t{order[(i + 1) % lines]} * k_words_of_line;
}

std::uint64_t follow(std::span<const std::uint64_t> table, std::uint64_t from, std::uint64_t steps) noexcept {
  for (std::uint64_t i = 0; i < steps; ++i) from = table[from];
  return from;
}

void update_at_random(std::span<std::uint64_t> table, std::uint64_t updates, std::uint64_t seed) noexcept {
  std::uint64_t state = mix64(seed);
  for (std::uint64_t i = 0; i < updates; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    table[static_cast<std::size_t>((static_cast<unsigned __int128>(state) * table.size()) >> 64)] += 1;
  }
}

std::uint64_t sum_of(std::span<const std::uint64_t> table) noexcept {
  std::uint64_t sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= table.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) sums[k] += table[i + k];
  for (; i < table.size(); ++i) sums[0] += table[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

std::string pages_picture(const std::vector<page_row>& rows) {
  constexpr double k_left = 60;
  constexpr double k_width = 640;
  constexpr double k_height = 260;
  constexpr double k_top = 50;
  trace::drawing d;
  d.text(k_left, 22, "ordinary pages against 2 MiB pages: how much slower", "start", 14);
  double most = 1.1;
  for (const page_row& r : rows)
    most = std::max({most, slowdown(r.chase_ns, false), slowdown(r.update_ns, false), slowdown(r.stream_gbs, true)});
  const auto y_of = [&](double ratio) { return k_top + k_height * (1 - (ratio - 0.9) / (most - 0.9)); };
  struct line {
    const char* name;
    const char* colour;
    double (*of)(const page_row&);
  };
  constexpr std::array<line, 3> k_lines = {
      {{"one after the other", "#4477aa", [](const page_row& r) { return slowdown(r.chase_ns, false); }},
       {"random updates", "#ee6677", [](const page_row& r) { return slowdown(r.update_ns, false); }},
       {"stream", "#228833", [](const page_row& r) { return slowdown(r.stream_gbs, true); }}}};
  for (double ratio = 1; ratio <= most; ratio += most > 2 ? 0.5 : 0.1) {
    d.line(k_left, y_of(ratio), k_left + k_width, y_of(ratio), "#dddddd");
    d.text(k_left - 6, y_of(ratio) + 4, fmt::format("{:.1f}", ratio), "end");
  }
  const double step = rows.size() > 1 ? k_width / static_cast<double>(rows.size() - 1) : 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    d.text(k_left + step * static_cast<double>(i), k_top + k_height + 18, machine::describe_bytes(rows[i].bytes),
           "middle", 11);
  double x = k_left;
  for (const line& l : k_lines) {
    std::string path;
    for (std::size_t i = 0; i < rows.size(); ++i)
      path += fmt::format("{}{:.1f},{:.1f} ", i == 0 ? "M" : "L", k_left + step * static_cast<double>(i),
                          y_of(l.of(rows[i])));
    if (!rows.empty()) d.path(path, "none", l.colour);
    d.box(x, 32, 10, 10, l.colour);
    d.text(x + 14, 41, l.name);
    x += 160;
  }
  return d.finish(k_left + k_width + 60, k_top + k_height + 30);
}

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
  app.add_option("--picture", o->picture, "draw the ratios (SVG)")->type_name("FILE");
  return [o] { return run_pages(*o); };
}

}  // namespace shoal::bench
