# SPDX-License-Identifier: Apache-2.0
"""Every function of an MPI library's mpi.h is named in functions.txt, and its wrapper does what its class says.
Arguments: the library's mpicc, functions.txt, the generated wrappers.cpp."""
import re
import subprocess
import sys
import tempfile
import unittest

MPICC, LIST, WRAPPERS = sys.argv[1:4]
# What a wrapper of each class consists of, as functions.txt says.
BODY = {"pass": r"return PMPI_NAME\(", "always": r"return always::NAME\(", "own": r"return own::NAME\(",
        "ownwaits": r"return own::NAME\(", "twin": r"return twin\(number::NAME, MPI_STATUS_IGNORE, .*PMPI_TWIN\(.*twin_request\)",
        "twin_status": r"return twin\(number::NAME, \w*status\w*, .*PMPI_TWIN\(.*twin_request\)",
        "section": r"return section\(number::NAME, \w*comm\w*, .*PMPI_NAME\(",
        "window": r"return make_window\(number::NAME, comm, win, .*PMPI_NAME\(",
        "file": r"return make_file\(number::NAME, comm, \w+, .*PMPI_NAME\(",
        "onwindow": r"return section_on\(number::NAME, win, .*PMPI_NAME\(",
        "onfile": r"return section_on\(number::NAME, \w+, .*PMPI_NAME\(",
        "waits": r"return waits\(number::NAME, .*PMPI_NAME\(",
        "request": r"return shoal::mpi_threads::(request|started)\(number::NAME, .*PMPI_NAME\("}
# Those that may wait for another process by the standard's own words; none of them may count as a request.
WAITING = """Send Ssend Rsend Recv Sendrecv Sendrecv_replace Probe Mprobe Mrecv Wait Waitall Waitany Waitsome Buffer_detach
Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw Reduce Allreduce
Reduce_scatter Reduce_scatter_block Scan Exscan Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv
Neighbor_alltoallw Comm_dup Comm_dup_with_info Comm_create Comm_create_group Comm_split Comm_split_type Comm_disconnect
Comm_set_info Intercomm_create Intercomm_merge Cart_create Cart_sub Graph_create Dist_graph_create Dist_graph_create_adjacent
Comm_spawn Comm_spawn_multiple Comm_accept Comm_connect Comm_join Open_port Publish_name Lookup_name Unpublish_name
Win_create Win_allocate Win_allocate_shared Win_create_dynamic Win_free Win_fence Win_set_info Win_start Win_complete Win_wait
Win_lock Win_lock_all Win_unlock Win_unlock_all Win_flush Win_flush_all Win_flush_local Win_flush_local_all
File_open File_close File_set_size File_preallocate File_set_view File_set_info File_set_atomicity File_seek_shared File_sync
File_read_all File_write_all File_read_at_all File_write_at_all File_read_ordered File_write_ordered File_read_all_begin
File_read_all_end File_write_all_begin File_write_all_end File_read_at_all_begin File_read_at_all_end
File_write_at_all_begin File_write_at_all_end File_read_ordered_begin File_read_ordered_end File_write_ordered_begin
File_write_ordered_end Comm_create_from_group Intercomm_create_from_groups Session_finalize""".split()


def declared():
    with tempfile.NamedTemporaryFile("w", suffix=".c") as source:
        source.write("#include <mpi.h>\n")
        source.flush()
        text = subprocess.run([MPICC, "-E", "-P", source.name], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = set(re.findall(r"\b(?:int|double|MPI_\w+)\s+MPI_([A-Z]\w*)\s*\(", text))
    return {name for name in found if not name.startswith("T_") and not name.endswith(("_function", "_fn"))}


def classes():
    treated, twins = {}, {}
    with open(LIST, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            for word in words[1:] if words and not line.startswith("#") else []:
                name, _, twin = word.partition(":")
                assert name not in treated, f"{name} is named twice"
                treated[name], twins[name] = words[0], twin
    return treated, twins


class Functions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.declared = declared()
        cls.treated, cls.twins = classes()
        with open(WRAPPERS, encoding="utf-8") as file:
            text = file.read()
        cls.wrappers = dict(re.findall(r"^SHOAL_EXPORT \w+ MPI_(\w+)\(.*?\) \{\n(.*?)^\}", text, re.M | re.S))
        cls.passing = {name for name, body in cls.wrappers.items() if "passes" in body}
        for name, body in re.findall(r"^\S+ static \w+ arbitrated_(\w+)\(.*?\) \{\n(.*?)^\}", text, re.M | re.S):
            assert f"return arbitrated_{name}(" in cls.wrappers[name], name
            cls.wrappers[name] = body

    def named(self, name):
        plain = name[:-2] if name.endswith("_c") and name not in self.treated else name
        return plain if plain in self.treated else None

    def test_none_is_forgotten(self):
        self.assertGreater(len(self.declared), 300)
        self.assertEqual(sorted(name for name in self.declared if self.named(name) is None), [])

    def test_every_wrapper_is_what_its_class_says(self):
        for name in sorted(self.declared):
            plain = self.named(name)
            how = self.treated[plain]
            if how == "skip":
                self.assertNotIn(name, self.wrappers)
                continue
            twin = self.twins[plain] + ("_c" if plain != name else "")
            wanted = BODY[how].replace("NAME", name).replace("TWIN", twin)
            with self.subTest(name, how=how):
                self.assertRegex(self.wrappers[name], wanted)
                self.assertEqual(name in self.passing, how not in ("pass", "always"))

    def test_who_leaves_a_request_behind(self):
        started = {name for name, body in self.wrappers.items() if "::started(" in body}
        self.assertLessEqual({"Isend", "Irecv", "Ibarrier", "Comm_idup", "Grequest_start", "Rput"}, started)
        kinds = r"^((File_i|I)[a-z]\w+|Comm_idup(_with_info)?|Grequest_start|R(put|get|accumulate|get_accumulate)(_c)?)$"
        for name in sorted(started):  # the others start, cancel or make one that stays
            with self.subTest(name):
                self.assertRegex(name, kinds)

    def test_what_may_wait_is_no_request(self):
        for name in WAITING:
            with self.subTest(name):
                self.assertNotIn(self.treated[name], ("request", "pass", "skip"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
