// SPDX-License-Identifier: Apache-2.0
#include "graph/byte_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "graph/input_error.hpp"
#include "shoal/blocking.hpp"
#include "shoal/error.hpp"

namespace shoal::graph {
namespace {

class file_source final : public byte_source {
public:
  file_source(const std::string& path, progress_function progress) : name_(path), progress_(std::move(progress)) {
    blocking([&] { open(path); });
  }

  std::size_t read(std::span<std::byte> to) override {
    if (to.empty()) return 0;
    std::size_t got = 0;
    blocking([&] { got = read_block(to); });
    done_ += got;
    if (progress_) progress_(done_, std::max(size_, done_));
    return got;
  }

  const std::string& name() const noexcept override { return name_; }
  std::uint64_t size_bytes() const noexcept override { return size_; }

private:
  void open(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) refuse(name_, "is a directory; give a file");
    file_.reset(std::fopen(path.c_str(), "rb"));
    if (!file_) {
      const int reason = errno;
      throw error(
          reason == ENOENT || reason == ENOTDIR ? errc::not_found : errc::system,
          fmt::format("{}: cannot be opened: {}; check the path", path, std::generic_category().message(reason)));
    }
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // readers have their own buffers
    if (std::filesystem::is_regular_file(path, ignored)) {
      const auto size = std::filesystem::file_size(path, ignored);
      if (!ignored) size_ = size;
    }
  }

  std::size_t read_block(std::span<std::byte> to) {
    const std::size_t got = std::fread(to.data(), 1, to.size(), file_.get());
    if (got == 0 && std::ferror(file_.get()) != 0) {
      throw error(errc::system, fmt::format("{}: cannot be read: {}", name_, std::generic_category().message(errno)));
    }
    return got;
  }

  struct closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::string name_;
  progress_function progress_;
  std::unique_ptr<std::FILE, closer> file_;
  std::uint64_t size_ = 0;
  std::uint64_t done_ = 0;
};

class memory_source final : public byte_source {
public:
  memory_source(std::string_view bytes, std::string name) : name_(std::move(name)), rest_(bytes), size_(bytes.size()) {}

  std::size_t read(std::span<std::byte> to) override {
    const std::size_t count = std::min(to.size(), rest_.size());
    if (count > 0) std::memcpy(to.data(), rest_.data(), count);
    rest_.remove_prefix(count);
    return count;
  }

  const std::string& name() const noexcept override { return name_; }
  std::uint64_t size_bytes() const noexcept override { return size_; }

private:
  std::string name_;
  std::string_view rest_;
  std::uint64_t size_;
};

bool is_gzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

bool is_zstd(std::string_view head) {
  if (head.size() < 4) return false;
  std::uint32_t magic = 0;
  for (std::size_t i = 4; i-- > 0;) magic = (magic << 8) | static_cast<unsigned char>(head[i]);
  return magic == 0xfd2fb528u || (magic & 0xfffffff0u) == 0x184d2a50u;  // a frame, or a skippable frame
}

std::unique_ptr<byte_source> decompressed(std::unique_ptr<byte_source> raw) {
  auto source = std::make_unique<peeked_source>(std::move(raw));
  const std::string& name = source->name();
  if (source->head().empty()) refuse(name, "is empty; give another file");
  if (is_gzip(source->head())) return make_gzip_source(std::move(source));
  if (is_zstd(source->head())) return make_zstd_source(std::move(source));
  if (name.ends_with(".gz"))
    refuse(name, "is named .gz but does not begin with gzip data; it is corrupt or has a wrong name");
  if (name.ends_with(".zst"))
    refuse(name, "is named .zst but does not begin with zstd data; it is corrupt or has a wrong name");
  return source;
}

}  // namespace

std::unique_ptr<byte_source> open_byte_source(const std::string& path, progress_function progress) {
  return decompressed(std::make_unique<file_source>(path, std::move(progress)));
}

std::unique_ptr<byte_source> open_byte_source(std::string_view bytes, std::string name) {
  return decompressed(std::make_unique<memory_source>(bytes, std::move(name)));
}

peeked_source::peeked_source(std::unique_ptr<byte_source> from) : from_(std::move(from)) {
  peeked_ = read_fully(*from_, head_);
}

std::size_t peeked_source::read(std::span<std::byte> to) {
  if (given_ == peeked_) return from_->read(to);
  const std::size_t count = std::min(to.size(), peeked_ - given_);
  std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(given_), count, to.begin());
  given_ += count;
  return count;
}

std::size_t read_fully(byte_source& from, std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const std::size_t got = from.read(to.subspan(done));
    if (got == 0) break;
    done += got;
  }
  return done;
}

}  // namespace shoal::graph
