// SPDX-License-Identifier: Apache-2.0
#include "rank/datatype/constructors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rank/error.hpp"

namespace shoal::rank {
namespace {

// Sizes and places are below 2^63.
[[noreturn]] void refuse_size() {
  throw mpi_error(MPI_ERR_COUNT, "the datatype has more bytes than an MPI_Count can tell");
}
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) refuse_size();
  return result;
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) refuse_size();
  return result;
}

// Collects the parts of a new type, in the order of its elements.
class assembly {
public:
  void add(const type_block& b) {
    if (b.length < 0) throw mpi_error(MPI_ERR_ARG, fmt::format("a block has the length {}, below 0", b.length));
    if (b.length == 0) return;
    const datatype& t = *b.of;
    const std::int64_t end = plus(b.at, times(b.length - 1, t.extent()));
    static_cast<void>(plus(end, plus(t.lower(), t.extent())));
    total_ = plus(total_, times(static_cast<std::int64_t>(t.size()), b.length));
    cover(t.has_set_bounds(), std::min(b.at, end) + t.lower(), std::max(b.at, end) + t.lower() + t.extent());
    add_elements(t.elements(), static_cast<std::uint64_t>(b.length));
    const type_layout& its = t.layout();
    if (t.is_solid()) {
      add({b.at, t.size() * static_cast<std::uint64_t>(b.length), 1, 0});
    } else if (its.times == 1 && its.parts.size() == 1 && its.parts[0].count == 1) {
      const type_part& p = its.parts[0];
      add({b.at + p.offset, p.bytes, static_cast<std::uint64_t>(b.length), t.extent()});
    } else if (layout_.parts.empty()) {
      add_layout(its, b.at);
      if (b.length > 1) repeat_layout(static_cast<std::uint64_t>(b.length), t.extent());
    } else {
      for (std::int64_t i = 0; i < b.length; ++i) add_layout(its, b.at + i * t.extent());
    }
  }

  // What is there so far, `count` times at this distance: one row if it is one block.
  void repeat(std::int64_t count, std::int64_t stride) {
    const std::int64_t far = times(count - 1, stride);
    if (!is_empty()) static_cast<void>(plus(far < 0 ? bounds_.lower : bounds_.upper, far));
    total_ = times(total_, count);
    repeat_layout(static_cast<std::uint64_t>(count), stride);
    if (!elements_.runs.empty()) repeat_elements(static_cast<std::uint64_t>(count));
    if (is_empty()) return;
    bounds_.lower = std::min(bounds_.lower, bounds_.lower + far);
    bounds_.upper = std::max(bounds_.upper, bounds_.upper + far);
  }

  datatype& finish(type_origin origin) { return finish(std::move(origin), is_empty() ? type_bounds{} : bounds_); }
  datatype& finish(type_origin origin, const type_bounds& bounds) {
    auto* const made = new datatype(std::move(layout_), std::move(elements_), bounds, std::move(origin));
    made->add_reference();
    return *made;
  }

  // Bounds that were set are the last word.
  datatype& finish_aligned(type_origin origin, std::int64_t alignment) {
    if (is_empty() || bounds_.set) return finish(std::move(origin));
    const std::int64_t extent = bounds_.upper - bounds_.lower;
    bounds_.upper = plus(bounds_.upper, (alignment - extent % alignment) % alignment);
    return finish(std::move(origin));
  }

private:
  bool is_empty() const noexcept { return empty_; }

  // Where bounds are set, no others count (MPI 5.0, 5.1.7: lb_marker, ub_marker).
  void cover(bool set, std::int64_t lower, std::int64_t upper) {
    if (bounds_.set && !set) return;
    if (empty_ || (set && !bounds_.set)) bounds_ = {lower, upper, set};
    empty_ = false;
    bounds_.lower = std::min(bounds_.lower, lower);
    bounds_.upper = std::max(bounds_.upper, upper);
  }

