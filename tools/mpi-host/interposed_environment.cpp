// SPDX-License-Identifier: Apache-2.0
// The environment, a rank's own from its first change on, and the working directory, which ranks of a process share.
// What a program starts gets its rank's environment.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/log.hpp"
#include "tools/mpi-host/rank_libc.hpp"

using namespace shoal::host;  // NOLINT: the functions of a C interface

namespace {

bool is_of(const char* entry, std::string_view name) noexcept {
  return std::strncmp(entry, name.data(), name.size()) == 0 && entry[name.size()] == '=';
}

char* find(char** list, std::string_view name) noexcept {
  if (list == nullptr || name.empty()) return nullptr;
  for (; *list != nullptr; ++list)
    if (is_of(*list, name)) return *list + name.size() + 1;
  return nullptr;
}

// A list that may be changed, in place of the process's or of one that the program has set.
std::vector<char*>& own_list(rank_libc& mine) {
  char** const now = *mine.environment;
  if (!mine.variables.empty() && now == mine.variables.data()) return mine.variables;
  std::vector<char*> list;
  for (char** entry = now; entry != nullptr && *entry != nullptr; ++entry) list.push_back(*entry);
  list.push_back(nullptr);
  mine.variables = std::move(list);
  return mine.variables;
}

void put(rank_libc& mine, char* entry, std::string_view name) {
  std::vector<char*>& list = own_list(mine);
  const auto same = std::ranges::find_if(list, [name](char* e) { return e != nullptr && is_of(e, name); });
  if (same != list.end())
    *same = entry;
  else
    list.insert(list.end() - 1, entry);
  *mine.environment = list.data();
}

void erase(rank_libc& mine, std::string_view name) {
  if (find(*mine.environment, name) == nullptr) return;
  std::vector<char*>& list = own_list(mine);
  std::erase_if(list, [name](char* e) { return e != nullptr && is_of(e, name); });
  *mine.environment = list.data();
}

// The C library computes local times by the process's environment, so a change of the time zone is one for all ranks.
void note_time_zone(rank_libc& mine, std::string_view name) {
  if (name == "TZ") set_time_zone(find(*mine.environment, name));
}

bool is_name(const char* name) noexcept {
  if (name != nullptr && *name != '\0' && std::strchr(name, '=') == nullptr) return true;
  errno = EINVAL;
  return false;
}

// What a shell takes for the name of a variable.
bool is_shell_name(std::string_view name) noexcept {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, [](unsigned char c) { return c == '_' || std::isalnum(c) != 0; });
}

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// For a shell, which libc starts in the process's environment: what makes it the rank's.
std::string with_own_environment(rank_libc& mine, const char* command) {
  const std::lock_guard hold(mine.mutex);
  char** const own = *mine.environment;
  if (own == ::environ) return command;
  std::string text;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::strcspn(*entry, "="));
    if (is_shell_name(name) && find(own, name) == nullptr) text.append("unset ").append(name).append("; ");
  }
  for (char** entry = own; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::strcspn(*entry, "="));
    if (!is_shell_name(name) || (*entry)[name.size()] == '\0') continue;
    const char* const value = *entry + name.size() + 1;
    const char* const before = find(::environ, name);
    if (before == nullptr || std::strcmp(before, value) != 0)
      text.append("export ").append(name).append("=").append(quoted(value)).append("; ");
  }
  return text + command;
}

// The arguments of a program as execl() has them, up to the null pointer.
std::vector<char*> listed(const char* first, std::va_list& rest) {
  std::vector<char*> all{const_cast<char*>(first)};
  while (all.back() != nullptr) all.push_back(va_arg(rest, char*));
  return all;
}

bool same_directory(const struct stat& a, const struct stat& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Changes the directory by `change`, and says so if that moves other ranks.
template <class Change>
int change_directory(const Change& change) {
  struct stat before {};
  const rank_libc* const mine = ranks_here() > 1 ? calling_libc() : nullptr;
  if (mine != nullptr && ::stat(".", &before) != 0) before = {};
  const int result = change();
  static std::atomic<bool> said{false};
  struct stat after {};
  if (result == 0 && mine != nullptr && ::stat(".", &after) == 0 && !same_directory(before, after) &&
      !said.exchange(true))
    shoal::base::write_line(
        "", fmt::format("rank {} has changed the working directory for all {} ranks of its process, which share it; "
                        "use whole paths, or --nfg 1 (said once)",
                        mine->world, ranks_here()));
  return result;
}

}  // namespace

