# SPDX-License-Identifier: Apache-2.0
"""bench/compare: what it makes of programs that succeed, die, err, hang or work more than others. Arguments: the script and
a build directory in which the programs of the problem fib by serial and shoal are built."""
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

COMPARE, BUILD = sys.argv[1:3]


class Compare(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.place = os.path.join(self.scratch.name, "bench", "problems")
        os.makedirs(self.place)
        self.programs = []

    def tearDown(self):
        self.scratch.cleanup()

    def program(self, runtime, script):
        name = f"problem_count_{runtime}"
        path = os.path.join(self.place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script + "\n")
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        self.programs.append({"problem": "count", "runtime": runtime, "program": name})

    def result(self, runtime, work=10, valid=True, seconds=(0.2, 0.1, 0.4), then=""):
        text = json.dumps({"problem": "count", "runtime": runtime, "size": 5, "workers": 1, "work": work, "work_unit": "step",
                           "valid": valid, "seconds": list(seconds), "cpu_seconds": list(seconds)})
        self.program(runtime, f"echo '{text}'\n{then}")

    def compare(self, *options, problem="count", build=None):
        if build is None:
            build = self.scratch.name
            with open(os.path.join(self.place, "programs.json"), "w", encoding="utf-8") as file:
                json.dump({"programs": self.programs, "absent": {"other": "a library"}}, file)
        command = [sys.executable, COMPARE, *([problem] if problem else []), "--build", build, *options]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=250, check=False)

    def test_medians_and_ratios(self):
        self.result("shoal", seconds=(0.2, 0.1, 0.4))
        self.result("tbb", seconds=(0.8, 0.9, 0.3))
        done = self.compare("--rounds", "2", "--workers", "1", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["checks"], {"ran": True, "valid": True, "work_agrees": True})
        tbb = report["runtimes"]["tbb"]
        self.assertEqual((tbb["median"], tbb["min"], tbb["max"], tbb["work"]), (0.8, 0.3, 0.9, 10))
        self.assertAlmostEqual(tbb["shoal_over_this"], 0.25)
        self.assertAlmostEqual(tbb["ns_per_work"], 0.08e9)
        self.assertEqual(len(tbb["seconds"]), 6)
        self.assertTrue(report["machine"]["cores"] > 0)
        self.assertIn("without other: a library was not found", done.stderr)
        self.assertIn("ns/step", done.stderr)

    def test_a_program_that_dies_is_named(self):
        self.result("shoal")
        self.program("tbb", "kill -SEGV $$")
        done = self.compare("--rounds", "2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED ran: tbb with 1 worker died of signal 11", done.stdout)
        self.assertIn("shoal ", done.stdout)  # the others were measured all the same

    def test_a_program_that_ends_badly_is_named(self):
        self.result("shoal")
        self.program("openmp", "echo no room >&2; exit 3")
        self.result("tbb", then="exit 4")
        done = self.compare("--rounds", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("openmp with 1 worker printed no result, exit status 3 (no room)", done.stdout)
        self.assertIn("tbb with 1 worker ended with status 4", done.stdout)

    def test_a_program_that_hangs_is_named(self):
        self.result("shoal")
        self.program("tbb", "exec sleep 60")
        done = self.compare("--rounds", "1", "--workers", "1", "--timeout", "0.3")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tbb with 1 worker has not ended after 0.3 s", done.stdout)

    def test_a_wrong_result_fails(self):
        self.result("shoal")
        self.result("tbb", valid=False, then="exit 1")
        done = self.compare("--rounds", "1", "--json", "-")
        self.assertEqual(done.returncode, 1)
        self.assertFalse(json.loads(done.stdout)["checks"]["valid"])
        self.assertIn("tbb with 1 worker gave a wrong result", done.stderr)

    def test_unequal_work_fails(self):
        self.result("shoal", work=10)
        self.result("serial", work=10)
        self.result("tbb", work=9)
        done = self.compare("--rounds", "1", "--workers", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED work_agrees: with 1 worker the work differs: ", done.stdout)
        self.assertIn("9 by tbb", done.stdout)

    def test_who_is_slow_runs_once(self):
        self.result("shoal")
        self.result("tbb", then="sleep 0.5")
        done = self.compare("--rounds", "3", "--workers", "1", "--patience", "0.4", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["runtimes"]["tbb"]["rounds"], 1)

    def test_programs_get_as_many_processors_as_workers(self):
        self.result("shoal", then="nproc >>\"$0.nproc\"")
        self.assertEqual(self.compare("--rounds", "1", "--workers", "1").returncode, 0)
        with open(os.path.join(self.place, "problem_count_shoal.nproc"), encoding="ascii") as file:
            self.assertEqual(file.read().split(), ["1"])

    def test_what_was_asked_for_must_exist(self):
        self.result("shoal")
        for options, message in (({"problem": "sum"}, "there is no problem 'sum'; there are count"),
                                  ({"build": os.path.join(self.scratch.name, "none")}, "there is no build in")):
            done = self.compare(**options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
        done = self.compare("--only", "shoal,none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("count has no program 'none'; there are shoal", done.stderr)
        os.remove(os.path.join(self.place, "problem_count_shoal"))
        done = self.compare()
        self.assertEqual(done.returncode, 2)
        self.assertIn("not built: shoal; build the target problems_count", done.stderr)

    def test_the_list(self):
        self.result("shoal")
        done = self.compare(problem=None)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.splitlines()[0], "problems: count")
        self.assertIn("mpi-pingpong", done.stdout)

    def test_real_programs(self):
        done = self.compare("--only", "serial,shoal", "--size", "12", "--rounds", "2", "--json", "-", problem="fib", build=BUILD)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual({n: r["work"] for n, r in report["runtimes"].items()}, {"serial": 232, "shoal": 232})
        self.assertEqual(sorted(report["by_workers"]), ["1", "2"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
