// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/start.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/clock.hpp"
#include "bench/micro/light_nodes.hpp"
#include "bench/micro/workers.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"
#include "launch/control_message.hpp"

namespace shoal::bench {
namespace {

constexpr std::int64_t k_start_limit_ns = 300'000'000'000;

struct start_options {
  measuring_options measuring;
  std::uint32_t nodes = 1024;
  std::uint32_t bytes = 64;
};

double ms_since(std::uint64_t begin_ns) { return static_cast<double>(base::now_ns() - begin_ns) / 1e6; }

std::vector<std::byte> address_of(std::uint32_t node, std::uint32_t bytes) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(node * 7 + 1));
}

bool all_have_all(const std::vector<light_nodes::blocks>& received, std::uint32_t nodes, std::uint32_t bytes) {
  std::uint32_t next = 0;
  bool right = true;
  for (const auto& payload : received.front()) {
    const auto block = launch::parts_block::parse(payload, nodes);
    if (!block) return false;
    block->for_each([&](std::uint32_t node, std::span<const std::byte> part) {
      right = right && node == next++ && std::ranges::equal(part, address_of(node, bytes));
    });
  }
  return right && next == nodes &&
         std::ranges::all_of(received, [&](const auto& one) { return one == received.front(); });
}

int run_start(const start_options& options) {
  constexpr unsigned k_rounds = 5;  // in one job
  check_settings();
  report result("shoal bench start: the hub of a job of many nodes");
  result.parameter("nodes", options.nodes);
  result.parameter("bytes", options.bytes);
  result.begin(options.measuring);
  progress line(static_cast<std::size_t>(options.measuring.repeat));
  for (int round = 0; round < options.measuring.repeat; ++round) {
    line.show(static_cast<std::size_t>(round), "start");
    const start_result r = measure_start(options.nodes, options.bytes, k_rounds);
    result.record("come_ms", "ms", r.come_ms);
    for (const double ms : r.empty_ms) result.record("empty_exchange_ms", "ms", ms);
    for (const double ms : r.addresses_ms) result.record("exchange_ms", "ms", ms);
    result.check("parts", r.correct, "every node received the part of every node");
  }
  line.clear();
  return result.finish(options.measuring);
}

}  // namespace

start_result measure_start(std::uint32_t nodes, std::uint32_t bytes, unsigned rounds) {
  launch::hub_options options;
  options.nodes = nodes;
  options.silence_ns = options.start_ns = options.handshake_ns = k_start_limit_ns;
  const launch::hub center(options);
  start_result result;
  result.correct = true;
  std::uint64_t begin_ns = base::now_ns();
  light_nodes all(center.place(), nodes, k_start_limit_ns);
  result.come_ms = ms_since(begin_ns);
  const auto exchange = [&](std::uint32_t size, std::vector<double>& times) {
    begin_ns = base::now_ns();
    const auto received = all.exchange([size](std::uint32_t n) { return address_of(n, size); });
    times.push_back(ms_since(begin_ns));
    result.correct = result.correct && all_have_all(received, nodes, size);
  };
  // The long ones leave the system's buffers full of what one thread reads: not before the short ones.
  for (unsigned round = 0; round < rounds; ++round) exchange(0, result.empty_ms);
  for (unsigned round = 0; round < rounds; ++round) exchange(bytes, result.addresses_ms);
  all.leave();
  result.correct = result.correct && !center.lost();
  return result;
}

subcommand_body declare_start(CLI::App& app) {
  auto options = std::make_shared<start_options>();
  add_measuring_options(app, options->measuring);
  app.add_option("-n,--nodes", options->nodes, "connections that act as nodes, all of this process")
      ->check(CLI::Range(1U, 1U << 16))
      ->capture_default_str();
  app.add_option("--bytes", options->bytes, "that each node gives in the second exchange")
      ->check(CLI::Range(0U, 1U << 16))
      ->capture_default_str();
  return [options] { return run_start(*options); };
}

}  // namespace shoal::bench
