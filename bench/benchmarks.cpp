// SPDX-License-Identifier: Apache-2.0
#include "bench/benchmarks.hpp"

#include "bench/micro/access.hpp"
#include "bench/micro/anywhere.hpp"
#include "bench/micro/barrier.hpp"
#include "bench/micro/blocked.hpp"
#include "bench/micro/checkpoint.hpp"
#include "bench/micro/collectives.hpp"
#include "bench/micro/dependences.hpp"
#include "bench/micro/domains.hpp"
#include "bench/micro/limits.hpp"
#include "bench/micro/locks.hpp"
#include "bench/micro/pages.hpp"
#include "bench/micro/priorities.hpp"
#include "bench/micro/scale.hpp"
#include "bench/micro/service.hpp"
#include "bench/micro/spawn.hpp"
#include "bench/micro/start.hpp"
#include "bench/micro/steal_profile.hpp"
#include "bench/micro/switch.hpp"
#include "bench/micro/wake.hpp"
#include "bench/micro/woken.hpp"

namespace shoal::bench {
namespace {

constexpr subcommand k_benchmarks[] = {
    {"limits", "limits of memory and cores: plain loops without the runtime",
     "shoal bench limits --repeat 3 --json limits.json", declare_limits},
    {"pages", "what the size of pages costs or gains: loops and kernels over tables of growing size",
     "shoal bench pages --picture pages.svg", declare_pages},
    {"access", "element operations on a global array",
     "shoal bench access -n 2 -w 1 --op add --mode async --direct off", declare_access},
    {"switch", "yield of a task through the scheduler, and a bare stack switch for comparison",
     "shoal bench switch --json switch.json", declare_switch},
    {"spawn", "spawn and join: Fibonacci numbers by tasks, without a cut-off", "shoal bench spawn -w 2", declare_spawn},
    {"wake", "spawns into a pool whose other workers sleep: time, wake-ups and system calls", "shoal bench wake -w 16",
     declare_wake},
    {"dependences", "a wavefront of empty tiles, as a task graph and with declared accesses",
     "shoal bench dependences -w 1", declare_dependences},
    {"blocked", "memory and time of tasks that all wait, then all wake", "shoal bench blocked --tasks 1000000",
     declare_blocked},
    {"woken", "tasks that are woken together and then compute, tied to their workers and movable",
     "shoal bench woken -w 2", declare_woken},
    {"steal-profile", "where the time of stealing workers goes, by victim policy and number of workers",
     "shoal bench steal-profile --picture steals.svg", declare_steal_profile},
    {"priorities",
     "a chain of high priority, tasks in the background, and groups of unequal work that exchange processors",
     "shoal bench priorities -w 2 --picture priorities.svg", declare_priorities},
    {"locks", "locks under contention: rates, waiting times, bias factors",
     "shoal bench locks --threads 1,2,4 --picture locks.svg", declare_locks},
    {"domains", "workers over a network library: number of domains, processes, poll mask",
     "shoal bench domains -w 2 --picture domains.svg", declare_domains},
    {"service", "how long a get, a call, a woken and a submitted task wait for a busy worker",
     "shoal bench service -n 2 -w 1 --direct off", declare_service},
    {"scale", "what nodes cost that are known and not used: memory, polls, waits, idle looks",
     "shoal bench scale --nodes 2,64,256,1024", declare_scale},
    {"anywhere", "n queens by recursive tasks that move between nodes", "shoal bench anywhere -n 2 -w 1",
     declare_anywhere},
    {"start", "how the hub of a job of many nodes lets them in and exchanges their addresses",
     "shoal bench start -n 1024", declare_start},
    {"barrier", "barrier and allreduce of 8 bytes over nodes", "shoal bench barrier -n 2", declare_barrier},
    {"collectives", "barrier, broadcast, reduce, all-reduce, scan, all-gather, all-to-all over nodes",
     "shoal bench collectives -n 2 --bytes 1048576", declare_collectives},
    {"checkpoint", "checkpoints, and plain sequential writing to the same disk",
     "shoal bench checkpoint -n 2 --folder /scratch", declare_checkpoint},
};

}  // namespace

std::span<const subcommand> benchmarks() { return k_benchmarks; }

}  // namespace shoal::bench
