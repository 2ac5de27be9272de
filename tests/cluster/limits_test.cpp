// SPDX-License-Identifier: Apache-2.0
// Tests machines with fewer resources than requested: too little memory, limits on address space and files, a tiny
// /dev/shm, strict overcommit. A job works, or reports what was refused and which limit caused it; no signal ends it.
#include <sys/mount.h>

#include "machine/memory_info.hpp"
#include "tests/cluster/network_job.hpp"

namespace {

using shoal::test::in_shell;
using shoal::test::job_process;
using shoal::test::launch;
using shoal::test::outcome;
using shoal::test::processes_in;
using shoal::test::program;
using shoal::test::run;

// Three kinds of the same job: only node 0, several nodes in a process, several processes.
std::vector<std::vector<std::string>> ways(const std::string& what, const std::string& number = "") {
  std::vector<std::string> alone{program("cluster_faults"), what};
  if (!number.empty()) alone.push_back(number);
  auto within = alone;
  within.insert(within.begin(), {"/usr/bin/env", "SHOAL_NODES=2"});
  return {alone, within, launch({"-n", "2"}, alone)};
}

void expect_no_signal(const outcome& got) {
  EXPECT_TRUE(got.in_time) << got;
  EXPECT_EQ(got.status.signal, 0) << got;
  EXPECT_LT(got.status.code, 128) << got;  // a shell reports a signal as 128 and more
  EXPECT_FALSE(got.has("killed by signal")) << got;
}

TEST(limits, an_array_larger_than_memory_is_refused_with_all_figures) {
  for (const auto& way : ways("allocate", "1000000000000")) {
    const outcome got = run(way);
    expect_no_signal(got);
    EXPECT_EQ(got.status.code, 1) << got;
    EXPECT_TRUE(got.has("needs 7.3 TiB")) << got;
    EXPECT_TRUE(got.has("the machine has ") && got.has("the control group ")) << got;
    EXPECT_EQ(std::count(got.text.begin(), got.text.end(), '\n'), 1) << got;
  }
}

TEST(limits, an_array_just_larger_than_memory_is_refused_before_anything_is_taken) {
  const std::uint64_t elements = shoal::machine::memory_info().usable_bytes() / 8 * 11 / 10;
  for (const auto& way : ways("allocate", std::to_string(elements))) {
    const outcome got = run(way);
    expect_no_signal(got);
    EXPECT_EQ(got.status.code, 1) << got;
    EXPECT_TRUE(got.has("GiB") && got.has("the machine has ") && got.has("the control group ")) << got;
    EXPECT_LT(got.seconds, 5) << got;
  }
}

TEST(limits, absurd_sizes_are_refused) {
  for (const char* elements :
       {"18446744073709551615", "9223372036854775807", "2305843009213693952", "35184372088832", "-1"})
    for (const auto& way : ways("allocate", elements)) {
      const outcome got = run(way);
      expect_no_signal(got);
      EXPECT_EQ(got.status.code, 1) << got;
      EXPECT_TRUE(got.has("a global array of")) << got;
    }
}

TEST(limits, a_job_goes_on_after_a_refused_allocation) {
  for (const auto& way : ways("allocate_twice", "1000000000000")) {
    const outcome got = run(way);
    EXPECT_TRUE(got.status.clean()) << got;
    EXPECT_TRUE(got.has("the machine has ")) << got;
  }
}

class address_space : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(mebibytes, address_space, testing::Values(16384, 4096, 1024, 512, 256, 128, 64, 48),
                         [](const auto& given) { return std::to_string(given.param); });

TEST_P(address_space, limited_works_or_names_the_limit) {
  const std::string limit = "ulimit -v " + std::to_string(GetParam() * 1024) + ";";
  for (const auto& way : ways("works")) {
    const outcome got = run(in_shell(limit, way), {"SHOAL_WORKERS=1"});
    expect_no_signal(got);
    if (GetParam() >= 1024) {
      EXPECT_TRUE(got.status.clean()) << got;
      EXPECT_TRUE(got.has("works on")) << got;
    } else if (!got.status.clean()) {
      // Not enough for the program's own libraries: the loader reports it.
      EXPECT_TRUE(got.has("ulimit -v") || got.has("cannot allocate") || got.has("failed to map")) << got;
    }
  }
  // An allocation that fits into a limited segment succeeds; one that does not fit is refused with an error.
  for (const auto& way : ways("allocate", "2000000000")) {
    const outcome got = run(in_shell(limit, way), {"SHOAL_WORKERS=1"});
    expect_no_signal(got);
    if (!got.status.clean()) {
      EXPECT_NE(got.text, "");
    }
  }
}

// Some of the workers have started, and other nodes serve: all of them must end.
TEST(limits, threads_that_are_refused_end_the_job_in_words) {
  for (const auto& way : ways("works")) {
    const outcome got = run(in_shell("ulimit -v 1000000;", way), {"SHOAL_WORKERS=200"}, 20);
    expect_no_signal(got);
    EXPECT_NE(got.status.code, 0) << got;
    EXPECT_TRUE(got.has("ulimit -v")) << got;
  }
  // Only one of the nodes fails.
  for (const char* node : {"0", "1"}) {
    const std::string limited = std::string("case \"$SHOAL_LAUNCH\" in *node=") + node +
                                "\\ *) ulimit -v 1000000;; esac; exec '" + program("cluster_faults") + "' works";
    const outcome got = run(launch({"-n", "2", "-w", "150"}, {"/bin/bash", "-c", limited}), {"SHOAL_SEGMENT=64M"}, 20);
    expect_no_signal(got);
    EXPECT_NE(got.status.code, 0) << got;
    EXPECT_TRUE(got.has("ulimit -v")) << got;
  }
}

// A control group of this test. Without the rights to make one, set() says false.
class control_group {
public:
  explicit control_group(const std::string& controller) {
    const std::filesystem::path old = "/sys/fs/cgroup/" + controller;  // of version 1
    old_ = std::filesystem::is_directory(old);
    folder_ = (old_ ? old : "/sys/fs/cgroup") / ("shoal-test-" + controller + "-" + std::to_string(::getpid()));
    std::error_code refused;
    std::filesystem::create_directory(folder_, refused);
  }
  control_group(const control_group&) = delete;
  control_group& operator=(const control_group&) = delete;
  ~control_group() {
    std::error_code refused;
    std::filesystem::remove(folder_, refused);
  }
  bool is_old() const { return old_; }
  bool set(const std::string& file, const std::string& value) const {
    return static_cast<bool>(std::ofstream(folder_ / file) << value << std::flush);
  }
  std::string enter() const { return "echo $$ > '" + (folder_ / "cgroup.procs").string() + "' &&"; }

private:
  std::filesystem::path folder_;
  bool old_ = false;
};

// A control group's limit kills without a word: what does not fit must be refused before.
TEST(limits, a_search_that_does_not_fit_is_refused_before_it_begins) {
  const control_group group("memory");
  int refused = 0;
  int searched = 0;
  for (const char* nodes : {"1", "2", "4"})
    for (const unsigned mebibytes : {60U, 100U, 120U, 160U, 400U}) {
      if (!group.set(group.is_old() ? "memory.limit_in_bytes" : "memory.max", std::to_string(mebibytes) + "M"))
        GTEST_SKIP() << "no control group for memory can be made here";
      const outcome got = run(in_shell(
          group.enter(), {SHOAL_COMMAND, "bfs", "--kronecker", "18", "--roots", "1", "-n", nodes, "--no-validate"}));
      expect_no_signal(got);
      ++(got.status.clean() ? searched : refused);
      EXPECT_TRUE(got.status.clean() || (got.status.code == 2 && got.has("of memory; this machine has"))) << got;
    }
  EXPECT_GT(refused, 2);
  EXPECT_GT(searched, 2);
}

// Everything that starts threads or processes, under a control group's limit on their number.
TEST(limits, a_small_number_of_processes_is_named) {
  const control_group group("pids");
  if (!group.set("pids.max", "max")) GTEST_SKIP() << "no control group for processes can be made here";
  auto commands = ways("works");
  commands.push_back({SHOAL_COMMAND, "bfs", "--kronecker", "8", "--roots", "1", "-w", "8"});
  for (const auto& command : commands)
    for (const char* most : {"1", "2", "3", "5"}) {
      EXPECT_TRUE(group.set("pids.max", most));
      const outcome got = run(in_shell(group.enter(), command), {"SHOAL_WORKERS=8"}, 20);
      expect_no_signal(got);
      EXPECT_NE(got.status.code, 0) << most << ": " << got;
      EXPECT_TRUE(got.has(std::string("allows ") + most + " processes and threads (pids.max in "))
          << most << ": " << got;
    }
}

class processor_quota : public testing::Test {
protected:
  void SetUp() override {
    if (!allow("max")) GTEST_SKIP() << "no control group for processors can be made here";
  }
  bool allow(const std::string& of_100_ms) const {
    if (group_.is_old()) return group_.set("cpu.cfs_quota_us", of_100_ms == "max" ? "-1" : of_100_ms);
    return group_.set("cpu.max", of_100_ms + " 100000");
  }
  job_process start(const std::vector<std::string>& command) const {
    return job_process(in_shell(group_.enter(), command), {"SHOAL_WORKERS=4", "SHOAL_NODES=1", "SHOAL_LOG=verbose"});
  }

private:
  const control_group group_{"cpu"};
};

TEST_F(processor_quota, changes_and_workers_follow) {
  job_process job = start({program("cluster_faults"), "endless"});
  EXPECT_TRUE(job.says("processors at first")) << job.text();
  EXPECT_TRUE(allow("50000"));
  EXPECT_TRUE(job.says("of 4 workers begin tasks from now on (processor quota: 0.50)")) << job.text();
  EXPECT_FALSE(job.says("4 of 4 workers begin tasks", 1, 0.01)) << job.text();
  EXPECT_TRUE(allow("max"));
  EXPECT_TRUE(job.says("4 of 4 workers begin tasks")) << job.text();
  job.signal(SIGTERM);
  EXPECT_TRUE(job.wait(20).in_time);
}

// What tasks wait for may be what fewer workers cannot begin: all of them have a try before the job is given up.
TEST_F(processor_quota, counts_no_longer_before_a_deadlock_is_told) {
  job_process job = start({program("cluster_hang"), "late_latch"});
  EXPECT_TRUE(job.says("processors at first")) << job.text();
  EXPECT_TRUE(allow("50000"));
  const outcome got = job.wait(30);
  EXPECT_TRUE(got.has("of 4 workers begin tasks from now on (processor quota: 0.50)")) << got;
  EXPECT_TRUE(got.has("all workers of this pool begin tasks from now on")) << got;
  EXPECT_TRUE(got.has("nothing in this job can run any more")) << got;
  EXPECT_EQ(got.status.code, 3) << got;
}

TEST(limits, a_limit_on_the_size_of_files_is_named) {
  for (const auto& way : ways("works")) {
    const outcome got = run(in_shell("ulimit -f 1000;", way));
    expect_no_signal(got);
    EXPECT_EQ(got.status.code, 1) << got;
    EXPECT_TRUE(got.has("ulimit -f")) << got;
  }
}

TEST(limits, a_limit_on_open_files_is_named) {
  for (const auto& way : ways("works")) {
    for (const char* files : {"64", "8", "5"}) {
      const outcome got = run(in_shell(std::string("ulimit -n ") + files + ";", way));
      expect_no_signal(got);
      if (!got.status.clean()) {
        EXPECT_TRUE(got.has("ulimit -n") || got.has("error while loading shared libraries")) << got;
      }
    }
  }
}

TEST(limits, a_node_that_cannot_be_watched_is_not_taken_for_dead) {
  const std::string limited = "ulimit -n 22; exec '" + program("cluster_faults") + "' works";
  const outcome got = run(launch({"-n", "12", "-w", "1"}, {"/bin/bash", "-c", limited}));
  expect_no_signal(got);
  EXPECT_NE(got.status.code, 0) << got;
  EXPECT_TRUE(got.has("cannot watch node")) << got;
  EXPECT_TRUE(got.has("ulimit -n")) << got;
}

TEST(limits, a_tiny_dev_shm_does_not_matter) {
  const outcome probe = run({"unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/dev/shm"});
  if (!probe.status.clean()) GTEST_SKIP() << "no mount namespace may be made here: " << probe.text;
  std::string line = "mount -t tmpfs -o size=64k tmpfs /dev/shm && exec";
  for (const auto& word : launch({"-n", "3"}, {program("cluster_faults"), "works"})) line += " '" + word + "'";
  const outcome got = run({"unshare", "-m", "/bin/bash", "-c", line});
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("works on 3")) << got;
}

