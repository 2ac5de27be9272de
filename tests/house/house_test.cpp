// SPDX-License-Identifier: Apache-2.0
// Tests the checks: each test creates a small tree that keeps all rules, breaks one rule, and expects the finding.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <map>
#include <string>

#include "checks.hpp"

namespace {

using namespace shoal::house;
namespace fs = std::filesystem;

const std::string k_spdx = "// SPDX-License-Identifier: Apache-2.0\n";

class house : public testing::Test {
protected:
  house() {
    std::string pattern = testing::TempDir() + "house_XXXXXX";
    root_ = mkdtemp(pattern.data());
    put("layers.txt",
        "# folder layer\nbase 0\nmachine 1\nlockfree 1\nsched 4\nruntime 11\n"
        "include/shoal/error.hpp base\ninclude/shoal/task.hpp sched\n");
    put("include/shoal/error.hpp", k_spdx + "#pragma once\n#include <string>\n");
    put("include/shoal/task.hpp", k_spdx + "#pragma once\n#include <shoal/error.hpp>\n");
    put("include/shoal/shoal.hpp", k_spdx + "#pragma once\n#include <shoal/error.hpp>\n#include <shoal/task.hpp>\n");
    put("src/base/log.hpp", k_spdx + "#pragma once\n#include <shoal/error.hpp>\n");
    put("src/base/README.md", "# base\n`log.hpp`: lines for people\n");
    put("src/machine/memory.cpp", k_spdx + "#include \"base/log.hpp\"\n#include <sys/mman.h>\n#include <hwloc.h>\n");
    put("src/machine/README.md", "# machine\n`memory.cpp`: pages\n");
    put("src/sched/worker.cpp",
        k_spdx + "#include \"base/log.hpp\"\n#include \"sched/worker.hpp\"\n#include <shoal/task.hpp>\n");
    put("src/sched/worker.hpp", k_spdx + "#pragma once\n");
    put("src/sched/README.md", "# sched\n`worker`: runs tasks\n");
    put("src/runtime/job.hpp", k_spdx + "#include \"sched/worker.hpp\"\n");
    put("src/runtime/README.md", "# runtime\njob.hpp\n");
    put("dev", "#!/usr/bin/env bash\n# SPDX-License-Identifier: Apache-2.0\n");
    put("docs/index.md", "see ../src/home/x and https://example.org/home/x\n");
  }

  ~house() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  void append(const std::string& path, const std::string& text) { std::ofstream(root_ / path, std::ios::app) << text; }

  // Expects exactly one breach of the named rule, containing `text`, and no breach of any other rule.
  void expect_only(std::string_view rule, const std::string& text) {
    const tree t(root_);
    for (const check& c : all_checks()) {
      const findings found = c.run(t);
      if (c.name != rule) {
        EXPECT_TRUE(found.failures.empty()) << c.name << ": " << found.failures.front();
      } else {
        ASSERT_EQ(found.failures.size(), 1u) << testing::PrintToString(found.failures);
        EXPECT_NE(found.failures[0].find(text), std::string::npos) << found.failures[0];
      }
    }
  }

