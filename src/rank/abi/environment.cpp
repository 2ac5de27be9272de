// SPDX-License-Identifier: Apache-2.0
// What a program may ask of its surroundings: time, names, versions, memory (MPI 5.0, chapter 9).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "machine/socket.hpp"
#include "rank/abi/making.hpp"
#include "rank/abi/text_argument.hpp"
#include "rank/datatype/basic.hpp"
#include "rank/info.hpp"
#include "sched/pool.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

const std::pair<std::string_view, MPI_Datatype> k_fortran_types[] = {{"logical1", MPI_LOGICAL1},
                                                                     {"logical2", MPI_LOGICAL2},
                                                                     {"logical4", MPI_LOGICAL4},
                                                                     {"logical8", MPI_LOGICAL8},
                                                                     {"logical16", MPI_LOGICAL16},
                                                                     {"integer1", MPI_INTEGER1},
                                                                     {"integer2", MPI_INTEGER2},
                                                                     {"integer4", MPI_INTEGER4},
                                                                     {"integer8", MPI_INTEGER8},
                                                                     {"integer16", MPI_INTEGER16},
                                                                     {"real2", MPI_REAL2},
                                                                     {"real4", MPI_REAL4},
                                                                     {"real8", MPI_REAL8},
                                                                     {"real16", MPI_REAL16},
                                                                     {"complex4", MPI_COMPLEX4},
                                                                     {"complex8", MPI_COMPLEX8},
                                                                     {"complex16", MPI_COMPLEX16},
                                                                     {"complex32", MPI_COMPLEX32},
                                                                     {"double_complex", MPI_DOUBLE_COMPLEX}};

void check_logical(int bytes) {
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16)
    throw mpi_error(MPI_ERR_ARG, fmt::format("no logical has {} bytes", bytes));
}

}  // namespace

extern "C" {

double PMPI_Wtime(void) {
  const rank_state* const me = current_rank();
  const std::uint64_t now = me != nullptr ? me->home.owner().executor().now_ns() : shoal::base::now_ns();
  return static_cast<double>(now) * 1e-9;
}
MPI_ABI_ALIAS(Wtime)

double PMPI_Wtick(void) { return 1e-9; }
MPI_ABI_ALIAS(Wtick)

int PMPI_Get_version(int* version, int* subversion) {
  if (version == nullptr || subversion == nullptr) return MPI_ERR_ARG;
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(Get_version)

int PMPI_Abi_get_version(int* abi_major, int* abi_minor) {
  if (abi_major == nullptr || abi_minor == nullptr) return MPI_ERR_ARG;
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(Abi_get_version)

int PMPI_Get_library_version(char* version, int* resultlen) {
  if (version == nullptr || resultlen == nullptr) return MPI_ERR_ARG;
  give_text("Shoal " SHOAL_VERSION ", ranks as tasks; MPI's standard ABI", version, MPI_MAX_LIBRARY_VERSION_STRING,
            resultlen);
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(Get_library_version)

int PMPI_Get_processor_name(char* name, int* resultlen) {
  return enter([&](caller&) { give_text(shoal::machine::host_name(), name, MPI_MAX_PROCESSOR_NAME, resultlen); });
}
MPI_ABI_ALIAS(Get_processor_name)

int PMPI_Abi_get_info(MPI_Info* result) {
  return enter_anywhere([&] {
    output(result) = handle_of<MPI_Info>(*new info({{"mpi_aint_size", std::to_string(sizeof(MPI_Aint))},
                                                    {"mpi_count_size", std::to_string(sizeof(MPI_Count))},
                                                    {"mpi_offset_size", std::to_string(sizeof(MPI_Offset))}}));
  });
}
MPI_ABI_ALIAS(Abi_get_info)

int PMPI_Abi_get_fortran_info(MPI_Info* result) {
  return enter_anywhere([&] {
    info_pairs pairs{{"mpi_logical_size", "4"},
                     {"mpi_integer_size", "4"},
                     {"mpi_real_size", "4"},
                     {"mpi_double_precision_size", "8"}};
    for (const auto& name_and_type : k_fortran_types) {
      const auto handle = reinterpret_cast<std::uintptr_t>(name_and_type.second);
      const bool known =
          std::ranges::find(predefined_types(), handle, &predefined_type::handle) != predefined_types().end();
      pairs.emplace_back(fmt::format("mpi_{}_supported", name_and_type.first), known ? "true" : "false");
    }
    output(result) = handle_of<MPI_Info>(*new info(std::move(pairs)));
  });
}
MPI_ABI_ALIAS(Abi_get_fortran_info)

// gfortran's.
int PMPI_Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set) {
  return enter_anywhere([&] {
    check_logical(logical_size);
    const auto bytes = static_cast<std::size_t>(logical_size);
    std::memset(&output(static_cast<char*>(logical_true)), 0, bytes);
    std::memset(&output(static_cast<char*>(logical_false)), 0, bytes);
    *static_cast<char*>(logical_true) = 1;
    output(is_set) = 1;
  });
}
MPI_ABI_ALIAS(Abi_get_fortran_booleans)

int PMPI_Abi_set_fortran_booleans(int logical_size, void*, void*) {
  return enter_anywhere([&] {
    check_logical(logical_size);
    throw mpi_error(MPI_ERR_ABI, "the values of Fortran's logicals are gfortran's, and set already");
  });
}
MPI_ABI_ALIAS(Abi_set_fortran_booleans)

int PMPI_Abi_set_fortran_info(MPI_Info) {
  return enter_anywhere(
      [] { throw mpi_error(MPI_ERR_ABI, "what Fortran's types are is gfortran's, and set already"); });
}
MPI_ABI_ALIAS(Abi_set_fortran_info)

// Each rank is in one process of one machine, and stays there.
int PMPI_Get_hw_resource_info(MPI_Info* result) {
  return enter_anywhere([&] {
    output(result) = handle_of<MPI_Info>(
        *new info({{"mpi_shared_memory", "true"}, {k_machine_resource, "true"}, {k_process_resource, "true"}}));
  });
}
MPI_ABI_ALIAS(Get_hw_resource_info)

int PMPI_Pcontrol(const int, ...) { return MPI_SUCCESS; }
MPI_ABI_ALIAS(Pcontrol)

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info, void* baseptr) {
  return enter([&](caller&) {
    if (size < 0) throw mpi_error(MPI_ERR_ARG, "the size is below 0");
    void* const at = std::aligned_alloc(64, (static_cast<std::size_t>(size) + 63) / 64 * 64 + 64);
    if (at == nullptr) throw mpi_error(MPI_ERR_NO_MEM, "there is not enough memory");
    *reinterpret_cast<void**>(&output(static_cast<char*>(baseptr))) = at;
  });
}
MPI_ABI_ALIAS(Alloc_mem)

int PMPI_Free_mem(void* base) {
  std::free(base);
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(Free_mem)

int PMPI_Get_address(const void* location, MPI_Aint* address) {
  return enter_anywhere([&] { output(address) = reinterpret_cast<MPI_Aint>(location); });
}
MPI_ABI_ALIAS(Get_address)

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) { return base + disp; }
MPI_ABI_ALIAS(Aint_add)

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) { return addr1 - addr2; }
MPI_ABI_ALIAS(Aint_diff)
}
