// SPDX-License-Identifier: Apache-2.0
// Random datatypes of datatypes, against the list of their bytes that the standard's text gives.
#include "rank/datatype/datatype.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include "rank/buffer.hpp"
#include "rank/datatype/constructors.hpp"
#include "rank/error.hpp"
#include "shoal/random.hpp"

namespace shoal::rank {
namespace {

// The type map: the place of each byte, in the order of the packed bytes, and the bounds: those that a resized type or
// a subarray has set (lb_marker, ub_marker), and if none has, those of the bytes.
struct byte_list {
  std::vector<std::int64_t> at;
  std::int64_t lower = 0, upper = 0;
  bool are_bounds_set = false;
};

byte_list joined(std::span<const std::pair<std::int64_t, const byte_list*>> pieces) {
  byte_list all;
  for (const auto& [offset, piece] : pieces) all.are_bounds_set |= piece->are_bounds_set;
  bool first = true;
  for (const auto& [offset, piece] : pieces) {
    for (const std::int64_t a : piece->at) all.at.push_back(offset + a);
    if (piece->are_bounds_set != all.are_bounds_set) continue;
    all.lower = first ? offset + piece->lower : std::min(all.lower, offset + piece->lower);
    all.upper = first ? offset + piece->upper : std::max(all.upper, offset + piece->upper);
    first = false;
  }
  return all;
}

struct made {
  const datatype* type;
  type_ref keep;
  byte_list bytes;
};

class random_types {
public:
  explicit random_types(std::uint64_t seed) : random_(seed) {
    for (const MPI_Datatype t : {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE}) {
      const datatype& d = type_of(t);
      byte_list b;
      for (std::uint64_t i = 0; i < d.size(); ++i) b.at.push_back(static_cast<std::int64_t>(i));
      b.upper = d.extent();
      all_.push_back({&d, type_ref(), std::move(b)});
    }
  }

  const made& next() {
    const made& of = all_[random_() % all_.size()];
    switch (random_() % 4) {
      case 0: return add_vector(of);
      case 1: return add_blocks();
      case 2: return add_resized(of);
      default: return add_subarray(of);
    }
  }

private:
  const made& add(datatype& t, byte_list bytes) {
    type_ref keep(&t);
    t.drop_reference();  // the handle's
    // Large ones would take the test's time.
    if (bytes.at.size() <= 400) return all_.emplace_back(made{&t, std::move(keep), std::move(bytes)});
    large_ = made{&t, std::move(keep), std::move(bytes)};
    return large_;
  }

  std::int64_t number(int lowest, int highest) {
    return lowest + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(highest - lowest + 1));
  }

  const made& add_vector(const made& of) {
    const std::int64_t count = number(0, 4), length = number(0, 3), stride = number(-40, 60);
    std::vector<std::pair<std::int64_t, const byte_list*>> pieces;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t k = 0; k < length; ++k) pieces.emplace_back(i * stride + k * of.type->extent(), &of.bytes);
    byte_list bytes = joined(pieces);
    return add(make_vector(count, length, stride, *of.type, {}), std::move(bytes));
  }

  const made& add_blocks() {
    std::vector<type_block> blocks;
    std::vector<std::pair<std::int64_t, const byte_list*>> pieces;
    for (std::int64_t n = number(0, 4); n > 0; --n) {
      const made& of = all_[random_() % all_.size()];
      blocks.push_back({number(-50, 90), number(0, 3), of.type});
      for (std::int64_t k = 0; k < blocks.back().length; ++k)
        pieces.emplace_back(blocks.back().at + k * of.type->extent(), &of.bytes);
    }
    byte_list bytes = joined(pieces);
    return add(make_blocks(blocks, {}), std::move(bytes));
  }

  const made& add_resized(const made& of) {
    byte_list bytes = of.bytes;
    bytes.lower = number(-20, 20);
    bytes.upper = bytes.lower + number(0, 60);
    bytes.are_bounds_set = true;
    datatype& t = make_resized(*of.type, bytes.lower, bytes.upper - bytes.lower, {});
    return add(t, std::move(bytes));
  }

