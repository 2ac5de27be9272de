// SPDX-License-Identifier: Apache-2.0
// The functions of shoal/checkpoint.hpp.
#include "shoal/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "base/log.hpp"
#include "files/checkpoint_folder.hpp"
#include "files/checkpoint_write.hpp"
#include "shoal/blocking.hpp"
#include "shoal/error.hpp"
#include "shoal/future.hpp"

namespace shoal {
namespace detail {

using files::array_file;
using files::checkpoint_folder;
using files::checkpoint_write;
using files::manifest;

class checkpoint_state {
public:
  checkpoint_state(const std::string& folder, const checkpoint_options& options)
      : folder_(machine::absolute_path(folder)), options_(options) {}
  checkpoint_state(const checkpoint_state&) = delete;
  checkpoint_state& operator=(const checkpoint_state&) = delete;
  ~checkpoint_state() {
    try {
      wait();
    } catch (const std::exception& e) {
      base::warn("{}", e.what());
    }
  }

  struct named_array {
    std::string name;
    array_layout layout;
    file_type type;
    std::vector<std::uint64_t> shape;
  };
  struct named_value {
    std::string name;
    void* at;
    file_type type;
  };

  void add(named_array a) {
    check_name(a.name);
    const array_file plan = files::plan_file(folder_.array_path(0, a.name), a.type, a.layout.size, {.shape = a.shape});
    a.shape.assign(plan.extents().begin(), plan.extents().end());
    arrays_.push_back(std::move(a));
  }
  void add(named_value v) {
    check_name(v.name);
    values_.push_back(std::move(v));
  }

  std::uint64_t save(bool apart);
  void wait() {
    if (writing_.valid()) std::exchange(writing_, {}).get();
  }
  bool copied() const noexcept { return copied_; }
  std::optional<std::uint64_t> restore(const restore_options& options);

private:
  void check_name(const std::string& name) const;
  void compare(const manifest& m) const;
  void load(const manifest& m) const;

