// SPDX-License-Identifier: Apache-2.0
// `shoal kmers`: counts the k-mers of generated reads, or of files, verified.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/real_range.hpp"
#include "kernels/kmers/kmers.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct kmers_options {
  kernel_options common;
  std::vector<std::string> files;
  kmers::shape shape;
  kmers::reads generated;
  double coverage = 10;
  std::uint64_t expected = 0;
  std::uint64_t top = 5;
};

class kmers_case final : public kernel_case {
public:
  explicit kmers_case(const kmers_options& o) : kernel_case("kmers", "k-mers"), o_(o) {}

  void construct() override {
    if (o_.files.empty())
      bases_.emplace(o_.generated, o_.common.seed);
    else
      bases_.emplace(o_.files, o_.shape.k);
    kmers_ = kmers::number_of(bases_->ref(), o_.shape);
    if (kmers_ == 0)
      throw error(errc::bad_input, fmt::format("there is no k-mer: no sequence has {} known bases in a row; choose a "
                                               "smaller -k, or other files",
                                               o_.shape.k));
  }
  void describe(bench::report& r) const override {
    r.parameter("k", o_.shape.k);
    r.parameter("canonical", o_.shape.canonical);
    r.parameter("bases", bases_->ref().size());
    if (!o_.files.empty()) {
      r.parameter("files", o_.files.size());
      return;
    }
    r.parameter("genome", o_.generated.genome);
    r.parameter("reads", o_.generated.count);
    r.parameter("errors", o_.generated.errors);
  }
  void reset() override {
    counter_.reset();
    tables_.reset();
    if (o_.common.form == "simple")
      counter_.emplace(o_.expected);
    else
      tables_.emplace();
  }
  std::uint64_t run() override {
    if (counter_)
      kmers::simple(*counter_, bases_->ref(), o_.shape);
    else
      kmers::fast(*tables_, bases_->ref(), o_.shape);
    return kmers_;
  }
  void record(bench::report& r) const override {
    found_ = counter_ ? kmers::summary_of(*counter_, o_.top) : kmers::summary_of(*tables_, o_.top);
    r.record("distinct", "", static_cast<double>(found_.distinct));
    r.record("total", "", static_cast<double>(found_.total));
    for (std::size_t i = 0; i < found_.most_frequent.size(); ++i)
      r.record(kmers::letters_of(found_.most_frequent[i].first, o_.shape.k), "times",
               static_cast<double>(found_.most_frequent[i].second));
  }
  std::string verify() override {
    if (!expected_)
      expected_ = o_.files.empty() ? kmers::reference_of(o_.generated, o_.common.seed, o_.shape, o_.top)
                                   : kmers::reference_of(o_.files, o_.shape, o_.top);
    return kmers::difference(found_, *expected_, o_.shape.k);
  }

private:
  const kmers_options o_;
  std::optional<kmers::base_store> bases_;
  std::optional<global_counter<std::uint64_t>> counter_;
  std::optional<node_local<kmers::part_tables>> tables_;
  std::uint64_t kmers_ = 0;
  mutable kmers::summary found_;  // of the last run; not part of its time
  std::optional<kmers::summary> expected_;
};

}  // namespace

subcommand_body declare_kmers(CLI::App& app) {
  auto o = std::make_shared<kmers_options>();
  app.add_option("FILES", o->files, "FASTA or FASTQ (default: generated reads); .gz and .zst too")->type_name("");
  app.add_option("-k", o->shape.k, "bases of a k-mer")->check(CLI::Range(1U, kmers::k_longest))->capture_default_str();
  app.add_flag("--canonical,!--no-canonical", o->shape.canonical,
               "a k-mer and its reverse complement are one (default: yes)");
  app.add_option("--genome", o->generated.genome, "bases of the generated genome")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--read-length", o->generated.length, "bases of a generated read")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24))
      ->capture_default_str();
  app.add_option("--coverage", o->coverage, "reads over each base of the genome")
      ->check(bench::real_range(0.001, 1e6))
      ->capture_default_str();
  app.add_option("--errors", o->generated.errors, "share of wrong bases in generated reads")
      ->check(bench::real_range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--expected", o->expected, "different k-mers to make room for before the first, in the simple form")
      ->capture_default_str();
  app.add_option("--top", o->top, "number of the most frequent k-mers to show")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 20))
      ->capture_default_str();
  add_kernel_options(app, o->common);
  return [o] {
    kmers::reads& g = o->generated;
    if (o->files.empty()) {
      if (g.length > g.genome)
        throw error(errc::invalid_argument,
                    fmt::format("reads of {} bases do not fit into a genome of {}; choose a smaller --read-length",
                                g.length, g.genome));
      if (g.length < o->shape.k)
        throw error(errc::invalid_argument,
                    fmt::format("reads of {} bases have no k-mer of {}; choose a smaller -k", g.length, o->shape.k));
      g.count =
          static_cast<std::uint64_t>(o->coverage * static_cast<double>(g.genome) / static_cast<double>(g.length)) + 1;
      // A base; at most an entry per k-mer in tables that are half full while they grow; the check's copy.
      require_kernel_memory(o->common, g.count * g.length * (o->common.validate ? 57 : 49), "counting k-mers");
    }
    return run_kernel(o->common, [o] { return std::make_unique<kmers_case>(*o); });
  };
}

}  // namespace shoal::tools