  const made& add_subarray(const made& of) {
    const std::int64_t sizes[] = {number(1, 4), number(1, 3)};
    const std::int64_t parts[] = {number(1, static_cast<int>(sizes[0])), number(1, static_cast<int>(sizes[1]))};
    const std::int64_t starts[] = {number(0, static_cast<int>(sizes[0] - parts[0])),
                                   number(0, static_cast<int>(sizes[1] - parts[1]))};
    const bool in_c = random_() % 2 == 0;
    std::vector<std::pair<std::int64_t, const byte_list*>> pieces;
    const auto add_element = [&](std::int64_t i, std::int64_t j) {
      const std::int64_t number =
          in_c ? (starts[0] + i) * sizes[1] + starts[1] + j : (starts[1] + j) * sizes[0] + starts[0] + i;
      pieces.emplace_back(number * of.type->extent(), &of.bytes);
    };
    if (in_c)
      for (std::int64_t i = 0; i < parts[0]; ++i)
        for (std::int64_t j = 0; j < parts[1]; ++j) add_element(i, j);
    else
      for (std::int64_t j = 0; j < parts[1]; ++j)
        for (std::int64_t i = 0; i < parts[0]; ++i) add_element(i, j);
    byte_list bytes = joined(pieces);
    bytes.lower = 0;
    bytes.upper = sizes[0] * sizes[1] * of.type->extent();
    bytes.are_bounds_set = true;
    return add(make_subarray(sizes, parts, starts, in_c ? MPI_ORDER_C : MPI_ORDER_FORTRAN, *of.type, {}),
               std::move(bytes));
  }

  xoshiro256ss random_;
  std::deque<made> all_;
  made large_{};
};

// Room for `count` elements, and where element 0 begins.
struct room {
  std::vector<std::byte> bytes;
  std::int64_t origin;
};
room room_for(const made& m, std::int64_t count) {
  std::int64_t lowest = 0, highest = 0;
  for (std::int64_t i = 0; i < count; ++i)
    for (const std::int64_t a : m.bytes.at) {
      lowest = std::min(lowest, a + i * m.type->extent());
      highest = std::max(highest, a + i * m.type->extent() + 1);
    }
  return {std::vector<std::byte>(static_cast<std::size_t>(highest - lowest) + 1), -lowest};
}

std::vector<std::size_t> places(const made& m, std::int64_t count, const room& r) {
  std::vector<std::size_t> all;
  for (std::int64_t i = 0; i < count; ++i)
    for (const std::int64_t a : m.bytes.at)
      all.push_back(static_cast<std::size_t>(a + i * m.type->extent() + r.origin));
  return all;
}

bool has_repeated(std::vector<std::size_t> all) {
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) != all.end();
}

TEST(datatype, has_the_bytes_of_its_map) {
  random_types types(7);
  xoshiro256ss random(8);
  for (int round = 0; round < 600; ++round) {
    const made& m = types.next();
    SCOPED_TRACE(round);
    ASSERT_EQ(m.type->size(), m.bytes.at.size());
    ASSERT_EQ(m.type->lower(), m.bytes.lower);
    ASSERT_EQ(m.type->extent(), m.bytes.upper - m.bytes.lower);
    if (!m.bytes.at.empty()) {
      ASSERT_EQ(m.type->true_lower(), *std::ranges::min_element(m.bytes.at));
      ASSERT_EQ(m.type->true_extent(), *std::ranges::max_element(m.bytes.at) + 1 - m.type->true_lower());
    }
    constexpr std::int64_t k_count = 3;
    room from = room_for(m, k_count), to = from;
    const std::vector<std::size_t> at = places(m, k_count, from);
    for (std::byte& b : from.bytes) b = static_cast<std::byte>(random());
    const buffer source{from.bytes.data() + from.origin, k_count, m.type};
    const buffer target{to.bytes.data() + to.origin, k_count, m.type};
    std::vector<std::byte> packed(at.size());
    // In pieces, as long messages travel.
    for (std::size_t done = 0; done < packed.size();) {
      const std::size_t some = std::min<std::size_t>(packed.size() - done, 1 + random() % 40);
      pack(source, done, packed.data() + done, some);
      done += some;
    }
    for (std::size_t i = 0; i < at.size(); ++i) ASSERT_EQ(packed[i], from.bytes[at[i]]) << "byte " << i;
    if (has_repeated(at)) continue;  // nothing may be received into such a type
    for (std::size_t done = 0; done < packed.size();) {
      const std::size_t some = std::min<std::size_t>(packed.size() - done, 1 + random() % 40);
      unpack(packed.data() + done, some, target, done);
      done += some;
    }
    std::vector<std::byte> expected(to.bytes.size());
    for (const std::size_t a : at) expected[a] = from.bytes[a];
    ASSERT_EQ(to.bytes, expected);
  }
}

