// SPDX-License-Identifier: Apache-2.0
// The place of this process as PMIx tells it; node 0's word, and what all nodes give, through PMIx's key-value space.
#include <fmt/format.h>
#include <pmix.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/rendezvous.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

void check(pmix_status_t status, const char* what) {
  if (status != PMIX_SUCCESS)
    throw error(errc::system, fmt::format("PMIx cannot {}: {}; was this process started by srun --mpi=pmix or mpirun?",
                                          what, PMIx_Error_string(status)));
}

class pmix_rendezvous final : public rendezvous {
  template <class Read>
  auto get(pmix_rank_t rank, const char* key, const char* what, Read read) const {
    pmix_proc_t whose;
    PMIX_PROC_CONSTRUCT(&whose);
    std::memcpy(whose.nspace, me_.nspace, sizeof whose.nspace);
    whose.rank = rank;
    pmix_value_t* value = nullptr;
    check(PMIx_Get(&whose, key, nullptr, 0, &value), what);
    const std::unique_ptr<pmix_value_t, void (*)(pmix_value_t*)> owner(value,
                                                                       [](pmix_value_t* v) { PMIX_VALUE_RELEASE(v); });
    return read(*value);
  }
  static void put(const std::string& key, pmix_value_t& value, const char* what) {
    check(PMIx_Put(PMIX_GLOBAL, key.c_str(), &value), what);
    check(PMIx_Commit(), what);
  }
  static void fence() {
    const bool collect = true;
    pmix_info_t info;
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    const pmix_status_t met = PMIx_Fence(nullptr, 0, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    check(met, "bring all nodes together");
  }
  std::uint32_t number(const char* key) const {
    return get(PMIX_RANK_WILDCARD, key, "tell how many processes there are",
               [](const pmix_value_t& v) { return v.type == PMIX_UINT32 ? v.data.uint32 : std::uint32_t{0}; });
  }

public:
  pmix_rendezvous() {
    check(PMIx_Init(&me_, nullptr, 0), "tell this process its place");
    try {
      nodes_ = number(PMIX_JOB_SIZE);
      local_ = number(PMIX_LOCAL_SIZE);
    } catch (...) {
      PMIx_Finalize(nullptr, 0);
      throw;
    }
  }
  ~pmix_rendezvous() override { PMIx_Finalize(nullptr, 0); }

  const char* by() const noexcept override { return "PMIx"; }
  std::uint32_t node() const noexcept override { return me_.rank; }
  std::uint32_t nodes() const noexcept override { return nodes_; }
  bool one_machine() const noexcept override { return local_ == nodes_; }

  std::string share(const std::string& word_of_node_0) override {
    const std::string key = fmt::format("shoal.word.{}", words_++);
    if (me_.rank == 0) {
      pmix_value_t value;
      PMIX_VALUE_CONSTRUCT(&value);
      value.type = PMIX_STRING;
      value.data.string = const_cast<char*>(word_of_node_0.c_str());
      put(key, value, "take node 0's word");
    }
    fence();
    return get(0, key.c_str(), "bring node 0's word", [](const pmix_value_t& v) {
      return v.type == PMIX_STRING && v.data.string != nullptr ? std::string(v.data.string) : std::string();
    });
  }

  // By the fence, all parts come to the launcher's server on each machine; what is asked for then is there.
  std::optional<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) override {
    const std::string key = fmt::format("shoal.part.{}", parts_++);
    std::string sent("+");  // a value of no bytes is none
    sent.append(reinterpret_cast<const char*>(mine.data()), mine.size());
    pmix_value_t value;
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = sent.data();
    value.data.bo.size = sent.size();
    put(key, value, "take this node's address");
    fence();
    std::vector<std::vector<std::byte>> all(nodes_);
    for (std::uint32_t n = 0; n < nodes_; ++n)
      all[n] = get(n, key.c_str(), "bring the addresses of all nodes", [n](const pmix_value_t& v) {
        if (v.type != PMIX_BYTE_OBJECT || v.data.bo.size == 0)
          throw error(errc::system, fmt::format("PMIx has brought no address of node {}", n));
        const auto* const first = reinterpret_cast<const std::byte*>(v.data.bo.bytes);
        return std::vector<std::byte>(first + 1, first + v.data.bo.size);
      });
    return all;
  }

private:
  pmix_proc_t me_{};
  std::uint32_t nodes_ = 0;
  std::uint32_t local_ = 0;
  unsigned words_ = 0;
  unsigned parts_ = 0;
};

std::unique_ptr<rendezvous> open_pmix() { return std::make_unique<pmix_rendezvous>(); }

}  // namespace

extern "C" [[gnu::visibility("default")]] const rendezvous_plugin shoal_rendezvous_plugin{
    .interface = k_rendezvous_interface, .version = SHOAL_VERSION, .open = open_pmix};

}  // namespace shoal::launch