  fs::path root_;
};

TEST_F(house, a_tree_that_keeps_the_rules_passes) {
  const tree t(root_);
  EXPECT_EQ(t.files().size(), 15u);
  for (const check& c : all_checks()) {
    const findings found = c.run(t);
    EXPECT_TRUE(found.failures.empty()) << c.name << ": " << testing::PrintToString(found.failures);
    EXPECT_TRUE(found.remarks.empty());
  }
}

TEST_F(house, a_wait_past_the_executor) {
  append("src/sched/worker.cpp", "// std::this_thread\nint my_nanosleep;\nvoid f() { std::this_thread::yield(); }\n");
  expect_only("waits", "src/sched/worker.cpp:7: std::this_thread goes past the executor");
}

TEST_F(house, a_clock_read_past_the_executor) {
  append("include/shoal/task.hpp", "inline auto f() { return base::now_ns(); }\n");
  expect_only("waits", "include/shoal/task.hpp:4: base::now_ns goes past the executor");
}

TEST_F(house, a_wait_in_the_folder_of_the_executor) {
  append("src/machine/memory.cpp", "void f() { std::this_thread::yield(); }\n");
  const findings found = check_waits(tree(root_));
  EXPECT_TRUE(found.failures.empty()) << found.failures.front();
}

TEST_F(house, a_processor_outside_of_its_folders) {
  append("src/sched/worker.cpp", "// __x86_64__\nint __x86_64__or;\n#if defined(__x86_64__)\n#endif\n");
  expect_only("processors", "src/sched/worker.cpp:7: __x86_64__ belongs behind include/shoal/detail/processor.hpp");
}

TEST_F(house, an_instruction_outside_of_its_folders) {
  append("include/shoal/task.hpp", "inline void f() { _mm_pause(); }\n");
  expect_only("processors", "include/shoal/task.hpp:4: _mm_ belongs behind");
}

TEST_F(house, assembly_that_only_binds_the_compiler) {
  append("src/sched/worker.cpp", "void f() { asm volatile(\"\" ::: \"memory\"); }\n");
  EXPECT_TRUE(check_processors(tree(root_)).failures.empty());
  append("src/sched/worker.cpp", "void g() { asm volatile(\"nop\"); }\n");
  expect_only("processors", "src/sched/worker.cpp:6: assembly belongs behind");
}

TEST_F(house, assembly_in_tools_and_over_lines) {
  put("tools/shoal/x.c", k_spdx + "void f(void) {\n  __asm__ volatile(\n      \"nop\");\n}\n");
  expect_only("processors", "tools/shoal/x.c:3: assembly belongs behind");
}

TEST_F(house, a_page_of_one_kind_of_machine) {
  append("src/sched/worker.cpp", "constexpr int k_records = 4096;  // a page of them\n");
  EXPECT_TRUE(check_processors(tree(root_)).failures.empty());
  append("src/sched/worker.cpp", "constexpr int k_page = 4096;\n");
  expect_only("processors", "src/sched/worker.cpp:6: a page of 4096 bytes is one machine's; ask machine::page_size()");
}

TEST_F(house, processors_in_their_folders) {
  append("src/machine/memory.cpp", "#if defined(__x86_64__)\nvoid f() { asm(\"nop\"); }\n#endif\n");
  EXPECT_TRUE(check_processors(tree(root_)).failures.empty());
}

TEST_F(house, higher_layer) {
  append("src/base/log.hpp", "#include \"sched/worker.hpp\"\n");
  expect_only("layers", "src/base/log.hpp:4: base (layer 0) includes sched/worker.hpp of sched (layer 4)");
}

TEST_F(house, equal_layer) {
  put("src/lockfree/deque.hpp", k_spdx);
  put("src/lockfree/README.md", "deque\n");
  append("src/machine/memory.cpp", "#  include \"lockfree/deque.hpp\"\n");
  expect_only("layers", "machine (layer 1) includes lockfree/deque.hpp of lockfree (layer 1)");
}

TEST_F(house, higher_layer_by_public_header) {
  append("src/machine/memory.cpp", "#include <shoal/task.hpp>\n");
  expect_only("layers", "machine (layer 1) includes shoal/task.hpp of sched (layer 4)");
}

TEST_F(house, higher_layer_from_public_header) {
  append("include/shoal/error.hpp", "#include \"shoal/task.hpp\"\n");
  expect_only("layers", "include/shoal/error.hpp:4: base (layer 0) includes shoal/task.hpp");
}

TEST_F(house, nothing_includes_runtime) {
  append("src/sched/worker.cpp", "#include \"runtime/job.hpp\"\n");
  expect_only("layers", "nothing includes runtime");
}

TEST_F(house, unknown_folder) {
  put("src/stuff/thing.hpp", k_spdx);
  put("src/stuff/README.md", "thing\n");
  expect_only("layers", "the folder stuff is not in layers.txt");
}

TEST_F(house, file_without_folder) {
  put("src/thing.cpp", k_spdx);
  const findings found = check_layers(tree(root_));
  ASSERT_EQ(found.failures.size(), 1u);
  EXPECT_NE(found.failures[0].find("lies in src/ itself"), std::string::npos);
}

TEST_F(house, include_without_folder) {
  append("src/sched/worker.cpp", "#include \"worker.hpp\"\n");
  expect_only("layers", "does not begin with a folder");
}

TEST_F(house, include_of_nothing) {
  append("src/sched/worker.cpp", "#include \"base/gone.hpp\"\n");
  expect_only("layers", "there is no src/base/gone.hpp");
}

TEST_F(house, include_of_no_public_header) {
  append("src/sched/worker.cpp", "#include <shoal/gone.hpp>\n");
  expect_only("layers", "there is no public header shoal/gone.hpp");
}

TEST_F(house, unlisted_public_header) {
  put("include/shoal/detail/extra.hpp", k_spdx);
  expect_only("layers", "add a line `include/shoal/detail/extra.hpp FOLDER`");
}

TEST_F(house, listed_header_that_is_gone) {
  fs::remove(root_ / "include/shoal/shoal.hpp");
  append("layers.txt", "include/shoal/gone.hpp sched\n");
  expect_only("layers", "layers.txt:9: there is no include/shoal/gone.hpp");
}

TEST_F(house, header_of_an_unknown_folder) {
  put("include/shoal/extra.hpp", k_spdx);
  append("layers.txt", "include/shoal/extra.hpp stuff\n");
  expect_only("layers", "counts as stuff, which is no folder");
}

TEST_F(house, malformed_layers) {
  append("layers.txt", "rank eight\n");
  expect_only("layers", "layers.txt:9: eight is not a layer");
}

TEST_F(house, missing_layers) {
  fs::remove(root_ / "layers.txt");
  EXPECT_EQ(check_layers(tree(root_)).failures.at(0), "layers.txt: is missing");
}

TEST_F(house, public_header_includes_src) {
  append("include/shoal/task.hpp", "#include \"sched/worker.hpp\"\n");
  expect_only("layers", "a public header includes \"sched/worker.hpp\", which is not public");
}

TEST_F(house, umbrella_is_for_users) {
  append("src/sched/worker.cpp", "#include <shoal/shoal.hpp>\n");
  expect_only("layers", "which is for users only");
}

TEST_F(house, door_to_the_system) {
  append("src/sched/worker.cpp", "#include <sys/mman.h>\n");
  expect_only("doors", "src/sched/worker.cpp:5: <sys/mman.h> belongs behind src/machine");
}

TEST_F(house, door_to_a_library) {
  append("include/shoal/task.hpp", "#include <boost/context/fiber.hpp>\n");
  expect_only("doors", "belongs behind src/fiber");
}

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "//\n";
  return text;
}

