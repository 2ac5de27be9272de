# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of bench/mpi/ranks on Shoal and on the other MPI libraries that were found, alternately.

  ./dev compare mpi-pingpong                       builds, then: messages of some sizes, in one process and in two
  bench/compare mpi-barrier --only shoal,openmpi --rounds 9
  bench/compare mpi-blocks --nfg 1,4,16,64 --processes 2 --picture blocks.svg
  bench/compare mpi-idle --nfg 1000,10000 --json -

A form is a library with a shape: `shoal 2x32` are 2 processes of 32 ranks each, `w2` says that their ranks are spread
over two workers; other libraries have one rank per process. Every round runs every form once. A figure is the median
over the rounds; a ratio is taken within each round, then its median. Every program verifies what it computed. Exit
status: 1 when one died, hung or found its result wrong."""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left beside the sources
from experiments import EXPERIMENTS, Form
from picture import bars, write_svg

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def names(text):
    return [name for name in text.split(",") if name]


def whole(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"wants at least 1, not {text}")
    return value


def numbers(text):
    return [whole(number) for number in names(text)]


def arguments():
    parser = argparse.ArgumentParser(prog="compare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", metavar="NAME", help=", ".join(EXPERIMENTS))
    parser.add_argument("--bytes", type=numbers, metavar="B,..", help="sizes of messages, where they matter")
    parser.add_argument("--size", type=whole, metavar="N", help="rows of the matrices of mpi-blocks and mpi-cannon")
    parser.add_argument("--nfg", type=numbers, metavar="P,..", help="ranks per process of Shoal, where they are swept")
    parser.add_argument("--processes", type=whole, metavar="N", help="processes of Shoal, where ranks are swept")
    parser.add_argument("--only", type=names, metavar="LIBRARY,..", help="shoal, openmpi, mpich")
    parser.add_argument("--rounds", type=whole, metavar="R", help="default: 3")
    parser.add_argument("--seconds", type=float, default=0.5, metavar="S", help="of a measurement (0.5)")
    parser.add_argument("--patience", type=float, default=10, metavar="S",
                        help="a form that takes longer runs in the first round only (10)")
    parser.add_argument("--timeout", type=float, default=120, metavar="S", help="when a run counts as hung (120)")
    parser.add_argument("--test", action="store_true", help="small and once, on Shoal alone: do the checks pass?")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), metavar="DIR")
    parser.add_argument("--picture", metavar="FILE", help="draw a sweep: an SVG file")
    parser.add_argument("--json", metavar="FILE", help="-: standard output, with the text on standard error")
    options = parser.parse_args()
    if options.experiment not in EXPERIMENTS:
        parser.error(f"there is no {options.experiment}; there are {', '.join(EXPERIMENTS)}")
    options.rounds = options.rounds or (1 if options.test else 3)
    if options.test:
        options.only, options.seconds = ["shoal"], 0.01
    return options


def fail(message):
    print(f"compare: {message}", file=sys.stderr)
    sys.exit(2)


def find_programs(options, program):
    """{library: (path of the program, launcher)}"""
    try:
        with open(os.path.join(options.build, "bench", "mpi", "ranks", "programs.json"), encoding="utf-8") as file:
            built = json.load(file)["programs"]
    except OSError:
        fail(f"there is no build in {options.build}; `./dev compare {options.experiment}` makes one, or say --build DIR")
    libraries = {one["mpi"]: (one["path"], one["mpirun"]) for one in built if one["program"] == program}
    for name in options.only or []:
        if name not in libraries:
            fail(f"there is no MPI library '{name}'; there are {', '.join(libraries)}")
    chosen = {name: one for name, one in libraries.items() if not options.only or name in options.only}
    for path, _ in chosen.values():
        if not os.path.exists(path):
            fail(f"{path} is not built; `./dev compare {options.experiment}` builds it")
    return chosen


def command_of(form, programs, words):
    path, mpirun = programs[form.mpi]
    if form.mpi == "shoal":
        start = [mpirun, "mpirun", "-n", str(form.processes), "--nfg", str(form.ranks), "-w", str(form.workers), "--"]
    else:
        start = [mpirun, "-n", str(form.processes)]
    return [*start, path, "--json", *words]


def run(command, options):
    """The metrics, or a description of the failure."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OPENBLAS_NUM_THREADS="1")
    start, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        said, complaints = process.communicate(timeout=options.timeout)
    except subprocess.TimeoutExpired:
        process.terminate()  # a launcher ends its processes then
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return None, f"had not ended after {options.timeout:g} s"
    wall, used_by_now = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        result = json.loads(said.strip().splitlines()[-1])
    except (ValueError, IndexError):
        last = complaints.strip().splitlines()
        return None, f"printed no result, exit status {process.returncode} ({last[-1] if last else 'silent'})"
    if process.returncode != 0 or not result["checks"]["validated"]:
        return None, "gave a wrong result"
    metrics = {name: metric["median"] for name, metric in result["metrics"].items()}
    metrics["job_s"] = wall
    metrics["job_cpu_s"] = used_by_now.ru_utime + used_by_now.ru_stime - used.ru_utime - used.ru_stime
    return metrics, ""


