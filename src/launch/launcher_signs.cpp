// SPDX-License-Identifier: Apache-2.0
#include "launch/launcher_signs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>
#include <string>

#include "launch/rendezvous.hpp"
#include "launch/siphash.hpp"
#include "machine/environment.hpp"
#include "machine/process.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

constexpr const char* k_signs[] = {k_hub_variable, "PMIX_RANK", "PMI_RANK"};
// With these, different for each process that any launcher starts.
constexpr const char* k_more_signs[] = {"PMIX_NAMESPACE", "PMI_JOBID", "PMI_FD", "PMI_PORT"};

std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool somebody_started_us() {
  return std::any_of(std::begin(k_signs), std::end(k_signs), [](const char* name) { return std::getenv(name); });
}

// Not the signs themselves: one holds a secret.
std::string place_shown() {
  std::string all;
  for (const char* name : k_signs) all += value_of(name) + "\n";
  for (const char* name : k_more_signs) all += value_of(name) + "\n";
  return fmt::format("{:016x}", siphash({}, std::as_bytes(std::span(all))));
}

bool same_number(const char* one, const char* other) {
  return !value_of(one).empty() && value_of(one) == value_of(other);
}

}  // namespace

bool is_externally_launched() {
  if (!somebody_started_us()) return false;
  const bool inherited = value_of(k_taken_variable).ends_with(place_shown());
  return !inherited || external_place_taken();
}

void take_external_place() {
  machine::set_variable(k_taken_variable, std::to_string(machine::own_pid()) + " " + place_shown());
}

bool external_place_taken() {
  return value_of(k_taken_variable) == std::to_string(machine::own_pid()) + " " + place_shown();
}

bool another_process_warns() {
  if (!value_of(k_warned_variable).empty()) return true;
  const auto is_later = [](const char* rank) { return !value_of(rank).empty() && value_of(rank) != "0"; };
  return is_externally_launched() && (is_later("PMIX_RANK") || is_later("PMI_RANK"));
}

unsigned processes_started() {
  unsigned long most = 0;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    most = std::max(most, std::strtoul(value_of(name).c_str(), nullptr, 10));
  return static_cast<unsigned>(most);
}

bool shows_one_machine() {
  return same_number("OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE") ||
         same_number("MPI_LOCALNRANKS", "PMI_SIZE");
}

std::optional<std::string> field_in(const std::string& text, const std::string& name) {
  const auto begin = (" " + text).find(" " + name + "=");
  if (begin == std::string::npos) return std::nullopt;
  const auto value = begin + name.size() + 1;
  return text.substr(value, text.find(' ', value) - value);
}

std::uint32_t number_in(const std::string& text, const std::string& name, const char* variable) {
  const auto value = field_in(text, name);
  std::uint32_t number = 0;
  const char* const end = value ? value->data() + value->size() : nullptr;
  if (!value || std::from_chars(value->data(), end, number).ptr != end || value->empty())
    throw error(errc::bad_input,
                fmt::format("{} lacks a number for {}; it is set by `shoal run` and not by hand", variable, name));
  return number;
}

}  // namespace shoal::launch
