# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of bench/mpi plain and behind each lock of `shoal mpi-threads`, alternately, on each MPI library.

  ./dev compare mpi-threads                                   builds, then: throughput with 2 and 4 threads, every lock
  bench/compare mpi-threads --program bfs,stencil --locks bounded,priority --rounds 3
  bench/compare mpi-threads --bytes 8,4096 --mpi mpich --json -

A figure is the median over the rounds of the program's `rate` (more is better; `latency` is given as a rate, too); a
ratio is taken to the plain run of the same round, then its median. Every program verifies what it received. Exit status:
1 when one died, hung or found its result wrong."""
import argparse
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOCKS = "bounded,priority,ticket,mutex,tas,mcs,clh,hierarchical,message"


def names(text):
    return [name for name in text.split(",") if name]


def numbers(text):
    return [int(number) for number in names(text)]


def arguments():
    parser = argparse.ArgumentParser(prog="compare mpi-threads", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=names, default=["throughput"], metavar="NAME,..", help="default: throughput; all: every one")
    parser.add_argument("--mpi", type=names, metavar="NAME,..", help="default: all that were found")
    parser.add_argument("--locks", type=names, default=names(LOCKS), metavar="KIND,..", help=f"default: {LOCKS}")
    parser.add_argument("--wait", default="adaptive", choices=["spin", "yield", "park", "adaptive"], help="how waiting threads wait (adaptive)")
    parser.add_argument("--threads", type=numbers, default=[2, 4], metavar="T,..", help="default: 2,4")
    parser.add_argument("--bytes", type=numbers, metavar="B,..", help="where a program has it; default: its own")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--timeout", type=float, default=60, help="when a run counts as hung")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), metavar="DIR")
    parser.add_argument("--json", metavar="FILE", help="-: standard output")
    return parser.parse_args()


def fail(message):
    print(f"compare: {message}", file=sys.stderr)
    sys.exit(2)


def run(command, options):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                              timeout=options.timeout, check=False)
    except subprocess.TimeoutExpired:
        return None, f"had not ended after {options.timeout:g} s"
    try:
        result = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        said = done.stderr.strip().splitlines()
        return None, f"printed no result, exit status {done.returncode} ({said[-1] if said else 'silent'})"
    if done.returncode != 0 or not result["checks"]["validated"]:
        return None, "gave a wrong result"
    return result["metrics"]["rate"]["median"], ""


def measure(one, threads, size, options, failures):
    """{form: (median rate, median ratio to plain)}"""
    forms = ["plain", *options.locks]
    rates = {form: {} for form in forms}
    dead = set()
    for number in range(options.rounds):
        shift = number % len(forms)
        for form in forms[shift:] + forms[:shift]:
            if form in dead:
                continue
            command = [one["mpirun"], "-n", str(options.processes), one["path"], "--json", "--threads", str(threads),
                       "--seconds", str(options.seconds)]
            if size is not None:
                command += ["--bytes", str(size)]
            if form != "plain":
                command = [os.path.join(options.build, "shoal"), "mpi-threads", "--lock", form, "--wait", options.wait, "--",
                           *command]
            rate, message = run(command, options)
            if rate is None:
                dead.add(form)
                failures.append(f"{one['program']} on {one['mpi']} with {threads} threads, {form}: {message}")
            else:
                rates[form][number] = rate
    table = {}
    for form, of_round in rates.items():
        if not of_round:
            continue
        ratios = [rate / rates["plain"][n] for n, rate in of_round.items() if rates["plain"].get(n, 0) > 0]
        table[form] = {"median": statistics.median(of_round.values()), "min": min(of_round.values()),
                       "max": max(of_round.values()), "over_plain": statistics.median(ratios) if ratios else None}
    return table


def main():
    options = arguments()
    try:
        with open(os.path.join(options.build, "bench", "mpi", "programs.json"), encoding="utf-8") as file:
            built = json.load(file)["programs"]
    except OSError:
        fail(f"there is no build in {options.build}; `./dev compare mpi-threads` makes one, or say --build DIR")
    known = sorted({one["program"] for one in built})
    wanted = known if options.program == ["all"] else options.program
    for name in wanted:
        if name not in known:
            fail(f"there is no program '{name}'; there are {', '.join(known) or 'none: no MPI library was found'}")
    libraries = sorted({one["mpi"] for one in built})
    for what, chosen, there in (("MPI library", options.mpi or [], libraries), ("lock", options.locks, [*names(LOCKS), "none"])):
        for name in chosen:
            if name not in there:
                fail(f"there is no {what} '{name}'; there are {', '.join(there)}")
    built = [one for one in built if one["program"] in wanted and (not options.mpi or one["mpi"] in options.mpi)]
    for one in built:
        if not os.path.exists(one["path"]):
            fail(f"{one['path']} is not built; `./dev compare mpi-threads` builds it")
    out = sys.stderr if options.json == "-" else sys.stdout
    failures, points = [], []
    for one in built:
        sizes = options.bytes if options.bytes and one["program"] in ("throughput", "latency", "n2n", "onesided") else [None]
        for threads in options.threads:
            for size in sizes:
                table = measure(one, threads, size, options, failures)
                points.append({"program": one["program"], "mpi": one["mpi"], "threads": threads, "bytes": size, "locks": table})
                print(f"\n{one['program']} on {one['mpi']}, {options.processes} processes x {threads} threads"
                      f"{f', {size} bytes' if size else ''}", file=out)
                for form, row in sorted(table.items(), key=lambda item: -item[1]["median"]):
                    ratio = "-" if row["over_plain"] is None else f"{row['over_plain']:.2f}"
                    print(f"  {form:<14}{row['median']:>12.5g} M/s{ratio:>10} of plain", file=out)
                out.flush()
    for message in failures:
        print(f"FAILED: {message}", file=out)
    if options.json:
        text = json.dumps({"command": sys.argv, "points": points, "failures": failures,
                           "machine": {"cores": os.cpu_count(), "load_at_end": os.getloadavg()[0]},
                           "checks": {"ran_and_validated": not failures}}, indent=1)
        if options.json == "-":
            print(text)
        else:
            with open(options.json, "w", encoding="utf-8") as file:
                file.write(text + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
