// SPDX-License-Identifier: Apache-2.0
// A job in which somebody sends the command of the C interface that calls a plain function by its place in the program.
// Built twice: cluster_forged_core uses that interface (SHOAL_USES_CORE), cluster_forged does not.
//   list         prints what calls of other nodes may name: "callee NUMBER at ADDRESS", as in the program's file
//   send NUMBER  node 0 sends node 1 the command, with this number as the one that executes it
#include <link.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "remote/code.hpp"
#include "shoal/core.h"
#include "shoal/shoal.hpp"

namespace {

// How far from the addresses in its file the program lies.
std::uintptr_t displacement() {
  std::uintptr_t found = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* result) {
        *static_cast<std::uintptr_t*>(result) = program->dlpi_addr;
        return 1;
      },
      &found);
  return found;
}

void list() {
  static_cast<void>(shoal::remote::code_fingerprint());
  const std::uintptr_t from = displacement();
  for (std::uint64_t number = 0;; ++number) {  // of the program itself, the first image
    const auto callee = shoal::remote::decode_callee(number);
    if (callee == nullptr) return;
    std::printf("callee %llu at %llx\n", static_cast<unsigned long long>(number),
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(callee) - from));
  }
}

std::size_t by_address(std::uint32_t, const void*, std::size_t, void*, std::size_t) {
  std::puts("called by its address");
  std::fflush(stdout);
  return 0;
}

std::size_t stand_in(std::uint32_t, std::span<const std::uint64_t>, std::uint64_t*) { return 0; }

void send(std::uint64_t number) {
  using shoal::detail::body_kind;
  static shoal::detail::typed_body<body_kind::callee, shoal::detail::callee_function> forged(stand_in);
  forged.name(number);
  // As cluster::begin_call() writes it: room for the answer, the function, the bytes of its arguments.
  const std::array<std::uint64_t, 3> command{
      0, shoal::remote::encode_plain(reinterpret_cast<shoal::remote::plain_function>(by_address)), 0};
  std::array<std::uint64_t, 1> answer{};
  shoal::detail::completion call;
  shoal::detail::begin_call(call, 1, forged, command, answer.data(), answer.size());
  call.wait_and_rethrow();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const std::uint64_t number = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
#ifdef SHOAL_USES_CORE
  if (what == "use") return shoal_begin_call(1, nullptr, nullptr, nullptr);
#endif
  if (what == "list") {
    list();
    return 0;
  }
  return shoal::run(argc, argv, [&] { send(number); });
}
