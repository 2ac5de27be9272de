# SPDX-License-Identifier: Apache-2.0
"""`shoal mpi-threads` on an MPI library: programs that are right stay right, and those that are wrong are told so.
Arguments: the command, the MPI's name, its mpirun, its mpicc, the folder of bench/mpi's programs, that of this test's; then
the tests to run, as Class.test_name (all)."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

SHOAL, MPI, MPIRUN, MPICC, BENCH, HERE = sys.argv[1:7]
PROCESSES = ["-n", "2"] + (["--oversubscribe"] if MPI == "openmpi" else [])
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1")
# The interpreter that the tests run with may be another one than the packages'.
PYTHON_OF_MPI4PY = next((python for python in (sys.executable, "/usr/bin/python3") if os.path.exists(python) and
                         subprocess.run([python, "-c", "import mpi4py"], capture_output=True, check=False).returncode == 0),
                        None)
# Programs for one test each.
SOURCES = {
    # Threads that are in calls of a millisecond at the same time.
    "meeting": r"""
#include <mpi.h>
#include <pthread.h>
enum { k_bytes = 4 << 20 };
static char from[k_bytes], to[3][k_bytes + 1024];
static pthread_barrier_t all;
static void* go(void* target) {
  pthread_barrier_wait(&all);
  for (int i = 0; i < 200; ++i) {
    int place = 0;
    MPI_Pack(from, k_bytes, MPI_BYTE, target, k_bytes + 1024, &place, MPI_COMM_WORLD);
  }
  return target;
}
int main(int count, char** words) {
  int got;
  pthread_t threads[3];
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &got);
  pthread_barrier_init(&all, 0, 3);
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, go, to[i]);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return MPI_Finalize();
}
""",
    "persistent": r"""
