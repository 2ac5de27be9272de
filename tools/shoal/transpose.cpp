// SPDX-License-Identifier: Apache-2.0
// `shoal transpose`: a sparse matrix turned round, verified.
#include <memory>
#include <optional>

#include "kernels/transpose/transpose.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/matrix_input.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct transpose_options {
  kernel_options common;
  matrix_input input;
};

class transpose_case final : public kernel_case {
public:
  explicit transpose_case(const transpose_options& o) : kernel_case("transpose", "entries"), o_(o) {}

  void construct() override {
    matrix_ = random_matrix::make(random_matrix::uniform{o_.input.rows, o_.input.entries(), o_.common.seed});
  }
  void describe(bench::report& r) const override { describe_matrix(r, o_.input, matrix_.arcs()); }
  void reset() override {
    by_hand_.reset();
    made_ = {};
  }
  std::uint64_t run() override {
    if (o_.common.form == "simple")
      by_hand_.emplace(transpose::simple(matrix_.ref()));
    else
      made_ = transpose::fast(matrix_);
    return matrix_.arcs();
  }
  std::string verify() override {
    const std::uint64_t found = by_hand_ ? matrices::checksum(*by_hand_) : matrices::checksum(made_.ref());
    return found == transpose::checksum_of(matrix_.ref()) ? "" : "the result does not have the turned entries";
  }

private:
  const transpose_options o_;
  random_matrix::matrix matrix_;
  random_matrix::matrix made_;
  std::optional<matrices::plain_rows> by_hand_;
};

}  // namespace

subcommand_body declare_transpose(CLI::App& app) {
  auto o = std::make_shared<transpose_options>();
  add_matrix_input(app, o->input);
  add_kernel_options(app, o->common);
  return [o] {
    check_matrix_input(o->input, o->common, 3);
    return run_kernel(o->common, [o] { return std::make_unique<transpose_case>(*o); });
  };
}

}  // namespace shoal::tools
