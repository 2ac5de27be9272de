// SPDX-License-Identifier: Apache-2.0
// `shoal gather`: small remote reads, verified.
#include <fmt/format.h>

#include <memory>

#include "kernels/gather/gather.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct gather_options {
  kernel_options common;
  std::uint64_t table_mb = 256;
  std::uint64_t reads = std::uint64_t{1} << 24;

  std::uint64_t table_size() const noexcept { return (table_mb << 20) / sizeof(std::uint64_t); }
};

class gather_case final : public kernel_case {
public:
  explicit gather_case(const gather_options& o) : kernel_case("gather", "reads"), o_(o) {}

  void construct() override {
    table_ = global_array<std::uint64_t>(o_.table_size());
    indices_ = global_array<std::uint64_t>(o_.reads);
    values_ = global_array<std::uint64_t>(o_.reads);
    gather::fill_table(table_);
    random_indices::fill(indices_, o_.table_size(), o_.common.seed);
  }
  void describe(bench::report& r) const override {
    r.parameter("table_mb", o_.table_mb);
    r.parameter("reads", o_.reads);
  }
  void reset() override { values_->fill(0); }
  std::uint64_t run() override {
    if (o_.common.form == "simple")
      gather::simple(table_, indices_, values_);
    else
      gather::fast(table_, indices_, values_);
    return o_.reads;
  }
  std::string verify() override {
    const std::uint64_t wrong = gather::count_wrong(values_, o_.table_size(), o_.common.seed);
    return wrong == 0 ? "" : fmt::format("{} of {} values are not their elements of the table", wrong, o_.reads);
  }

private:
  const gather_options o_;
  global_array<std::uint64_t> table_;
  global_array<std::uint64_t> indices_;
  global_array<std::uint64_t> values_;
};

}  // namespace

subcommand_body declare_gather(CLI::App& app) {
  auto o = std::make_shared<gather_options>();
  app.add_option("--table-mb", o->table_mb, "size of the table, all nodes together")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24))
      ->capture_default_str();
  app.add_option("--reads", o->reads, "number of reads, all nodes together")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  add_kernel_options(app, o->common);
  return [o] {
    require_kernel_memory(o->common, (o->table_mb << 20) + 2 * o->reads * sizeof(std::uint64_t), "the gather");
    return run_kernel(o->common, [o] { return std::make_unique<gather_case>(*o); });
  };
}

}  // namespace shoal::tools
