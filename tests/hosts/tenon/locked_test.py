"""`tenon run --locked`: the very plugins of an earlier run, or nothing."""

import json
import subprocess
import unittest

from program import BUILD, ProgramTest

PLUGINS = BUILD / "lib" / "tenon" / "plugins"
SHORT = ("--limit", "train=2,val=1,test=1", "--set", "export=[]", "--set", "fit.epochs=1", "--no-preflight", "--quiet")


class LockedTest(ProgramTest):
    def run_digits(self, *arguments):
        return self.tenon("run", "digits.json", *SHORT, *arguments)

    def setUp(self):
        super().setUp()
        first = self.run_digits()
        self.assertEqual(first.code, 0, first.err)
        self.lock = self.folder / "runs" / "digits" / "0001" / "lock.json"

    def refused(self, *arguments):
        done = self.run_digits(*arguments)
        self.assertEqual((done.code, done.out), (3, ""), done.err)
        self.assertEqual([path.name for path in (self.folder / "runs" / "digits").iterdir()], ["0001"])
        return done.err

    def test_the_same_plugins_are_taken_by_file_and_by_run(self):
        for lock in (str(self.lock), "runs/digits/0001"):
            done = self.run_digits("--locked", lock)
            self.assertEqual(done.code, 0, done.err)

    def test_the_lock_has_every_plugin_that_the_run_opened_and_no_other(self):
        locked = {each["id"] for each in json.loads(self.lock.read_text())["plugins"]}
        self.assertIn("org.tenon.losses", locked)
        lock = json.loads(self.lock.read_text())
        for plugin in sorted(locked):
            with self.subTest(plugin=plugin):
                lock["plugins"] = [each for each in json.loads(self.lock.read_text())["plugins"] if each["id"] != plugin]
                (self.folder / "less.json").write_text(json.dumps(lock))
                self.assertIn(f"plugin {plugin} 0.1.0 is not in the lock", self.refused("--locked", "less.json"))

    def test_another_build_under_the_same_name_is_refused_before_anything_starts(self):
        extra = self.folder / "extra"
        extra.mkdir()
        subprocess.run(["strip", "-s", "-o", extra / "tenon_losses.so", PLUGINS / "tenon_losses.so"], check=True)
        err = self.refused("--locked", "runs/digits/0001", "--plugin-path", "extra")
        self.assertIn("error[lock-drift]: --locked runs/digits/0001: plugin org.tenon.losses is locked as sha256", err)
        self.assertIn(f"but {extra}/tenon_losses.so is sha256", err)

    def test_what_is_no_lock_is_named(self):
        (self.folder / "empty").mkdir()
        for given in ("nowhere.json", "digits.json", "empty"):
            with self.subTest(given=given):
                done = self.run_digits("--locked", given)
                self.assertEqual((done.code, done.out), (2, ""), done.err)
                self.assertIn(given, done.err)


if __name__ == "__main__":
    unittest.main()
