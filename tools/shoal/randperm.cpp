// SPDX-License-Identifier: Apache-2.0
// `shoal randperm`: a random permutation over all nodes, verified.
#include <memory>

#include "kernels/randperm/randperm.hpp"
#include "kernels/reference/permutation.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct randperm_options {
  kernel_options common;
  std::uint64_t numbers = std::uint64_t{1} << 24;
};

class randperm_case final : public kernel_case {
public:
  explicit randperm_case(const randperm_options& o) : kernel_case("randperm", "numbers"), o_(o) {}

  void construct() override { result_ = global_array<std::uint64_t>(o_.numbers); }
  void describe(bench::report& r) const override { r.parameter("numbers", o_.numbers); }
  void reset() override { result_->fill(0); }
  std::uint64_t run() override {
    if (o_.common.form == "simple")
      randperm::simple(result_, o_.common.seed);
    else
      randperm::fast(result_, o_.common.seed);
    return o_.numbers;
  }
  std::string verify() override {
    return reference::is_permutation(result_.ref()) ? "" : "the result does not have each number once";
  }

private:
  const randperm_options o_;
  global_array<std::uint64_t> result_;
};

}  // namespace

subcommand_body declare_randperm(CLI::App& app) {
  auto o = std::make_shared<randperm_options>();
  app.add_option("--numbers", o->numbers, "how many numbers are permuted, all nodes together")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  add_kernel_options(app, o->common);
  return [o] {
    require_kernel_memory(o->common, o->numbers * 4 * sizeof(std::uint64_t), "the permutation");
    return run_kernel(o->common, [o] { return std::make_unique<randperm_case>(*o); });
  };
}

}  // namespace shoal::tools
