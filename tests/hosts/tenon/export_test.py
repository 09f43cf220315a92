"""`tenon export`: a file from a run or a checkpoint, proved as at a run's end, and nothing where it cannot be."""

import hashlib
import json
import unittest

from program import BUILD, ProgramTest

SHORT = ["--set", "vars.epochs=2", "--set", 'nodes.sched.with.warmup="5 steps"', "--set", "nodes.net.with.width=4",
         "--no-preflight"]
FAULTY = ["--plugin-path", str(BUILD / "tests" / "plugins" / "tenon_faulty.so")]


def hashes(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.rglob("*") if path.is_file()}


class ExportTest(ProgramTest):
    def setUp(self):
        super().setUp()
        code, _, err = self.tenon("run", "digits.json", *SHORT, "--set", "export=[]")
        self.assertEqual(code, 0, err)
        self.run_folder = self.folder / "runs" / "digits" / "0001"

    def test_the_file_lies_in_the_run_and_is_verified(self):
        before = hashes(self.run_folder)
        code, out, err = self.tenon("export", str(self.run_folder), "--format", "json")
        self.assertEqual(code, 0, err)
        [exported] = json.loads(out)["exports"]
        self.assertEqual((exported["node"], exported["max_abs_error"], exported["batches"]), ("script", 0, [1, 3, 17]))
        after = hashes(self.run_folder)
        self.assertEqual(set(after) - set(before), {"exports/script.pt", "exports/script.pt.report.json"})
        self.assertEqual({name: after[name] for name in before}, before)
        report = json.loads((self.run_folder / "exports" / "script.pt.report.json").read_text())
        index = json.loads((self.run_folder / "checkpoints" / "index.json").read_text())
        self.assertEqual(report["facts"]["checkpoint"], f"step-{index['best']:06}")

    def test_a_checkpoint_gives_its_own_weights_elsewhere(self):
        files = []
        for path in sorted(self.run_folder.glob("checkpoints/step-*")):
            code, out, err = self.tenon("export", str(path), "--node", "script", "--out", f"models/{path.name}")
            self.assertEqual(code, 0, err)
            self.assertRegex(out, r"^script  models/step-\d+/script.pt, verified over batches of 1, 3, 17: largest error 0\n$")
            files.append((self.folder / "models" / path.name / "script.pt").read_bytes())
        self.assertEqual(len(files), 2)
        self.assertNotEqual(files[0], files[1])
        self.assertFalse((self.run_folder / "exports" / "script.pt").exists())

    def test_a_wrong_call_ends_with_2(self):
        bare = json.dumps({"nodes": {"script": None}, "export": []})
        self.write("bare.json", bare)
        for words, parts in (
            ([str(self.run_folder), "--node", "scrip"], ["--node scrip", "the exporters are script"]),
            ([str(self.run_folder), "--overlay", "bare.json"], ["no exporter", "--overlay"]),
        ):
            with self.subTest(words=words):
                code, out, err = self.tenon("export", *words, "--out", "models")
                self.assertEqual((code, out), (2, ""), err)
                for part in parts:
                    self.assertIn(part, err)
                self.assertFalse((self.folder / "models").exists())

    def test_a_file_that_computes_something_else_is_refused_and_removed(self):
        self.write("faulty.json", json.dumps(
            {"nodes": {"script": {"use": "exporter:faulty", "of": "net", "with": {"fault": "renames"}}}}))
        code, out, err = self.tenon("export", str(self.run_folder), "--overlay", "faulty.json", "--out", "models", *FAULTY)
        self.assertEqual((code, out), (8, ""), err)
        self.assertIn("no file was left as script.pt", err)
        self.assertEqual(list((self.folder / "models").iterdir()), [])

    def test_a_damaged_checkpoint_ends_with_9(self):
        weights = max(self.run_folder.glob("checkpoints/*/model.net.safetensors"))
        weights.write_bytes(weights.read_bytes()[:-1] + b"?")
        code, out, err = self.tenon("export", str(weights.parent), "--out", "models")
        self.assertEqual((code, out), (9, ""), err)
        self.assertIn("model.net.safetensors", err)


if __name__ == "__main__":
    unittest.main()
