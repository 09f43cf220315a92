"""Help is enough to work from, and is the same wherever it is asked for."""

import re
import unittest

from program import COMMANDS, PLUMBING, ProgramTest

SECTIONS = ["Usage", "Options of every command", "Examples", "Exit codes"]


class HelpTest(ProgramTest):
    def test_every_command_has_a_page(self):
        for name in COMMANDS + PLUMBING:
            with self.subTest(command=name):
                code, out, err = self.tenon(*name.split(), "--help")
                self.assertEqual((code, err), (0, ""))
                self.assertTrue(out.startswith(f"tenon {name}: "), out[:80])
                lines = out.split("\n")
                for section in SECTIONS:
                    self.assertIn(section, lines)
                self.assertIn(f"  tenon {name}", out[out.index("Examples") :])
                self.assertRegex(out[out.index("Exit codes") :], r"\n  0 +\w+")
                self.assertLessEqual(max(map(len, lines)), 100)
                self.assertEqual([line for line in lines if line.endswith(" ")], [])

    def test_a_page_fits_into_a_terminal_and_says_the_same(self):
        for arguments in ([], ["plugins"], ["run", "--help"], ["explain", "--help"]):
            with self.subTest(arguments=arguments):
                wide = self.tenon(*arguments).out
                narrow = self.tenon_on_terminal(*arguments, "--color=never" if arguments[1:] else "--help", columns=72)
                shown = re.sub("\x1b\\[[0-9;]*m", "", narrow.out).replace("\r\n", "\n")
                self.assertEqual(shown.split(), wide.split())
                text = shown.partition("\nExamples\n")[0]
                self.assertLessEqual(max(map(len, text.split("\n"))), 72)

    def test_the_synopsis_names_every_option(self):
        for name in COMMANDS + PLUMBING:
            with self.subTest(command=name):
                out = self.tenon(*name.split(), "--help").out
                usage = out[out.index("Usage") : out.index("Options of every command")]
                if "\nOptions\n" in out:
                    own = out[out.index("\nOptions\n") : out.index("\nOptions of every command")]
                    for option in re.findall(r"^  (--[\w-]+)", own, re.MULTILINE):
                        self.assertGreaterEqual(usage.count(option), 2, option)

    def test_options_of_a_page_are_taken(self):
        for name in COMMANDS + PLUMBING:
            out = self.tenon(*name.split(), "--help").out
            for option in re.findall(r"^  (--[\w-]+)", out, re.MULTILINE):
                with self.subTest(command=name, option=option):
                    # Behind --format a mistake stops the command; the option itself is none.
                    err = self.tenon(*name.split(), option, "text", "--no-such-option").err
                    self.assertNotIn(f'there is no option "{option}"', err)

    def test_help_may_be_asked_for_in_four_ways(self):
        for name in COMMANDS + PLUMBING:
            with self.subTest(command=name):
                words = name.split()
                page = self.tenon(*words, "--help")
                self.assertEqual(self.tenon("help", *words), page)
                self.assertEqual(self.tenon(*words, "-h"), page)
                self.assertEqual(self.tenon(*words, "--no-such-option", "--help"), page)

    def test_the_overview_lists_the_commands_but_no_plumbing(self):
        overview = self.tenon()
        self.assertEqual((overview.code, overview.err), (0, ""))
        for arguments in (["help"], ["--help"], ["-h"]):
            self.assertEqual(self.tenon(*arguments), overview)
        listed = re.findall(r"^  ([a-z]+(?: [a-z]+)?)[^\n]*  +\w", overview.out, re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(COMMANDS))
        self.assertNotIn("artefact", overview.out)

    def test_a_family_lists_its_members(self):
        page = self.tenon("plugins")
        self.assertEqual((page.code, page.err), (0, ""))
        self.assertIn("tenon plugins list ", page.out)
        self.assertIn("tenon plugins show [NAME] ", page.out)
        for arguments in (["plugins", "--help"], ["help", "plugins"]):
            self.assertEqual(self.tenon(*arguments), page)

    def test_the_version_names_program_and_libtorch(self):
        code, out, err = self.tenon("--version")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^tenon \d+\.\d+\.\d+, for libtorch 2\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
