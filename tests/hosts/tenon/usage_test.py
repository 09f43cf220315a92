"""A command line that is not understood ends with 2, says what is wrong, and starts nothing."""

import unittest

from program import ProgramTest

MISTAKES = [
    # words, what standard error must hold
    (["chekc", "digits.json"], ['no command "chekc"', 'did you mean "tenon check"?']),
    (["rnu"], ['no command "rnu"', 'did you mean "tenon run"?']),
    (["Plugins"], ['did you mean "tenon plugins"?']),
    (["xyzzy"], ['no command "xyzzy"', "tenon help lists the commands"]),
    (["digits.json"], ['no command "digits.json"', "to train a pipeline: tenon run digits.json"]),
    (["--verison"], ['no option "--verison"', 'did you mean "tenon --version"?']),
    (["plugins", "lst"], ['no command "lst"', 'did you mean "tenon plugins list"?']),
    (["plugins", "sohw", "adamw"], ['did you mean "tenon plugins show"?']),
    (["help", "explian"], ['did you mean "tenon explain"?']),
    (["help", "plugins", "lits"], ['did you mean "tenon plugins list"?']),
    (["check"], ["PIPE is missing", "usage: tenon check PIPE", "tenon check --help tells more"]),
    (["run", "digits.json", "other.json"], ['"other.json" is one argument too many']),
    (["check", "digits.json", "--overaly", "x.json"], ['no option "--overaly"', 'did you mean "--overlay"?']),
    (["check", "digits.json", "--ste=vars.lr=1"], ['no option "--ste"', 'did you mean "--set"?']),
    (["run", "digits.json", "-set", "vars.lr=1"], ['no option "-set"', 'did you mean "--set"?']),
    (["run", "digits.json", "--format", "json"], ['no option "--format"']),
    (["check", "digits.json", "--form", "json"], ['no option "--form"']),
    (["check", "digits.json", "--format", "jsn"], ["--format takes text or json", 'did you mean "json"?']),
    (["check", "digits.json", "--format"], ["--format needs a value: --format text|json"]),
    (["check", "digits.json", "--set="], ["--set needs a value: --set PATH=JSON"]),
    (["check", "digits.json", "--format", "json", "--format", "text"], ["--format is given 2 times"]),
    (["check", "digits.json", "--color", "blue"], ['--color takes auto or always or never, not "blue"']),
    (["check", "digits.json", "--help=yes"], ["--help takes no value"]),
    (["check", "--no", "--such"], ['no option "--no"', 'no option "--such"']),
    (["explain", "digits.json", "a", "b"], ['"b" is one argument too many']),
    (["plugins", "show"], ["NAME is missing"]),
    (["plugins", "list", "--kind", "los"], ['no kind "los"', 'did you mean "loss"?']),
    (["plugins", "list", "--plugin-path", "nowhere"], ["nowhere"]),
    (["artefact-run"], ["--component EXPORTER is missing", "--outputs FILE is missing"]),
]


class UsageTest(ProgramTest):
    def test_every_mistake_is_named_with_its_fix(self):
        for words, wanted in MISTAKES:
            with self.subTest(words=words):
                code, out, err = self.tenon(*words)
                self.assertEqual((code, out), (2, ""), err)
                self.assertRegex(err, r"^error(\[config\])?: ")
                for text in wanted:
                    self.assertIn(text, err)

    def test_behind_two_dashes_nothing_is_an_option(self):
        err = self.tenon("check", "--", "--set").err
        self.assertNotIn("needs a value", err)
        self.assertIn("--set", err)
        self.assertIn("missing-file", err)

    def test_an_empty_argument_is_told(self):
        code, out, err = self.tenon("")
        self.assertEqual((code, out), (2, ""))
        self.assertIn('no command ""', err)


if __name__ == "__main__":
    unittest.main()