class over_ucx : public testing::Test {
protected:
  void SetUp() override {
    if (!shoal::test::has_plugin("ucx")) GTEST_SKIP() << "Shoal was built without ucx";
  }
  // Whether a node has mapped a file that UCX makes in /dev/shm.
  static bool has_named_memory(const std::vector<std::string>& environment) {
    job_process job(launch({"-n", "2", "-w", "1", "--transport", "ucx"}, {program("cluster_faults"), "endless"}),
                    environment);
    EXPECT_TRUE(job.says(" pid ", 2)) << job.text();
    bool named = false;
    for (const auto& [node, pid] : processes_in(job.text())) {
      std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
      const std::string text{std::istreambuf_iterator<char>(maps), {}};
      EXPECT_NE(text, "") << node;
      named = named || text.find("ucx_shm_posix") != std::string::npos;
    }
    job.signal(SIGTERM);
    job.wait(20);
    return named;
  }
};

// A file exists for the first tens of milliseconds of a wire; a process that is killed then leaves it behind.
TEST_F(over_ucx, no_shared_memory_has_a_name_unless_asked_for) {
  EXPECT_FALSE(has_named_memory({}));
  EXPECT_TRUE(has_named_memory({"UCX_TLS=posix,tcp,self"}));
}

TEST_F(over_ucx, a_tiny_dev_shm_does_not_matter_unless_asked_for) {
  const outcome probe = run({"unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/dev/shm"});
  if (!probe.status.clean()) GTEST_SKIP() << "no mount namespace may be made here: " << probe.text;
  std::string line = "mount -t tmpfs -o size=64k tmpfs /dev/shm && exec";
  for (const auto& word : launch({"-n", "2", "--transport", "ucx"}, {program("cluster_faults"), "works"}))
    line += " '" + word + "'";
  const outcome got = run({"unshare", "-m", "/bin/bash", "-c", line});
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("works on 2")) << got;
  const outcome asked = run({"unshare", "-m", "/bin/bash", "-c", line}, {"UCX_TLS=posix,tcp,self"});
  expect_no_signal(asked);
  EXPECT_NE(asked.status.code, 0) << asked;
  EXPECT_TRUE(asked.has("/dev/shm has 64.0 KiB, of which ") && asked.has("shm-size")) << asked;
}

