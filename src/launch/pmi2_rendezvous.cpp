// SPDX-License-Identifier: Apache-2.0
#include "launch/pmi2_rendezvous.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/log.hpp"
#include "machine/library.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

constexpr const char* k_file = "libpmi2.so.0";
constexpr int k_success = 0;
constexpr int k_any_source = -1;
constexpr std::size_t k_most_value_bytes = 1024;

// As Slurm's slurm/pmi2.h declares them, in our words: no package but Slurm's own brings that header.
struct functions {
  int (*init)(int* spawned, int* size, int* rank, int* application);
  int (*finalize)();
  int (*put)(const char* key, const char* value);
  int (*fence)();
  int (*get)(const char* job, int source, const char* key, char* value, int room, int* length);
};

template <class Function>
void bind(void* library, Function& to, const char* name) {
  to = reinterpret_cast<Function>(machine::find_symbol(library, name));
  if (to == nullptr) throw error(errc::unsupported, fmt::format("{} has no {}", k_file, name));
}

void check(int status, const char* what) {
  if (status != k_success)
    throw error(errc::system,
                fmt::format("PMI-2 cannot {} (status {}); was this process started by srun --mpi=pmi2?", what, status));
}

class pmi2_rendezvous final : public rendezvous {
public:
  explicit pmi2_rendezvous(const functions& f) : call_(f) {
    int spawned = 0;
    int application = 0;
    check(call_.init(&spawned, &size_, &rank_, &application), "tell this process its place");
  }
  ~pmi2_rendezvous() override { call_.finalize(); }

  const char* by() const noexcept override { return "PMI-2"; }
  std::uint32_t node() const noexcept override { return static_cast<std::uint32_t>(rank_); }
  std::uint32_t nodes() const noexcept override { return static_cast<std::uint32_t>(size_); }
  bool one_machine() const noexcept override {
    const char* const hosts = std::getenv("SLURM_STEP_NUM_NODES");
    return hosts != nullptr && std::strcmp(hosts, "1") == 0;
  }
  std::string share(const std::string& word_of_node_0) override {
    const std::string key = fmt::format("shoal-word-{}", words_++);
    if (rank_ == 0) check(call_.put(key.c_str(), word_of_node_0.c_str()), "take node 0's word");
    check(call_.fence(), "bring all nodes together");
    std::array<char, k_most_value_bytes + 1> value{};
    int length = 0;
    check(call_.get(nullptr, k_any_source, key.c_str(), value.data(), static_cast<int>(k_most_value_bytes), &length),
          "bring node 0's word");
    return value.data();
  }

private:
  functions call_;
  int size_ = 0;
  int rank_ = 0;
  unsigned words_ = 0;
};

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

}  // namespace

bool shows_pmi2() {
  if (!is_set("PMI_FD") || !is_set("PMI_RANK") || !is_set("PMI_SIZE")) return false;
  // Hydra, also within an allocation of Slurm, whose variables it hands down.
  if (is_set("HYDI_CONTROL_FD") || is_set("MPI_LOCALNRANKS") || is_set("PMI_PORT")) return false;
  // Slurm names the step; what it names must be the step that this process belongs to.
  const char* const job = std::getenv("SLURM_JOB_ID");
  const char* const step = std::getenv("SLURM_STEP_ID");
  const char* const named = std::getenv("PMI_JOBID");
  const char* const rank = std::getenv("SLURM_PROCID");
  if (job == nullptr || step == nullptr || named == nullptr || rank == nullptr) return false;
  return fmt::format("{}.{}", job, step) == named && std::strcmp(rank, std::getenv("PMI_RANK")) == 0;
}

std::unique_ptr<rendezvous> find_pmi2() {
  if (!shows_pmi2()) return nullptr;
  functions f{};
  try {
    void* const library = machine::load_library(k_file, false);
    bind(library, f.init, "PMI2_Init");
    bind(library, f.finalize, "PMI2_Finalize");
    bind(library, f.put, "PMI2_KVS_Put");
    bind(library, f.fence, "PMI2_KVS_Fence");
    bind(library, f.get, "PMI2_KVS_Get");
  } catch (const error& e) {
    base::warn("Slurm's PMI-2 cannot be asked ({}); install its library (Debian: libpmi2-0)", e.what());
    return nullptr;
  }
  return std::make_unique<pmi2_rendezvous>(f);
}

}  // namespace shoal::launch