  // Where more parts follow, each time is written out.
  void unroll_layout() {
    const auto many = std::exchange(layout_.times, 1);
    const std::vector<type_part> once = layout_.parts;
    for (std::uint64_t i = 1; i < many; ++i)
      for (type_part p : once) {
        p.offset += static_cast<std::int64_t>(i) * layout_.distance;
        add(p);
      }
  }

  void add_layout(const type_layout& from, std::int64_t at) {
    if (layout_.parts.empty()) {
      layout_ = from;
      for (type_part& p : layout_.parts) p.offset += at;
      return;
    }
    for (std::uint64_t i = 0; i < from.times; ++i)
      for (type_part p : from.parts) {
        p.offset += at + static_cast<std::int64_t>(i) * from.distance;
        add(p);
      }
  }

  void repeat_layout(std::uint64_t count, std::int64_t stride) {
    if (layout_.parts.empty()) return;
    type_part& first = layout_.parts[0];
    if (layout_.times == 1 && layout_.parts.size() == 1) {
      if (first.count == 1 && static_cast<std::int64_t>(first.bytes) == stride) {
        first.bytes *= count;
        return;
      }
      if (first.count == 1) first.stride = stride;
      if (stride == static_cast<std::int64_t>(first.count) * first.stride) {
        first.count *= count;
        return;
      }
    }
    if (layout_.times > 1 && stride == static_cast<std::int64_t>(layout_.times) * layout_.distance) {
      layout_.times *= count;
      return;
    }
    unroll_layout();
    layout_.times = count;
    layout_.distance = stride;
  }

  void add(const type_part& p) {
    if (p.size() == 0) return;
    if (layout_.times > 1) unroll_layout();
    std::vector<type_part>& parts = layout_.parts;
    if (!parts.empty()) {
      type_part& last = parts.back();
      if (last.count == 1 && p.count == 1 && last.offset + static_cast<std::int64_t>(last.bytes) == p.offset) {
        last.bytes += p.bytes;
        return;
      }
      // The next block of a row.
      if (p.count == 1 && last.bytes == p.bytes && p.offset != last.offset) {
        if (last.count == 1) {
          last.stride = p.offset - last.offset;
          last.count = 2;
          return;
        }
        if (p.offset == last.offset + static_cast<std::int64_t>(last.count) * last.stride) {
          ++last.count;
          return;
        }
      }
    }
    parts.push_back(p);
  }

  void unroll_elements() {
    const auto many = std::exchange(elements_.times, 1);
    const std::vector<type_run> once = elements_.runs;
    for (std::uint64_t i = 1; i < many; ++i)
      for (const type_run& r : once) add_run(r);
  }

  void repeat_elements(std::uint64_t count) {
    if (elements_.runs.size() == 1 && elements_.times == 1)
      elements_.runs[0].count *= count;
    else
      elements_.times *= count;
  }

  void add_run(const type_run& r) {
    if (!elements_.runs.empty() && elements_.runs.back().kind == r.kind)
      elements_.runs.back().count += r.count;
    else
      elements_.runs.push_back(r);
  }

  void add_elements(const type_elements& from, std::uint64_t count) {
    if (from.runs.empty()) return;
    if (elements_.runs.empty()) {
      elements_ = from;
      return repeat_elements(count);
    }
    if (elements_.times > 1) unroll_elements();
    if (from.runs.size() == 1) return add_run({from.runs[0].kind, from.runs[0].count * from.times * count});
    for (std::uint64_t i = 0; i < from.times * count; ++i)
      for (const type_run& r : from.runs) add_run(r);
  }

  type_layout layout_;
  type_elements elements_;
  std::int64_t total_ = 0;  // bytes of the elements
  type_bounds bounds_;
  bool empty_ = true;  // no element yet
};

std::int64_t alignment_of(const datatype& t) {
  std::uint64_t most = 1;
  for (const type_run& r : t.elements().runs) most = std::max(most, alignment_of(r.kind));
  return static_cast<std::int64_t>(most);
}

}  // namespace

