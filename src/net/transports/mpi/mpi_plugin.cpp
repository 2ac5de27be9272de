// SPDX-License-Identifier: Apache-2.0
// What libshoal_net_mpi_x.so shows.
#include <mutex>

#include "net/transports/mpi/mpi_network.hpp"

namespace shoal::net {
namespace {

std::unique_ptr<network> open_mpi(const network_request& request) { return std::make_unique<mpi_network>(request); }

std::string share(const std::string& word_of_node_0, std::uint32_t& node, std::uint32_t& nodes) {
  mpi_library& library = mpi_library::started();
  MPI_Comm const all = library.communicator(0);
  const std::lock_guard guard(library.lock());
  node = static_cast<std::uint32_t>(library.rank());
  nodes = static_cast<std::uint32_t>(library.size());
  std::string word = word_of_node_0;
  auto length = static_cast<unsigned long long>(word.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, all), "bring node 0's word to all");
  word.resize(length);
  check_mpi(MPI_Bcast(word.data(), static_cast<int>(length), MPI_CHAR, 0, all), "bring node 0's word to all");
  return word;
}

#ifdef OPEN_MPI
constexpr const char* k_library = "Open MPI";
#elif defined(MPICH_VERSION)
constexpr const char* k_library = "MPICH";
#else
constexpr const char* k_library = "MPI";
#endif

}  // namespace

extern "C" [[gnu::visibility("default")]] const net_plugin shoal_net_plugin{.interface = k_net_interface,
                                                                            .version = SHOAL_VERSION,
                                                                            .name = "mpi",
                                                                            .made_for = k_library,
                                                                            .open = open_mpi,
                                                                            .share = share};

}  // namespace shoal::net
