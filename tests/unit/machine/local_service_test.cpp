// SPDX-License-Identifier: Apache-2.0
#include "machine/local_service.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "machine/process.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

class local_service_in_a_folder : public testing::Test {
protected:
  local_service_in_a_folder() {
    std::string name = std::filesystem::temp_directory_path() / "shoal-service-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    ::setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  }
  ~local_service_in_a_folder() override {
    ::unsetenv("XDG_RUNTIME_DIR");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(local_service_in_a_folder, answers_and_leaves_nothing_behind) {
  {
    local_service service("one.sock");
    EXPECT_EQ(services(), std::vector<std::string>{"one.sock"});
    std::thread asked([&service] {
      const std::array<int, 1> descriptors{service.descriptor()};
      wait_any(descriptors, -1);
      service.answer_one([](const std::string& q) { return q + std::string(100'000, '!'); }, 5'000'000'000);
    });
    EXPECT_EQ(ask("one.sock", "who", 5'000'000'000), "who" + std::string(100'000, '!'));
    asked.join();
    struct stat status {};
    ASSERT_EQ(::stat((runtime_folder() + "/one.sock").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    ASSERT_EQ(::stat(runtime_folder().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
  }
  EXPECT_TRUE(services().empty());
}

TEST_F(local_service_in_a_folder, that_does_not_answer_is_given_up) {
  const local_service service("slow.sock");
  EXPECT_EQ(ask("slow.sock", "who", 50'000'000), std::nullopt);
  EXPECT_EQ(ask("none.sock", "who", 50'000'000), std::nullopt);
}

TEST_F(local_service_in_a_folder, of_a_killed_process_is_removed) {
  runtime_folder();
  const int child = ::fork();
  if (child == 0) {
    const local_service service("killed.sock");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(services(), std::vector<std::string>{"killed.sock"});
  remove_stale("killed.sock");
  EXPECT_TRUE(services().empty());
  const local_service alive("alive.sock");
  remove_stale("alive.sock");
  EXPECT_EQ(services(), std::vector<std::string>{"alive.sock"});
}

TEST_F(local_service_in_a_folder, refuses_a_folder_that_others_can_enter) {
  ASSERT_EQ(::chmod(runtime_folder().c_str(), 0755), 0);
  EXPECT_THROW(runtime_folder(), error);
}

}  // namespace
}  // namespace shoal::machine