TEST_F(house, long_and_too_long_files) {
  put("src/sched/worker.hpp", k_spdx + lines(399));
  EXPECT_TRUE(check_length(tree(root_)).remarks.empty());
  put("src/sched/worker.hpp", k_spdx + lines(699));
  const findings found = check_length(tree(root_));
  EXPECT_TRUE(found.failures.empty());
  ASSERT_EQ(found.remarks.size(), 1u);
  put("src/sched/worker.hpp", k_spdx + lines(700));
  expect_only("length", "src/sched/worker.hpp: has 701 lines");
}

TEST_F(house, dev_may_not_grow_either) {
  append("dev", lines(700));
  expect_only("length", "dev: has 702 lines");
}

TEST_F(house, readme_missing) {
  fs::remove(root_ / "src/machine/README.md");
  expect_only("readme", "src/machine/memory.cpp: no README.md");
}

TEST_F(house, readme_forgets_a_file) {
  put("src/sched/work.cpp", k_spdx);
  expect_only("readme", "src/sched/README.md: does not name work.cpp");  // "worker" is another word
}

TEST_F(house, readme_speaks_for_folders_below) {
  put("src/sched/policy/random.cpp", k_spdx);
  expect_only("readme", "src/sched/README.md: does not name random.cpp");
  put("src/sched/policy/README.md", "random\n");
  EXPECT_TRUE(check_readme(tree(root_)).failures.empty());
}

TEST_F(house, readme_too_long) {
  append("src/base/README.md", lines(29));
  expect_only("readme", "src/base/README.md: has 31 lines");
}

TEST_F(house, licence_missing) {
  put("src/sched/worker.hpp", "#pragma once\n");
  expect_only("spdx", "src/sched/worker.hpp:1: lacks the line");
}

TEST_F(house, licence_too_late) {
  put("cmake/options.cmake", "\n\n\n# SPDX-License-Identifier: Apache-2.0\n");
  expect_only("spdx", "cmake/options.cmake:1: lacks the line");
}

TEST_F(house, places_of_one_machine) {
  append("src/sched/worker.hpp", std::string("// see /ho") + "me/somebody/notes\n");
  expect_only("paths", "src/sched/worker.hpp:3: names a place of one machine");
}

TEST_F(house, temporary_places_in_documents) {
  append("src/sched/worker.hpp", std::string("// \"/tm") + "p/x\"\n");  // code may contain it
  append("docs/index.md", std::string("run `ls /tm") + "p/x`\n");
  expect_only("paths", "docs/index.md:2: names a place of one machine");
}

TEST_F(house, builds_are_not_inspected) {
  put("build/generated.cpp", "no licence");
  put("build-mine/generated.cpp", "no licence");
  EXPECT_TRUE(check_spdx(tree(root_)).failures.empty());
}

}  // namespace
