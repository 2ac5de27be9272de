// SPDX-License-Identifier: Apache-2.0
// Checkpoints: named arrays and values of a program on disk, from which a later run goes on.
//   std::uint64_t round = 0;
//   shoal::checkpoint saved("checkpoints");        // a folder that all nodes see
//   saved.add("rank", rank);  saved.add("round", round);
//   saved.restore();                               // under `shoal run --restart`: loads the newest one
//   for (; round < 1000; ++round) { if (round % 100 == 0) saved.save(); ... }
// Who may call: one task at a time for each object. All calls but add() switch tasks; no worker waits for a disk.
// Guarantees: a run that ends at any moment, also by a loss of power, leaves the newest whole checkpoint, on any number
// of nodes and in any distribution; older ones are removed only after that. Damage is found by checksums and refused.
// Errors: shoal::error with the folder, file, block: system (a full disk), bad_input (damage), mismatch (type, size).
// A failed save leaves the earlier checkpoints. Shown by tests/cluster/checkpoint_test.cpp, checkpoint_kill_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/files.hpp"

namespace shoal {

struct checkpoint_options {
  /// Whole checkpoints that stay in the folder, at least one. While another one is written, the disk has one more.
  unsigned keep = 2;
  /// Whether a checkpoint is on the disk when save() returns, so that it survives a loss of power.
  bool sync = true;
};

struct restore_options {
  /// Also if the job was not started by `shoal run --restart`.
  bool always = false;
  /// Takes an older whole checkpoint, with a warning, if a newer one is damaged. Otherwise damage is an error.
  bool older_if_damaged = false;
};

/// Whether the job was started to go on from a checkpoint: by `shoal run --restart`, or SHOAL_RESTART=on.
bool is_restart();

namespace detail {
template <class T>
inline constexpr bool k_is_array = false;
template <class T>
inline constexpr bool k_is_array<array_ref<T>> = true;
/// What a checkpoint stores of a variable: its bytes, at most 64 KiB.
template <class T>
concept plain_value = std::is_trivially_copyable_v<T> && !std::is_const_v<T> && !std::is_pointer_v<T> && !k_is_array<T>;

class checkpoint_state;
struct checkpoint_state_deleter {
  void operator()(checkpoint_state* s) const noexcept;
};
}  // namespace detail

class checkpoint {
public:
  explicit checkpoint(const std::string& folder, const checkpoint_options& options = {});
  checkpoint(const checkpoint&) = delete;
  checkpoint& operator=(const checkpoint&) = delete;
  /// Waits for what async_save() has begun; logs its failure if no call has thrown it.
  ~checkpoint() = default;

  /// `name`: letters, digits, '_', '-', '.'. The array must exist while the object does. `shape`: as in save_options.
  template <class T>
  void add(const std::string& name, const array_ref<T>& array, const std::vector<std::uint64_t>& shape = {}) {
    add_array(name, array.layout(), file_type_of<T>(), shape);
  }
  template <class T>
  void add(const std::string& name, const global_array<T>& array, const std::vector<std::uint64_t>& shape = {}) {
    add(name, array.ref(), shape);
  }
  /// The variable is read by save() and async_save(), and written by restore().
  template <detail::plain_value T>
  void add(const std::string& name, T& variable) {
    static_assert(sizeof(T) <= 65536, "a value of a checkpoint has at most 64 KiB; use a global array");
    add_value(name, &variable, file_type_of<T>());
  }

  /// Writes a checkpoint and returns its number. No task may modify the arrays meanwhile. Throws first what an earlier
  /// async_save() has met.
  std::uint64_t save();
  /// Copies the arrays, each node its own part to private memory, and returns; they may be modified then. The copies are
  /// written while the program goes on. A node without memory for its copy is reported once, and all is written before
  /// the call returns, as by save(). Waits for the checkpoint before.
  std::uint64_t async_save();
  /// Waits until what async_save() has begun is on the disk; throws what it has met.
  void wait();
  /// Whether the last async_save() went on while it wrote; false: it had no memory for copies.
  bool copied() const noexcept;

  /// Loads the newest checkpoint into the arrays and variables. Returns its number; none if there is no checkpoint, or
  /// if the job is no restart. The checkpoint must have the names, types and shapes of this object. If it throws, the
  /// arrays' elements are undefined and the variables unchanged.
  std::optional<std::uint64_t> restore(const restore_options& options = {});

private:
  void add_array(const std::string& name, const detail::array_layout& layout, file_type type,
                 const std::vector<std::uint64_t>& shape);
  void add_value(const std::string& name, void* at, file_type type);

  std::unique_ptr<detail::checkpoint_state, detail::checkpoint_state_deleter> state_;
};

}  // namespace shoal
