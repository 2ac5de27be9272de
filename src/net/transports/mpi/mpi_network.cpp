// SPDX-License-Identifier: Apache-2.0
#include "net/transports/mpi/mpi_network.hpp"

#include <fmt/format.h>

#include <climits>
#include <cstring>
#include <shoal/error.hpp>

namespace shoal::net {
namespace {

struct place {
  int rank;
  int first_tag;
  unsigned domains;
  unsigned most_words;
};

}  // namespace

mpi_network::mpi_network(const network_request& request) : library_(mpi_library::started()), request_(request) {
  if (request.most_words > INT_MAX / sizeof(std::uint64_t) - k_label_words)
    throw error(
        errc::invalid_argument,
        fmt::format("buffers of {} words are more than MPI's int can count; make them smaller", request.most_words));
  const int first_tag = library_.take_tags(static_cast<int>(request.domains));
  for (unsigned domain = 0; domain < request.domains; ++domain) {
    MPI_Comm const communicator = library_.communicator(request.own_communicators ? domain : 0);
    wires_.push_back(std::make_unique<mpi_wire>(library_, communicator, first_tag + static_cast<int>(domain), request));
  }
}

std::vector<std::byte> mpi_network::address() {
  const place here{library_.rank(), wires_.front()->tag(), request_.domains,
                   static_cast<unsigned>(request_.most_words)};
  std::vector<std::byte> bytes(sizeof here);
  std::memcpy(bytes.data(), &here, sizeof here);
  return bytes;
}

void mpi_network::connect(std::span<const std::vector<std::byte>> addresses) {
  for (std::uint32_t node = 0; node < request_.nodes; ++node) {
    place there{};
    if (addresses[node].size() == sizeof there) std::memcpy(&there, addresses[node].data(), sizeof there);
    if (there.domains != request_.domains || there.most_words != request_.most_words)
      throw error(
          errc::mismatch,
          fmt::format("node {} has {} communication domains and buffers of {} words, node {} has {} and {}; give "
                      "all nodes the same settings",
                      node, there.domains, there.most_words, request_.node, request_.domains, request_.most_words));
    if (there.rank < 0 || there.rank >= library_.size())
      throw error(errc::mismatch,
                  fmt::format("node {} is rank {} of MPI, but MPI knows of {} here; start all nodes by one "
                              "launcher of the same MPI library",
                              node, there.rank, library_.size()));
    for (unsigned domain = 0; domain < request_.domains; ++domain)
      wires_[domain]->introduce(node, there.rank, there.first_tag + static_cast<int>(domain));
  }
}

}  // namespace shoal::net
