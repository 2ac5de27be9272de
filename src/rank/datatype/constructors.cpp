// SPDX-License-Identifier: Apache-2.0
#include "rank/datatype/constructors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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
    lower_ = std::min({lower_, b.at + t.lower(), end + t.lower()});
    upper_ = std::max({upper_, b.at + t.lower() + t.extent(), end + t.lower() + t.extent()});
    add_runs(t, static_cast<std::uint64_t>(b.length));
    if (t.is_solid()) {
      add({b.at, t.size() * static_cast<std::uint64_t>(b.length), 1, 0});
    } else if (t.parts().size() == 1 && t.parts()[0].count == 1) {
      const type_part& p = t.parts()[0];
      add({b.at + p.offset, p.bytes, static_cast<std::uint64_t>(b.length), t.extent()});
    } else {
      for (std::int64_t i = 0; i < b.length; ++i)
        for (type_part p : t.parts()) {
          p.offset += b.at + i * t.extent();
          add(p);
        }
    }
  }

  // The parts so far, `count` times at this distance: one row if they are one block.
  void repeat(std::int64_t count, std::int64_t stride) {
    const std::int64_t far = times(count - 1, stride);
    if (lower_ <= upper_) static_cast<void>(plus(far < 0 ? lower_ : upper_, far));
    total_ = times(total_, count);
    const std::vector<type_part> once = parts_;
    const std::vector<type_run> runs = runs_;
    if (once.size() == 1 && once[0].count == 1 && static_cast<std::int64_t>(once[0].bytes) != stride) {
      parts_[0].count = static_cast<std::uint64_t>(count);
      parts_[0].stride = stride;
    } else if (once.size() == 1 && once[0].count == 1) {
      parts_[0].bytes *= static_cast<std::uint64_t>(count);
    } else {
      for (std::int64_t i = 1; i < count; ++i)
        for (type_part p : once) {
          p.offset += i * stride;
          add(p);
        }
    }
    if (runs.size() == 1)
      runs_[0].count *= static_cast<std::uint64_t>(count);
    else
      for (std::int64_t i = 1; i < count; ++i)
        for (const type_run& r : runs) add_run(r);
    lower_ = std::min(lower_, lower_ + far);
    upper_ = std::max(upper_, upper_ + far);
  }

  datatype& finish(type_origin origin) {
    const bool empty = lower_ > upper_;
    return finish(std::move(origin), empty ? 0 : lower_, empty ? 0 : upper_);
  }
  datatype& finish(type_origin origin, std::int64_t lower, std::int64_t upper) {
    auto* const made = new datatype(std::move(parts_), std::move(runs_), lower, upper, std::move(origin));
    made->add_reference();
    return *made;
  }

  datatype& finish_aligned(type_origin origin, std::int64_t alignment) {
    if (lower_ > upper_) return finish(std::move(origin));
    const std::int64_t extent = upper_ - lower_;
    return finish(std::move(origin), lower_, plus(lower_, plus(extent, (alignment - extent % alignment) % alignment)));
  }

private:
  void add(const type_part& p) {
    if (p.size() == 0) return;
    if (!parts_.empty()) {
      type_part& last = parts_.back();
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
    parts_.push_back(p);
  }
  void add_run(const type_run& r) {
    if (!runs_.empty() && runs_.back().kind == r.kind)
      runs_.back().count += r.count;
    else
      runs_.push_back(r);
  }
  void add_runs(const datatype& t, std::uint64_t times) {
    if (t.runs().size() == 1) return add_run({t.runs()[0].kind, t.runs()[0].count * times});
    for (std::uint64_t i = 0; i < times; ++i)
      for (const type_run& r : t.runs()) add_run(r);
  }

  std::vector<type_part> parts_;
  std::vector<type_run> runs_;
  std::int64_t total_ = 0;  // bytes of the elements
  std::int64_t lower_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t upper_ = std::numeric_limits<std::int64_t>::min();
};

// Whether the program has set bounds in it, as far as its types tell.
bool has_bounds(const datatype& t) {
  switch (t.origin().combiner) {
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY: return true;
    default: break;
  }
  return std::ranges::any_of(t.origin().types, [](const type_ref& r) { return r.get() != nullptr && has_bounds(*r); });
}

std::int64_t alignment_of(const datatype& t) {
  std::uint64_t most = 1;
  for (const type_run& r : t.runs()) most = std::max(most, alignment_of(r.kind));
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
  bool bounded = false;
  for (const type_block& b : blocks) {
    a.add(b);
    if (b.length == 0) continue;
    alignment = std::max(alignment, alignment_of(*b.of));
    bounded = bounded || has_bounds(*b.of);
  }
  return bounded ? a.finish(std::move(origin)) : a.finish_aligned(std::move(origin), alignment);
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
  return a.finish(std::move(origin), lower, lower + extent);
}

datatype& make_duplicate(const datatype& of, type_origin origin) {
  assembly a;
  a.add(type_block{0, 1, &of});
  datatype& made = a.finish(std::move(origin), of.lower(), of.lower() + of.extent());
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
    first += starts[dimension(k)] * distance;
    distance *= sizes[dimension(k)];
  }
  a.add(type_block{first, subsizes[dimension(0)], &of});
  std::int64_t stride = of.extent();
  for (std::size_t k = 1; k < dims; ++k) {
    stride *= sizes[dimension(k - 1)];
    if (subsizes[dimension(k)] > 1) a.repeat(subsizes[dimension(k)], stride);
  }
  return a.finish(std::move(origin), 0, distance);
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
  std::int64_t block = argument;
  if (distribution == MPI_DISTRIBUTE_BLOCK) {
    if (argument == MPI_DISTRIBUTE_DFLT_DARG) block = (size + processes - 1) / processes;
    if (block <= 0 || block * processes < size)
      throw mpi_error(MPI_ERR_ARG,
                      fmt::format("blocks of {} elements on {} processes do not hold {}", block, processes, size));
    const std::int64_t first = block * coordinate;
    if (first < size) runs.emplace_back(first, std::min(block, size - first));
    return runs;
  }
  if (argument == MPI_DISTRIBUTE_DFLT_DARG) block = 1;
  if (block <= 0) throw mpi_error(MPI_ERR_ARG, fmt::format("a cyclic distribution has blocks of {} elements", block));
  for (std::int64_t first = block * coordinate; first < size; first += block * processes)
    runs.emplace_back(first, std::min(block, size - first));
  return runs;
}

}  // namespace

datatype& make_darray(const darray_arguments& how, const datatype& of, type_origin origin) {
  const std::size_t dims = how.sizes.size();
  if (dims == 0) throw mpi_error(MPI_ERR_ARG, "an array has at least one dimension");
  std::int64_t all = 1;
  for (const int p : how.processes) all *= p;
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
    distance *= how.sizes[dimension(k)];
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
  return a.finish(std::move(origin), 0, distance);
}

}  // namespace shoal::rank
