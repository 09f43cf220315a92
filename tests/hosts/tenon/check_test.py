"""`tenon check`: all mistakes at once, at their places, with the documented exit code."""

import json
import os
import unittest

from program import ProgramTest


class CheckTest(ProgramTest):
    def test_the_demo_has_no_errors(self):
        self.assertEqual(
            self.tenon("check", "digits.json"), (0, "digits.json: 17 nodes, 3 paths, no errors\n", "")
        )

    def test_two_planted_errors_are_both_reported_at_their_places(self):
        text = (self.folder / "digits.json").read_text()
        text = text.replace('"warmup"', '"warmpu"', 1).replace('"loss:cross_entropy"', '"loss:cros_entropy"', 1)
        self.write("broken.json", text)
        code, out, err = self.tenon("check", "broken.json")
        self.assertEqual((code, out), (2, ""))
        for word, meant in (('"warmpu"', '"warmup"'), ('"loss:cros_entropy"', '"loss:cross_entropy"')):
            offset = text.index(word)
            line = text.count("\n", 0, offset) + 1
            column = offset - (text.rfind("\n", 0, offset) + 1) + 1
            self.assertIn(f"--> broken.json:{line}:{column}  /nodes/", err)
            self.assertIn(f"did you mean {meant}?", err)
        self.assertTrue(err.endswith("2 errors; nothing was started\n"), err)

    def test_files_that_cannot_be_read(self):
        digits = (self.folder / "digits.json").read_text()
        self.write("empty.json", "")
        self.write("blank.json", " \n\t\n")
        self.write("truncated.json", digits[: len(digits) // 2])
        self.write("list.json", "[1, 2]")
        (self.folder / "binary.json").write_bytes(os.urandom(4) + bytes(range(256)) * 16)
        (self.folder / "zeros.json").write_bytes(bytes(4096))
        (self.folder / "folder.json").mkdir()
        os.mkfifo(self.folder / "pipe.json")
        (self.folder / "loop.json").symlink_to("loop.json")
        files = {
            "digit.json": ["error[missing-file]", "did you mean", "digits.json"],
            "empty.json": ["error[empty-file]"],
            "blank.json": ["error[empty-file]"],
            "truncated.json": ["error[truncated]", "truncated.json:"],
            "list.json": ["error", "list.json:1:1"],
            "binary.json": ["error[binary-file]"],
            "zeros.json": ["error[binary-file]"],
            "folder.json": ["error[unreadable-file]", "folder"],
            "pipe.json": ["error[unreadable-file]"],
            "loop.json": ["error[", "loop.json"],
            "digits.json/x": ["error["],
        }
        if os.geteuid() != 0:  # root may read everything
            self.write("secret.json", digits)
            (self.folder / "secret.json").chmod(0)
            files["secret.json"] = ["error[unreadable-file]", "ermission"]
        for command in ("check", "run", "explain"):
            for name, wanted in files.items():
                with self.subTest(command=command, file=name):
                    code, out, err = self.tenon(command, name)
                    self.assertEqual((code, out), (2, "" if name != "truncated.json" or command != "explain" else out))
                    for text in wanted:
                        self.assertIn(text, err)

    def test_settings_are_checked_like_the_file(self):
        for setting, wanted in (
            ("vars.lr=fast", ["bad-set", '"fast"']),
            ("vars.lr", ["bad-set"]),
            ("=1", ["bad-set"]),
            ("vars.rl=0.1", ["unknown-name", 'did you mean "lr"?']),
            ("nodes.opt.with.momentum=0.9", ["unknown-key", "momentum"]),
            ("nodes.opt.with.lr=-1", ["out-of-range"]),
            ('vars.lr="0.1"', ["wrong-type"]),
            ("run.seed=1.5", ["wrong-type"]),
            ("run.device=\"gpu\"", ["unknown-value"]),
            ("fit.clip.norm=[1", ["bad-set"]),
        ):
            with self.subTest(setting=setting):
                code, out, err = self.tenon("check", "digits.json", "--set", setting)
                self.assertEqual((code, out), (2, ""), err)
                for text in wanted:
                    self.assertIn(text, err)

    def test_settings_and_overlays_are_merged_in_order(self):
        self.write("more.json", '{ "vars": { "epochs": 3 } }')
        self.assertEqual(self.tenon("check", "digits.json", "--overlay", "more.json").code, 0)
        self.write("worse.json", '{ "vars": { "epochs": -3 } }')
        self.assertEqual(self.tenon("check", "digits.json", "--overlay", "worse.json").code, 2)
        both = ["--overlay", "worse.json", "--overlay", "more.json"]
        self.assertEqual(self.tenon("check", "digits.json", *both).code, 0)
        self.assertEqual(self.tenon("check", "digits.json", "--overlay", "worse.json", "--set", "vars.epochs=2").code, 0)
        code, _, err = self.tenon("check", "digits.json", "--overlay", "mor.json")
        self.assertEqual(code, 2)
        self.assertIn("missing-file", err)

    def test_json_has_one_result_and_a_line_for_each_mistake(self):
        code, out, err = self.tenon("check", "digits.json", "--format", "json")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(
            json.loads(out),
            {"pipeline": "digits.json", "errors": 0, "warnings": 0, "exit_code": 0, "nodes": 17, "paths": 3},
        )
        settings = ["--set", "run.device=\"gpu\"", "--set", "vars.rl=1"]
        code, out, err = self.tenon("check", "digits.json", "--format", "json", *settings)
        self.assertEqual(code, 2)
        self.assertEqual(json.loads(out), {"pipeline": "digits.json", "errors": 2, "warnings": 0, "exit_code": 2})
        mistakes = [json.loads(line) for line in err.splitlines()]
        self.assertEqual(sorted(each["code"]["code"] for each in mistakes), ["unknown-name", "unknown-value"])
        for each in mistakes:
            self.assertEqual(each["level"], "error")
            self.assertTrue(each["spans"][0]["is_primary"])
            self.assertIn(each["message"], each["rendered"])

    def test_a_shape_mismatch_names_both_nodes_and_both_shapes(self):
        def append_a_second_network(pipeline):
            nodes = pipeline["nodes"]
            nodes["top"] = {"use": "model:cnn", "in": {"image": "net.logits"}, "with": {"classes": 10}}
            nodes["loss"]["in"]["logits"] = nodes["acc"]["in"]["logits"] = "top.logits"
            nodes["opt"]["of"] = ["net", "top"]

        code, out, err = self.tenon("check", self.demo(append_a_second_network))
        self.assertEqual((code, out), (2, ""))
        self.assertTrue(err.startswith("error[shape-mismatch]: "), err)
        self.assertIn("  /nodes/top/in/image\n", err)
        title = err.splitlines()[0]
        for text in ('"top"', '"net.logits"', "[N, C, H, W]", "[N, 10]"):
            self.assertIn(text, title)

    def test_with_strict_a_warning_is_an_error(self):
        warned = self.demo(lambda pipeline: pipeline["vars"].update(unused=1))
        code, out, err = self.tenon("check", warned)
        self.assertEqual(code, 0)
        self.assertIn("warning[unused-variable]", err)
        code, out, err = self.tenon("check", warned, "--strict")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("error[unused-variable]", err)
        self.assertTrue(err.endswith("1 error; nothing was started\n"), err)
        code, out, err = self.tenon("check", warned, "--strict", "--format", "json")
        self.assertEqual((code, json.loads(out)["errors"], json.loads(out)["warnings"]), (2, 1, 0))
        self.assertEqual(json.loads(err)["level"], "error")
        self.assertEqual(self.tenon("check", "digits.json", "--strict"), self.tenon("check", "digits.json"))

    def test_with_strict_a_warning_of_the_search_for_plugins_counts(self):
        arguments = ["check", "digits.json"]
        environment = {"TENON_PLUGIN_PATH": str(self.folder / "nowhere")}
        code, _, err = self.tenon(*arguments, env=environment)
        self.assertEqual(code, 0, err)
        self.assertIn("warning[plugin-path]", err)
        code, _, err = self.tenon(*arguments, "--strict", env=environment)
        self.assertEqual(code, 2)
        self.assertIn("the search for plugins gave 1 warning", err)

    def test_the_share_of_each_rank_is_told(self):
        code, out, err = self.tenon("check", "digits.json", "--world", "4")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("  train  64 samples a micro-batch, 16 on each of 4 ranks\n", out)
        self.assertIn("  val    256 samples a micro-batch, 64 on each of 4 ranks\n", out)
        self.assertIn("64 on each of 1 rank\n", self.tenon("check", "digits.json", "--world", "1").out)
        whole = json.loads(self.tenon("check", "digits.json", "--world", "4", "--format", "json").out)
        self.assertEqual(whole["world"]["size"], 4)
        self.assertIn({"node": "train", "batch": 64, "least": 16, "most": 16}, whole["world"]["loaders"])

    def test_uneven_shares_are_a_warning_at_the_batch(self):
        place = (self.folder / "digits.json").read_text()[: (self.folder / "digits.json").read_text().index("64,")]
        code, out, err = self.tenon("check", "digits.json", "--world", "3")
        self.assertEqual(code, 0)
        self.assertIn("train  64 samples a micro-batch, 21 or 22 on each of 3 ranks", out)
        line, column = place.count("\n") + 1, len(place) - place.rfind("\n")
        self.assertIn(f"--> digits.json:{line}:{column}  /nodes/train/with/batch", err)
        self.assertIn("63 and 66 can be shared evenly", err)
        self.assertEqual(err.count("warning[uneven-batch]"), 3)
        self.assertEqual(self.tenon("check", "digits.json", "--world", "3", "--strict").code, 2)

    def test_a_rank_without_samples_is_an_error(self):
        code, out, err = self.tenon("check", "digits.json", "--world", "65")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("error[batch-too-small]: a batch of 64 samples leaves 1 of 65 ranks without any", err)
        self.assertIn("at least 65", err)
        self.assertEqual(self.tenon("check", "digits.json", "--world", "64").code, 0)

    def test_a_world_that_is_no_number_of_ranks_is_a_usage_error(self):
        for world in ("0", "-1", "x", "4x", "1.5", "99999999999999999999", "1000001", " 4", "+4"):
            with self.subTest(world=world):
                code, out, err = self.tenon("check", "digits.json", f"--world={world}")
                self.assertEqual((code, out), (2, ""))
                self.assertIn("--world takes a number of ranks from 1 to 1000000", err)


if __name__ == "__main__":
    unittest.main()