std::int64_t distance_of(std::int64_t elements, const datatype& of) { return times(elements, of.extent()); }

datatype& make_blocks(std::span<const type_block> blocks, type_origin origin) {
  assembly a;
  for (const type_block& b : blocks) a.add(b);
  return a.finish(std::move(origin));
}

datatype& make_struct(std::span<const type_block> blocks, type_origin origin) {
  assembly a;
  std::int64_t alignment = 1;
  for (const type_block& b : blocks) {
    a.add(b);
    if (b.length > 0) alignment = std::max(alignment, alignment_of(*b.of));
  }
  return a.finish_aligned(std::move(origin), alignment);
}

datatype& make_vector(std::int64_t count, std::int64_t length, std::int64_t stride, const datatype& of,
                      type_origin origin) {
  if (count < 0) throw mpi_error(MPI_ERR_COUNT, fmt::format("the count is {}, below 0", count));
  assembly a;
  if (count > 0) a.add(type_block{0, length, &of});
  if (count > 1 && length > 0) a.repeat(count, stride);
  return a.finish(std::move(origin));
}

datatype& make_resized(const datatype& of, std::int64_t lower, std::int64_t extent, type_origin origin) {
  assembly a;
  a.add(type_block{0, 1, &of});
  return a.finish(std::move(origin), {lower, plus(lower, extent), true});
}

datatype& make_duplicate(const datatype& of, type_origin origin) {
  assembly a;
  a.add(type_block{0, 1, &of});
  datatype& made = a.finish(std::move(origin), {of.lower(), of.lower() + of.extent(), of.has_set_bounds()});
  if (of.is_committed()) made.commit();
  return made;
}

datatype& make_subarray(std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
                        std::span<const std::int64_t> starts, int order, const datatype& of, type_origin origin) {
  const std::size_t dims = sizes.size();
  if (dims == 0) throw mpi_error(MPI_ERR_ARG, "an array has at least one dimension");
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    throw mpi_error(MPI_ERR_ARG, "the order is MPI_ORDER_C or MPI_ORDER_FORTRAN");
  for (std::size_t d = 0; d < dims; ++d)
    if (sizes[d] < 1 || subsizes[d] < 1 || starts[d] < 0 || starts[d] > sizes[d] - subsizes[d])
      throw mpi_error(MPI_ERR_ARG, fmt::format("dimension {}: {} elements from {} on are not within {}", d, subsizes[d],
                                               starts[d], sizes[d]));
  assembly a;
  std::int64_t distance = of.extent();
  std::int64_t first = 0;
  const auto dimension = [&](std::size_t k) { return order == MPI_ORDER_C ? dims - 1 - k : k; };
  for (std::size_t k = 0; k < dims; ++k) {  // from the one that varies fastest
    distance = times(distance, sizes[dimension(k)]);
    first = plus(first, times(starts[dimension(k)], distance / sizes[dimension(k)]));
  }
  a.add(type_block{first, subsizes[dimension(0)], &of});
  std::int64_t stride = of.extent();
  for (std::size_t k = 1; k < dims; ++k) {
    stride *= sizes[dimension(k - 1)];
    if (subsizes[dimension(k)] > 1) a.repeat(subsizes[dimension(k)], stride);
  }
  return a.finish(std::move(origin), {0, distance, true});
}

