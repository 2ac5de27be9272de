// SPDX-License-Identifier: Apache-2.0
#include "base/settings.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/log.hpp"
#include "base/setting_value.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

namespace shoal::base {
namespace {

constexpr std::string_view k_prefix = "SHOAL_";
constexpr std::string_view k_file_variable = "SHOAL_CONFIG";
constexpr std::string_view k_without_tuned = "; delete the tuned file, or set SHOAL_TUNED= to do without it";
constexpr std::string_view k_file_name = "shoal.toml";
constexpr std::string_view k_stress_prefix = "SHOAL_STRESS_";  // variables that stress tests read themselves

std::string to_variable(std::string_view name) {
  std::string variable(k_prefix);
  for (const char c : name) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

// Names with lower-case letters after SHOAL_ are never settings: they are unchanged, and a warning names them.
std::string to_name(std::string_view variable) {
  std::string name(variable.substr(k_prefix.size()));
  if (std::ranges::any_of(name, [](unsigned char c) { return std::islower(c) != 0; })) return std::string(variable);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

bool of_higher_precedence(setting_origin a, setting_origin b) { return a >= b; }

std::string without_blanks(const std::string& text) {
  constexpr const char* k_blanks = " \t\r\n";
  const auto first = text.find_first_not_of(k_blanks);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(k_blanks) - first + 1);
}

// An empty variable (SHOAL_WORKERS= in a script) does not set anything, unless the setting accepts an empty value.
bool says_something(const setting& s, const std::string& text, setting_origin origin) {
  return !text.empty() || origin != setting_origin::environment ||
         (s.type == setting_type::text && s.default_value.empty());
}

// The text that a user would write for a value of the file; arrays, dates and so on have none.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* s = node.as_string()) return s->get();
  if (const auto* i = node.as_integer()) return fmt::format("{}", i->get());
  if (const auto* f = node.as_floating_point()) return fmt::format("{}", f->get());
  if (const auto* b = node.as_boolean()) return b->get() ? "on" : "off";
  return std::nullopt;
}

struct file_value {
  std::string name;
  std::string text;
  unsigned line;
};

void flatten(const toml::table& table, const std::string& prefix, const std::string& path,
             std::vector<file_value>& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    const unsigned line = node.source().begin.line;
    if (const auto* inner = node.as_table()) {
      flatten(*inner, name + "_", path, out);
    } else if (auto text = text_of(node)) {
      out.push_back({name, *std::move(text), line});
    } else {
      throw error(errc::bad_input,
                  fmt::format("{}, line {}: {} must be a text, a number or true or false", path, line, name));
    }
  }
}

}  // namespace

void settings::add(const setting_table& table) {
  for (const setting& s : table.settings) {
    SHOAL_ASSERT(find(s.name) == nullptr, "two tables declare a setting of the same name");
    SHOAL_ASSERT(is_acceptable(s, s.default_value), "a setting's default is outside its own range");
    declared_.push_back({table.folder, &s});
  }
}

const settings::declared* settings::find(std::string_view name) const {
  const auto place = std::ranges::find(declared_, name, [](const declared& d) { return d.declaration->name; });
  return place == declared_.end() ? nullptr : &*place;
}

// Keeps the values of a name sorted by precedence, the newest first among equals.
void settings::put(std::string_view name, value v) {
  v.text = without_blanks(v.text);
  auto& list = values_.try_emplace(std::string(name)).first->second;
  const auto place =
      std::ranges::find_if(list, [&](const value& other) { return of_higher_precedence(v.origin, other.origin); });
  list.insert(place, std::move(v));
}

void settings::set(std::string_view name, std::string_view text, setting_origin origin) {
  SHOAL_ASSERT(origin == setting_origin::code || origin == setting_origin::command_line,
               "set() is for the code and the command line; the others have functions of their own");
  put(name, {std::string(text), origin, origin == setting_origin::code ? "the program" : "the command line"});
}

void settings::read_environment(const char* const* environment) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view line(*environment);
    const auto equals = line.find('=');
    if (!line.starts_with(k_prefix) || line.starts_with(k_stress_prefix) || equals == std::string_view::npos) continue;
    const std::string_view variable = line.substr(0, equals);
    const std::string_view text = line.substr(equals + 1);
    if (variable == k_file_variable) {
      configuration_file_ = std::string(text);
    } else {
      put(to_name(variable),
          {std::string(text), setting_origin::environment, fmt::format("{} in the environment", variable)});
    }
  }
}

void settings::accept_variable(std::string_view variable) { accepted_.insert(to_name(variable)); }

void settings::read_configuration() {
  if (configuration_file_) {
    read_file(*configuration_file_);
  } else if (std::error_code ignored; std::filesystem::exists(k_file_name, ignored)) {
    read_file(std::string(k_file_name));
  }
}

void settings::read_file(const std::string& path) { read_file(path, setting_origin::file); }

