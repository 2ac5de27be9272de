// SPDX-License-Identifier: Apache-2.0
#include "shoal/locks/any_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "locks/owned_lock.hpp"
#include "shoal/error.hpp"
#include "shoal/locks.hpp"

namespace shoal {
namespace {

using maker = std::unique_ptr<any_lock> (*)(const lock_options&);

struct kind_entry {
  std::string_view name;
  std::array<maker, 4> makers;  // by wait_kind
};

template <class Lock, class Option>
const Option& value(const Option& option) {
  return option;
}
template <class Lock>
unsigned value(const std::optional<unsigned>& bound) {
  return bound.value_or(Lock::k_bound);
}

template <class Lock, auto... Options>
std::unique_ptr<any_lock> make([[maybe_unused]] const lock_options& options) {
  return std::make_unique<locks::owned_lock<Lock>>(value<Lock>(options.*Options)...);
}

template <template <class> class Of, auto... Options>
constexpr kind_entry entry(std::string_view name) {
  return {name,
          {make<Of<thread_wait<wait_kind::spin>>, Options...>, make<Of<thread_wait<wait_kind::yield>>, Options...>,
           make<Of<thread_wait<wait_kind::park>>, Options...>, make<Of<thread_wait<wait_kind::adaptive>>, Options...>}};
}

// The policy as the only template parameter.
template <class Wait>
using tas_of = tas_lock<Wait>;
template <class Wait>
using ticket_of = ticket_lock<Wait>;
template <class Wait>
using priority_of = priority_lock<Wait>;
template <class Wait>
using mcs_of = mcs_lock<Wait>;
template <class Wait>
using clh_of = clh_lock<Wait>;
template <class Wait>
using hierarchical_of = hierarchical_lock<Wait>;
template <class Wait>
using bounded_of = bounded_lock<Wait>;
template <class Wait>
using message_of = message_lock<Wait>;
// Ignores the policy.
template <class>
using mutex_of = mutex_lock;

constexpr std::array k_kinds{
    entry<mutex_of>("mutex"),
    entry<tas_of>("tas"),
    entry<ticket_of>("ticket"),
    entry<priority_of, &lock_options::classes>("priority"),
    entry<mcs_of>("mcs"),
    entry<clh_of>("clh"),
    entry<hierarchical_of, &lock_options::packages, &lock_options::bound>("hierarchical"),
    entry<bounded_of, &lock_options::bound>("bounded"),
    entry<message_of, &lock_options::bound>("message"),
};

constexpr auto k_kind_names = [] {
  std::array<std::string_view, k_kinds.size()> names;
  std::transform(k_kinds.begin(), k_kinds.end(), names.begin(), [](const kind_entry& k) { return k.name; });
  return names;
}();
constexpr std::array<std::string_view, 4> k_wait_names{"spin", "yield", "park", "adaptive"};

}  // namespace

std::string lock_owner::text() const {
  if (thread == 0) return "nobody";
  if (!lives) return fmt::format("thread {}, which has ended", thread);
  return name.empty() ? fmt::format("thread {}", thread) : fmt::format("thread {} ({})", thread, name);
}

lock_owner locks::describe_owner(std::uint32_t thread) {
  if (thread == 0) return {};
  return {thread, machine::thread_name(thread), machine::thread_lives(thread)};
}

std::span<const std::string_view> lock_kinds() noexcept { return k_kind_names; }
std::span<const std::string_view> wait_kinds() noexcept { return k_wait_names; }

wait_kind parse_wait_kind(std::string_view name) {
  const auto found = std::find(k_wait_names.begin(), k_wait_names.end(), name);
  if (found == k_wait_names.end())
    throw error(errc::invalid_argument,
                fmt::format("there is no wait policy '{}'; choose one of: {}", name, fmt::join(k_wait_names, ", ")));
  return static_cast<wait_kind>(found - k_wait_names.begin());
}

std::unique_ptr<any_lock> make_lock(std::string_view kind, wait_kind wait, const lock_options& options) {
  const auto* const found =
      std::find_if(k_kinds.begin(), k_kinds.end(), [&](const kind_entry& k) { return k.name == kind; });
  if (found == k_kinds.end())
    throw error(errc::invalid_argument,
                fmt::format("there is no lock of kind '{}'; choose one of: {}", kind, fmt::join(k_kind_names, ", ")));
  return found->makers[static_cast<std::size_t>(wait)](options);
}

}  // namespace shoal
