// SPDX-License-Identifier: Apache-2.0
#include "launch/rendezvous.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/log.hpp"
#include "launch/launcher_signs.hpp"
#include "launch/pmi2_rendezvous.hpp"
#include "machine/library.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

constexpr const char* k_pmix_file = "libshoal_launch_pmix.so";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

class hub_rendezvous final : public rendezvous {
public:
  explicit hub_rendezvous(const std::string& text)
      : node_(number_in(text, "node", k_hub_variable)),
        nodes_(number_in(text, "nodes", k_hub_variable)),
        hub_(*field_in(text, "hub")) {
    if (node_ >= nodes_)
      throw error(errc::bad_input, fmt::format("{} contradicts itself: node {} of {}", k_hub_variable, node_, nodes_));
  }
  const char* by() const noexcept override { return "shoal run"; }
  std::uint32_t node() const noexcept override { return node_; }
  std::uint32_t nodes() const noexcept override { return nodes_; }
  std::string hub() const override { return hub_; }
  std::string share(const std::string&) override {
    SHOAL_ASSERT(false, "words are shared where the launcher runs no hub");
    return {};
  }

private:
  std::uint32_t node_;
  std::uint32_t nodes_;
  std::string hub_;
};

// Null: there is no plugin, which is no fault where another way may lead to the others.
std::unique_ptr<rendezvous> find_pmix() {
  namespace fs = std::filesystem;
  for (const std::string& folder : machine::plugin_folders("")) {
    const fs::path path = fs::path(folder) / k_pmix_file;
    std::error_code problem;
    if (!fs::is_regular_file(path, problem)) continue;
    try {
      const auto* const plugin = static_cast<const rendezvous_plugin*>(
          machine::find_symbol(machine::load_library(path.string(), false), k_rendezvous_plugin_symbol));
      if (plugin == nullptr || plugin->interface != k_rendezvous_interface ||
          std::strcmp(plugin->version, SHOAL_VERSION) != 0)
        throw error(errc::mismatch, fmt::format("{} is of another Shoal than {}; build and install both together",
                                                path.string(), SHOAL_VERSION));
      return plugin->open();
    } catch (const error& e) {
      if (e.code() != errc::unsupported) throw;
      base::warn("the launcher's PMIx cannot be asked ({}); install libpmix (Debian: libpmix2)", e.what());
      return nullptr;
    }
  }
  base::verbose("started through PMIx, for which this Shoal was not built (Debian: libpmix-dev); MPI is asked");
  return nullptr;
}

}  // namespace

std::unique_ptr<rendezvous> find_rendezvous() {
  if (const std::string text = variable(k_hub_variable); field_in(text, "hub"))
    return std::make_unique<hub_rendezvous>(text);
  std::unique_ptr<rendezvous> found;
  if (!variable("PMIX_NAMESPACE").empty() && !variable("PMIX_RANK").empty()) found = find_pmix();
  return found ? std::move(found) : find_pmi2();
}

}  // namespace shoal::launch
