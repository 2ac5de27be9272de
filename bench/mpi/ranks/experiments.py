# SPDX-License-Identifier: Apache-2.0
"""What compare.py measures: each experiment has a program, points, and for each point the forms that are compared."""
import os
from typing import Callable, NamedTuple


class Form(NamedTuple):
    """A library and a shape: processes, ranks in each, workers of each."""
    mpi: str
    processes: int
    ranks: int = 1
    workers: int = 1

    def __str__(self):
        if self.mpi != "shoal":
            return f"{self.mpi} {self.processes}"
        return f"shoal {self.processes}x{self.ranks}" + (f" w{self.workers}" if self.workers > 1 else "")


class Point(NamedTuple):
    title: str
    forms: list
    metrics: list  # the first one is compared
    words: Callable  # form -> arguments of the program
    derive: Callable = lambda form, metrics, earlier: metrics
    swept: bool = False


class Experiment(NamedTuple):
    program: str
    what: str
    points: Callable


def rivals(processes):
    return [Form("openmpi", processes), Form("mpich", processes)]


def pairs():
    """Two ranks: of one process, of two workers of a process, of two processes."""
    return [Form("shoal", 1, 2), Form("shoal", 1, 2, 2), Form("shoal", 2, 1), *rivals(2)]


def messages(metrics, sizes):
    def points(options):
        for size in (sizes[:1] if options.test else options.bytes or sizes):
            words = ["--bytes", str(size), "--seconds", str(options.seconds)]
            yield Point(f"{size} bytes", pairs(), metrics, lambda form, words=words: words)
    return points


def collective(metric, sizes):
    def points(options):
        for size in (options.bytes or sizes) if sizes else [None]:
            words = ["--seconds", str(options.seconds)] + (["--bytes", str(size)] if size else [])
            suffix = f", {size} bytes" if size else ""
            if options.test:
                yield Point("8 ranks" + suffix, [Form("shoal", 2, 4), Form("shoal", 1, 8, 2)], [metric],
                            lambda form, words=words: words)
                return
            yield Point("2 ranks" + suffix, pairs(), [metric], lambda form, words=words: words)
            yield Point("64 ranks" + suffix, [Form("shoal", 1, 64), Form("shoal", 1, 64, 2), Form("shoal", 2, 32), *rivals(64)],
                        [metric], lambda form, words=words: words)
            yield Point("1024 ranks" + suffix, [Form("shoal", 1, 1024), Form("shoal", 2, 512)], [metric],
                        lambda form, words=words: words)
    return points


def matrices(default_size, test_ranks, default_forms):
    """Time of a matrix product over the number of ranks per process."""
    def points(options):
        size = options.size or (64 if options.test else default_size)
        if options.test:
            forms = [Form("shoal", 2, ranks) for ranks in test_ranks]
        elif options.nfg or options.processes:
            forms = [Form("shoal", options.processes or os.cpu_count(), p) for p in options.nfg or [1, 2, 4, 8, 16, 32, 64, 128]]
        else:
            forms = default_forms()
        yield Point(f"{size} rows", forms, ["time_s", "gflops"], lambda form: ["--size", str(size)], swept=True)
    return points


def blocks_forms():
    cores = os.cpu_count()
    return [Form("shoal", cores, p) for p in (1, 2, 4, 8, 16, 32, 64, 128)] + rivals(cores) + rivals(8 * cores)


def cannon_forms():
    ones = [Form("shoal", 1, p) for p in (1, 4, 16, 64, 256)]
    twos = [Form("shoal", 2, p) for p in (2, 8, 32, 128)]  # as many as make a square
    return ones + twos + rivals(4)


def unlucky_points(options):
    words = ["--blocks", "8"] + (["--turns", "100", "--steps", "50"] if options.test else [])
    shapes = [Form("shoal", 2, p) for p in options.nfg or (1, 2, 4)]
    yield Point("8 blocks, one is slow", shapes + rivals(2) + rivals(8), ["time_s", "waited_s"], lambda form: words,
                swept=True)


def idle_points(options):
    """The memory of a process with one rank is taken off before the rest is divided."""
    def words(form):
        return ["--began", "NOW", "--each", "0" if form.mpi == "shoal" else "1"]

    def derive(form, metrics, earlier):
        total = metrics["process_kb"] + metrics["page_table_kb"]
        alone = 0
        if form.mpi == "shoal" and form.ranks > 1:
            base = next((rounds for other, rounds in earlier.items() if other == Form("shoal", 1, 1) and rounds), None)
            alone = min(one["total_kb"] for one in base.values()) if base else 0
        ranks = max(1, form.processes * form.ranks - (1 if alone else 0))
        return {**metrics, "total_kb": total, "kb_per_rank": (total - alone) / ranks,
                "anonymous_per_rank": metrics["anonymous_kb"] / (form.processes * form.ranks)}

    counts = options.nfg or ([20] if options.test else [1000, 8000, 10000])
    forms = [Form("shoal", 1, 1)] + [Form("shoal", 1, count) for count in counts if count > 1] + rivals(64)
    yield Point("idle ranks", forms, ["kb_per_rank", "anonymous_per_rank", "start_s", "job_s", "job_cpu_s"], words, derive)


EXPERIMENTS = {
    "mpi-pingpong": Experiment("pingpong", "half of a round trip", messages(["half_rtt_us", "over_memcpy_ns"], [8, 1024, 16384, 131072])),
    "mpi-rate": Experiment("rate", "messages per second in windows of 64", messages(["rate"], [8, 1024])),
    "mpi-bandwidth": Experiment("bandwidth", "long messages in windows of 4",
                                messages(["gb_per_second", "memcpy_gb_per_second"], [65536, 1 << 20, 4 << 20])),
    "mpi-barrier": Experiment("barrier", "a barrier of all ranks", collective("barrier_us", [])),
    "mpi-allreduce": Experiment("allreduce", "a sum over all ranks", collective("allreduce_us", [8, 8192])),
    "mpi-blocks": Experiment("blocks", "matrix product by blocks, plain loops", matrices(1024, (1, 2, 8), blocks_forms)),
    "mpi-cannon": Experiment("cannon", "Cannon's matrix product with BLAS", matrices(2048, (2, 8), cannon_forms)),
    "mpi-unlucky": Experiment("unlucky", "steps in which one block of eight is slow", unlucky_points),
    "mpi-idle": Experiment("idle", "memory and start of ranks that wait", idle_points),
}