def measure(forms, programs, point, options, failures):
    """{form: {round: metrics}}"""
    results = {form: {} for form in forms}
    finished = set()  # dead, or too slow for another round
    for number in range(options.rounds):
        shift = number % len(forms)
        for form in forms[shift:] + forms[:shift]:
            if form in finished:
                continue
            if sys.stderr.isatty():
                print(f"\r\033[K{point.title}, round {number + 1}: {form}", end="", file=sys.stderr, flush=True)
            words = [word.replace("NOW", f"{time.clock_gettime(time.CLOCK_MONOTONIC):.6f}") for word in point.words(form)]
            metrics, message = run(command_of(form, programs, words), options)
            if metrics is None:
                finished.add(form)
                failures.append(f"{point.title}: {form}: {message}")
            else:
                results[form][number] = point.derive(form, metrics, results)
                if metrics["job_s"] > options.patience:
                    finished.add(form)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return {form: rounds for form, rounds in results.items() if rounds}


def others(point, forms):
    """What ratios are taken to: each form of another library, and in a sweep the first form."""
    return [form for form in forms if form.mpi != "shoal" or (point.swept and form == point.forms[0])]


def summarise(point, results):
    """For each form and metric the median, the least, the most, and the ratios."""
    rivals = {str(form): results[form] for form in others(point, results)}
    table = {}
    for form, rounds in results.items():
        row = {}
        for name in point.metrics:
            values = [one[name] for one in rounds.values()]
            row[name] = {"median": statistics.median(values), "min": min(values), "max": max(values), "values": values}
            for rival, theirs in rivals.items():
                ratios = [one[name] / theirs[n][name] for n, one in rounds.items() if n in theirs and theirs[n][name] > 0]
                if ratios:
                    row[name][f"over_{rival}"] = statistics.median(ratios)
        table[form] = row
    return table


def print_table(point, table, out):
    rivals = [str(form) for form in others(point, table)]
    first = point.metrics[0]
    heads = [*point.metrics, "min", "max", *(f"/ {rival}" for rival in rivals)]
    widths = [max(12, len(head) + 2) for head in heads]
    print(f"\n{point.title:<26}" + "".join(f"{h:>{w}}" for h, w in zip(heads, widths)), file=out)
    for form, row in table.items():
        cells = [f"{row[name]['median']:.4g}" for name in point.metrics]
        cells += [f"{row[first][which]:.4g}" for which in ("min", "max")]
        cells += [f"{row[first][f'over_{r}']:.3g}" if f"over_{r}" in row[first] else "-" for r in rivals]
        print(f"{str(form):<26}" + "".join(f"{c:>{w}}" for c, w in zip(cells, widths)), file=out)
    out.flush()


def main():
    options = arguments()
    experiment = EXPERIMENTS[options.experiment]
    programs = find_programs(options, experiment.program)
    out = sys.stderr if options.json == "-" else sys.stdout
    print(f"{options.experiment}: {experiment.what}; {options.rounds} rounds, load {os.getloadavg()[0]:.1f}", file=out)
    failures, points, start = [], [], time.monotonic()
    for point in experiment.points(options):
        forms = [form for form in point.forms if form.mpi in programs]
        table = summarise(point, measure(forms, programs, point, options, failures))
        if not table:
            continue
        print_table(point, table, out)
        if point.swept:
            values = [(str(form), row[point.metrics[0]]["median"]) for form, row in table.items()]
            print("\n" + bars(values), file=out)
            if options.picture:
                write_svg(options.picture, point.title, point.metrics[0], table)
        points.append({"title": point.title, "forms": [{**form._asdict(), "name": str(form), "metrics": row}
                                                       for form, row in table.items()]})
    for message in failures:
        print(f"FAILED: {message}", file=out)
    if options.json:
        text = json.dumps({"experiment": options.experiment, "command": sys.argv, "points": points,
                           "parameters": {"rounds": options.rounds, "seconds": options.seconds}, "failures": failures,
                           "machine": {"cores": os.cpu_count(), "load_at_end": os.getloadavg()[0]},
                           "checks": {"ran_and_validated": not failures},
                           "elapsed_seconds": time.monotonic() - start}, indent=1)
        if options.json == "-":
            print(text)
        else:
            with open(options.json, "w", encoding="utf-8") as file:
                file.write(text + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
