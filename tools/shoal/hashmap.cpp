// SPDX-License-Identifier: Apache-2.0
// `shoal hashmap`: concurrent access to a hash map of strings, verified.
#include <memory>
#include <optional>

#include "kernels/hashmap/hashmap.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct hashmap_options {
  kernel_options common;
  std::string file;
  std::uint64_t pool = 1'000'000;
  hashmap::options steps;
};

class hashmap_case final : public kernel_case {
public:
  explicit hashmap_case(const hashmap_options& o) : kernel_case("hashmap", "accesses"), o_(o), steps_(o.steps) {
    steps_.seed = o.common.seed;
  }

  void construct() override {
    if (o_.file.empty())
      pool_.emplace(o_.pool, o_.common.seed);
    else
      pool_.emplace(hashmap::lines_of(o_.file));
    map_.emplace(pool_->ref().size() / hashmap::k_share * 2);
  }
  void describe(bench::report& r) const override {
    r.parameter("words", o_.file.empty() ? "generated" : o_.file);
    r.parameter("pool", pool_->ref().size());
    r.parameter("tasks", steps_.tasks);
    r.parameter("length", steps_.length);
  }
  void reset() override { hashmap::fill(map_->ref(), pool_->ref()); }
  std::uint64_t run() override {
    found_ = o_.common.form == "simple" ? hashmap::simple(map_->ref(), pool_->ref(), steps_)
                                        : hashmap::fast(map_->ref(), pool_->ref(), steps_);
    return steps_.tasks * steps_.length;
  }
  void record(bench::report& r) const override {
    r.record("found", "", static_cast<double>(found_));
    r.record("entries", "", static_cast<double>((*map_)->size()));
  }
  std::string verify() override { return hashmap::fault_of(map_->ref(), pool_->ref(), steps_, found_); }

private:
  const hashmap_options o_;
  hashmap::options steps_;
  std::optional<hashmap::word_pool> pool_;
  std::optional<hashmap::string_map> map_;
  std::uint64_t found_ = 0;
};

}  // namespace

subcommand_body declare_hashmap(CLI::App& app) {
  auto o = std::make_shared<hashmap_options>();
  app.add_option("--words", o->file, "a file with one word per line (default: generated words); .gz and .zst too")
      ->type_name("FILE");
  app.add_option("--pool", o->pool, "number of generated words; every tenth is in the map at first")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 36))
      ->capture_default_str();
  app.add_option("--tasks", o->steps.tasks, "number of tasks, on all nodes together")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->capture_default_str();
  app.add_option("--length", o->steps.length, "accesses of each task")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31))
      ->capture_default_str();
  add_kernel_options(app, o->common);
  return [o] {
    // An entry: the key and its length, the count, the tag; a quarter is free, and growth needs both tables.
    if (o->file.empty()) require_kernel_memory(o->common, o->pool / hashmap::k_share * 2 * 96, "the hash map");
    return run_kernel(o->common, [o] { return std::make_unique<hashmap_case>(*o); });
  };
}

}  // namespace shoal::tools
