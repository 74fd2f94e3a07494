"""tools/check_layers.py finds what it should and nothing else."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_layers


def problems_in(files):
    """What the checker says about a tree of `files`: {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return check_layers.Checker(root).run()


class CheckLayersTest(unittest.TestCase):
    def expect(self, path, include, *words):
        """`path` with that include gives one problem that has all `words`; none: no problem."""
        found = problems_in({path: f"#pragma once\n#include {include}\n"})
        if not words:
            self.assertEqual(found, [])
            return
        self.assertEqual(len(found), 1, found)
        for word in (f"{path}:2:", *words):
            self.assertIn(word, found[0])

    def test_a_layer_includes_itself_and_those_below(self):
        self.expect("src/memory/heap.cpp", '"memory/heap.h"')
        self.expect("src/memory/heap.cpp", '"base/check.h"')
        self.expect("src/memory/heap.cpp", '"plimsoll/error.h"')
        self.expect("src/runtime/eager.cpp", '"ops/op_def.h"')
        self.expect("src/backend/opencl/norm.cpp", '"backend/gpu/kernels.h"')
        self.expect("src/memory/heap.cpp", "<fmt/core.h>")

    def test_a_forbidden_include_is_found(self):
        self.expect("src/base/log.cpp", '"memory/heap.h"', "base may not include", "memory")
        self.expect("src/memory/heap.cpp", '"planner/problem.h"', "memory may not include")
        self.expect("src/planner/solve.cpp", '"plimsoll/memory/heap.h"', "planner may not include")
        self.expect("src/graph/graph.cpp", '"planner/problem.h"', "graph may not include")
        self.expect("src/backend/cpu/norm.cpp", '"backend/opencl/norm.h"', "backend/cpu")
        self.expect("src/keras/model.cpp", '"../lite/reader.h"', "no layer")
        self.expect("src/memory/heap.cpp", '"plimsoll/tf.h"', "memory may not include")

    def test_relative_paths_do_not_get_round_it(self):
        found = problems_in({"src/base/log.cpp": '#include "../memory/heap.h"\n',
                             "src/memory/heap.h": ""})
        self.assertEqual(len(found), 1)
        self.assertIn("base may not include", found[0])

    def test_only_one_file_of_the_runtime_names_backends(self):
        self.expect("src/runtime/backends.cpp", '"backend/cpu/table.h"')
        self.expect("src/runtime/device.cpp", '"backend/cpu/table.h"', "runtime may not include")

    def test_public_headers_are_in_the_table_and_free_of_others(self):
        self.expect("include/plimsoll/memory/heap.h", "<vector>")
        self.expect("include/plimsoll/memory/heap.h", '"plimsoll/bytes.h"')
        self.expect("include/plimsoll/memory/heap.h", "<fmt/core.h>", "public header", "fmt")
        self.expect("include/plimsoll/planner.h", '"base/check.h"', "not public")
        self.expect("include/plimsoll/bytes.h", '"plimsoll/memory.h"', "base may not include")
        found = problems_in({"include/plimsoll/surprise.h": "#pragma once\n"})
        self.assertIn("add a row to PUBLIC", found[0])

    def test_a_new_folder_asks_for_a_row(self):
        found = problems_in({"src/surprise/x.cpp": ""})
        self.assertIn("add it to LAYERS", found[0])

    def test_tests_use_their_layer_and_those_below(self):
        self.expect("tests/memory/heap_test.cpp", '"memory/heap.h"')
        self.expect("tests/memory/heap_test.cpp", '"base/check.h"')
        self.expect("tests/base/bytes_test.cpp", '"memory/heap.h"', "tests of base may not include")
        self.expect("tests/oracle/any_test.cpp", '"keras/model.h"')

    def test_clients_see_public_headers_only(self):
        self.expect("examples/tour.cpp", '"plimsoll/memory.h"')
        self.expect("examples/tour.cpp", '"memory/heap.h"', "public headers only")
        self.expect("bench/memory.cpp", '"base/check.h"', "public headers only")
        self.assertEqual(problems_in({"bench/memory.cpp": '#include "rows.h"\n', "bench/rows.h": ""}), [])

    def test_third_party_headers_stay_where_they_belong(self):
        self.expect("src/backend/cpu/conv.cpp", "<oneapi/dnnl/dnnl.hpp>")
        self.expect("src/graph/fold.cpp", "<oneapi/dnnl/dnnl.hpp>", "graph may not include")

    def test_the_list_has_no_cycles_and_names_only_layers(self):
        for layer, below in check_layers.LAYERS.items():
            for name in below:
                self.assertNotIn(layer, check_layers.reachable(name))

    def test_the_siblings_above_base_do_not_know_each_other(self):
        for layer in ("memory", "planner", "h5"):
            self.assertEqual(check_layers.reachable(layer), {layer, "base"})


if __name__ == "__main__":
    unittest.main()