namespace {

// The elements of one dimension that a process has: first, length of a run, distance of runs, end.
std::vector<std::pair<std::int64_t, std::int64_t>> own_runs(std::int64_t size, int distribution, int argument,
                                                            int processes, int coordinate) {
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;  // first, length
  if (distribution == MPI_DISTRIBUTE_NONE) {
    runs.emplace_back(0, size);
    return runs;
  }
  if (distribution != MPI_DISTRIBUTE_BLOCK && distribution != MPI_DISTRIBUTE_CYCLIC)
    throw mpi_error(MPI_ERR_ARG,
                    fmt::format("{} is no kind of distribution: MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE", distribution));
  std::int64_t block = argument;
  if (distribution == MPI_DISTRIBUTE_BLOCK) {
    if (argument == MPI_DISTRIBUTE_DFLT_DARG) block = (size - 1) / processes + 1;
    if (block <= 0 || times(block, processes) < size)
      throw mpi_error(MPI_ERR_ARG,
                      fmt::format("blocks of {} elements on {} processes do not hold {}", block, processes, size));
    const std::int64_t first = block * coordinate;
    if (first < size) runs.emplace_back(first, std::min(block, size - first));
    return runs;
  }
  if (argument == MPI_DISTRIBUTE_DFLT_DARG) block = 1;
  if (block <= 0) throw mpi_error(MPI_ERR_ARG, fmt::format("a cyclic distribution has blocks of {} elements", block));
  const std::int64_t step = block * processes;
  for (std::int64_t first = block * coordinate; first < size; first += step) {
    runs.emplace_back(first, std::min(block, size - first));
    if (size - first <= step) break;  // and no number beyond the largest
  }
  return runs;
}

}  // namespace

datatype& make_darray(const darray_arguments& how, const datatype& of, type_origin origin) {
  const std::size_t dims = how.sizes.size();
  if (dims == 0) throw mpi_error(MPI_ERR_ARG, "an array has at least one dimension");
  if (how.order != MPI_ORDER_C && how.order != MPI_ORDER_FORTRAN)
    throw mpi_error(MPI_ERR_ARG, "the order is MPI_ORDER_C or MPI_ORDER_FORTRAN");
  std::int64_t all = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    if (how.sizes[d] < 1) throw mpi_error(MPI_ERR_ARG, fmt::format("dimension {} has {} elements", d, how.sizes[d]));
    if (how.processes[d] < 1)
      throw mpi_error(MPI_ERR_ARG, fmt::format("dimension {} is distributed over {} processes", d, how.processes[d]));
    all = times(all, how.processes[d]);
  }
  if (all != how.size)
    throw mpi_error(MPI_ERR_ARG, fmt::format("the grid has {} processes, and the group {}", all, how.size));
  if (how.rank < 0 || how.rank >= how.size) throw mpi_error(MPI_ERR_RANK, "the rank is not in the group");
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> runs(dims);
  std::int64_t rest = how.rank;
  for (std::size_t d = dims; d-- > 0;) {  // ranks are in order C, whatever the array's order is
    const int processes = how.processes[d];
    if (how.distributions[d] == MPI_DISTRIBUTE_NONE && processes != 1)
      throw mpi_error(MPI_ERR_ARG, "a dimension that is not distributed has one process");
    runs[d] =
        own_runs(how.sizes[d], how.distributions[d], how.arguments[d], processes, static_cast<int>(rest % processes));
    rest /= processes;
  }
  // Fastest dimension first.
  const auto dimension = [&](std::size_t k) { return how.order == MPI_ORDER_C ? dims - 1 - k : k; };
  std::vector<std::int64_t> distances(dims);
  std::int64_t distance = of.extent();
  for (std::size_t k = 0; k < dims; ++k) {
    distances[k] = distance;
    distance = times(distance, how.sizes[dimension(k)]);
  }
  assembly a;
  const auto add = [&](const auto& self, std::size_t k, std::int64_t at) -> void {
    for (const auto& [first, length] : runs[dimension(k)]) {
      if (k == 0) {
        a.add(type_block{at + first * distances[0], length, &of});
        continue;
      }
      for (std::int64_t i = first; i < first + length; ++i) self(self, k - 1, at + i * distances[k]);
    }
  };
  add(add, dims - 1, 0);
  return a.finish(std::move(origin), {0, distance, true});
}

}  // namespace shoal::rank
