# SPDX-License-Identifier: Apache-2.0
"""`shoal core FILE`: gdb's generate-core-file, and then the stacks that it leaves out: it gives up a mapping at the
first page that cannot be read, and there is one below each stack (MADV_GUARD_INSTALL, Linux 6.13)."""
import struct

import gdb

PAGE, MOST = 4096, 1 << 20
SHARED = 0b1010  # memory that is shared, without a file and with one
LOAD = 1


def segments(file):
    """(offset in the file, address, bytes) of what the file has of the memory."""
    head = file.read(64)
    if head[:6] != b"\x7fELF\x02\x01":
        raise gdb.GdbError("the core file is not one of 64 bits")
    at, = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    file.seek(at)
    table = file.read(size * count)
    for i in range(count):
        kind, _, offset, address, _, in_file, _, _ = struct.unpack_from("<IIQQQQQQ", table, i * size)
        if kind == LOAD and in_file:
            yield offset, address, in_file


def readable(address, size):
    """What can be read of it, in pieces."""
    try:
        yield address, gdb.selected_inferior().read_memory(address, size).tobytes()
    except gdb.MemoryError:
        if size > PAGE:
            half = size // 2 // PAGE * PAGE
            yield from readable(address, half)
            yield from readable(address + half, size - half)


def without_global_arrays(pid):
    """Asks gdb to leave out memory that processes share: the address space for global arrays, most of it unused, would
    be written as zeros. Returns what to do afterwards."""
    name = "/proc/%d/coredump_filter" % pid
    try:
        with open(name) as file:
            before = file.read().strip()
        with open(name, "w") as file:
            file.write(hex(int(before, 16) & ~SHARED))
    except OSError:  # another machine, or no right to
        return lambda: None

    def restore():
        with open(name, "w") as file:
            file.write("0x" + before)
    return restore


def fill(path, ranges):
    """Writes the memory in these ranges into the core file."""
    with open(path, "r+b") as file:
        parts = sorted((address, size, offset) for offset, address, size in segments(file))
        for first, end in ranges:
            for address, size, offset in parts:
                begin, stop = max(address, first), min(address + size, end)
                for piece in range(begin, stop, MOST):
                    for at, data in readable(piece, min(MOST, stop - piece)):
                        if data.strip(b"\0"):  # the file may have holes
                            file.seek(offset + at - address)
                            file.write(data)


def write(path, pid, ranges):
    restore = without_global_arrays(pid)
    try:
        gdb.execute("generate-core-file " + path, to_string=True)
    finally:
        restore()
    fill(path, ranges)
