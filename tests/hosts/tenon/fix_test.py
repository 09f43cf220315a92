"""`tenon fix`: safe corrections alone, each in its file, and not a byte more."""

import difflib
import json
import os
import re
import shutil
import stat
import subprocess
import unittest

from program import PIPELINES, SOURCE, ProgramTest

DEMO = (PIPELINES / "digits.json").read_text()

# Slips that leave no doubt: what the demo has, and what stands there instead.
SLIPS = [
    ('"warmup"', '"warmpu"'),
    ('"weight_decay"', '"weigth_decay"'),
    ('"determinism": "strict"', '"determinism": "strct"'),
    ('"${vars.epochs}"', '"${vars.epohcs}"'),
    ('"float32": "ieee", ', '"float32": "ieee",, '),
    ('"pixels"', "'pixels'"),
    ('"seed": 7', '"seed": "7"'),
    ("[ \"script\" ]\n", "[ \"script\" ],\n"),
    ('"name": "digits",', '"name": "digits"'),
]


class FixTest(ProgramTest):
    def broken(self, *slips, name="broken.json"):
        text = DEMO
        for good, bad in slips:
            self.assertGreaterEqual(text.count(good), 1, good)
            text = text.replace(good, bad, 1)
        return self.write(name, text)

    def fix(self, *arguments):
        return self.tenon("fix", *arguments)

    def applied(self, patch, name):
        """What `patch` makes of a file."""
        shutil.copy(self.folder / name, self.folder / "patched")
        subprocess.run(["patch", "-s", "patched"], cwd=self.folder, input=patch, text=True, check=True)
        return (self.folder / "patched").read_text()

    def test_each_slip_is_undone_to_the_byte(self):
        for good, bad in SLIPS:
            with self.subTest(bad=bad):
                name = self.broken((good, bad))
                self.assertEqual(self.tenon("check", name).code, 2)
                code, out, err = self.fix(name)
                self.assertEqual((code, err), (0, f"{name}: 1 correction\n"))
                self.assertEqual((self.folder / name).read_text(), DEMO)
                old, new = (line for line in out.splitlines() if re.match(r"[-+][^-+]", line))
                self.assertIn(bad.strip(), old)
                self.assertIn(good.strip(), new)

    def test_all_slips_at_once_are_undone_in_rounds(self):
        name = self.broken(*SLIPS)
        before = (self.folder / name).read_text()
        code, out, err = self.fix(name)
        self.assertEqual((code, err), (0, f"{name}: {len(SLIPS)} corrections\n"))
        self.assertEqual((self.folder / name).read_text(), DEMO)
        wanted = difflib.unified_diff(before.splitlines(True), DEMO.splitlines(True), name, name)
        self.assertEqual(out, "".join(wanted))

    def test_a_dry_run_shows_the_same_and_changes_nothing(self):
        name = self.broken(*SLIPS)
        before = (self.folder / name).read_bytes()
        dry = self.fix(name, "--dry-run")
        self.assertEqual(dry.err, f"{name}: {len(SLIPS)} corrections to be made\n")
        self.assertEqual((self.folder / name).read_bytes(), before)
        if shutil.which("patch"):
            self.assertEqual(self.applied(dry.out, name), DEMO)
        real = self.fix(name)
        self.assertEqual((real.code, real.out), (dry.code, dry.out))

    def test_a_clean_pipeline_is_left_alone(self):
        before = (self.folder / "digits.json").stat()
        self.assertEqual(self.fix("digits.json"), (0, "", "digits.json: nothing to correct\n"))
        after = (self.folder / "digits.json").stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))

    def test_what_needs_a_person_is_told_and_left(self):
        name = self.broken(SLIPS[0], ('"optimizer:adamw"', '"optimizer:lamb"'), ('"epochs": 25', '"epochs": -25'))
        code, out, err = self.fix(name)
        self.assertEqual(code, 2)
        self.assertIn('+    "sched"', out)
        text = (self.folder / name).read_text()
        self.assertIn('"warmup"', text)
        self.assertIn('"optimizer:lamb"', text)
        self.assertIn('"epochs": -25', text)
        self.assertIn("1 correction\n", err)
        self.assertIn("error[", err)
        self.assertTrue(err.endswith("; the rest needs you\n"), err)
        again = self.fix(name)
        self.assertEqual((again.code, again.out), (2, ""))

    def test_corrections_go_where_the_mistake_stands(self):
        base = self.broken(SLIPS[0], name="base.json")
        self.write("mine.json", '{\n  "extends": "base.json",\n  "run": { "thread": 3 }\n}\n')
        self.write("small.json", '{ "vars": { "epochs": "3" } }')
        self.assertEqual(self.tenon("check", "mine.json", "--overlay", "small.json").code, 2)
        dry = self.fix("mine.json", "--overlay", "small.json", "--dry-run")
        code, out, err = self.fix("mine.json", "--overlay", "small.json")
        self.assertEqual(code, 0, err)
        self.assertEqual((dry.code, dry.out), (code, out))
        self.assertEqual(dry.err, err.replace("correction", "correction to be made"))
        self.assertEqual((self.folder / base).read_text(), DEMO)
        self.assertIn('"run": { "threads": 3 }', (self.folder / "mine.json").read_text())
        self.assertEqual((self.folder / "small.json").read_text(), '{ "vars": { "epochs": 3 } }')
        for name in ("base.json", "mine.json", "small.json"):
            self.assertIn(f"--- {name}\n+++ {name}\n", out)
            self.assertIn(f"{name}: 1 correction\n", err)
        self.assertIn("\\ No newline at end of file\n", out)

    def test_a_file_that_is_read_twice_is_corrected_once(self):
        self.broken(SLIPS[0], SLIPS[1], name="base.json")
        (self.folder / "same.json").symlink_to("base.json")
        for name in ("left", "right"):
            self.write(f"{name}.json", '{ "extends": "' + {"left": "base", "right": "./same"}[name] + '.json" }')
        self.write("mine.json", '{ "extends": ["left.json", "right.json"] }')
        code, out, err = self.fix("mine.json")
        self.assertEqual(code, 0)
        self.assertRegex(err, r"^(base|\./same)\.json: 2 corrections\n$")
        self.assertEqual((self.folder / "base.json").read_text(), DEMO)

    def test_comments_line_ends_and_odd_bytes_stay(self):
        text = "\ufeff// Zeile eins\r\n" + DEMO.replace("\n", "\r\n").replace('"warmup"', '"warmpu" /* ü\t*/', 1) + "\r\n\r\n"
        (self.folder / "odd.jsonc").write_bytes(text.encode())
        code, out, err = self.fix("odd.jsonc")
        self.assertEqual(code, 0, err)
        self.assertEqual(err, "odd.jsonc: 2 corrections\n")
        wanted = text.removeprefix("\ufeff").replace('"warmpu"', '"warmup"')
        self.assertEqual((self.folder / "odd.jsonc").read_bytes(), wanted.encode())
        self.assertIn("\r\n", subprocess.run(["cat"], input=out.encode(), capture_output=True).stdout.decode())

    def test_permissions_and_links_stay(self):
        name = self.broken(SLIPS[0])
        (self.folder / name).chmod(0o640)
        (self.folder / "link.json").symlink_to(name)
        code, out, err = self.fix("link.json")
        self.assertEqual(code, 0, err)
        self.assertTrue((self.folder / "link.json").is_symlink())
        self.assertEqual((self.folder / name).read_text(), DEMO)
        self.assertEqual(stat.S_IMODE((self.folder / name).stat().st_mode), 0o640)
        self.assertEqual(sorted(os.listdir(self.folder)), ["broken.json", "digits.json", "link.json"])

    @unittest.skipIf(os.geteuid() == 0, "root may write everything")
    def test_what_may_not_be_written_is_told_before_anything_is(self):
        self.broken(SLIPS[0], name="base.json")
        (self.folder / "base.json").chmod(0o444)
        mine = self.write("mine.json", '{ "extends": "base.json", "run": { "thread": 3 } }')
        code, out, err = self.fix(mine)
        self.assertEqual((code, out), (10, ""))
        self.assertIn("cannot change base.json", err)
        self.assertIn('"thread"', (self.folder / "mine.json").read_text())

    def test_files_that_hold_no_pipeline_stay(self):
        (self.folder / "binary.json").write_bytes(bytes(range(256)) * 16)
        for name, text in (("empty.json", ""), ("list.json", "[1, 2]"), ("deep.json", "[" * 5000), ("cut.json", DEMO[:900])):
            self.write(name, text)
        for name in ("binary.json", "empty.json", "list.json", "deep.json", "cut.json", "missing.json"):
            with self.subTest(file=name):
                path = self.folder / name
                before = path.read_bytes() if path.exists() else None
                code, out, err = self.fix(name, "--dry-run")
                self.assertEqual(code, 2, err)
                self.assertIn("error[", err)
                self.assertEqual(path.read_bytes() if path.exists() else None, before)
        self.assertEqual(self.fix("list.json").out, "")
        self.assertEqual((self.folder / "list.json").read_text(), "[1, 2]")

    def test_every_safe_suggestion_of_the_bad_pipelines_helps(self):
        """A safe suggestion is gone once it is made, and never leaves the file worse to read."""
        files = sorted((SOURCE / "tests/pipelines/bad").glob("*.json*"))
        self.assertGreater(len(files), 10)
        folder = self.folder / "bad"
        shutil.copytree(SOURCE / "tests/pipelines/bad", folder)
        tried = 0
        for file in files:
            name = f"bad/{file.name}"
            before = self.safe_suggestions(name)
            if not before:
                continue
            tried += 1
            with self.subTest(file=file.name):
                done = self.fix(name)
                self.assertIn(done.code, (0, 2, 3))
                self.assertEqual(self.safe_suggestions(name), [], done.out)
        self.assertGreater(tried, 2)

    def safe_suggestions(self, name):
        err = self.tenon("check", name, "--format", "json").err
        return [
            (place["byte_start"], place["suggested_replacement"])
            for line in err.splitlines()
            for child in json.loads(line)["children"]
            for place in child["spans"]
            if place["suggestion_applicability"] == "MachineApplicable"
        ]

    def test_a_mistaken_command_line(self):
        self.assertIn("PIPE is missing", self.fix().err)
        self.assertIn("--dry-run takes no value", self.fix("digits.json", "--dry-run=yes").err)
        self.assertEqual(self.fix("digits.json", "--overlay", "nothing.json").code, 2)


if __name__ == "__main__":
    unittest.main()
