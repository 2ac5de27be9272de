// SPDX-License-Identifier: Apache-2.0
// setlocale() for one rank: a locale of its thread, which it puts aside while it is in a call of MPI, where others run on
// the thread. What std::locale::global() sets for C++ streams remains the process's.
#include <langinfo.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "tools/mpi-host/rank_libc.hpp"

using namespace shoal::host;  // NOLINT: the functions of a C interface

namespace {

struct category {
  int number;
  const char* name;
};
constexpr std::array<category, 12> k_categories{{{LC_CTYPE, "LC_CTYPE"},
                                                 {LC_NUMERIC, "LC_NUMERIC"},
                                                 {LC_TIME, "LC_TIME"},
                                                 {LC_COLLATE, "LC_COLLATE"},
                                                 {LC_MONETARY, "LC_MONETARY"},
                                                 {LC_MESSAGES, "LC_MESSAGES"},
                                                 {LC_PAPER, "LC_PAPER"},
                                                 {LC_NAME, "LC_NAME"},
                                                 {LC_ADDRESS, "LC_ADDRESS"},
                                                 {LC_TELEPHONE, "LC_TELEPHONE"},
                                                 {LC_MEASUREMENT, "LC_MEASUREMENT"},
                                                 {LC_IDENTIFICATION, "LC_IDENTIFICATION"}}};

std::string name_of(locale_t of, int number) { return ::nl_langinfo_l(_NL_LOCALE_NAME(number), of); }

// As setlocale() gives it: one name if all are the same.
std::string name_of_all(locale_t of) {
  std::string first = name_of(of, LC_CTYPE);
  if (std::ranges::all_of(k_categories, [&](const category& c) { return name_of(of, c.number) == first; }))
    return first;
  std::string text;
  for (const category& c : k_categories) {
    if (!text.empty()) text += ';';
    text.append(c.name).append("=").append(name_of(of, c.number));
  }
  return text;
}

// What the rank's environment says for a category.
const char* wanted_name(const category& c) {
  for (const char* const variable : {"LC_ALL", c.name, "LANG"})
    if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0') return value;
  return "C";
}

// newlocale(), in which "" stands for the rank's environment, not the process's. Takes `before`, or returns nullptr.
locale_t make_locale(int number, const char* name, locale_t before) {
  if (*name != '\0') return ::newlocale(number == LC_ALL ? LC_ALL_MASK : 1 << number, name, before);
  locale_t made = ::duplocale(before);
  for (const category& c : k_categories) {
    if (made == nullptr || (number != LC_ALL && number != c.number)) continue;
    const locale_t next = ::newlocale(1 << c.number, wanted_name(c), made);
    if (next == nullptr) ::freelocale(made);
    made = next;
  }
  if (made != nullptr) ::freelocale(before);
  return made;
}

char* kept_name(rank_libc& mine, int number) {
  std::string name = number == LC_ALL ? name_of_all(mine.locale.of) : name_of(mine.locale.of, number);
  return const_cast<char*>(mine.locale.names.insert(std::move(name)).first->c_str());
}

}  // namespace

namespace shoal::host {

void rank_locale::put_aside(const char*) noexcept { ::uselocale(LC_GLOBAL_LOCALE); }
void rank_locale::bring_back() noexcept { ::uselocale(of); }

void forget_thread_settings(rank::rank_state& me) {
  rank_locale& mine = libc_of(me).locale;
  if (mine.of == nullptr) return;
  me.remove_setting(mine);
  ::uselocale(LC_GLOBAL_LOCALE);
  ::freelocale(std::exchange(mine.of, nullptr));
}

}  // namespace shoal::host

SHOAL_INTERPOSED char* setlocale(int number, const char* name) noexcept {
  SHOAL_NEXT(setlocale);
  shoal::rank::rank_state* const me = shoal::rank::current_rank();
  if (me == nullptr) return setlocale_next(number, name);
  rank_libc& mine = libc_of(*me);
  if (name == nullptr) return mine.locale.of == nullptr ? setlocale_next(number, nullptr) : kept_name(mine, number);
  const bool known =
      number == LC_ALL || std::ranges::find(k_categories, number, &category::number) != k_categories.end();
  if (!known) return nullptr;
  const locale_t before = ::duplocale(mine.locale.of != nullptr ? mine.locale.of : LC_GLOBAL_LOCALE);
  if (before == nullptr) return nullptr;
  const locale_t made = make_locale(number, name, before);
  if (made == nullptr) {
    ::freelocale(before);
    return nullptr;
  }
  ::uselocale(made);
  if (mine.locale.of != nullptr) ::freelocale(mine.locale.of);
  if (mine.locale.of == nullptr) me->add_setting(mine.locale);
  mine.locale.of = made;
  return kept_name(mine, number);
}
