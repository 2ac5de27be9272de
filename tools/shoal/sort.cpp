// SPDX-License-Identifier: Apache-2.0
// `shoal sort`: keys of all kinds and entropies, sorted and verified.
#include <memory>

#include "kernels/sort/sort.hpp"
#include "tools/shoal/kernel_command.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

using namespace kernels;

struct sort_options {
  kernel_options common;
  std::uint64_t keys = std::uint64_t{1} << 24;
  std::string type = "u32";
  unsigned entropy = 0;
};

template <class Key>
class sort_case final : public kernel_case {
public:
  explicit sort_case(const sort_options& o) : kernel_case("sort", "keys"), o_(o) {}

  void construct() override { keys_ = global_array<Key>(o_.keys); }
  void describe(bench::report& r) const override {
    r.parameter("keys", o_.keys);
    r.parameter("type", o_.type);
    r.parameter("entropy", o_.entropy);
  }
  void reset() override { sorting::fill(keys_.ref(), o_.common.seed, o_.entropy); }
  std::uint64_t run() override {
    if (o_.common.form == "simple")
      sorting::simple(keys_.ref());
    else
      sorting::fast(keys_.ref());
    return o_.keys;
  }
  std::string verify() override {
    return sorting::is_right(keys_.ref(), o_.common.seed, o_.entropy) ? ""
                                                                      : "the keys are not those given, or not in order";
  }

private:
  const sort_options o_;
  global_array<Key> keys_;
};

std::uint64_t key_bytes(const std::string& type) { return type.ends_with("64") ? 8 : 4; }

std::unique_ptr<kernel_case> make_case(const sort_options& o) {
  if (o.type == "u32") return std::make_unique<sort_case<std::uint32_t>>(o);
  if (o.type == "u64") return std::make_unique<sort_case<std::uint64_t>>(o);
  if (o.type == "i32") return std::make_unique<sort_case<std::int32_t>>(o);
  if (o.type == "i64") return std::make_unique<sort_case<std::int64_t>>(o);
  if (o.type == "f32") return std::make_unique<sort_case<float>>(o);
  return std::make_unique<sort_case<double>>(o);
}

}  // namespace

subcommand_body declare_sort(CLI::App& app) {
  auto o = std::make_shared<sort_options>();
  app.add_option("--keys", o->keys, "number of keys, all nodes together")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--type", o->type, "of a key: u32, u64, i32, i64, f32, f64")
      ->check(CLI::IsMember({"u32", "u64", "i32", "i64", "f32", "f64"}))
      ->capture_default_str();
  app.add_option("--entropy", o->entropy, "0: random keys; 1 to 4: the AND of 2 to 5 random words; 5: all zero")
      ->check(CLI::Range(0U, sorting::k_data_sets - 1))
      ->capture_default_str();
  add_kernel_options(app, o->common);
  return [o] {
    require_kernel_memory(o->common, 2 * o->keys * key_bytes(o->type), "the keys and the memory to sort them");
    return run_kernel(o->common, [o] { return make_case(*o); });
  };
}

}  // namespace shoal::tools
