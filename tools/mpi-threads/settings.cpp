// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "shoal/error.hpp"
#include "shoal/locks.hpp"

namespace shoal::mpi_threads {
namespace {

constexpr const char* k_prefix = "SHOAL_MPI_THREADS_";

void read(const char* name, std::string& value) {
  if (const char* given = std::getenv((std::string(k_prefix) + name).c_str())) value = given;
}

void read(const char* name, unsigned& value) {
  std::string text;
  read(name, text);
  if (text.empty()) return;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    throw error(errc::invalid_argument, fmt::format("{}{}={}: give a whole number", k_prefix, name, text));
}

}  // namespace

std::vector<std::string> settings::environment() const {
  std::vector<std::string> all;
  auto add = [&all](const char* name, const std::string& value) { all.push_back(k_prefix + (name + ("=" + value))); };
  add("LOCK", lock);
  add("WAIT", wait);
  add("LEVEL", level);
  add("BOUND", std::to_string(bound));
  add("SPINS", std::to_string(spins));
  add("BIAS", bias ? "1" : "0");
  add("DANGLING", dangling ? "1" : "0");
  add("UNDERNEATH", underneath);
  add("REPORTS", reports);
  return all;
}

void settings::check() const {
  const auto kinds = lock_kinds();
  if (lock != "none" && std::ranges::find(kinds, lock) == kinds.end())
    throw error(errc::invalid_argument,
                fmt::format("there is no lock '{}'; there are {}", lock, fmt::join(kinds.begin(), kinds.end(), ", ")));
  parse_wait_kind(wait);
  if (level != "auto" && level != "serialized" && level != "multiple")
    throw error(errc::invalid_argument,
                fmt::format("there is no level '{}'; there are auto, serialized, multiple", level));
  if (bound == 0)
    throw error(errc::invalid_argument, "a waiter must be bypassed at least once: give a bound of 1 or more");
}

settings settings_from_environment() {
  settings s;
  read("LOCK", s.lock);
  read("WAIT", s.wait);
  read("LEVEL", s.level);
  read("BOUND", s.bound);
  read("SPINS", s.spins);
  std::string dangling, bias;
  read("DANGLING", dangling);
  s.dangling = dangling == "1";
  read("BIAS", bias);
  s.bias = bias == "1";
  read("UNDERNEATH", s.underneath);
  read("REPORTS", s.reports);
  s.check();
  return s;
}

}  // namespace shoal::mpi_threads
