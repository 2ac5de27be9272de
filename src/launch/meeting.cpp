// SPDX-License-Identifier: Apache-2.0
#include "launch/meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/log.hpp"
#include "launch/meeting_plugin.hpp"
#include "launch/place_text.hpp"
#include "launch/pmi2_meeting.hpp"
#include "machine/environment.hpp"
#include "machine/library.hpp"
#include "machine/process.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

constexpr const char* k_pmix_file = "libshoal_launch_pmix.so";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

class hub_meeting final : public meeting {
public:
  explicit hub_meeting(const std::string& text)
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

// Which place of which launcher but `shoal run` the environment shows; a child inherits it, but is not meant.
std::string place_shown() {
  std::string place = "-";
  if (!variable("PMIX_RANK").empty()) {
    place = fmt::format("pmix:{}.{}", variable("PMIX_NAMESPACE"), variable("PMIX_RANK"));
  } else if (!variable("PMI_RANK").empty()) {
    place = fmt::format("pmi:{}.{}.{}", variable("PMI_JOBID"), variable("PMI_RANK"), variable("PMI_FD"));
  }
  std::ranges::replace(place, ' ', '_');
  return place;
}

bool taken_here(const std::string& text) {
  return field_in(text, "taken") &&
         number_in(text, "taken", k_hub_variable) == static_cast<std::uint32_t>(machine::own_pid());
}

bool taken_by_parent(const std::string& text) {
  return field_in(text, "taken") && !taken_here(text) && field_in(text, "by") == place_shown();
}

void take(const std::string& text) {
  machine::set_variable(k_hub_variable, fmt::format("{}{}taken={} by={}", text, text.empty() ? "" : " ",
                                                    machine::own_pid(), place_shown()));
}

// Null: there is no plugin, which is no fault where another way may lead to the others.
std::unique_ptr<meeting> find_pmix() {
  namespace fs = std::filesystem;
  for (const std::string& folder : machine::plugin_folders("")) {
    const fs::path path = fs::path(folder) / k_pmix_file;
    std::error_code problem;
    if (!fs::is_regular_file(path, problem)) continue;
    try {
      const auto* const plugin = static_cast<const meeting_plugin*>(
          machine::find_symbol(machine::load_library(path.string(), false), k_meeting_plugin_symbol));
      if (plugin == nullptr || plugin->interface != k_meeting_interface ||
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

bool is_gathered() {
  const std::string text = variable(k_hub_variable);
  return (field_in(text, "hub") || place_shown() != "-") && !taken_by_parent(text);
}

bool gathered_place_is_taken() { return taken_here(variable(k_hub_variable)); }

void take_gathered_place() {
  if (!gathered_place_is_taken()) take("");
}

std::unique_ptr<meeting> find_meeting() {
  const std::string text = variable(k_hub_variable);
  const bool by_shoal = field_in(text, "hub").has_value();
  const bool taken = field_in(text, "taken").has_value();
  if (taken && !taken_here(text)) {
    if (taken_by_parent(text)) return nullptr;
    // Another launcher was started from within a node, and that one started this process.
  } else if (by_shoal) {
    auto found = std::make_unique<hub_meeting>(text);
    if (!taken) take(text);
    return found;
  }
  std::unique_ptr<meeting> found;
  if (!variable("PMIX_NAMESPACE").empty() && !variable("PMIX_RANK").empty()) found = find_pmix();
  if (!found) found = find_pmi2();
  if (found && !taken) take("");
  return found;
}

}  // namespace shoal::launch
