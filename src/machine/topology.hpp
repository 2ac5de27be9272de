// SPDX-License-Identifier: Apache-2.0
// The processors of this machine (from hwloc): which of them this process may use, how they share cores, caches, NUMA
// nodes and packages, and which ones the workers of a node should take. Who may call: any thread, at set-up. discover()
// before workers are pinned, since it reads the process's affinity. Never switches tasks. Guarantees: only processors
// within the affinity mask and the control group's cpuset are listed. choose() is a function of its arguments: nodes
// that share a machine and a mask come to disjoint answers without talking to each other, as far as there are
// processors. Processes that a launcher bound apart (their affinity() texts differ) call it each as the only node.
// Shown by tests/unit/machine/topology_test.cpp (on synthetic machines).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace shoal::machine {

/// One hardware thread. All numbers but `pu` count from 0 within what hwloc shows of the machine.
struct processor {
  unsigned pu = 0;  // the operating system's number
  unsigned core = 0;
  unsigned l2 = 0;  // the core's own number where there is no such cache
  unsigned l3 = 0;  // as l2
  unsigned numa = 0;
  unsigned package = 0;
};

/// The nearest thing that two processors have in common.
enum class sharing : std::uint8_t { core, l2, l3, numa, package, machine };
/// Processors of different packages share the machine, also where all its memory is one NUMA node.
sharing shared_by(const processor& a, const processor& b) noexcept;

struct placement {
  std::vector<unsigned> pus;     // one for each worker
  std::vector<processor> where;  // the same, with what they share
  bool pin = false;              // whether workers should stay there
  bool oversubscribed = false;   // more workers on this machine than processors
  std::string note;              // why not pinned; empty if pinned
};

class topology {
public:
  static topology discover();
  /// A machine as hwloc describes synthetic ones: "package:2 core:4 pu:2"; "pu:1" may be left out. All of it may be
  /// used.
  static constexpr unsigned k_most_described = 1U << 16;  // processors
  static topology synthetic(const std::string& description, double quota = std::numeric_limits<double>::infinity());

  topology(topology&&) noexcept;
  topology& operator=(topology&&) noexcept;
  ~topology();

  /// Neighbours share most: by package, NUMA node, cache, core.
  std::span<const processor> processors() const noexcept;
  unsigned cores() const noexcept;
  unsigned packages() const noexcept;
  unsigned numa_nodes() const noexcept;
  /// How many processors' worth of time the control group gives; infinity without a quota.
  double cpu_quota() const noexcept;
  /// How many workers make sense here: the processors, or the quota if that is less; at least 1.
  unsigned usable_processors() const noexcept;
  /// "0-3,8": what this process may use, to compare with its peers'.
  std::string affinity() const;
  /// The processor's model name; empty if unknown.
  std::string model() const;
  /// "L1 32.0 KiB, L2 1.0 MiB, L3 36.0 MiB shared by 2"
  std::string caches() const;

  placement choose(unsigned nodes_on_machine, unsigned my_index, unsigned workers) const;

private:
  struct state;
  explicit topology(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

/// What the system calls this kind of processor: x86_64, aarch64.
std::string architecture();

/// False if the system refuses (the processor is outside the mask or offline).
bool pin_this_thread(unsigned pu) noexcept;
/// Lets a thread of this process (its thread_id()) use these processors from now on, and no others. False if the system
/// refuses.
bool pin_thread(std::uint32_t thread, std::span<const unsigned> pus) noexcept;

/// Lets the calling thread go back, when it ends, to the processors that it could use before.
class affinity_scope {
public:
  affinity_scope() noexcept;
  ~affinity_scope();
  affinity_scope(const affinity_scope&) = delete;
  affinity_scope& operator=(const affinity_scope&) = delete;

  /// Which these are, as hexadecimal digits; equal for equal sets. Without a space.
  std::string text() const;

private:
  std::array<unsigned long, 128> mask_{};  // as the kernel has it: 8192 processors
  long bytes_;
};

}  // namespace shoal::machine
