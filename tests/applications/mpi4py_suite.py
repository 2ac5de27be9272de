#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mpi4py from its source distribution, built by shoal mpicc against Shoal's library, and its own test suite under shoal mpirun.

  tests/applications/mpi4py_suite.py build/shoal --folder build/applications
  tests/applications/mpi4py_suite.py build/shoal --folder F --processes 1,2,4

Needs Python's headers and pip, and fetches mpi4py, Cython, setuptools and numpy. Exit status 77: skipped, with the reason."""
import argparse
import glob
import os
import re
import shutil
import sys

import sources

# Modules of the suite for what Shoal's library does not have yet: one-sided communication, files, other processes; for
# failures of processes, which are no part of MPI; and for combinations of datatypes in thousands.
WITHOUT = ["test_rma", "test_win", "test_file", "test_io", "test_spawn", "test_dynproc", "test_ulfm", "test_util_dtlib",
           "test_subclass", "test_util_sync", "test_util_pool"]
# Single cases: files and windows elsewhere in the suite; buffers of a communicator, which are not there either; a process
# set that there is not, whose group is MPI_GROUP_NULL in MPI 4; names of null handles, which MPI 4.1 permits and Shoal
# refuses.
WITHOUT_CASES = ["*TestErrhandlerFile*", "*TestMessageRMA*", "*testSafeFreeCreated", "*testBuffering",
                 "*TestExcSession.testCreateGroup", "*Null.testGetName", "*TestDatatype.testGetSetName"]
BENCHMARKS = [["helloworld"], ["ringtest", "-l", "100", "-n", "1000"], ["pingpong", "-m", "65536", "-n", "4194304"]]


def build(folder, compiler):
    """A virtual environment with mpi4py; Python in it, and the folder of the source."""
    environment = os.path.join(folder, "venv")
    python = os.path.join(environment, "bin", "python3")
    archives = os.path.join(folder, "mpi4py-*.tar.gz")
    log = os.path.join(folder, "mpi4py.log")
    if not os.path.exists(python):
        if sources.run([sys.executable, "-m", "venv", environment], log, may_fail=True)[1] != 0:
            shutil.rmtree(environment, ignore_errors=True)
            sources.skip("Python cannot make virtual environments (Debian: python3-venv)")
    if not glob.glob(archives):
        command = [python, "-m", "pip", "download", "--no-binary", "mpi4py", "--no-deps", "-d", folder, "mpi4py>=4.1"]
        if sources.run(command, log, may_fail=True)[1] != 0:
            sources.skip(f"the source of mpi4py cannot be fetched (see {log})")
    archive = sorted(glob.glob(archives))[-1]
    if sources.run([python, "-m", "pip", "install", "numpy"], log, may_fail=True)[1] != 0:
        print("without numpy, which cannot be fetched")
    # Without optimisation: its one file of C takes minutes otherwise.
    variables = dict(os.environ, MPICC=compiler, CFLAGS="-O0")
    sources.run([python, "-m", "pip", "install", "--no-deps", "--force-reinstall", "--no-cache-dir", archive], log, env=variables)
    return python, sources.unpacked(archive, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shoal", help="the command")
    parser.add_argument("--folder", default="applications", help="where the source is kept and built")
    parser.add_argument("--processes", default="1,2,4", help="numbers of processes")
    parser.add_argument("--keep", action="store_true", help="what has been built before is good")
    given = parser.parse_args()
    folder, shoal = os.path.abspath(given.folder), os.path.abspath(given.shoal)
    os.makedirs(folder, exist_ok=True)
    python, top = os.path.join(folder, "venv", "bin", "python3"), (glob.glob(os.path.join(folder, "mpi4py-*/")) or [""])[0]
    if not given.keep:
        python, top = build(folder, shoal + "-mpicc")
    failed = False
    for number in given.processes.split(","):
        start = [shoal, "mpirun", "-n", number, "--nfg", "1", "--timeout", "850", "--", python]
        for benchmark in BENCHMARKS:
            if number != "1" or benchmark[0] == "helloworld":
                sources.run(start + ["-m", "mpi4py.bench", *benchmark], os.path.join(folder, f"bench-{benchmark[0]}-{number}.log"))
        without = [word for module in WITHOUT for word in ("-e", module)]
        without += [word for case in WITHOUT_CASES for word in ("-x", case)]
        log = os.path.join(folder, f"suite-{number}.log")
        text, status = sources.run(start + [os.path.join(top, "test", "main.py"), "--no-builddir", "-v", *without], log, may_fail=True)
        ran = [int(n) for n in re.findall(r"^Ran (\d+) tests", text, re.MULTILINE)]
        wrong = sorted(set(re.findall(r"^(?:FAIL|ERROR): (.*)$", text, re.MULTILINE)))
        right = status == 0 and len(ran) == int(number) and not wrong
        failed = failed or not right
        skipped = re.findall(r"skipped=(\d+)", text)
        print(f"{number} processes: {max(ran, default=0)} tests in each, {max(map(int, skipped), default=0)} skipped; "
              f"{'right' if right else f'status {status}, wrong: ' + (', '.join(wrong) or 'see ' + log)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
