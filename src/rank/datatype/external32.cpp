// SPDX-License-Identifier: Apache-2.0
#include "rank/datatype/external32.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>

#include "rank/error.hpp"

namespace shoal::rank {
namespace {

// An element is one value or two of the same kind; pairs are taken apart before.
struct value_form {
  basic kind;
  unsigned times;
};

value_form form_of(basic kind) noexcept {
  using enum basic;
  switch (kind) {
    case c32: return {f32, 2};
    case c64: return {f64, 2};
    case c80: return {f80, 2};
    case c128: return {f128, 2};
    default: return {kind, 1};
  }
}

std::uint64_t external_size_of(basic kind) noexcept {
  const value_form form = form_of(kind);
  switch (form.kind) {
    case basic::c_long:
    case basic::c_unsigned_long: return 4;
    case basic::wide_character: return 2;
    default: return size_of(form.kind) * form.times;
  }
}

void copy_turned(const std::byte* from, std::uint64_t size, std::byte* to) noexcept {
  if constexpr (std::endian::native == std::endian::little)
    std::reverse_copy(from, from + size, to);
  else
    std::memcpy(to, from, size);
}

template <class Wide, class Narrow>
void narrow(const std::byte* from, std::byte* to) {
  Wide value;
  std::memcpy(&value, from, sizeof value);
  const bool fits = value <= static_cast<Wide>(std::numeric_limits<Narrow>::max()) &&
                    (std::unsigned_integral<Narrow> || value >= static_cast<Wide>(std::numeric_limits<Narrow>::min()));
  if (!fits)
    throw mpi_error(MPI_ERR_CONVERSION,
                    fmt::format("external32 has {} bytes for a value of this type, and no room for {}", sizeof(Narrow),
                                static_cast<std::int64_t>(value)));
  const auto small = static_cast<Narrow>(value);
  copy_turned(reinterpret_cast<const std::byte*>(&small), sizeof small, to);
}

template <class Narrow, class Wide>
void widen(const std::byte* from, std::byte* to) noexcept {
  Narrow small;
  copy_turned(from, sizeof small, reinterpret_cast<std::byte*>(&small));
  const auto value = static_cast<Wide>(small);
  std::memcpy(to, &value, sizeof value);
}

static_assert(sizeof(float128) == sizeof(long double));

void to_external(basic kind, const std::byte* from, std::byte* to) {
  switch (kind) {
    case basic::c_long: return narrow<std::int64_t, std::int32_t>(from, to);
    case basic::c_unsigned_long: return narrow<std::uint64_t, std::uint32_t>(from, to);
    case basic::wide_character: return narrow<std::uint32_t, std::uint16_t>(from, to);
    case basic::f80: {
      long double value;
      std::memcpy(&value, from, sizeof value);
      const auto wide = static_cast<float128>(value);
      return copy_turned(reinterpret_cast<const std::byte*>(&wide), sizeof wide, to);
    }
    default: copy_turned(from, size_of(kind), to);
  }
}

void from_external(basic kind, const std::byte* from, std::byte* to) noexcept {
  switch (kind) {
    case basic::c_long: return widen<std::int32_t, std::int64_t>(from, to);
    case basic::c_unsigned_long: return widen<std::uint32_t, std::uint64_t>(from, to);
    case basic::wide_character: return widen<std::uint16_t, std::uint32_t>(from, to);
    case basic::f80: {
      float128 wide;
      copy_turned(from, sizeof wide, reinterpret_cast<std::byte*>(&wide));
      const auto value = static_cast<long double>(wide);
      std::memset(to, 0, sizeof value);
      std::memcpy(to, &value, sizeof value);
      return;
    }
    default: copy_turned(from, size_of(kind), to);
  }
}

// Calls convert(kind, times) for the values of `count` elements, in their order.
template <class Convert>
void for_values(std::int64_t count, const type_elements& all, const Convert& convert) {
  for (std::int64_t i = 0; i < count; ++i)
    for (std::uint64_t time = 0; time < all.times; ++time)
      for (const type_run& r : all.runs) {
        const basic_parts parts = parts_of(r.kind);
        for (std::uint64_t k = 0; k < r.count; ++k) {
          convert(form_of(parts.value));
          if (parts.index != basic::none) convert(form_of(parts.index));
        }
      }
}

}  // namespace

std::uint64_t external_size(const datatype& t) noexcept {
  std::uint64_t bytes = 0;
  for (const type_run& r : t.elements().runs) {
    const basic_parts parts = parts_of(r.kind);
    bytes += r.count * (external_size_of(parts.value) + external_size_of(parts.index));
  }
  return bytes * t.elements().times;
}

void to_external(const std::byte* from, std::int64_t count, const datatype& t, std::byte* to) {
  for_values(count, t.elements(), [&](const value_form& form) {
    for (unsigned i = 0; i < form.times; ++i) {
      to_external(form.kind, from, to);
      from += size_of(form.kind);
      to += external_size_of(form.kind);
    }
  });
}

void from_external(const std::byte* from, std::int64_t count, const datatype& t, std::byte* to) {
  for_values(count, t.elements(), [&](const value_form& form) {
    for (unsigned i = 0; i < form.times; ++i) {
      from_external(form.kind, from, to);
      from += external_size_of(form.kind);
      to += size_of(form.kind);
    }
  });
}

}  // namespace shoal::rank
