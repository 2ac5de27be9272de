#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the script ./dev, with programs of our own in place of apt, dpkg, cmake and ctest: what it would install and
build, and what its last line says."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = sys.argv.pop(1)

# Each program appends its arguments to the file `calls`; installed packages are the lines of the file `installed`.
PROGRAMS = {
    "dpkg-query": 'for last; do :; done; if grep -qx "$last" "$STUBS/installed"; then '
                  'echo -n "install ok installed"; else exit 1; fi',
    "apt-cache": 'echo "  Candidate: 1.0"',
    "apt-get": 'echo "apt-get $*" >>"$STUBS/calls"; case "$*" in *install*) '
               'for word; do echo "$word" >>"$STUBS/installed"; done;; esac',
    "sudo": '"$@"',
    "cmake": 'echo "cmake $*" >>"$STUBS/calls"; mkdir -p build/test build/asan build/tsan',
    "ccache": "",
    "ctest": 'echo "ctest $*" >>"$STUBS/calls"; if [ -e "$STUBS/report" ]; then mkdir -p Testing/Temporary; '
             'cp "$STUBS/report" Testing/Temporary/LastTest.log; fi; echo "summary of ctest"; '
             'exit "$(cat "$STUBS/status" 2>/dev/null || echo 0)"',
}


class Dev(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="shoal-dev-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.programs = os.path.join(self.folder, "programs")
        self.tree = os.path.join(self.folder, "tree")
        os.makedirs(self.programs)
        os.makedirs(self.tree)
        shutil.copy(os.path.join(SOURCE, "dev"), self.tree)
        for name, text in PROGRAMS.items():
            path = os.path.join(self.programs, name)
            with open(path, "w", encoding="utf-8") as out:
                out.write(f"#!/bin/sh\n{text}\n")
            os.chmod(path, 0o755)
        self.put("installed", "")
        self.put("calls", "")

    def put(self, name, text):
        with open(os.path.join(self.programs, name), "w", encoding="utf-8") as out:
            out.write(text)

    def calls(self, program):
        with open(os.path.join(self.programs, "calls"), encoding="utf-8") as lines:
            return [line.split() for line in lines if line.startswith(program + " ")]

    def dev(self, *words):
        environment = dict(os.environ, STUBS=self.programs, PATH=self.programs + ":" + os.environ["PATH"])
        return subprocess.run(["bash", os.path.join(self.tree, "dev"), *words], env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def installed_by(self, *words):
        done = self.dev(*words)
        self.assertEqual(done.returncode, 0, done.stdout)
        return {word for call in self.calls("apt-get") for word in call}

    def test_build_installs_no_network_library(self):
        packages = self.installed_by("build")
        self.assertIn("g++", packages)
        self.assertFalse(packages & {"libucx-dev", "libopenmpi-dev", "libmpich-dev", "libpmix-dev"})

    def test_build_builds_all_that_is_installed(self):
        self.installed_by("build")
        self.assertIn("installed", self.calls("cmake")[-1])

    def test_build_with_networks_installs_their_libraries_before_it_configures(self):
        packages = self.installed_by("build", "--with", "networks")
        self.assertLessEqual({"g++", "libucx-dev", "libpmix-dev", "libopenmpi-dev", "openmpi-bin", "libmpich-dev",
                              "mpich"}, packages)
        with open(os.path.join(self.programs, "calls"), encoding="utf-8") as calls:
            order = [line.split()[0] for line in calls]
        self.assertLess(max(i for i, word in enumerate(order) if word == "apt-get"), order.index("cmake"))

    def test_build_refuses_what_it_does_not_know(self):
        for words in (["--with"], ["--with", "nets"], ["networks"], ["--with", "networks", "more"]):
            done = self.dev("build", *words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn("./dev build --with networks", done.stdout)
            self.assertEqual(self.calls("cmake"), [])

    def test_the_last_line_counts_what_was_skipped(self):
        self.put("report", "[  SKIPPED ] 1 test: there is no net_ucx\n"
                           "tests/unit/net/plugin_test.cpp:99: Skipped\nmpi_mpich was not built\n"
                           "tests/unit/net/plugin_test.cpp:99: Skipped\nmpi_mpich was not built\n\n"
                           "[  PASSED  ] 40 tests.\n[  SKIPPED ] 2 tests.\n"
                           "skipped 'no Fortran'\nRan 9 tests in 1.2s\n\nOK (skipped=3)\n")
        done = self.dev("test")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.rstrip().splitlines()[-1], "== all tests passed; 6 were skipped")
        self.assertRegex(done.stdout, r"2 mpi_mpich was not built\n")
        self.assertRegex(done.stdout, r"1 there is no net_ucx\n")

    def test_the_last_line_is_plain_if_nothing_was_skipped(self):
        self.put("report", "[  PASSED  ] 40 tests.\nRan 9 tests in 1.2s\n\nOK\n")
        self.assertEqual(self.dev("test").stdout.rstrip().splitlines()[-1], "== all tests passed")

    def test_the_skipped_of_all_builds_are_counted(self):
        self.put("report", "a.cpp:1: Skipped\nnot under a sanitizer\n[  SKIPPED ] 1 test.\n")
        self.assertIn("; 2 were skipped", self.dev("sanitize").stdout.rstrip().splitlines()[-1])

    def test_a_failure_does_not_count_as_passed(self):
        self.put("report", "[  SKIPPED ] 2 tests.\n")
        self.put("status", "8")
        done = self.dev("test")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("passed", done.stdout)

    def test_arm64_unpacks_the_libraries_and_runs_the_lower_folders(self):
        os.makedirs(os.path.join(self.tree, "cmake"))
        script = os.path.join(self.tree, "cmake", "arm64_sysroot.sh")
        with open(script, "w", encoding="utf-8") as out:
            out.write('#!/bin/sh\necho "sysroot $*" >>"$STUBS/calls"\n')
        os.chmod(script, 0o755)
        os.makedirs(os.path.join(self.tree, "build", "arm64"))
        packages = self.installed_by("arm64", "--slice")
        self.assertLessEqual({"g++-aarch64-linux-gnu", "qemu-user-static"}, packages)
        self.assertFalse({word for word in packages if word.endswith(":arm64")})
        unpacked = self.calls("sysroot")[0]
        self.assertLessEqual({"libhwloc-dev", "libgtest-dev", "libucx-dev"}, set(unpacked))
        self.assertFalse(set(unpacked) & {"g++", "cmake", "pkg-config"})
        self.assertIn("unit_sched", self.calls("cmake")[-1])
        self.assertIn("^unit\\.(base|fiber|lockfree|locks|sched)", self.calls("ctest")[0])

    def test_help_names_the_option(self):
        self.assertIn("build --with networks", self.dev("help").stdout)


if __name__ == "__main__":
    unittest.main()