  checkpoint_folder folder_;
  const checkpoint_options options_;
  std::vector<named_array> arrays_;
  std::vector<named_value> values_;
  bool copied_ = false;
  bool told_ = false;     // that there is no memory for copies
  future<void> writing_;  // after what it uses: its destructor waits
};

void checkpoint_state::check_name(const std::string& name) const {
  if (!files::is_checkpoint_name(name))
    throw error(
        errc::invalid_argument,
        fmt::format("'{}' cannot be a name in a checkpoint: take 1 to {} letters, digits, '_', '-' and '.', the "
                    "first no '.'",
                    name, files::k_most_name_bytes));
  const auto is_it = [&name](const auto& one) { return one.name == name; };
  if (std::ranges::any_of(arrays_, is_it) || std::ranges::any_of(values_, is_it))
    throw error(errc::invalid_argument,
                fmt::format("the checkpoint has '{}' already; give each a name of its own", name));
}

std::uint64_t checkpoint_state::save(bool apart) {
  wait();
  manifest m;
  m.nodes = this_port().nodes;
  std::vector<files::part> parts;
  for (const named_array& a : arrays_) {
    const array_file file = files::plan_file(folder_.array_path(0, a.name), a.type, a.layout.size, {.shape = a.shape});
    m.arrays.push_back({a.name, a.type, a.layout.size, file.id, a.shape});
    parts.push_back({a.layout, file});
  }
  for (const named_value& v : values_)
    m.values.push_back({v.name, v.type, std::string(static_cast<const char*>(v.at), v.type.bytes)});
  auto next = std::make_shared<checkpoint_write>(folder_, std::move(m), std::move(parts), options_.keep, options_.sync);
  const std::uint64_t number = next->number();
  copied_ = apart && next->copy();
  if (copied_) {
    writing_ = async("checkpoint", [next] { next->write(); });
    return number;
  }
  if (apart && !std::exchange(told_, true))
    base::say("there is no memory for copies of the arrays of {}: the program waits while they are written",
              folder_.path());
  next->write();
  return number;
}

// Throws mismatch unless it has what the program has named.
void checkpoint_state::compare(const manifest& m) const {
  const std::string of = fmt::format("checkpoint {} in {}", m.number, folder_.path());
  const auto refuse = [&of](const std::string& what) { throw error(errc::mismatch, of + " " + what); };
  const auto find = [](const auto& all, const std::string& name) {
    return std::ranges::find_if(all, [&name](const auto& one) { return one.name == name; });
  };
  for (const named_array& a : arrays_) {
    const auto saved = find(m.arrays, a.name);
    if (saved == m.arrays.end()) refuse(fmt::format("has no array '{}', which the program names", a.name));
    if (saved->type != a.type)
      refuse(fmt::format("has array '{}' with elements of type {}, and the program with {}", a.name, saved->type.name(),
                         a.type.name()));
    if (saved->shape != a.shape)
      refuse(fmt::format("has array '{}' with {} elements, and the program with {}", a.name,
                         files::describe_shape(saved->shape), files::describe_shape(a.shape)));
  }
  for (const named_value& v : values_) {
    const auto saved = find(m.values, v.name);
    if (saved == m.values.end()) refuse(fmt::format("has no value '{}', which the program names", v.name));
    if (saved->type != v.type)
      refuse(
          fmt::format("has value '{}' of type {}, and the program of {}", v.name, saved->type.name(), v.type.name()));
  }
  for (const auto& a : m.arrays)
    if (find(arrays_, a.name) == arrays_.end())
      refuse(fmt::format("has array '{}', which the program does not name", a.name));
  for (const auto& v : m.values)
    if (find(values_, v.name) == values_.end())
      refuse(fmt::format("has value '{}', which the program does not name", v.name));
}

void checkpoint_state::load(const manifest& m) const {
  for (const named_array& a : arrays_) {
    const auto& saved = *std::ranges::find(m.arrays, a.name, &files::saved_array::name);
    const std::string path = folder_.array_path(m.number, a.name);
    const array_file file = files::open_file(path, a.type, file_format::shoal);
    if (file.id != saved.file_id || file.type != saved.type || file.size != saved.size)
      files::refuse_file(path, "is not the file that the manifest names, but another one: was it replaced?");
    files::read_file(path, {a.layout, file});
  }
  for (const named_value& v : values_)
    std::memcpy(v.at, std::ranges::find(m.values, v.name, &files::saved_value::name)->bytes.data(), v.type.bytes);
}

std::optional<std::uint64_t> checkpoint_state::restore(const restore_options& options) {
  wait();
  std::vector<std::uint64_t> all;
  blocking([&] {
    all = folder_.whole();
    if (all.empty()) return;
    try {
      folder_.lock(options_.sync);
    } catch (const error& e) {
      if (e.code() == errc::exhausted) throw;  // others use it; where it can only be read nobody does
    }
  });
  if (!options.always && !is_restart()) {
    if (!all.empty())
      base::say("{} has checkpoint {}, and the job begins anew: shoal run --restart goes on from it", folder_.path(),
                all.front());
    return std::nullopt;
  }
  std::exception_ptr first;
  for (const std::uint64_t number : all) {
    try {
      manifest m;
      blocking([&] { m = folder_.read(number); });
      compare(m);
      load(m);
      return number;
    } catch (const error& e) {
      if (e.code() != errc::bad_input && e.code() != errc::not_found) throw;
      const error damage(errc::bad_input,
                         fmt::format("checkpoint {} in {} is damaged: {}", number, folder_.path(), e.what()));
      if (!options.older_if_damaged) throw damage;
      base::warn("{}; an older one is tried", damage.what());
      if (!first) first = std::make_exception_ptr(damage);
    }
  }
  if (first) std::rethrow_exception(first);
  return std::nullopt;
}

void checkpoint_state_deleter::operator()(checkpoint_state* s) const noexcept { delete s; }

}  // namespace detail

bool is_restart() { return detail::this_port().context->restarted; }

checkpoint::checkpoint(const std::string& folder, const checkpoint_options& options)
    : state_(new detail::checkpoint_state(folder, options)) {}

void checkpoint::add_array(const std::string& name, const detail::array_layout& layout, file_type type,
                           const std::vector<std::uint64_t>& shape) {
  state_->add(detail::checkpoint_state::named_array{name, layout, type, shape});
}
void checkpoint::add_value(const std::string& name, void* at, file_type type) {
  state_->add(detail::checkpoint_state::named_value{name, at, type});
}
std::uint64_t checkpoint::save() { return state_->save(false); }
std::uint64_t checkpoint::async_save() { return state_->save(true); }
void checkpoint::wait() { state_->wait(); }
bool checkpoint::copied() const noexcept { return state_->copied(); }
std::optional<std::uint64_t> checkpoint::restore(const restore_options& options) { return state_->restore(options); }

}  // namespace shoal