#include <mpi.h>
#include <string.h>
int main(int count, char** words) {
  int got, me, in = 0, out = 1;
  MPI_Request request;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &got);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int k = 0; k < 300; ++k) {
    if (strcmp(words[1], "cancel") == 0) {
      MPI_Irecv(&in, 1, MPI_INT, me, 3, MPI_COMM_WORLD, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      continue;
    }
    MPI_Recv_init(&in, 1, MPI_INT, me, 3, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 10; ++i) {
      MPI_Start(&request);
      MPI_Send(&out, 1, MPI_INT, me, 3, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
  }
  return MPI_Finalize();
}
""",
    # The main thread's thread_local objects are gone when a static one calls.
    "static_end": r"""
#include <mpi.h>
#include <cstdio>
#include <vector>
static void probe() {
  int found;
  MPI_Iprobe(0, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}
struct last {
  ~last() {
    std::vector<std::vector<char>> reused;
    for (int i = 0; i < 3000; ++i) reused.emplace_back(20 + i * 10, '\xee');
    probe();
    for (int i = 0; i < 3000; ++i) reused.emplace_back(20 + i * 10, '\xee');
    MPI_Finalize();
    std::printf("finalized\n");
  }
} at_end;
int main(int count, char** words) {
  int got;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &got);
  probe();
}
""",
    # What a program loads late, for its own use only, as Python loads mpi4py.
    "late": r"""
#include <mpi.h>
#include <pthread.h>
static int me;
static void* go(void* tag) {
  for (int i = 0; i < 200; ++i) {
    int in = -1, out = i, number = *(int*)tag;
    MPI_Sendrecv(&out, 1, MPI_INT, 1 - me, number, &in, 1, MPI_INT, 1 - me, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in != i) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  return tag;
}
int late(void) {
  int got, tags[2] = {1, 2};
  pthread_t threads[2];
  MPI_Init_thread(0, 0, MPI_THREAD_MULTIPLE, &got);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, go, &tags[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return MPI_Finalize();
}
""",
    "signalled": r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void handle(int number) {
  (void)number;
  if (write(1, "handled\n", 8) == 8) _exit(0);
}
int main(int count, char** words) {
  int got;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &got);
  signal(SIGTERM, handle);
  signal(SIGINT, handle);
  puts("ready");
  fflush(stdout);
  sleep(60);
  return 1;
}
"""}


def shoal(options, program, launcher=None, environment=None):
    command = [SHOAL, "mpi-threads", *options, "--", *(launcher or [MPIRUN, *PROCESSES]), *program]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=150,
                          env=dict(ENVIRONMENT, **(environment or {})))


def bench(name):
    return os.path.join(BENCH, f"{name}.{MPI}")


class MpiThreads(unittest.TestCase):
    def right(self, options, program):
        done = shoal(options, program)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_programs_stay_right(self):
        small = ["--json", "--seconds", "0.02"]
        for name, options in (("throughput", ["--threads", "4"]), ("throughput", ["--bytes", "4096", "--comms", "1"]),
                              ("throughput", ["--bytes", "100000", "--window", "8"]), ("latency", []), ("n2n", []),
                              ("onesided", ["--operation", "0"]), ("onesided", ["--operation", "1"]),
                              ("onesided", ["--operation", "2"]), ("stencil", ["--steps", "8"]),
                              ("assembler", ["--threads", "3"]), ("bfs", ["--scale", "8"]),
                              ("bfs", ["--scale", "8", "--lazy", "0", "--barrier", "0"])):
            with self.subTest(name, options=options):
                done = self.right([], [bench(name), *small, *options])
                self.assertIs(json.loads(done.stdout)["checks"]["validated"], True)
                self.assertIn("2 processes", done.stderr)
                self.assertIn("initialised multiple" if name == "onesided" and MPI == "openmpi" else "initialised serialized", done.stderr)

    def test_compare(self):
        build = os.path.dirname(os.path.dirname(BENCH))
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "compare")
        done = subprocess.run([sys.executable, script, "mpi-threads", "--build", build, "--mpi", MPI, "--locks", "bounded",
                               "--threads", "2", "--rounds", "2", "--seconds", "0.02", "--json", "-"], env=ENVIRONMENT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        point, = json.loads(done.stdout)["points"]
        self.assertEqual(set(point["locks"]), {"plain", "bounded"})
        self.assertGreater(point["locks"]["bounded"]["over_plain"], 0)

    def test_every_lock(self):
        text = subprocess.run([SHOAL, "mpi-threads", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        kinds = text.split("--lock", 1)[1].split("{", 1)[1].split("}", 1)[0].split(",")
        self.assertIn("priority", kinds)
        for kind in kinds:
            with self.subTest(kind):
                self.right(["--lock", kind], [bench("throughput"), "--seconds", "0.02", "--threads", "3"])

    def test_sections_windows_and_callbacks(self):
        for options in ([], ["--level", "serialized"], ["--level", "serialized", "--lock", "priority"]):
            with self.subTest(options):
                done = self.right(options, [os.path.join(HERE, f"sections.{MPI}")])
                self.assertIn("all results verified", done.stdout)

    def test_window_locks_exclude_and_end(self):
        for options in (["--level", "serialized"], ["--level", "serialized", "--lock", "priority"]):
            for _ in range(2):
                with self.subTest(options):
                    self.assertIn("all results verified", self.right(options, [os.path.join(HERE, f"locks.{MPI}")]).stdout)

    def test_windows_of_one_communicator_share_what_the_lock_needs(self):
        program = os.path.join(HERE, f"windows.{MPI}")
        for options in (["--level", "serialized"], ["--level", "serialized", "--lock", "priority"]):
            with self.subTest(options):
                self.assertIn("all results verified", self.right(options, [program]).stdout)
        # More than a third of MPICH's contexts, and more than share one communicator.
        many = "1500" if MPI == "mpich" else "600"
        done = self.right(["--level", "serialized"], [program, "--windows", many, "--churn", "0"])
        self.assertIn("all results verified", done.stdout)

    def test_small_collectives_by_messages_bring_the_same(self):
        program = [os.path.join(HERE, f"collectives.{MPI}")]
        # A number of processes that is no power of two, too; and more communicators than get messages of their own.
        for options, processes in ((["--level", "serialized"], 2), (["--level", "serialized", "--lock", "priority"], 3),
                                   (["--level", "multiple"], 2), (["--level", "serialized"], 4)):
            with self.subTest(options, processes=processes):
                done = shoal(options, program, [MPIRUN, "-n", str(processes)])
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("all results verified", done.stdout)

    def waits(self, options, names):
        with tempfile.TemporaryDirectory() as folder:
            return self.right(options, [os.path.join(HERE, f"waits.{MPI}"), os.path.join(folder, "let"), *names])

    def test_who_waits_keeps_nobody_out(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "waits.c")
        with open(source, encoding="utf-8") as file:
            names = re.findall(r'^    \{"([A-Z]\w+)"', file.read(), re.M)
        within = names[names.index("Win_complete"):]
        without = [name for name in names if name not in within]
        for level in ("serialized", "multiple"):
            with self.subTest(level):
                done = self.waits(["--level", level], without)
                self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], [*without, "finished"])
        # In those the library's own locks let others in, or not: MPICH holds its own in one-sided completion, over UCX
        # it knows no processes that join.
        if MPI == "mpich":
            within = ["Buffer_detach"]
        for name in within:
            with self.subTest(name):
                done = self.waits([], [name])
                self.assertIn("finished", done.stdout)
                self.assertRegex(done.stderr, "initialised multiple\n  because it uses MPI_")

    @unittest.skipUnless(os.path.exists(os.path.join(HERE, f"fortran.{MPI}")), "this MPI has no Fortran")
    def test_fortran(self):
        done = self.right([], [os.path.join(HERE, f"fortran.{MPI}")])
        self.assertEqual(done.stdout.count("all numbers arrived"), 2)
        self.assertRegex(done.stderr, r"Isend +1200 +1200 ")

    def test_errors_are_the_librarys(self):
        program = os.path.join(HERE, f"errors.{MPI}")
        plain = subprocess.run([MPIRUN, "-n", "1", program], stdout=subprocess.PIPE, text=True, check=True, env=ENVIRONMENT)
        behind = shoal([], [program], launcher=[MPIRUN, "-n", "1"])
        self.assertIn("Send, rank", plain.stdout)
        self.assertEqual(behind.stdout, plain.stdout)

    def test_processes_that_differ(self):
        program = os.path.join(HERE, f"mixed.{MPI}")
        last = PROCESSES[2:]
        for level in ("init", "funneled", "multiple"):
            for first, second in (("multiple", level), (level, "multiple")):
                with self.subTest(first=first, second=second):
                    done = shoal(["--level", "serialized"], [], launcher=[MPIRUN, *last, "-n", "1", program, first, ":",
                                                                          "-n", "1", program, second])
                    self.assertEqual((done.returncode, done.stdout.count("finished")), (0, 2), done.stdout + done.stderr)
                    self.assertIn("2 processes", done.stderr)

    def test_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "counts.json")
            self.right(["--json", path, "--dangling"], [bench("throughput"), "--seconds", "0.05"])
            with open(path, encoding="utf-8") as file:
                counts = json.load(file)
        self.assertEqual((counts["processes"], counts["finished"]), (2, 2))
        sent, received = counts["calls"]["Isend"], counts["calls"]["Irecv"]
        self.assertEqual(sent["calls"], received["calls"])
        self.assertEqual((sent["high"], sent["low"]), (sent["calls"], 0))
        self.assertEqual(counts["calls"]["Waitall"]["high"], 0)
        self.assertGreaterEqual(counts["calls"]["Waitall"]["low"], counts["calls"]["Waitall"]["calls"])
        self.assertGreater(counts["dangling"]["most"], 0)
        self.assertLessEqual(counts["dangling"]["average"], counts["dangling"]["outstanding_average"])

    def made(self, folder, name, compiler=MPICC, flags=()):
        program = os.path.join(folder, name)
        source = program + (".cpp" if compiler != MPICC else ".c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SOURCES[name])
        subprocess.run([compiler, "-O1", "-pthread", *flags, source, "-o", program], check=True)
        return program

    def test_bias_before_and_after(self):
        some = r"bias \d+\.\d\d, of packages \d+\.\d\d, over \d+ calls"
        with tempfile.TemporaryDirectory() as folder:
            program = [self.made(folder, "meeting")]
            before, after = os.path.join(folder, "before.json"), os.path.join(folder, "after.json")
            done = self.right(["--lock", "none", "--json", before], program)
            self.assertRegex(done.stderr, r"without a lock in front: 2 processes, \w+ initialised multiple\n" + some)
            done = self.right(["--before", before, "--json", after], program)
            self.assertRegex(done.stderr, "before: " + some + ".*\nafter:  " + some)
            with open(before, encoding="utf-8") as first, open(after, encoding="utf-8") as second:
                plain, behind = json.load(first), json.load(second)
            self.assertEqual(behind["before"]["entries"], plain["entries"])
            self.assertEqual((behind["bound"], behind["spins"]), (64, 32))
            for run in (plain, behind):
                self.assertGreater(run["entries"]["contended"], 0)
                self.assertLessEqual(run["entries"]["core"], 3)  # the same thread every time, among three at most
            done = shoal(["--before", "/dev/null"], program)
        self.assertEqual(done.returncode, 2)
        self.assertIn("contains no bias", done.stderr)

    def test_persistent_and_cancelled_requests_do_not_pile_up(self):
        with tempfile.TemporaryDirectory() as folder:
            program, path = self.made(folder, "persistent"), os.path.join(folder, "counts.json")
            for kind in ("persistent", "cancel"):
                with self.subTest(kind):
                    self.right(["--dangling", "--json", path], [program, kind])
                    with open(path, encoding="utf-8") as file:
                        counts = json.load(file)["dangling"]
                    self.assertLessEqual(counts["outstanding_average"], 1)
                    self.assertLessEqual(counts["most"], 1)

    def test_calls_after_the_end_of_main(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.made(folder, "static_end", MPICC.replace("mpicc", "mpicxx"))
            done = self.right([], [program])
            self.assertEqual(done.stdout.count("finalized"), 2)
            self.assertRegex(done.stderr, r"Iprobe +4 +0 +4 ")

    def test_a_program_that_loads_mpi_late(self):
        with tempfile.TemporaryDirectory() as folder:
            plugin = self.made(folder, "late", MPICC, ["-shared", "-fPIC"])
            program = [sys.executable, "-c", "import ctypes, os, sys\n"
                       "sys.exit(ctypes.CDLL(sys.argv[1], os.RTLD_LOCAL | os.RTLD_NOW).late())", plugin]
            done = self.right(["--library", MPI], program)
            self.assertRegex(done.stderr, r"2 processes, \d+ threads, \w+ initialised serialized")
            self.assertRegex(done.stderr, r"Sendrecv +800 ")
            done = shoal([], program)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("--library " + MPI, done.stdout + done.stderr)

    @unittest.skipUnless(MPI == "openmpi" and PYTHON_OF_MPI4PY, "mpi4py is not installed, or for another MPI")
    def test_threads_of_mpi4py(self):
        for lock in ("bounded", "priority"):
            done = self.right(["--library", MPI, "--lock", lock],
                              [PYTHON_OF_MPI4PY, os.path.join(os.path.dirname(__file__), "mpi4py_threads.py")])
            self.assertRegex(done.stderr, r"2 processes, \d+ threads, \w+ initialised multiple")
            self.assertRegex(done.stderr, r"Mprobe +800 ")

    @unittest.skipUnless(MPI == "openmpi", "a setting of Open MPI")
    def test_open_mpi_decides_whether_it_yields(self):
        done = shoal(["--library", MPI], ["-c", "env"], launcher=["sh"])
        underneath = re.search("^SHOAL_MPI_THREADS_UNDERNEATH=(.*)$", done.stdout, re.M)
        self.assertEqual(underneath and underneath[1], "OMPI_MCA_btl_vader_eager_limit=8192")

    def test_signals_reach_the_job(self):
        with tempfile.TemporaryDirectory() as folder:
            program, reports = self.made(folder, "signalled"), os.path.join(folder, "reports")
            os.mkdir(reports)
            for number in (signal.SIGTERM, signal.SIGINT):
                job = subprocess.Popen([SHOAL, "mpi-threads", "--", MPIRUN, "-n", "1", program], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env=dict(ENVIRONMENT, TMPDIR=reports))
                self.assertIn("ready", job.stdout.readline())
                self.assertEqual(len([name for name in os.listdir(reports) if name.startswith("shoal-")]), 1)
                job.send_signal(number)
                said, told = job.communicate(timeout=100)
                with self.subTest(number):
                    self.assertNotEqual(job.returncode, -number, told)
                    self.assertIn("1 processes", told)
                    self.assertEqual([name for name in os.listdir(reports) if name.startswith("shoal-")], [])
                    if MPI == "openmpi":  # the other's launcher sends what cannot be caught after some signals
                        self.assertIn("handled", said)

    def test_the_programs_status_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            done = shoal(["--json", os.path.join(folder, "missing", "x.json")], ["touch", os.path.join(folder, "ran")],
                         launcher=["env"])
            self.assertEqual((done.returncode, os.listdir(folder)), (2, []), done.stderr)
            library = os.path.join(folder, "plugin.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", library], check=True)
            done = shoal([], [sys.executable, "-c", "print(7)", library], launcher=[MPIRUN, "-n", "1"])
            self.assertEqual((done.returncode, done.stdout.strip()), (0, "7"), done.stderr)
            done = shoal(["--library", MPI, "--json", "/dev/full"], ["-c", "exit 3"], launcher=["sh"])
            self.assertEqual(done.returncode, 3)
            self.assertIn("cannot write /dev/full", done.stderr)

    def faulty(self, what, options=()):
        return shoal(list(options), [os.path.join(HERE, f"faults.{MPI}"), what])

    def test_single_threaded_programs_pass(self):
        done = self.faulty("single")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("none requested MPI_THREAD_MULTIPLE: no lock was used", done.stderr)

    def test_a_thread_that_ends_inside_is_named(self):
        done = self.faulty("ends-inside")
        self.assertRegex(done.stderr, r"thread \d+ \(.+\) in MPI_Reduce_local ended inside the MPI library")
        self.assertEqual(done.stdout.count("finished"), 2, done.stderr)

    def test_finalize_names_who_is_inside(self):
        done = self.faulty("finalize-early")
        self.assertRegex(done.stderr, r"MPI_Finalize was called while other threads are inside: thread \d+ \(.+\) in MPI_Recv")

    def test_an_exchange_in_place_without_memory(self):
        done = self.faulty("no-memory")
        self.assertEqual(done.stdout.count("exchange in place: no memory"), 2, done.stdout + done.stderr)

    def test_fork(self):
        done = self.faulty("fork")
        self.assertEqual((done.returncode, done.stdout.count("child 7")), (0, 2), done.stdout + done.stderr)

    def test_aborts_and_errors_stay(self):
        done = self.faulty("abort")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, r"\d processes called MPI_Abort; their counts are those until then")
        for _ in range(4):  # Open MPI's launcher loses what processes say at their end now and then
            done = self.faulty("error")
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn("finished", done.stdout)
            if re.search("MPI_ERR_RANK|[Ii]nvalid rank", done.stdout + done.stderr):
                break
        self.assertRegex(done.stdout + done.stderr, "MPI_ERR_RANK|[Ii]nvalid rank")

    def test_a_launcher_that_drops_the_preload(self):
        done = shoal(["--library", MPI], [os.path.join(HERE, f"faults.{MPI}"), "single"],
                     launcher=["env", "-u", "LD_PRELOAD", MPIRUN, *PROCESSES])
        self.assertEqual(done.returncode, 0)
        for reason in ("the launcher dropped LD_PRELOAD", "on other machines", "did not initialise MPI"):
            self.assertIn(reason, done.stderr)

    def test_programs_that_cannot_be_helped(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "p.c"), os.path.join(folder, "p")
            with open(source, "w", encoding="utf-8") as file:
                file.write("int MPI_Init(void) { return 0; } int main(void) { return MPI_Init(); }\n")
            for flags, said in ((["-static"], "is linked statically"), ([], "contains its MPI library")):
                subprocess.run(["cc", *flags, source, "-o", program], check=True)
                done = shoal([], [program])
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)
            with open(source, "w", encoding="utf-8") as file:
                file.write("int main(void) { return 0; }\n")
            subprocess.run(["cc", source, "-o", program], check=True)
            done = shoal([], [program])
            self.assertEqual(done.returncode, 2)
            self.assertIn("does not use an MPI library", done.stderr)
        done = subprocess.run([SHOAL, "mpi-threads", "--lock", "fair", "--", "x"], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[7:], verbosity=2)
