// SPDX-License-Identifier: Apache-2.0
#include "files/checkpoint_write.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/log.hpp"
#include "shoal/blocking.hpp"
#include "shoal/error.hpp"

namespace shoal::files {

checkpoint_write::checkpoint_write(checkpoint_folder& folder, manifest what, std::vector<part> arrays, unsigned keep,
                                   bool sync)
    : folder_(folder), manifest_(std::move(what)), arrays_(std::move(arrays)), keep_(keep), sync_(sync) {
  blocking([this] {
    folder_.lock(sync_);
    manifest_.number = folder_.begin();
  });
}

bool checkpoint_write::copy() {
  for (const part& p : arrays_) {
    copies_.emplace_back();
    if (copies_.back().take(p)) continue;
    copies_.clear();
    return false;
  }
  return true;
}

void checkpoint_write::give_up() noexcept {
  try {
    copies_.clear();
    blocking([this] { folder_.remove(number(), sync_); });
  } catch (const std::exception&) {
    // The next begin() removes it.
  }
}

void checkpoint_write::write() {
  try {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      part_copies* const copies = copies_.empty() ? nullptr : &copies_[i];
      write_file(folder_.array_path(number(), manifest_.arrays[i].name), arrays_[i], sync_, copies);
      if (copies != nullptr) copies->drop();
    }
    blocking([this] { folder_.commit(manifest_, sync_); });
  } catch (const error& e) {
    give_up();
    throw error(e.code(), fmt::format("checkpoint {} in {} was not written, and earlier ones stay: {}", number(),
                                      folder_.path(), e.what()));
  } catch (...) {
    give_up();
    throw;
  }
  blocking([this] {
    try {
      folder_.remove_old(keep_, sync_);
    } catch (const error& e) {
      base::warn("checkpoint {} is whole, but an older one could not be removed: {}", number(), e.what());
    }
  });
}

}  // namespace shoal::files
