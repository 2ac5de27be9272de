// SPDX-License-Identifier: Apache-2.0
// How values that are not plain bytes travel in messages: strings, vectors, pairs, and types of the program. Trivially
// copyable types need nothing.
//   struct person { std::string name; int age; };
//   template <> struct shoal::serializer<person> : shoal::serialize_members<&person::name, &person::age> {};
// or, for anything else, the three functions of serializer<std::string> below: the size in bytes, write exactly so many,
// read them again.
// Who may call: anyone; they never switch tasks.
// Errors: reading throws shoal::error (bad_input) where a message is cut off.
// Shown by tests/unit/remote/serializer_test.cpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/error.hpp"

namespace shoal {

class byte_writer {
public:
  explicit byte_writer(void* at) noexcept : at_(static_cast<std::byte*>(at)) {}
  void write(const void* from, std::size_t bytes) noexcept {
    if (bytes > 0) std::memcpy(at_, from, bytes);
    at_ += bytes;
  }
  const std::byte* position() const noexcept { return at_; }

private:
  std::byte* at_;
};

class byte_reader {
public:
  byte_reader(const void* from, std::size_t bytes) noexcept : at_(static_cast<const std::byte*>(from)), left_(bytes) {}
  void read(void* to, std::size_t bytes) {
    const std::byte* from = take(bytes);
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  /// The next bytes, where they are.
  const std::byte* take(std::size_t bytes) {
    if (bytes > left_) refuse();
    left_ -= bytes;
    return std::exchange(at_, at_ + bytes);
  }
  std::size_t left() const noexcept { return left_; }

private:
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse() {
    throw error(errc::bad_input, "a serialized value is cut off: do all nodes run the same program?");
  }
  const std::byte* at_;
  std::size_t left_;
};

/// Specialize it for types of the program.
template <class T>
struct serializer {
  static_assert(std::is_trivially_copyable_v<T>,
                "this type is not trivially copyable: specialize shoal::serializer for it (shoal/serializer.hpp)");
  static constexpr std::size_t bytes(const T&) noexcept { return sizeof(T); }
  static void write(const T& value, byte_writer& to) noexcept { to.write(&value, sizeof(T)); }
  static T read(byte_reader& from) {
    alignas(T) std::byte room[sizeof(T)];
    from.read(room, sizeof(T));
    return *std::launder(reinterpret_cast<T*>(room));
  }
};

/// A value that always has the same number of bytes.
template <class T>
inline constexpr bool k_has_fixed_bytes = std::is_trivially_copyable_v<T>;

template <>
struct serializer<std::string> {
  static std::size_t bytes(const std::string& s) noexcept { return sizeof(std::uint32_t) + s.size(); }
  static void write(const std::string& s, byte_writer& to) noexcept {
    const auto size = static_cast<std::uint32_t>(s.size());
    to.write(&size, sizeof(size));
    to.write(s.data(), s.size());
  }
  static std::string read(byte_reader& from) {
    const auto size = serializer<std::uint32_t>::read(from);
    const auto* text = reinterpret_cast<const char*>(from.take(size));
    return std::string(text, size);
  }
};

template <class T>
requires(!std::same_as<T, bool>) struct serializer<std::vector<T>> {
  static std::size_t bytes(const std::vector<T>& v) noexcept {
    std::size_t sum = sizeof(std::uint32_t);
    if constexpr (k_has_fixed_bytes<T>)
      sum += v.size() * sizeof(T);
    else
      for (const T& one : v) sum += serializer<T>::bytes(one);
    return sum;
  }
  static void write(const std::vector<T>& v, byte_writer& to) noexcept {
    const auto size = static_cast<std::uint32_t>(v.size());
    to.write(&size, sizeof(size));
    for (const T& one : v) serializer<T>::write(one, to);
  }
  static std::vector<T> read(byte_reader& from) {
    const auto size = serializer<std::uint32_t>::read(from);
    std::vector<T> v;
    v.reserve(std::min<std::size_t>(size, from.left()));  // not more than a message justifies
    for (std::uint32_t i = 0; i < size; ++i) v.push_back(serializer<T>::read(from));
    return v;
  }
};

template <class A, class B>
requires(!std::is_trivially_copyable_v<std::pair<A, B>>) struct serializer<std::pair<A, B>> {
  static std::size_t bytes(const std::pair<A, B>& p) noexcept {
    return serializer<A>::bytes(p.first) + serializer<B>::bytes(p.second);
  }
  static void write(const std::pair<A, B>& p, byte_writer& to) noexcept {
    serializer<A>::write(p.first, to);
    serializer<B>::write(p.second, to);
  }
  static std::pair<A, B> read(byte_reader& from) {
    A a = serializer<A>::read(from);
    return {std::move(a), serializer<B>::read(from)};
  }
};

template <class T>
requires(!std::is_trivially_copyable_v<T>) struct serializer<std::optional<T>> {
  static std::size_t bytes(const std::optional<T>& o) noexcept { return 1 + (o ? serializer<T>::bytes(*o) : 0); }
  static void write(const std::optional<T>& o, byte_writer& to) noexcept {
    const bool has = o.has_value();
    to.write(&has, 1);
    if (has) serializer<T>::write(*o, to);
  }
  static std::optional<T> read(byte_reader& from) {
    if (!serializer<bool>::read(from)) return std::nullopt;
    return serializer<T>::read(from);
  }
};

namespace detail {
template <class>
struct member_of;
template <class Class, class Member>
struct member_of<Member Class::*> {
  using object = Class;
  using type = Member;
};
template <class First, class...>
struct first_of {
  using type = First;
};
}  // namespace detail

/// A serializer that writes these members, in this order; the type is default-constructible.
template <auto... Members>
struct serialize_members {
  using object = typename detail::member_of<typename detail::first_of<decltype(Members)...>::type>::object;
  template <auto Member>
  using serializer_of = serializer<typename detail::member_of<decltype(Member)>::type>;

  static std::size_t bytes(const object& o) noexcept { return (serializer_of<Members>::bytes(o.*Members) + ...); }
  static void write(const object& o, byte_writer& to) noexcept { (serializer_of<Members>::write(o.*Members, to), ...); }
  static object read(byte_reader& from) {
    object o;
    ((o.*Members = serializer_of<Members>::read(from)), ...);
    return o;
  }
};

/// What may travel.
template <class T>
concept serializable = std::is_trivially_copyable_v<T> || requires(const T& value, byte_writer& to, byte_reader& from) {
  { serializer<T>::bytes(value) } -> std::convertible_to<std::size_t>;
  serializer<T>::write(value, to);
  { serializer<T>::read(from) } -> std::same_as<T>;
};

}  // namespace shoal
