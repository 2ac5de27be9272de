// SPDX-License-Identifier: Apache-2.0
// `shoal toposort`: orders of rows and columns that make a permuted matrix upper triangular again, verified.
#include <memory>

#include "kernels/permute/permute.hpp"
#include "kernels/toposort/toposort.hpp"
#include "kernels/transpose/transpose.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/matrix_input.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct toposort_options {
  kernel_options common;
  matrix_input input;
};

class toposort_case final : public kernel_case {
public:
  explicit toposort_case(const toposort_options& o) : kernel_case("toposort", "entries"), o_(o) {}

  void construct() override {
    const auto& [rows, per_row] = o_.input;
    const auto upper = random_matrix::make(random_matrix::upper_triangular{rows, rows * per_row, o_.common.seed});
    const auto rows_by = random_matrix::labels(rows, o_.common.seed + 1);
    const auto columns_by = random_matrix::labels(rows, o_.common.seed + 2);
    matrix_ = permute::fast(upper, rows_by, columns_by);
    transposed_ = transpose::fast(matrix_);
    rows_ = global_array<std::uint32_t>(rows);
    columns_ = global_array<std::uint32_t>(rows);
  }
  void describe(bench::report& r) const override { describe_matrix(r, o_.input, matrix_.arcs()); }
  void reset() override {
    rows_->fill(0);
    columns_->fill(0);
  }
  std::uint64_t run() override {
    if (o_.common.form == "simple")
      toposort::simple(matrix_.ref(), transposed_.ref(), rows_, columns_);
    else
      toposort::fast(matrix_.ref(), transposed_.ref(), rows_, columns_);
    return matrix_.arcs();
  }
  std::string verify() override {
    return toposort::is_right(matrix_.ref(), rows_, columns_) ? "" : "the new orders leave entries below the diagonal";
  }

private:
  const toposort_options o_;
  random_matrix::matrix matrix_;
  random_matrix::matrix transposed_;
  global_array<std::uint32_t> rows_;
  global_array<std::uint32_t> columns_;
};

}  // namespace

subcommand_body declare_toposort(CLI::App& app) {
  auto o = std::make_shared<toposort_options>();
  add_matrix_input(app, o->input);
  add_kernel_options(app, o->common);
  return [o] {
    check_matrix_input(o->input, o->common, 4);
    return run_kernel(o->common, [o] { return std::make_unique<toposort_case>(*o); });
  };
}

}  // namespace shoal::tools
