# SPDX-License-Identifier: Apache-2.0
"""tools/gdb on a program whose tasks wait: tables, stacks and variables, in a process and in a core file."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GDB, SCRIPT, DEBUG, PLAIN, RANKS = sys.argv[1:6]
SHOAL = sys.argv[6] if len(sys.argv) > 6 else None  # None: there is no fine-grain MPI
SKIPPED = 77

# By their bodies: state, what they wait for, where.
WAITING = {
    "'slow'": ("waiting", "the latch gate in lambda 1 in main", "program::await_latch"),
    "'reader'": ("waiting", "the future 'slow' of task ", "program::await_answer"),
    "lambda 3 in program::begin_all": ("waiting", "the latch gate", "program::await_latch"),
    "lambda 4 in program::begin_all": ("waiting", "the mutex shared in program::begin_all of task ",
                                       "program::lock_account"),
    "lambda 5 in program::begin_all": ("waiting", "the semaphore permits in program::begin_all",
                                       "program::take_permit"),
    "lambda 6 in program::begin_all": ("waiting", "the latch gate", "program::await_latch"),
    "lambda 1 in lambda 7 in program::begin_all": ("waiting", "the latch gate", "program::await_latch"),
    "the main task": ("running", "", "program::stop_here"),
}


def gdb(program, *commands, core=None, arguments=(), settings=None):
    """What gdb says to each command; the last ones begin where the program stops, or with the core file."""
    words = [GDB, "--batch", "-nx", "-ex", "set pagination off", "-ex", "set width 0", "-ex", "source " + SCRIPT]
    if core is None:
        commands = ("break program::stop_here", "run " + " ".join(arguments)) + commands
    for command in commands:
        words += ["-ex", "echo == %s\\n" % command, "-ex", command]
    # gdb writes the whole segment for global arrays into a core file, used or not.
    environment = dict(os.environ, SHOAL_WORKERS="1", SHOAL_SEGMENT="32M", **(settings or {}))
    done = subprocess.run(words + [program] + ([core] if core else []), capture_output=True, text=True, timeout=200,
                          check=False, env=environment)
    parts = re.split(r"^== (.*)\n", done.stdout, flags=re.M)
    return Answers(zip(parts[1::2], parts[2::2])), done.stdout + done.stderr


class Answers(list):
    def __getitem__(self, command):
        return [text for asked, text in self if asked == command][-1]


def rows(table):
    """Of `shoal tasks`, as dictionaries."""
    lines = table.splitlines()
    begins = [(m.start(), m.group().strip()) for m in re.finditer(r"\S+(?: \S+)*", lines[0])]
    ends = [b for b, _ in begins[1:]] + [None]
    return [{name: line[b:e].strip() for (b, name), e in zip(begins, ends)} for line in lines[1:]
            if re.match(r"[\d.]+ ", line)]


class Tasks(unittest.TestCase):
    def by_body(self, table, whole):
        found = {}
        for row in rows(table):
            found.setdefault(row["body"], []).append(row)
        for body, (state, wait, at) in WAITING.items():
            self.assertIn(body, found, whole)
            for row in found[body]:
                self.assertEqual(row["state"], state, whole)
                self.assertTrue(row["waits for"].startswith(wait), whole)
                self.assertTrue(row["at"].startswith(at), whole)
        self.assertEqual(len(found["lambda 1 in lambda 7 in program::begin_all"]), 2, whole)
        return found

    def check_tables(self, program, **how):
        said, whole = gdb(program, "shoal tasks", "shoal tasks --by-frame", "shoal workers", **how)
        found = self.by_body(said["shoal tasks"], whole)
        holder = found["lambda 3 in program::begin_all"][0]["task"]
        self.assertIn("of task " + holder, found["lambda 4 in program::begin_all"][0]["waits for"], whole)
        self.assertRegex(said["shoal tasks --by-frame"], r"\n5 +waiting +a latch +program::await_latch")
        self.assertRegex(said["shoal workers"], r"\n0 .* runs a task +0 \(the main task\) +0 +0\n")
        return {body: found[body][0]["task"] for body in WAITING}

    def check_stacks(self, numbers, **how):
        """With debug information: variables of tasks that wait."""
        locker, caller, mover = (numbers["lambda %d in program::begin_all" % n] for n in (4, 6, 5))
        said, whole = gdb(DEBUG, "shoal task " + locker, "info locals", "bt", "up", **how)
        self.assertIn("doubled = 42", said["info locals"], whole)
        self.assertRegex(said["bt"], r"shoal::mutex::lock .*\n#\d+ .* program::lock_account .*wanted=21\)")
        self.assertIn("lock_account(shared, 21)", said["up"], whole)  # the line of the caller
        said, whole = gdb(DEBUG, "shoal task " + caller, "info locals", "bt", "shoal task %s bt" % caller, **how)
        self.assertIn("marked = 301", said["info locals"], whole)
        self.assertEqual(said["bt"].count("in program::recurse"), 4, whole)
        self.assertNotIn("stop_here", said["bt"], whole)
        self.assertRegex(said["shoal task %s bt" % caller],
                         r"(?s)program::recurse.*called on a stack of its own by.*call_with_stack")
        said, whole = gdb(DEBUG, "shoal task " + mover, "info locals", "bt", "shoal threads", "bt 1",
                          "shoal task all bt 6", **how)
        self.assertIn("before = 5", said["info locals"], whole)
        self.assertIn("program::take_permit", said["bt"], whole)
        self.assertRegex(said["bt 1"], r"#0 .*program::stop_here")
        for at in ("lock_account", "await_latch", "take_permit", "stop_here"):
            self.assertIn("program::" + at, said["shoal task all bt 6"], whole)

    def test_a_process(self):
        self.check_stacks(self.check_tables(DEBUG))

    def test_without_debug_information(self):
        numbers = self.check_tables(PLAIN)
        said, whole = gdb(PLAIN, "shoal task " + numbers["'reader'"], "bt")
        self.assertRegex(said["bt"], r"shoal::detail::await\(.*\n.*program::await_answer")

    def test_a_core_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for program in (DEBUG, PLAIN):
                core = str(pathlib.Path(folder, "core"))
                _, whole = gdb(program, "shoal core " + core)
                self.assertTrue(os.path.exists(core), whole)
                numbers = self.check_tables(program, core=core)
                if program == DEBUG:
                    self.check_stacks(numbers, core=core)
                os.remove(core)

    def test_a_core_file_without_the_stacks_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            core = str(pathlib.Path(folder, "core"))
            _, whole = gdb(DEBUG, "generate-core-file " + core)
            said, whole = gdb(DEBUG, "shoal tasks", core=core)
            complete = len(rows(said["shoal tasks"])) == 9
            self.assertTrue(complete or "the core file lacks stacks" in said["shoal tasks"], whole)

    def test_many_tasks_are_counted_and_grouped(self):
        said, whole = gdb(DEBUG, "shoal tasks", "shoal tasks 3", "shoal tasks --by-frame", arguments=["2000"])
        self.assertEqual(len(rows(said["shoal tasks"])), 100, whole)
        self.assertIn("and 1909 more tasks", said["shoal tasks"], whole)
        self.assertEqual(len(rows(said["shoal tasks 3"])), 3, whole)
        self.assertRegex(said["shoal tasks --by-frame"], r"\n2005 +waiting +a latch +program::await_latch")

    def test_nodes_of_one_process(self):
        said, whole = gdb(DEBUG, "shoal tasks", "shoal workers", "shoal task 1.1", "info locals",
                          settings={"SHOAL_NODES": "2", "SHOAL_TRANSPORT": "inproc"})
        there = [row for row in rows(said["shoal tasks"]) if row["task"].startswith("1.")
                 and "await_latch" in row["at"]]
        self.assertEqual(len(there), 1, whole)
        self.assertIn("the latch program::far", there[0]["waits for"], whole)
        self.by_body(said["shoal tasks"], whole)
        self.assertRegex(said["shoal workers"], r"\n1\.0 +\d+ +shoal-1-w0 ")

    @unittest.skipIf(SHOAL is None, "there is no fine-grain MPI")
    def test_ranks_of_mpi(self):
        with tempfile.TemporaryDirectory() as folder:
            program = str(pathlib.Path(folder, "ranks"))
            subprocess.run([SHOAL, "mpicc", "-g", "-O0", "-o", program, RANKS], check=True)
            commands = ["set pagination off", "set confirm off", "set width 0", "run", "source " + SCRIPT,
                        "shoal tasks", "shoal tasks --by-frame", "shoal ranks", "kill", "quit"]
            done = subprocess.run([SHOAL, "mpirun", "-n", "1", "--nfg", "5", "--debug", "--", program],
                                  input="\n".join(commands), capture_output=True, text=True, timeout=200, check=False)
        whole = done.stdout + done.stderr
        for wait in (r"MPI_Recv: a message from rank 1 with tag 77 .* rank 0 +await_message",
                     r"MPI_Barrier: the others' calls .* rank 1 +main",
                     r"MPI_Ssend: rank 1 to receive its message with tag 5 .* rank 2 +main",
                     r"MPI_Recv: a message from any rank with any tag .* rank 3 +await_message"):
            self.assertRegex(whole, "waiting +" + wait)
        self.assertRegex(whole, r"running .* rank 4 +stop_here")
        self.assertRegex(whole, r"\n2 +waiting +MPI_Recv +await_message")
        self.assertRegex(whole, r"\n0 +waiting +MPI_Recv +a message +1 +77")  # its own commands work beside these

    def test_the_program_goes_on_as_if_nobody_had_looked(self):
        numbers = self.check_tables(DEBUG)
        _, whole = gdb(DEBUG, "shoal task " + numbers["'reader'"], "next", "shoal task " + numbers["'slow'"], "up",
                       "continue")
        self.assertRegex(whole, r"Inferior 1 .*exited normally")

    def test_a_wrong_number_is_refused(self):
        _, whole = gdb(DEBUG, "shoal task 99999")
        self.assertIn("there is no task 99999", whole)
        _, whole = gdb(DEBUG, "shoal task x")
        self.assertIn("no task is called x", whole)


def may_trace():
    done = subprocess.run([GDB, "--batch", "-nx", "-ex", "run", "--args", "/bin/true"], capture_output=True, text=True,
                          timeout=60, check=False)
    return "exited normally" in done.stdout


if __name__ == "__main__":
    if not may_trace():
        print("skipped: gdb may not trace programs here")
        sys.exit(SKIPPED)
    asked = subprocess.run([GDB, "--batch", "-nx", "-ex", "python print(gdb.VERSION)"], capture_output=True,
                           check=False)
    if not asked.stdout:
        print("skipped: gdb has no Python")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
