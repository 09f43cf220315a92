"""`tenon artefact-run`: an exported file runs alone, and a broken one is told from a broken call."""

import json
import struct
import unittest

from program import ProgramTest


def write_safetensors(path, name, shape, values):
    data = struct.pack(f"<{len(values)}f", *values)
    header = json.dumps({name: {"dtype": "F32", "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def read_safetensors(path):
    """name → shape and values"""
    blob = path.read_bytes()
    (length,) = struct.unpack("<Q", blob[:8])
    header = json.loads(blob[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = (entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", blob[begin:end]))
    return tensors


class ArtefactRunTest(ProgramTest):
    def setUp(self):
        super().setUp()
        write_safetensors(self.folder / "in.safetensors", "image", [3, 1, 8, 8], [0.01 * i for i in range(192)])

    def run_artefact(self, file, *more, component="exporter:torchscript", inputs="in.safetensors"):
        return self.tenon("artefact-run", "--component", component, "--file", file, "--inputs", inputs,
                          "--outputs", "out.safetensors", *more)

    def test_an_export_runs_alone(self):
        trained = self.tenon("run", "digits.json", "--set", "vars.epochs=4")
        self.assertEqual(trained.code, 0, trained.err)
        export = self.folder / "runs" / "digits" / "0001" / "exports" / "script.pt"
        (self.folder / "alone").mkdir()
        export.rename(self.folder / "alone" / "net.pt")
        self.assertEqual(self.run_artefact("alone/net.pt"), (0, "", ""))
        ((shape, values),) = read_safetensors(self.folder / "out.safetensors").values()
        self.assertEqual(shape, [3, 10])
        self.assertTrue(all(abs(value) < 1000 for value in values))
        self.assertGreater(len(set(values)), 10)

        with self.subTest("a file that was cut off"):
            (self.folder / "cut.pt").write_bytes((self.folder / "alone" / "net.pt").read_bytes()[:5000])
            code, out, err = self.run_artefact("cut.pt")
            self.assertEqual((code, out), (8, ""))
            self.assertIn("cut.pt", err)
        with self.subTest("inputs of a shape that does not fit"):
            write_safetensors(self.folder / "small.safetensors", "image", [2, 2], [1, 2, 3, 4])
            code, out, err = self.run_artefact("alone/net.pt", inputs="small.safetensors")
            self.assertEqual((code, out), (3, ""))
            self.assertTrue(err.startswith("error"), err)
            self.assertNotIn("frame #", err)
        (self.folder / "cut.safetensors").write_bytes((self.folder / "in.safetensors").read_bytes()[:100])
        for name in ("cut.safetensors", "none.safetensors"):
            with self.subTest("inputs that cannot be read", name=name):
                code, out, err = self.run_artefact("alone/net.pt", inputs=name)
                self.assertEqual((code, out), (9, ""))
                self.assertIn(name, err)

    def test_a_wrong_call_ends_with_2(self):
        for words, wanted in (
            (dict(component="exporter:torchscrip"), "exporter:torchscrip"),
            (dict(component="loss:cross_entropy"), "takes an exporter"),
        ):
            with self.subTest(words=words):
                code, out, err = self.run_artefact("net.pt", **words)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(wanted, err)
        for parameters, wanted in (
            ('{"verfy": {}}', 'did you mean "verify"?'),
            ('{"verify": ', "error[truncated]"),
            ("[]", "error[wrong-type]"),
        ):
            with self.subTest(parameters=parameters):
                code, out, err = self.run_artefact("net.pt", "--with", parameters)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(wanted, err)


if __name__ == "__main__":
    unittest.main()
