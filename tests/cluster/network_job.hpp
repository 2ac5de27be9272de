// SPDX-License-Identifier: Apache-2.0
// What tests of jobs over network libraries have in common: what is installed here, and two machines that are two
// network namespaces of this one, joined by a cable.
// Who may call: tests, from their main thread. Needs root where it says so, and skips the test with the reason.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cluster/job_process.hpp"

namespace shoal::test {

/// Open MPI does not like root, nor more processes than processors.
inline const std::vector<std::string> k_for_mpi{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                                "OMPI_MCA_rmaps_base_oversubscribe=1"};

inline std::vector<std::string> with(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline bool has_plugin(const std::string& name) {
  return std::filesystem::exists(std::filesystem::path(SHOAL_COMMAND).parent_path() / "lib" /
                                 ("libshoal_net_" + name + ".so"));
}

inline bool has_program(const std::string& name) { return machine::find_program(name) != name; }

/// Two namespaces joined by a cable: as two machines, 10.77.0.1 and 10.77.0.2.
class two_machines : public testing::Test {
protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make network namespaces";
    if (!has_program("ip")) GTEST_SKIP() << "there is no ip (Debian: iproute2)";
    const std::string made = "ip netns add " + a_ + " && ip netns add " + b_ + " && ip link add " + a_ + " netns " +
                             a_ + " type veth peer name " + b_ + " netns " + b_ + " && ip -n " + a_ +
                             " addr add 10.77.0.1/24 dev " + a_ + " && ip -n " + b_ + " addr add 10.77.0.2/24 dev " +
                             b_ + " && ip -n " + a_ + " link set " + a_ + " up && ip -n " + b_ + " link set " + b_ +
                             " up && ip -n " + a_ + " link set lo up && ip -n " + b_ + " link set lo up && " + up(a_) +
                             " && " + up(b_);
    const outcome got = run({"/bin/bash", "-c", made});
    if (!got.status.clean()) GTEST_SKIP() << "network namespaces are refused here: " << got;
  }
  void TearDown() override {
    run({"/bin/bash", "-c",
         "for n in " + a_ + " " + b_ + "; do kill -KILL $(ip netns pids $n 2>&-) 2>&-; ip netns del $n; done"});
  }

  /// Runs there, under a host name that is the first machine's.
  std::vector<std::string> in_a(const std::vector<std::string>& what) const {
    return with({"ip", "netns", "exec", a_, "unshare", "--uts", "/bin/sh", "-c", "hostname $0; exec \"$@\"", a_}, what);
  }
  void cut_the_cable() const { run({"ip", "-n", b_, "link", "set", b_, "down"}); }

  const std::string a_ = "shoal-a" + std::to_string(::getpid() % 10000),
                    b_ = "shoal-b" + std::to_string(::getpid() % 10000);

private:
  // Until the cable is seen at that end, within ten seconds.
  static std::string up(const std::string& end) {
    return "timeout 10 bash -c 'until ip -n " + end + " link show " + end + " | grep -q LOWER_UP; do sleep 0.05; done'";
  }
};

}  // namespace shoal::test
