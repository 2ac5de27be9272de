// SPDX-License-Identifier: Apache-2.0
// All settings of one runtime: the tables of all folders and plugins, and each value with its origin.
// Precedence: the program's code > command line > environment (SHOAL_NAME) > shoal.toml > tuned for this machine >
// default. A setting has the
// same name everywhere; the key `ring` in the table [shm] of shoal.toml is the setting shm_ring.
// Who may call: one thread, during set-up (add, set, read_*, check); afterwards any thread may read. Never switches
// tasks.
// Values are checked when they are read and, all together, by check(). A wrong value is a shoal::error that names the
// setting, the accepted values, the value and its origin. An unknown name from code or the command line is an error as
// well. For unknown SHOAL_ variables and keys of shoal.toml it prints one warning each, with the nearest known name.
// Plugins may add tables later: only check() reports unknown names.
// Test: tests/unit/base/settings_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/setting_table.hpp"
#include "shoal/error.hpp"

namespace shoal::base {

enum class setting_origin : std::uint8_t { standard, tuned, file, environment, command_line, code };

/// One line of `shoal info`.
struct setting_entry {
  std::string_view folder;
  const setting* declaration;
  std::string value;
  setting_origin origin;
  std::string origin_text;  // "default", "shoal.toml, line 3", "SHOAL_STACK in the environment", ...
  std::string range;
};

class settings {
public:
  /// Declares a folder's settings. The table's contents must outlive this object.
  void add(const setting_table& table);

  /// Sets a value from the program or its command line; the last call wins.
  void set(std::string_view name, std::string_view value, setting_origin origin = setting_origin::code);

  /// Reads the SHOAL_ variables of an environment block such as `environ`.
  void read_environment(const char* const* environment);
  /// Declares a SHOAL_ variable that is not a setting (for instance a launcher's).
  void accept_variable(std::string_view variable);

  /// Reads the file that SHOAL_CONFIG names (it must exist), else ./shoal.toml if it exists.
  void read_configuration();
  /// Reads a file; throws, with the line, if it is missing or malformed.
  void read_file(const std::string& path);
  /// The same for settings that were tuned for this machine.
  void read_tuned_file(const std::string& path);

  /// Throws for the first wrong or unknown value; warns about unknown variables and keys, unless another process does.
  void check(bool warns = true);

  bool get_bool(std::string_view name) const;
  std::int64_t get_int(std::string_view name) const;
  std::uint64_t get_size(std::string_view name) const;
  double get_real(std::string_view name) const;
  /// The value of a text or a choice.
  std::string get_text(std::string_view name) const;
  /// use(text). If it throws shoal::error, the error also names the setting and where its value came from.
  template <class Use>
  auto judge_text(std::string_view name, Use use) const {
    try {
      return use(get_text(name));
    } catch (const error& e) {
      throw_with_origin(name, e);
    }
  }

  setting_origin origin(std::string_view name) const;
  /// All settings in the order of their tables.
  std::vector<setting_entry> list() const;

private:
  struct declared {
    std::string_view folder;
    const setting* declaration;
  };
  struct value {
    std::string text;
    setting_origin origin;
    std::string origin_text;
  };

  void read_file(const std::string& path, setting_origin origin);
  const declared* find(std::string_view name) const;
  value effective(const setting& s) const;
  const setting& declaration_of(std::string_view name, setting_type type) const;
  value checked(const setting& s) const;
  void put(std::string_view name, value v);
  [[noreturn]] void throw_with_origin(std::string_view name, const error& e) const;
  std::string nearest_known(std::string_view name) const;

  std::vector<declared> declared_;
  std::map<std::string, std::vector<value>, std::less<>> values_;  // highest precedence first
  std::optional<std::string> configuration_file_;                  // SHOAL_CONFIG, if given
  std::set<std::string, std::less<>> accepted_;
  std::set<std::string, std::less<>> warned_;
};

}  // namespace shoal::base
