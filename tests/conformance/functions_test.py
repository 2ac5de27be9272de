# SPDX-License-Identifier: Apache-2.0
"""Every function that the library has, and does not refuse, is called by some program of this folder.
Arguments: libmpi_abi.so, the programs."""
import re
import subprocess
import sys
import unittest

LIBRARY, PROGRAMS = sys.argv[1], sys.argv[2:]
# It ends the job with a status that is not 0.
NOT_CALLED = {"Abort"}


def symbols(file, kinds):
    text = subprocess.run(["nm", "-D", file], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.findall(r"^[0-9a-f]* +(\w) P?MPI_([A-Z]\w*)", text, re.MULTILINE)
    return {name for kind, name in found if kind in kinds}


class Functions(unittest.TestCase):
    def test_every_one_is_called(self):
        own = symbols(LIBRARY, "T")  # those that are refused are weak
        self.assertGreater(len(own), 200)
        called = set().union(*(symbols(program, "UT") for program in PROGRAMS))
        self.assertEqual(sorted(own - called - NOT_CALLED), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