TEST_F(over_ucx, a_small_address_space_is_named) {
  for (const char* limit : {"100000", "130000"}) {
    const outcome got =
        run(in_shell(std::string("ulimit -v ") + limit + ";",
                     launch({"-n", "2", "-w", "1", "--transport", "ucx"}, {program("cluster_faults"), "works"})));
    expect_no_signal(got);
    if (got.status.clean()) continue;
    EXPECT_TRUE(got.has("ulimit -v")) << got;
  }
}

// Changes the machine's overcommit mode during the test, if permitted.
class strict_overcommit : public testing::Test {
protected:
  static constexpr const char* k_file = "/proc/sys/vm/overcommit_memory";
  void SetUp() override {
    std::ifstream(k_file) >> before_;
    if (before_ == "2") return;
    if (std::getenv("CI") == nullptr)
      GTEST_SKIP() << "this sets vm.overcommit_memory of the whole machine for a moment; set CI=1 to allow it";
    if (std::ofstream out(k_file); !(out << "2" << std::flush))
      GTEST_SKIP() << "vm.overcommit_memory may not be changed here";
  }
  void TearDown() override {
    if (!IsSkipped()) std::ofstream(k_file) << before_;
  }
  std::string before_;
};

TEST_F(strict_overcommit, works_or_says_so) {
  for (const auto& way : ways("works")) {
    const outcome got = run(way);
    expect_no_signal(got);
    if (!got.status.clean()) {
      EXPECT_TRUE(got.has("vm.overcommit_memory 2")) << got;
    }
  }
  // Many more thread stacks than half of the machine's memory, the limit in strict mode.
  const std::uint64_t threads = shoal::machine::memory_info().total_bytes / 2 >> 23;
  if (threads > 4 * 1024) GTEST_SKIP() << "too much memory to be refused any";
  const outcome many = run({program("cluster_faults"), "works"}, {"SHOAL_WORKERS=1024", "SHOAL_NODES=4"}, 100);
  expect_no_signal(many);
  if (!many.status.clean()) {
    EXPECT_TRUE(many.has("vm.overcommit_memory 2")) << many;
  }
}

}  // namespace
