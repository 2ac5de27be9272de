// SPDX-License-Identifier: Apache-2.0
// Arrays by name, and those that are kept in a folder. Node 0 has the table; the file layer above this one (storage)
// reads and writes the elements.
// Who may call: tasks; all functions may switch. One of them at a time on node 0 (a lock for tasks).
// Guarantees: a name belongs to one array. What is kept of an array NAME: NAME.gmt (its alloc_type_t) and NAME.shoal
// (its elements, shoal/files.hpp); a job that is killed leaves whole files.
// Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "gmt/gmt.h"
#include "shoal/detail/array_layout.hpp"
#include "shoal/sync.hpp"

namespace shoal::gmt {

inline constexpr std::size_t k_most_name_bytes = 200;

/// Files of arrays. Functions of tasks: they switch, and throw shoal::error.
struct storage {
  struct kept_array {
    std::uint64_t size = 0;  // 0: nothing is kept under this name
    std::uint32_t element_bytes = 0;
    int type = 0;  // alloc_type_t
  };
  kept_array (*describe)(const std::string& path) = nullptr;
  void (*load)(const std::string& path, const detail::array_layout& layout) = nullptr;
  void (*save)(const std::string& path, const detail::array_layout& layout, int type) = nullptr;
  void (*remove)(const std::string& path) = nullptr;
};

/// Of the process, before its job begins; the same on all nodes. An empty folder: nothing is kept.
void keep_arrays_in(const std::string& folder, const storage& files);
/// Whether there is such a folder.
bool keeps_arrays() noexcept;
/// Whether a kept array may have this name: letters, digits, - and _ take a byte in a file name, others three.
bool is_file_name(std::string_view name);

class name_table {
public:
  /// False: the name is in use.
  bool add(std::string_view name, gmt_data_t array);
  /// GMT_DATA_NULL: there is no such array. `caller`: where arrays of GMT_ALLOC_LOCAL are to be.
  gmt_data_t attach(const std::string& name, std::uint32_t caller);
  /// Forgets the array's name, and what is kept of it.
  void remove(gmt_data_t array);
  /// Writes the arrays that are to be kept.
  void save_all();

private:
  mutex lock_;
  std::map<std::string, gmt_data_t, std::less<>> arrays_;
};

/// On node 0, from any node.
bool add_name(std::string_view name, gmt_data_t array);
void remove_name(gmt_data_t array);

}  // namespace shoal::gmt
