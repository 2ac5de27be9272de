// SPDX-License-Identifier: Apache-2.0
#include "net/settings.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/counted.hpp"
#include "net/transports/mpi/settings.hpp"
#include "net/transports/ucx/settings.hpp"
#include "shoal/error.hpp"

namespace shoal::net {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_table[] = {
    {.name = "transport",
     .type = setting_type::choice,
     .default_value = "auto",
     .help =
         "how buffers travel between nodes: shm, ucx, mpi, inproc (nodes in one process), sim (a simulated machine, "
         "in virtual time); auto: what the launcher and the machine offer",
     .choices = "auto|inproc|shm|ucx|mpi|sim"},
    {.name = "plugins",
     .type = setting_type::text,
     .default_value = "",
     .help = "a folder with transports, looked at before those beside the program and where Shoal is installed"},
    {.name = "buffer",
     .type = setting_type::size,
     .default_value = "16K",
     .help = "bytes of an aggregation buffer",
     .min = "16K",
     .max = "1M"},
    {.name = "buffers",
     .type = setting_type::integer,
     .default_value = "8",
     .help = "buffers in flight from a worker to a node, rounded up to a power of two",
     .min = "2",
     .max = "256"},
    {.name = "route",
     .type = setting_type::choice,
     .default_value = "auto",
     .help = "how messages reach other nodes: direct (buffers for each pair of workers), shared (the workers of a node "
             "fill them together), machine, grid (two hops), cube (three); auto: the first of direct, shared, grid, "
             "cube whose buffers fit into aggregation_memory",
     .choices = "auto|direct|shared|machine|grid|cube"},
    {.name = "aggregation_memory",
     .type = setting_type::size,
     .default_value = "0",
     .help = "bytes of the buffers of a node; 0: 1/64 of the machine's memory for all its nodes, at most 1G for each",
     .min = "0",
     .max = "1T"},
    {.name = "block",
     .type = setting_type::size,
     .default_value = "2K",
     .help = "bytes that a worker collects for a node before they go to a buffer that workers share (all routes but "
             "direct); less where they would not fit into aggregation_memory",
     .min = "128",
     .max = "16K"},
    {.name = "domains",
     .type = setting_type::integer,
     .default_value = "0",
     .help =
         "endpoints per node (ucx, mpi); fewer than workers: they share them through a lock; 0: one for each worker",
     .min = "0",
     .max = "1024"},
    {.name = "domain_lock",
     .type = setting_type::text,
     .default_value = "bounded",
     .help = "the kind of lock in front of a domain"},
    {.name = "domain_wait",
     .type = setting_type::choice,
     .default_value = "adaptive",
     .help = "how to wait for a domain's lock: spin, yield, park, adaptive",
     .choices = "spin|yield|park|adaptive"},
    {.name = "messages",
     .type = setting_type::choice,
     .default_value = "own",
     .help = "own: commands reach a worker through its own domain; domain_0: all through one, as processes are "
             "addressed",
     .choices = "own|domain_0"},
    {.name = "progress",
     .type = setting_type::choice,
     .default_value = "workers",
     .help = "who moves messages (ucx, mpi): each worker its own, or a thread of the node for all",
     .choices = "workers|server"},
    {.name = "poll_mask",
     .type = setting_type::integer,
     .default_value = "7",
     .help = "with messages=domain_0 workers of other domains look at it every mask + 1 polls; a power of two less 1",
     .min = "0",
     .max = "65535"},
};

}  // namespace

const std::array<base::setting_table, 4> k_net_settings{base::setting_table{"net", k_table}, ucx::k_ucx_settings,
                                                        mpi::k_mpi_settings, k_sim_settings};

options read_options(const base::settings& s) {
  options o;
  o.transport = s.get_text("transport");
  o.plugins = s.get_text("plugins");
  o.buffer_bytes = s.get_size("buffer") / 64 * 64;
  o.buffers = std::bit_ceil(static_cast<std::size_t>(s.get_int("buffers")));
  o.routes.route = s.get_text("route");
  o.routes.memory_bytes = s.get_size("aggregation_memory");
  o.routes.block_bytes = s.get_size("block") / 64 * 64;
  o.domains = static_cast<unsigned>(s.get_int("domains"));
  o.domain_lock = s.judge_text("domain_lock", [](std::string text) {
    make_lock(text);  // throws for an unknown kind, with the list of all
    return text;
  });
  o.domain_wait = parse_wait_kind(s.get_text("domain_wait"));
  o.messages = s.get_text("messages") == "own" ? message_route::own : message_route::domain_0;
  o.progress = s.get_text("progress") == "server" ? progress_role::server : progress_role::workers;
  o.poll_mask = static_cast<std::uint32_t>(s.get_int("poll_mask"));
  if (std::popcount(o.poll_mask + 1) != 1)
    throw error(errc::invalid_argument,
                fmt::format("poll_mask {} is not a power of two less 1: 0, 1, 3, 7 ...", o.poll_mask));
  o.network_memory = s.get_bool("network_memory");
  o.shared_context = s.get_bool("shared_context");
  o.tcp_transfers = s.get_bool("tcp_transfers");
  o.own_communicators = s.get_bool("own_communicators");
  o.sim = read_sim_options(s);
  return o;
}

message_shape make_message_shape(const options& o, std::uint32_t node, std::uint32_t nodes, unsigned workers,
                                 machine::executor& executor) {
  message_shape s;
  s.node = node;
  s.nodes = nodes;
  s.workers = workers;
  s.domains = o.domains == 0 ? workers : o.domains;
  if (s.domains > workers)
    throw error(errc::invalid_argument,
                fmt::format("{} for {}: a domain belongs to at least one; lower SHOAL_DOMAINS",
                            base::counted(o.domains, "domain"), base::counted(workers, "worker")));
  s.slot_bytes = o.buffer_bytes;
  s.slots = o.buffers;
  s.route = o.messages;
  s.poll_mask = o.poll_mask;
  s.progress = o.progress;
  s.lock = o.domain_lock;
  s.wait = o.domain_wait;
  s.executor = &executor;
  return s;
}

}  // namespace shoal::net
