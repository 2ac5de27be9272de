// SPDX-License-Identifier: Apache-2.0
// `shoal histogram`: small remote updates, counted and verified.
#include <memory>

#include "kernels/histogram/histogram.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct histogram_options {
  kernel_options common;
  std::uint64_t table_mb = 256;
  std::uint64_t updates = std::uint64_t{1} << 24;

  std::uint64_t table_size() const noexcept { return (table_mb << 20) / sizeof(std::uint64_t); }
};

class histogram_case final : public kernel_case {
public:
  explicit histogram_case(const histogram_options& o) : kernel_case("histogram", "updates"), o_(o) {}

  void construct() override {
    counts_ = global_array<std::uint64_t>(o_.table_size());
    indices_ = global_array<std::uint64_t>(o_.updates);
    random_indices::fill(indices_, o_.table_size(), o_.common.seed);
  }
  void describe(bench::report& r) const override {
    r.parameter("table_mb", o_.table_mb);
    r.parameter("updates", o_.updates);
  }
  void reset() override { counts_->fill(0); }
  std::uint64_t run() override {
    if (o_.common.form == "simple")
      histogram::simple(counts_, indices_);
    else
      histogram::fast(counts_, indices_);
    return o_.updates;
  }
  std::string verify() override {
    return histogram::is_right(counts_, o_.updates, o_.common.seed) ? "" : "the table does not hold all updates";
  }

private:
  const histogram_options o_;
  global_array<std::uint64_t> counts_;
  global_array<std::uint64_t> indices_;
};

}  // namespace

subcommand_body declare_histogram(CLI::App& app) {
  auto o = std::make_shared<histogram_options>();
  app.add_option("--table-mb", o->table_mb, "size of the table of counts, all nodes together")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24))
      ->capture_default_str();
  app.add_option("--updates", o->updates, "number of updates, all nodes together")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  add_kernel_options(app, o->common);
  return [o] {
    require_kernel_memory(o->common, (o->table_mb << 20) + o->updates * sizeof(std::uint64_t), "the histogram");
    return run_kernel(o->common, [o] { return std::make_unique<histogram_case>(*o); });
  };
}

}  // namespace shoal::tools
