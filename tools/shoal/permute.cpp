// SPDX-License-Identifier: Apache-2.0
// `shoal permute`: a sparse matrix with other orders of rows and columns, verified.
#include <memory>
#include <optional>

#include "kernels/permute/permute.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/matrix_input.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct permute_options {
  kernel_options common;
  matrix_input input;
};

class permute_case final : public kernel_case {
public:
  explicit permute_case(const permute_options& o) : kernel_case("permute", "entries"), o_(o) {}

  void construct() override {
    matrix_ = random_matrix::make(random_matrix::uniform{o_.input.rows, o_.input.entries(), o_.common.seed});
    rows_ = random_matrix::labels(o_.input.rows, o_.common.seed + 1);
    columns_ = random_matrix::labels(o_.input.rows, o_.common.seed + 2);
  }
  void describe(bench::report& r) const override { describe_matrix(r, o_.input, matrix_.arcs()); }
  void reset() override {
    by_hand_.reset();
    made_ = {};
  }
  std::uint64_t run() override {
    if (o_.common.form == "simple")
      by_hand_.emplace(permute::simple(matrix_.ref(), rows_, columns_));
    else
      made_ = permute::fast(matrix_, rows_, columns_);
    return matrix_.arcs();
  }
  std::string verify() override {
    const std::uint64_t found = by_hand_ ? matrices::checksum(*by_hand_) : matrices::checksum(made_.ref());
    return found == permute::checksum_of(matrix_.ref(), rows_, columns_)
               ? ""
               : "the result does not have the permuted entries";
  }

private:
  const permute_options o_;
  random_matrix::matrix matrix_;
  global_array<std::uint32_t> rows_;
  global_array<std::uint32_t> columns_;
  random_matrix::matrix made_;
  std::optional<matrices::plain_rows> by_hand_;
};

}  // namespace

subcommand_body declare_permute(CLI::App& app) {
  auto o = std::make_shared<permute_options>();
  add_matrix_input(app, o->input);
  add_kernel_options(app, o->common);
  return [o] {
    check_matrix_input(o->input, o->common, 3);
    return run_kernel(o->common, [o] { return std::make_unique<permute_case>(*o); });
  };
}

}  // namespace shoal::tools
