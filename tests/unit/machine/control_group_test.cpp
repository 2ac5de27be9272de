// SPDX-License-Identifier: Apache-2.0
#include "machine/control_group.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace shoal::machine {
namespace {

// A tree of files that stands for the /proc and /sys of some machine.
class control_group : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "shoal-control-group-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(control_group, nothing_to_read_is_no_limit) {
  const memory_group group = read_memory_group(root_);
  EXPECT_EQ(group.limit_bytes, k_no_limit);
  EXPECT_EQ(group.available_bytes(), k_no_limit);
  EXPECT_TRUE(std::isinf(read_cpu_quota(root_)));
}

TEST_F(control_group, version_2_takes_the_tightest_ancestor) {
  write("/proc/self/cgroup", "0::/job/step\n");
  write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  write("/sys/fs/cgroup/job/step/memory.current", "1000\n");
  write("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/job/memory.max", "8000000\n");
  write("/sys/fs/cgroup/job/memory.current", "3000000\n");
  write("/sys/fs/cgroup/job/memory.stat", "anon 900000\ninactive_file 500000\nactive_file 250000\nfile 2000000\n");
  write("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  const memory_group group = read_memory_group(root_);
  EXPECT_EQ(group.limit_bytes, 8000000U);
  EXPECT_EQ(group.current_bytes, 3000000U);
  EXPECT_EQ(group.reclaimable_bytes, 750000U);
  EXPECT_EQ(group.available_bytes(), 8000000U - (3000000U - 750000U));
  EXPECT_EQ(group.path, root_ + "/sys/fs/cgroup/job");
  EXPECT_DOUBLE_EQ(read_cpu_quota(root_), 1.5);
}

TEST_F(control_group, the_group_with_the_fewest_processes_left_counts) {
  EXPECT_EQ(read_process_group(root_).limit, k_no_limit);
  write("/proc/self/cgroup", "8:pids:/job/step\n0::/\n");
  write("/proc/self/mountinfo", "31 30 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n");
  write("/sys/fs/cgroup/pids/job/step/pids.max", "max\n");
  write("/sys/fs/cgroup/pids/job/step/pids.current", "10\n");
  EXPECT_EQ(read_process_group(root_).path, "");
  write("/sys/fs/cgroup/pids/job/pids.max", "50\n");
  write("/sys/fs/cgroup/pids/job/pids.current", "20\n");
  write("/sys/fs/cgroup/pids/pids.max", "500\n");
  write("/sys/fs/cgroup/pids/pids.current", "490\n");
  const process_group group = read_process_group(root_);
  EXPECT_EQ(group.limit, 500U);
  EXPECT_EQ(group.current, 490U);
  EXPECT_EQ(group.path, root_ + "/sys/fs/cgroup/pids");
}

TEST_F(control_group, version_1_with_a_container_that_sees_its_own_group_as_the_top) {
  write("/proc/self/cgroup", "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/\n");
  write("/proc/self/mountinfo",
        "31 30 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        "32 30 0:28 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096000\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "96000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read_memory_group(root_).available_bytes(), 4000000U);
  EXPECT_DOUBLE_EQ(read_cpu_quota(root_), 0.5);
}

TEST_F(control_group, version_1_says_no_limit_with_a_large_number) {
  write("/proc/self/cgroup", "4:memory:/a\n3:cpu:/a\n");
  write("/proc/self/mountinfo",
        "31 30 0:27 / /m rw - cgroup cgroup rw,memory\n32 30 0:28 / /c rw - cgroup cgroup rw,cpu\n");
  write("/m/a/memory.limit_in_bytes", "9223372036854771712\n");
  write("/m/a/memory.usage_in_bytes", "96000\n");
  write("/c/a/cpu.cfs_quota_us", "-1\n");
  write("/c/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read_memory_group(root_).limit_bytes, k_no_limit);
  EXPECT_TRUE(std::isinf(read_cpu_quota(root_)));
}

TEST_F(control_group, used_beyond_the_limit_leaves_nothing) {
  write("/proc/self/cgroup", "0::/\n");
  write("/proc/self/mountinfo", "30 23 0:26 / /g rw - cgroup2 cgroup2 rw\n");
  write("/g/memory.max", "1000\n");
  write("/g/memory.current", "5000\n");
  EXPECT_EQ(read_memory_group(root_).available_bytes(), 0U);
}

TEST_F(control_group, a_path_outside_the_namespace_falls_back_to_the_mount) {
  write("/proc/self/cgroup", "0::/../other\n");
  write("/proc/self/mountinfo", "30 23 0:26 / /g rw - cgroup2 cgroup2 rw\n");
  write("/g/memory.max", "1000\n");
  write("/g/memory.current", "400\n");
  EXPECT_EQ(read_memory_group(root_).available_bytes(), 600U);
}

}  // namespace
}  // namespace shoal::machine
