"""`tenon plugins new`: what it lists, what it refuses, and that nothing half written stays."""

import os
import re
import shlex
import stat
import sys
import unittest

from program import BUILD, SOURCE, ProgramTest

TEMPLATES = SOURCE / "sdk/templates/plugins"
KINDS = sorted(path.parent.name for path in TEMPLATES.glob("*/README.part.md"))


class PluginsNewTest(ProgramTest):
    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def files_of(self, folder):
        return {path.name: path.read_text() for path in (self.folder / folder).iterdir()}

    def test_without_a_kind_all_are_listed_each_with_a_sentence(self):
        code, out, err = self.tenon("plugins", "new")
        self.assertEqual((code, err), (0, ""))
        lines = dict(re.split(r"  +", line, maxsplit=1) for line in out.splitlines())
        self.assertEqual(sorted(lines), KINDS)
        self.assertEqual(len(KINDS), 11)
        for kind, summary in lines.items():
            self.assertRegex(summary, r"^An? [\w ]*\b\w+ \w+")
            self.assertEqual("--cuda" in summary, (TEMPLATES / kind / "cuda").exists(), kind)

    def test_every_template_begins_with_a_sentence_for_the_list_and_has_all_its_parts(self):
        for kind in KINDS:
            with self.subTest(kind):
                files = {path.name for path in (TEMPLATES / kind).iterdir()}
                self.assertLessEqual({f"my_{kind}.cpp", f"my_{kind}_test.cpp", "pipeline.jsonc", "README.part.md"}, files)

    def test_the_words_of_the_template_become_those_of_the_plugin(self):
        code, out, err = self.tenon("plugins", "new", "transform", "random_crop_2d", "--id", "com.acme.crop")
        self.assertEqual((code, err), (0, ""))
        files = self.files_of("random_crop_2d")
        self.assertEqual(sorted(files), [".gitignore", "CMakeLists.txt", "README.md", "pipeline.jsonc",
                                         "random_crop_2d.cpp", "random_crop_2d_test.cpp"])
        for name in files:
            self.assertIn(f"  {name}\n", out)
        template = (TEMPLATES / "transform/my_transform.cpp").read_text()
        self.assertEqual(files["random_crop_2d.cpp"],
                         template.replace("my_transform", "random_crop_2d").replace("MyTransform", "RandomCrop2d"))
        self.assertIn("tenon_add_plugin(random_crop_2d ID com.acme.crop VERSION 0.1.0 LICENCE Apache-2.0)",
                      files["CMakeLists.txt"])
        self.assertNotIn("tenon_enable_cuda", files["CMakeLists.txt"])
        self.assertIn("A transform makes a sample of a sample", files["README.md"])
        self.assertIn("tenon plugins show transform:random_crop_2d", files["README.md"])
        self.assertIn('"name": "random_crop_2d"', files["pipeline.jsonc"])

    def test_kinds_over_libtorch_say_so_and_a_variant_for_cuda_enables_it(self):
        self.assertEqual(self.tenon("plugins", "new", "loss", "focal", "--cuda").code, 0)
        files = self.files_of("focal")
        self.assertIn("LICENCE Apache-2.0 TORCH)", files["CMakeLists.txt"])
        self.assertIn("find_package(Tenon REQUIRED)\ntenon_enable_cuda()\n", files["CMakeLists.txt"])
        self.assertIn("\nnamespace focal_plugin {", files["focal.cpp"], "a function of C may be called like the plugin")
        self.assertTrue(any(name.endswith(".cu") for name in files))
        for name, text in files.items():
            self.assertNotRegex(name + text, r"my_|My[A-Z]|@[A-Z]+@")

    def test_the_files_are_the_users_own_and_nothing_else_stays(self):
        self.assertEqual(self.tenon("plugins", "new", "metric", "mine", "--out", "a b/").code, 0)
        self.assertEqual(self.names(), ["a b", "digits.json"])
        umask = os.umask(0)
        os.umask(umask)
        self.assertEqual(stat.S_IMODE((self.folder / "a b").stat().st_mode), 0o777 & ~umask)
        self.assertEqual(stat.S_IMODE((self.folder / "a b/mine.cpp").stat().st_mode), 0o666 & ~umask)

    def test_the_next_commands_name_the_folder_and_this_build(self):
        out = self.tenon("plugins", "new", "metric", "mine", "--out", "a b").out
        lines = [shlex.split(line) for line in out[out.index("\nnext:\n") + 7 :].splitlines()]
        install, configure, build, test, check, run = lines  # a build has to be installed first
        self.assertEqual(install[:3], ["cmake", "--install", str(BUILD.resolve())])
        self.assertIn(f"-DCMAKE_PREFIX_PATH={install[-1]}", configure)
        self.assertEqual(configure[1:5], ["-S", "a b", "-B", "a b/build"])
        self.assertEqual(build, ["cmake", "--build", "a b/build"])
        self.assertEqual(test[:3], ["ctest", "--test-dir", "a b/build"])
        self.assertEqual(check[1:], ["plugins", "check", "a b/build/mine.so"])
        self.assertEqual(run[1:], ["run", "a b/pipeline.jsonc", "--plugin-path", "a b/build"])

    def test_the_pipeline_is_without_fault_once_the_plugin_is_there(self):
        for kind in KINDS:
            self.assertEqual(self.tenon("plugins", "new", kind, f"own_{kind}").code, 0)
            code, _, err = self.tenon("check", f"own_{kind}/pipeline.jsonc")
            with self.subTest(kind):
                self.assertEqual(code, 2)
                self.assertIn(f"own_{kind}", err)
                self.assertIn("1 error", err)  # the component alone is missing

    def test_a_folder_that_is_there_stays(self):
        (self.folder / "mine").mkdir()
        (self.folder / "link").symlink_to("nowhere")
        self.write("file", "mine")
        before = self.names()
        for arguments in (["mine"], ["own", "--out", "link"], ["own", "--out", "file"], ["own", "--out", "."],
                          ["own", "--out", "mine/"]):
            with self.subTest(arguments=arguments):
                code, out, err = self.tenon("plugins", "new", "loss", *arguments)
                self.assertEqual((code, out), (2, ""))
                self.assertIn("is there already and stays as it is", err)
        self.assertEqual(self.names(), before)
        self.assertEqual(list((self.folder / "mine").iterdir()), [])

    def test_what_cannot_be_made_is_told_with_the_fix(self):
        for arguments, code, wanted in (
            (["tranform", "mine"], 2, 'did you mean "transform"?'),
            (["loader", "mine"], 2, "tenon plugins new lists them"),
            (["", "mine"], 2, "tenon plugins new lists them"),
            (["mine", "loss"], 2, "the kind comes first: tenon plugins new loss mine"),
            (["loss"], 2, "NAME is missing: tenon plugins new loss my_loss"),
            (["loss", "mine", "more"], 2, "one argument too many"),
            (["--out", "x"], 2, "--out goes with KIND and NAME"),
            (["--cuda"], 2, "--cuda goes with KIND and NAME"),
            (["metric", "mine", "--cuda"], 2, "--cuda goes with transform and loss"),
            (["loss", ""], 2, "begins with a lower-case letter"),
            (["loss", "FocalLoss"], 2, 'did you mean "focal_loss"?'),
            (["loss", "focal-loss"], 2, 'did you mean "focal_loss"?'),
            (["loss", "focal__loss"], 2, 'did you mean "focal_loss"?'),
            (["loss", "focal_"], 2, 'did you mean "focal"?'),
            (["loss", "2focal"], 2, 'did you mean "focal"?'),
            (["loss", "3DCrop"], 2, 'did you mean "dcrop"?'),
            (["loss", "../focal"], 2, 'did you mean "focal"?'),
            (["loss", "ü"], 2, "begins with a lower-case letter"),
            (["loss", "Class"], 2, "single underscores"),
            (["loss", "class"], 2, "C++ has a keyword of that name"),
            (["loss", "co_await"], 2, "C++ has a keyword of that name"),
            (["loss", "test"], 2, "for something else"),
            (["loss", "std"], 2, "for something else"),
            (["loss", "focal_test"], 2, "counts as a test"),
            (["loss", "x" * 61], 2, "at most 60 characters, and this one has 61"),
            (["loss", "mse"], 2, "loss:mse is there already, in org.tenon.losses"),
            (["loss", "mine", "--id", "mine"], 2, "a reverse domain name"),
            (["loss", "mine", "--id", "Org.example"], 2, "a reverse domain name"),
            (["loss", "mine", "--id", "org..example"], 2, "a reverse domain name"),
            (["loss", "mine", "--id", "org.example."], 2, "a reverse domain name"),
            (["loss", "mine", "--id", "org.tenon.losses"], 2, "tenon_losses.so: choose another id with --id"),
            (["loss", "mine", "--id", "org.tenon.kernel"], 2, "already, the kernel itself: choose another id with --id"),
            (["loss", "mine", "--out", ""], 2, "--out takes the name of a folder"),
            (["loss", "mine", "--out", "no/such"], 2, "no is no folder; make it first"),
            (["loss", "mine", "--out", "digits.json/x"], 2, "digits.json is no folder"),
            (["loss", "mine", "--out", "x" * 300], 10, "too long"),
        ):
            with self.subTest(arguments=arguments):
                done = self.tenon("plugins", "new", *arguments)
                self.assertEqual((done.code, done.out), (code, ""), done.err)
                self.assertIn(wanted, done.err)
                self.assertEqual(self.names(), ["digits.json"])

    def test_a_name_of_another_kind_may_be_had(self):
        self.assertEqual(self.tenon("plugins", "new", "metric", "mse").code, 0)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_place_that_cannot_be_written_is_told(self):
        (self.folder / "closed").mkdir(mode=0o500)
        code, out, err = self.tenon("plugins", "new", "loss", "mine", "--out", "closed/mine")
        self.assertEqual((code, out), (10, ""))
        self.assertIn("Permission denied", err)

    def test_kinds_complete_and_new_names_do_not(self):
        script = self.tenon("completion", "bash").out
        self.assertIn(f"'plugins new '0) REPLY='{' '.join(self.listed())}' ;;", script)
        self.assertNotIn("'plugins new '1)", script)

    def listed(self):
        return [line.split()[0] for line in self.tenon("plugins", "new").out.splitlines()]


if __name__ == "__main__":
    sys.exit(unittest.main())