void settings::read_tuned_file(const std::string& path) { read_file(path, setting_origin::tuned); }

void settings::read_file(const std::string& path, setting_origin origin) {
  if (std::error_code ignored; !std::filesystem::is_regular_file(path, ignored)) {
    throw error(errc::not_found,
                fmt::format("the configuration file {} does not exist or is not a file; set {} to one that does", path,
                            k_file_variable));
  }
  std::vector<file_value> found;
  try {
    flatten(toml::parse_file(path), "", path, found);
  } catch (const toml::parse_error& e) {
    throw error(errc::bad_input, fmt::format("{}, line {}: {}{}", path, e.source().begin.line, e.description(),
                                             origin == setting_origin::tuned ? k_without_tuned : ""));
  }
  for (auto& f : found)
    put(f.name, {std::move(f.text), origin,
                 fmt::format("{}{}, line {}", origin == setting_origin::tuned ? "tuned: " : "", path, f.line)});
}

settings::value settings::effective(const setting& s) const {
  if (const auto place = values_.find(s.name); place != values_.end())
    for (const value& v : place->second)
      if (says_something(s, v.text, v.origin)) return v;
  return {std::string(s.default_value), setting_origin::standard, "default"};
}

settings::value settings::checked(const setting& s) const {
  value v = effective(s);
  if (!is_acceptable(s, v.text)) {
    throw error(errc::invalid_argument,
                fmt::format("the setting {} must be {}, but is '{}' (from {}){}", s.name, describe_range(s), v.text,
                            v.origin_text, v.origin == setting_origin::tuned ? k_without_tuned : ""));
  }
  return v;
}

const setting& settings::declaration_of(std::string_view name, setting_type type) const {
  const declared* known = find(name);
  SHOAL_ASSERT(known != nullptr, "a setting is read that no table declares");
  const setting_type declared_type = known->declaration->type;
  SHOAL_ASSERT(declared_type == type || (type == setting_type::text && declared_type == setting_type::choice),
               "a setting is read as another type than its table declares");
  return *known->declaration;
}

void settings::throw_with_origin(std::string_view name, const error& e) const {
  const declared* known = find(name);
  SHOAL_ASSERT(known != nullptr, "a value is judged of a setting that no table declares");
  throw error(e.code(),
              fmt::format("the setting {} (from {}): {}", name, effective(*known->declaration).origin_text, e.what()));
}

std::string settings::nearest_known(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const declared& d : declared_) names.push_back(d.declaration->name);
  return std::string(nearest_name(name, names));
}

void settings::check(bool warns) {
  for (const declared& d : declared_) static_cast<void>(checked(*d.declaration));
  for (const auto& [name, list] : values_) {
    if (find(name) != nullptr) continue;
    const value& v = list.front();
    const std::string nearest = nearest_known(name);
    if (v.origin == setting_origin::code || v.origin == setting_origin::command_line) {
      throw error(errc::invalid_argument, fmt::format("there is no setting {} (from {}); {}", name, v.origin_text,
                                                      nearest.empty() ? "`shoal info` lists them all"
                                                                      : fmt::format("did you mean {}?", nearest)));
    }
    if (v.origin == setting_origin::environment && accepted_.contains(name)) continue;
    if (!warns || !warned_.insert(name).second) continue;
    const std::string meant = v.origin == setting_origin::environment ? to_variable(nearest) : nearest;
    warn("{}: there is no setting {}; {}", v.origin_text, name,
         nearest.empty() ? "it has no effect" : fmt::format("did you mean {}?", meant));
  }
}

bool settings::get_bool(std::string_view name) const {
  return parse_bool(checked(declaration_of(name, setting_type::boolean)).text).value();
}

std::int64_t settings::get_int(std::string_view name) const {
  return parse_int(checked(declaration_of(name, setting_type::integer)).text).value();
}

std::uint64_t settings::get_size(std::string_view name) const {
  return parse_size(checked(declaration_of(name, setting_type::size)).text).value();
}

double settings::get_real(std::string_view name) const {
  return parse_real(checked(declaration_of(name, setting_type::real)).text).value();
}

std::string settings::get_text(std::string_view name) const {
  return checked(declaration_of(name, setting_type::text)).text;
}

setting_origin settings::origin(std::string_view name) const {
  const declared* known = find(name);
  SHOAL_ASSERT(known != nullptr, "the origin of a setting is asked for that no table declares");
  return effective(*known->declaration).origin;
}

std::vector<setting_entry> settings::list() const {
  std::vector<setting_entry> entries;
  for (const auto& [folder, declaration] : declared_) {
    value v = effective(*declaration);
    entries.push_back(
        {folder, declaration, std::move(v.text), v.origin, std::move(v.origin_text), describe_range(*declaration)});
  }
  return entries;
}

}  // namespace shoal::base
