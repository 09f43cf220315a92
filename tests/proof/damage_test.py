"""A checkpoint that is damaged is named, the one before it is used, and without a sound one nothing starts."""

import pathlib
import random
import shutil
import tempfile
import unittest

import runs

STOP = 9  # checkpoints of steps 4 and 8, and that of the stop


def flip(file):
    content = bytearray(file.read_bytes())
    content[random.Random(file.name).randrange(len(content))] ^= 0x10
    file.write_bytes(content)


def truncate(file):
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


DAMAGES = {"one flipped bit": flip, "half of it": truncate, "nothing": pathlib.Path.unlink}


class DamageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name).resolve()
        cls.file = runs.pipeline(cls.folder, checkpoint="4 steps", validate="6 steps", epochs=2, keep={"last": 3})
        cls.stopped, _ = runs.run(cls.file, cls.folder / "stopped", "--interrupt-at", str(STOP), expect=runs.PREEMPTED)

    def damaged_copy(self, damage, name, steps=(STOP,)):
        copy = self.folder / "damaged"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / "stopped", copy)
        for step in steps:
            [checkpoint] = copy.glob(f"digits/0001/checkpoints/step-{step:06d}")
            damage(checkpoint / name)
        return copy

    def test_each_file_and_each_damage_leads_to_the_checkpoint_before(self):
        names = sorted(path.name for path in pathlib.Path(self.stopped["checkpoint"]).iterdir())
        self.assertEqual(names, ["manifest.json", "model.net.safetensors", "optimizer.opt.safetensors", "state.json",
                                 "training.safetensors"])
        for name in names:
            for what, damage in DAMAGES.items():
                with self.subTest(file=name, left=what):
                    copy = self.damaged_copy(damage, name)
                    resumed, err = runs.run(self.file, copy, "--resume", "must", "--interrupt-at", "10",
                                            expect=runs.PREEMPTED)
                    self.assertEqual((resumed["first_step"], resumed["steps_executed"]), (8, 2))
                    self.assertIn(f"step-{STOP:06d}", err)
                    self.assertIn(name, err)

    def test_the_way_over_the_checkpoint_before_ends_with_the_same_bytes(self):
        straight, _ = runs.run(self.file, self.folder / "straight")
        copy = self.damaged_copy(flip, "optimizer.opt.safetensors")
        resumed, _ = runs.run(self.file, copy, "--resume", "auto")
        self.assertEqual(resumed["first_step"], 8)
        different, compared = runs.different_files(straight["checkpoint"], resumed["checkpoint"])
        self.assertEqual(different, [])
        self.assertGreater(compared, 10_000)
        self.assertEqual(runs.comparable_log(straight["directory"]), runs.comparable_log(resumed["directory"]))

    def test_without_a_sound_checkpoint_nothing_starts(self):
        copy = self.damaged_copy(flip, "model.net.safetensors", steps=(4, 8, STOP))
        before = sorted(copy.rglob("*"))
        _, err = runs.run(self.file, copy, "--resume", "must", expect=9)
        for step in (4, 8, STOP):
            self.assertIn(f"step-{step:06d}", err)
        self.assertIn("model.net.safetensors", err)
        self.assertEqual(sorted(copy.rglob("*")), before)


if __name__ == "__main__":
    unittest.main()
