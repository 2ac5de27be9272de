#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HPC Challenge benchmarks (HPL, PTRANS, RandomAccess, FFT, DGEMM, STREAM, latency and bandwidth) from Debian's source
package, built as they are by shoal mpicc and run with several numbers of processes and ranks. Their own checks decide.

  tests/applications/hpcc.py build/shoal --folder build/applications
  tests/applications/hpcc.py build/shoal --folder F --shapes 4x1,1x4 --size 1000 --against mpicc.openmpi,mpirun.openmpi

The last runs the same with another MPI library's compiler and launcher, with as many processes as there are ranks, and prints the
times of both. Needs a BLAS (Debian: libblas-dev). Exit status 77: skipped, with the reason."""
import argparse
import math
import os
import re
import sys
import time

import sources

MAKE = """SHELL = /bin/sh
CD = cd
MKDIR = mkdir -p
RM = rm -f
TOPdir = ../../..
INCdir = $(TOPdir)/include
LIBdir = $(TOPdir)/lib/$(arch)
HPLlib = $(LIBdir)/libhpl.a
LAlib = -lblas
HPL_DEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle -I$(INCdir) -I$(INCdir)/$(arch)
HPL_LIBS = $(HPLlib) $(LAlib) -lm
CC = {compiler}
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -O2 -DLONG_IS_64BITS -w {flags}
LINKER = {compiler}
LINKFLAGS = $(CCFLAGS)
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
"""

# Functions of MPI-1 that HPL calls, for libraries that have them no more.
MPI_1 = """#include <mpi.h>
#undef MPI_Address
#undef MPI_Type_struct
#define MPI_Address MPI_Get_address
#define MPI_Type_struct MPI_Type_create_struct
"""

# RandomAccess loses updates at its end where it has several receives, with more ranks than this (see README.md).
RANKS_OF_ONE_RECEIVE = 4
LOSS = ["MPIRandomAccess_ErrorsFraction", "MPIRandomAccess_LCG_ErrorsFraction"]
# What the summary of a run must say.
RIGHT = {"Success": lambda v: v == 1,
         "PTRANS_residual": lambda v: 0 <= v < 16, "HPL_RnormI": lambda v: 0 <= v < 1e-6,
         "MPIFFT_maxErr": lambda v: 0 <= v < 1e-10,
         "MaxPingPongLatency_usec": lambda v: v > 0, "NaturallyOrderedRingBandwidth_GBytes": lambda v: v > 0}


def build(archive, folder, compiler, name, flags=""):
    """The program, built in a folder of its own for each compiler, and its example of an input."""
    place = os.path.join(folder, name)
    os.makedirs(place, exist_ok=True)
    top = sources.unpacked(archive, place)
    with open(os.path.join(top, "hpl", "Make.test"), "w", encoding="utf-8") as file:
        file.write(MAKE.format(compiler=compiler, flags=flags))
    sources.run(["make", "-C", top, "arch=test", f"-j{os.cpu_count()}"], os.path.join(place, "make.log"))
    with open(os.path.join(top, "_hpccinf.txt"), encoding="utf-8") as file:
        return os.path.join(top, "hpcc"), file.read()


def grid(ranks):
    """Rows and columns for HPL, as square as can be."""
    rows = max(r for r in range(1, math.isqrt(ranks) + 1) if ranks % r == 0)
    return rows, ranks // rows


def run_once(command, inputs, ranks, size, place):
    """Runs it; the seconds and what was wrong."""
    rows, columns = grid(ranks)
    os.makedirs(place, exist_ok=True)
    for pattern, value in ((r"^\d+(\s+Ns)$", size), (r"^\d+(\s+Ps)$", rows), (r"^\d+(\s+Qs)$", columns)):
        inputs, found = re.subn(pattern, rf"{value}\1", inputs, flags=re.MULTILINE)
        if found != 1:
            sys.exit("_hpccinf.txt is not as expected")
    with open(os.path.join(place, "hpccinf.txt"), "w", encoding="utf-8") as file:
        file.write(inputs)
    report = os.path.join(place, "hpccoutf.txt")
    if os.path.exists(report):
        os.remove(report)
    begun = time.monotonic()
    sources.run(command, os.path.join(place, "output.log"), cwd=place, timeout=600)
    seconds = time.monotonic() - begun
    with open(report, encoding="utf-8", errors="replace") as file:
        text = file.read()
    values = dict(re.findall(r"^(\w+)=(\S+)$", text, re.MULTILINE))
    wrong = [f"{key}={values.get(key, 'missing')}" for key, is_right in RIGHT.items()
             if key not in values or not is_right(float(values[key]))]
    lost = max(float(values.get(key, 1)) for key in LOSS)
    if lost > (0 if ranks <= RANKS_OF_ONE_RECEIVE else 0.01):
        wrong.append(f"RandomAccess has lost {lost:.3%} of its updates")
    if int(values.get("CommWorldProcs", 0)) != ranks:
        wrong.append(f"CommWorldProcs={values.get('CommWorldProcs')}")
    if re.search(r"\bFAILED\b", text) or text.count("PASSED") == 0:
        wrong.append("a check of HPL or PTRANS has not passed")
    return seconds, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shoal", help="the command")
    parser.add_argument("--folder", default="applications", help="where the source is kept and built")
    parser.add_argument("--shapes", default="4x1,2x2,1x4,1x8,2x8", help="processes x ranks in each")
    parser.add_argument("--size", type=int, default=1200, help="rows of HPL's matrix, from which the others take theirs")
    parser.add_argument("--against", help="MPICC,MPIRUN of another library")
    given = parser.parse_args()
    folder, shoal = os.path.abspath(given.folder), os.path.abspath(given.shoal)
    os.makedirs(folder, exist_ok=True)
    archive = sources.debian_source("hpcc", folder)
    probe = ["sh", "-c", f"echo 'int dgemm_(); int main(void) {{ return dgemm_ == 0; }}' | cc -x c - -o {folder}/blas -lblas"]
    if sources.run(probe, os.path.join(folder, "blas.log"), may_fail=True)[1] != 0:
        sources.skip("there is no BLAS to link with (Debian: libblas-dev)")
    program, inputs = build(archive, folder, f"{shoal}-mpicc", "shoal")
    other = None
    if given.against:
        compiler, launcher = given.against.split(",")
        names = os.path.join(folder, "mpi_1.h")
        with open(names, "w", encoding="utf-8") as file:
            file.write(MPI_1)
        other = build(archive, folder, compiler, "other", f"-include {names}")[0]
    failed = False
    for shape in given.shapes.split(","):
        processes, each = map(int, shape.split("x"))
        ranks = processes * each
        command = [shoal, "mpirun", "-n", str(processes), "--nfg", str(each), "--", program]
        seconds, wrong = run_once(command, inputs, ranks, given.size, os.path.join(folder, "run-" + shape))
        line = f"{shape:>5}: {seconds:7.2f} s {'wrong: ' + ', '.join(wrong) if wrong else 'right'}"
        failed = failed or bool(wrong)
        if other:
            command = [launcher, "-n", str(ranks), other]
            environment = ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1"]
            seconds, wrong = run_once(environment + command, inputs, ranks, given.size, os.path.join(folder, f"run-other-{ranks}"))
            line += f"; {launcher} -n {ranks}: {seconds:7.2f} s {'wrong: ' + ', '.join(wrong) if wrong else 'right'}"
        print(line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