SHOAL_INTERPOSED char* getenv(const char* name) noexcept {
  SHOAL_NEXT(getenv);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return getenv_next(name);
  const std::lock_guard hold(mine->mutex);
  return find(*mine->environment, name);
}

SHOAL_INTERPOSED char* secure_getenv(const char* name) noexcept {
  SHOAL_NEXT(secure_getenv);
  return calling_libc() == nullptr ? secure_getenv_next(name) : getenv(name);
}

SHOAL_INTERPOSED int setenv(const char* name, const char* value, int replace) noexcept {
  SHOAL_NEXT(setenv);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return setenv_next(name, value, replace);
  if (!is_name(name)) return -1;
  const std::lock_guard hold(mine->mutex);
  if (replace == 0 && find(*mine->environment, name) != nullptr) return 0;
  const std::size_t name_bytes = std::strlen(name);
  const std::size_t value_bytes = std::strlen(value) + 1;
  auto entry = std::make_unique<char[]>(name_bytes + 1 + value_bytes);
  std::memcpy(entry.get(), name, name_bytes);
  entry[name_bytes] = '=';
  std::memcpy(entry.get() + name_bytes + 1, value, value_bytes);
  put(*mine, entry.get(), {entry.get(), name_bytes});
  mine->strings.push_back(std::move(entry));
  note_time_zone(*mine, name);
  return 0;
}

SHOAL_INTERPOSED int unsetenv(const char* name) noexcept {
  SHOAL_NEXT(unsetenv);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return unsetenv_next(name);
  if (!is_name(name)) return -1;
  const std::lock_guard hold(mine->mutex);
  erase(*mine, name);
  note_time_zone(*mine, name);
  return 0;
}

SHOAL_INTERPOSED int putenv(char* entry) noexcept {
  SHOAL_NEXT(putenv);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return putenv_next(entry);
  const char* const sign = std::strchr(entry, '=');
  const std::lock_guard hold(mine->mutex);
  const std::string_view name(entry, sign == nullptr ? std::strlen(entry) : static_cast<std::size_t>(sign - entry));
  if (sign == nullptr)
    erase(*mine, name);
  else
    put(*mine, entry, name);
  note_time_zone(*mine, name);
  return 0;
}

SHOAL_INTERPOSED int clearenv() noexcept {
  SHOAL_NEXT(clearenv);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return clearenv_next();
  const std::lock_guard hold(mine->mutex);
  *mine->environment = nullptr;
  set_time_zone(nullptr);
  return 0;
}

SHOAL_INTERPOSED int execv(const char* path, char* const* arguments) noexcept {
  const rank_libc* const mine = calling_libc();
  return ::execve(path, arguments, mine == nullptr ? ::environ : *mine->environment);
}

SHOAL_INTERPOSED int execl(const char* path, const char* first, ...) noexcept {
  std::va_list rest;
  va_start(rest, first);
  const std::vector<char*> arguments = listed(first, rest);
  va_end(rest);
  return ::execv(path, arguments.data());
}

SHOAL_INTERPOSED int execlp(const char* file, const char* first, ...) noexcept {
  std::va_list rest;
  va_start(rest, first);
  const std::vector<char*> arguments = listed(first, rest);
  va_end(rest);
  return ::execvp(file, arguments.data());
}

SHOAL_INTERPOSED int execvp(const char* file, char* const* arguments) noexcept {
  const rank_libc* const mine = calling_libc();
  return ::execvpe(file, arguments, mine == nullptr ? ::environ : *mine->environment);
}

SHOAL_INTERPOSED int system(const char* command) {
  SHOAL_NEXT(system);
  rank_libc* const mine = command != nullptr ? calling_libc() : nullptr;
  return system_next(mine == nullptr ? command : with_own_environment(*mine, command).c_str());
}

SHOAL_INTERPOSED std::FILE* popen(const char* command, const char* mode) {
  SHOAL_NEXT(popen);
  rank_libc* const mine = calling_libc();
  return popen_next(mine == nullptr ? command : with_own_environment(*mine, command).c_str(), mode);
}

SHOAL_INTERPOSED int chdir(const char* path) noexcept {
  SHOAL_NEXT(chdir);
  return change_directory([&] { return chdir_next(path); });
}

SHOAL_INTERPOSED int fchdir(int directory) noexcept {
  SHOAL_NEXT(fchdir);
  return change_directory([&] { return fchdir_next(directory); });
}