TEST(datatype, copies_between_any_two_types_of_one_size) {
  random_types types(11);
  xoshiro256ss random(12);
  int compared = 0;
  std::vector<const made*> kept;
  std::deque<made> all;
  for (int i = 0; i < 250; ++i) all.push_back(types.next());
  for (const made& a : all)
    for (const made& b : all) {
      if (a.bytes.at.empty() || a.bytes.at.size() != b.bytes.at.size() || random() % 4 != 0) continue;
      room from = room_for(a, 2), to = room_for(b, 2);
      const auto source = places(a, 2, from), target = places(b, 2, to);
      if (has_repeated(target)) continue;
      for (std::byte& x : from.bytes) x = static_cast<std::byte>(random());
      std::vector<std::byte> expected = to.bytes;
      for (std::size_t i = 0; i < source.size(); ++i) expected[target[i]] = from.bytes[source[i]];
      ASSERT_EQ(copy({from.bytes.data() + from.origin, 2, a.type}, {to.bytes.data() + to.origin, 2, b.type}),
                source.size());
      ASSERT_EQ(to.bytes, expected);
      ++compared;
    }
  EXPECT_GT(compared, 50);
}

// The parts of all ranks cover the array, each element once.
TEST(datatype, darray_parts_cover_the_array) {
  for (const int order : {int{MPI_ORDER_C}, int{MPI_ORDER_FORTRAN}})
    for (const int kind : {int{MPI_DISTRIBUTE_BLOCK}, int{MPI_DISTRIBUTE_CYCLIC}})
      for (const int argument : {static_cast<int>(MPI_DISTRIBUTE_DFLT_DARG), 3}) {
        const std::int64_t sizes[] = {7, 5};
        const int kinds[] = {kind, MPI_DISTRIBUTE_CYCLIC}, arguments[] = {argument, 2}, grid[] = {3, 2};
        std::vector<int> seen(35);
        for (int rank = 0; rank < 6; ++rank) {
          type_ref t;
          {
            datatype& d = make_darray({6, rank, sizes, kinds, arguments, grid, order}, type_of(MPI_BYTE), {});
            t = type_ref(&d);
            d.drop_reference();
          }
          EXPECT_EQ(t->extent(), 35);
          std::vector<std::byte> array(35), packed(t->size());
          for (std::size_t i = 0; i < array.size(); ++i) array[i] = static_cast<std::byte>(i);
          pack({array.data(), 1, t.get()}, 0, packed.data(), packed.size());
          for (const std::byte b : packed) ++seen[static_cast<std::size_t>(b)];
        }
        EXPECT_EQ(seen, std::vector<int>(35, 1));
      }
}

TEST(datatype, refuses_what_is_none) {
  EXPECT_THROW(type_of(MPI_DATATYPE_NULL), mpi_error);
  EXPECT_THROW(type_of(reinterpret_cast<MPI_Datatype>(std::uintptr_t{0x3ff})), mpi_error);
  const std::int64_t sizes[] = {2}, parts[] = {3}, starts[] = {0};
  EXPECT_THROW(make_subarray(sizes, parts, starts, MPI_ORDER_C, type_of(MPI_INT), {}), mpi_error);
}

}  // namespace
}  // namespace shoal::rank
