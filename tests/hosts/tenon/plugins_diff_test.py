"""`tenon plugins diff`: what changed between two builds of a plugin, and whether the new one can take the old one's place."""

import json
import subprocess
import unittest

from program import BUILD, ProgramTest

LOSSES = BUILD / "lib" / "tenon" / "plugins" / "tenon_losses.so"


class PluginsDiffTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.old = self.folder / "old.json"
        # It always writes a copy; as root it would make /dev/null a regular file.
        copy = self.folder / "copy.so"
        subprocess.run(["objcopy", f"--dump-section=.tenon.manifest={self.old}", LOSSES, copy], check=True)
        self.manifest = json.loads(self.old.read_bytes().rstrip(b"\0"))
        self.old.write_text(json.dumps(self.manifest))

    def component(self, name):
        return next(each for each in self.manifest["components"] if each["name"] == name)

    def new(self):
        path = self.folder / "new.json"
        path.write_text(json.dumps(self.manifest))
        return "new.json"

    def diff(self, *arguments):
        code, out, err = self.tenon("plugins", "diff", *arguments, "--format", "json")
        self.assertEqual(err, "")
        return code, json.loads(out)

    def test_a_plugin_a_manifest_and_an_id_are_equal_to_themselves(self):
        for given in (str(LOSSES), "old.json", "org.tenon.losses"):
            code, out, err = self.tenon("plugins", "diff", given, "old.json", "--strict")
            self.assertEqual((code, err), (0, ""), out)
            self.assertTrue(out.endswith("\nequal: nothing that a manifest tells has changed\n"), out)

    def test_a_new_default_changes_results_but_is_compatible(self):
        self.component("bce")["parameters"]["properties"]["pos_weight"]["default"] = 2.0
        code, found = self.diff("old.json", self.new(), "--strict")
        self.assertEqual((code, found["compatible"], found["missing_version_step"]), (0, True, "minor"))
        self.assertEqual(found["changes"], [{"effect": "results", "component": "loss:bce", "place": "parameter pos_weight",
                                             "text": "its default was 1.0 and is 2.0"}])
        out = self.tenon("plugins", "diff", "old.json", "new.json").out
        self.assertIn("\nloss:bce\n  results  parameter pos_weight: its default was 1.0 and is 2.0\n", out)
        self.assertIn("\ncompatible, but 1 change may give other results\n", out)

    def test_a_lost_parameter_is_breaking_and_strict_says_so_to_programs(self):
        del self.component("cross_entropy")["parameters"]["properties"]["label_smoothing"]
        new = self.new()
        self.assertEqual(self.tenon("plugins", "diff", "old.json", new).code, 0)
        code, found = self.diff("old.json", new, "--strict")
        self.assertEqual((code, found["compatible"]), (3, False))
        self.assertEqual([each["text"] for each in found["changes"]], ["it is gone"])
        self.assertEqual(self.diff(new, "old.json", "--strict")[0], 0)  # taken back, it is new and has a default

    def test_builds_for_other_revisions_are_compared_too(self):
        self.component("bce")["revision"] = 7
        self.manifest["api"] = 9
        code, found = self.diff("old.json", self.new())
        self.assertEqual((code, [each["place"] for each in found["changes"]]), (0, ["api", "interface"]))

    def test_what_is_no_plugin_is_named(self):
        (self.folder / "text.so").write_text("no library")
        for given, code, part in (
            ("nowhere.so", 2, '"nowhere.so" does not exist'),
            ("text.so", 3, "text.so: it is not an ELF file"),
            ("org.example.none", 2, "org.example.none"),
            ("digits.json", 3, "digits.json: its manifest"),
        ):
            with self.subTest(given=given):
                done = self.tenon("plugins", "diff", "old.json", given)
                self.assertEqual((done.code, done.out), (code, ""))
                self.assertIn(part, done.err)


if __name__ == "__main__":
    unittest.main()
