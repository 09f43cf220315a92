"""`tenon completion`: the scripts, run in the shells themselves."""

import json
import os
import re
import shlex
import shutil
import subprocess
import unittest

from program import PROGRAM, ProgramTest

# A bash that answers as for a Tab at the end of the line: $1 is the script, $2 the words joined by line feeds.
BASH = r"""
source "$1"
mapfile -t COMP_WORDS <<<"$2"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_LINE="${COMP_WORDS[*]}" COMP_POINT=${#COMP_LINE}
complete -p tenon >/dev/null || exit 1
_tenon tenon "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
"""


class CompletionTest(ProgramTest):
    def setUp(self):
        super().setUp()
        for shell in ("bash", "zsh", "fish"):
            code, out, err = self.tenon("completion", shell)
            self.assertEqual((code, err), (0, ""))
            self.write(f"script.{shell}", out)
        (self.folder / "runs").mkdir()
        (self.folder / "two words.json").write_text("{}")
        bin_folder = self.folder.parent / "bin"
        bin_folder.mkdir()
        (bin_folder / "tenon").symlink_to(PROGRAM)
        self.path = f"{bin_folder}:{os.environ['PATH']}"
        self.commands = self.listed_commands()

    def listed_commands(self):
        return sorted(re.findall(r"^  ([a-z]+(?: [a-z]+)?)[^\n]*  +\w", self.tenon("help").out, re.MULTILINE))

    def options_of(self, command):
        return re.findall(r"^  (--[\w-]+)", self.tenon(*command.split(), "--help").out, re.MULTILINE)

    def shell(self, *words, **more):
        done = subprocess.run(words, cwd=self.folder, env=self.environment(PATH=self.path, **more), timeout=60,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def bash(self, *words):
        """What bash offers behind "tenon"; words come as bash splits them at ":" and "="."""
        split = []
        for word in words:
            split += [part for part in re.split(r"([:=]+)", word) if part] or [""]
        return sorted(self.shell("bash", "--norc", "-c", BASH, "bash", "script.bash", "\n".join(["tenon", *split])))


class BashTest(CompletionTest):
    def test_the_script_is_sound(self):
        self.shell("bash", "-n", "script.bash")
        if shutil.which("shellcheck"):
            self.shell("shellcheck", "-s", "bash", "-S", "warning", "-e", "SC2207", "script.bash")

    def test_every_command_is_offered(self):
        firsts = {name.split()[0] for name in self.commands}
        self.assertEqual(self.bash(""), sorted(firsts | {"--help", "--version"}))
        self.assertEqual(self.bash("ch"), [name for name in sorted(firsts) if name.startswith("ch")])
        for first in {name.split()[0] for name in self.commands if " " in name}:
            seconds = [name.split()[1] for name in self.commands if name.startswith(first + " ")]
            self.assertEqual(self.bash(first, ""), sorted(seconds))

    def test_every_option_of_every_command_is_offered(self):
        for command in self.commands:
            with self.subTest(command=command):
                options = self.options_of(command)
                self.assertGreater(len(options), 3)
                self.assertEqual(self.bash(*command.split(), "--"), sorted(options))

    def test_fixed_words_of_a_value(self):
        self.assertEqual(self.bash("check", "digits.json", "--format", ""), ["json", "text"])
        self.assertEqual(self.bash("check", "digits.json", "--format", "j"), ["json"])
        self.assertEqual(self.bash("check", "--format=j"), ["json"])
        self.assertEqual(self.bash("plugins", "list", "--color", "a"), ["always", "auto"])
        self.assertEqual(self.bash("completion", ""), ["bash", "fish", "zsh"])
        self.assertIn("regression", self.bash("init", ""))
        self.assertEqual(self.bash("init", "dig"), ["digits"])

    def test_files_and_folders(self):
        self.assertEqual(self.bash("check", "dig"), ["digits.json"])
        self.assertEqual(self.bash("check", "two"), ["two words.json"])
        self.assertEqual(self.bash("check", "digits.json", "--overlay", "dig"), ["digits.json"])
        self.assertEqual(self.bash("check", "--plugin-path", ""), ["runs"])
        self.assertEqual(self.bash("run", "--resume", "ru"), ["runs"])
        self.assertEqual(self.bash("run", "--resume", "au"), ["auto"])
        # A switch takes no value, and what follows "--" is no option.
        self.assertEqual(self.bash("fix", "--dry-run", "dig"), ["digits.json"])
        self.assertEqual(self.bash("check", "--", "dig"), ["digits.json"])

    def test_installed_components(self):
        self.assertIn("optimizer:adamw", self.bash("schema", "opt"))
        self.assertEqual(self.bash("schema", "optimizer:ad"), ["adamw"])  # bash has "optimizer:" already
        self.assertEqual(self.bash("plugins", "show", "adam"), ["optimizer:adamw"])
        self.assertIn("adamw", self.bash("schema", "optimizer:"))

    def test_nothing_where_nothing_is_known(self):
        self.assertEqual(self.bash("no-such-command", ""), [])
        self.assertEqual(self.bash("plugins", "no-such-command", ""), [])
        self.assertEqual(self.bash("check", "--set", "vars.lr=0"), [])


@unittest.skipIf(shutil.which("zsh") is None, "zsh is not installed")
class ZshTest(CompletionTest):
    # zsh completes on a terminal only: zpty gives it one, and what it lists is caught.
    SCRIPT = r"""
zmodload zsh/zpty
zpty z "TERM=dumb PS1='' zsh -f -i"
zpty -w z "PROMPT='' RPROMPT='' LISTMAX=10000; stty columns 200 rows 400; autoload -Uz compinit; compinit -u -D"
zpty -w z "zstyle ':completion:*' list-colors ''; zstyle ':completion:*' list-prompt ''; setopt no_beep"
zpty -w z "source $1; print REA''DY"
zpty -r -m z _ '*READY*'
zpty -w -n z "$2"$'\t\t'
sleep 1
zpty -w -n z $'\C-u'"print DO''NE"$'\n'
zpty -r -m z shown '*DONE*'
print -r -- "$shown"
zpty -d z
"""

    def zsh(self, line):
        return "\n".join(self.shell("zsh", "-f", "-c", self.SCRIPT, "zsh", "script.zsh", line))

    def test_the_script_is_sound(self):
        self.shell("zsh", "-f", "-n", "script.zsh")

    def test_commands_options_and_values(self):
        shown = self.zsh("tenon ")
        for command in self.commands:
            self.assertIn(command.split()[0], shown)
        self.assertIn("report everything that is wrong", shown)
        shown = self.zsh("tenon plugins ")
        self.assertIn("tell all about a component", shown)
        shown = self.zsh("tenon check digits.json --")
        for option in self.options_of("check"):
            self.assertIn(option, shown)
        self.assertIn("json", self.zsh("tenon check --format "))
        self.assertIn("digits.json", self.zsh("tenon check dig"))
        self.assertIn("optimizer:adamw", self.zsh("tenon schema optimizer:ada"))


@unittest.skipIf(shutil.which("fish") is None, "fish is not installed")
class FishTest(CompletionTest):
    def fish(self, line):
        script = f"source script.fish; complete -C {shlex.quote(line)}"
        return {row.split("\t")[0] for row in self.shell("fish", "--no-config", "-c", script)}

    def test_the_script_is_sound(self):
        self.shell("fish", "--no-execute", "script.fish")

    def test_every_command_and_option_is_offered(self):
        self.assertEqual(self.fish("tenon "), {name.split()[0] for name in self.commands})
        for command in self.commands:
            with self.subTest(command=command):
                self.assertEqual(self.fish(f"tenon {command} --"), set(self.options_of(command)))

    def test_values(self):
        self.assertEqual(self.fish("tenon check --format "), {"text", "json"})
        self.assertEqual(self.fish("tenon check dig"), {"digits.json"})
        self.assertEqual(self.fish("tenon plugins sh"), {"show"})
        self.assertEqual(self.fish("tenon init dig"), {"digits"})
        self.assertIn("optimizer:adamw", self.fish("tenon schema opti"))
        self.assertIn("runs/", self.fish("tenon check --plugin-path "))


class OtherTest(CompletionTest):
    def test_other_shells_are_refused(self):
        for arguments, wanted in ((["tcsh"], "bash, zsh and fish"), ([], "is missing"), ([""], "bash, zsh and fish")):
            code, out, err = self.tenon("completion", *arguments)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(wanted, err)

    def test_components_are_those_that_are_installed(self):
        listed = json.loads(self.tenon("plugins", "list", "--format", "json").out)["components"]
        names = sorted(f"{each['kind']}:{each['name']}" for each in listed)
        self.assertEqual(self.tenon("completion", "components").out.split(), names)


if __name__ == "__main__":
    unittest.main()
