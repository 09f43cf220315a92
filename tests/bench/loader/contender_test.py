"""A contender of the loader's benchmark that is missing, dies or talks too much is named, and stops nobody."""

import os
import pathlib
import signal
import sys
import tempfile
import unittest

from contender import Contender, Missing, ours

PEERS = pathlib.Path(__file__).parent / "peers"
BUILD = pathlib.Path(os.environ["TENON_BUILD_DIR"])
LONGEST = 60  # seconds: whoever takes more hangs


class Processes(unittest.TestCase):
    """Contenders as programs of their own."""

    def setUp(self):
        signal.alarm(LONGEST)
        self.addCleanup(signal.alarm, 0)
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def peer(self, text, name="peer"):
        script = self.folder / "script.py"
        script.write_text(text)
        made = Contender(name, [sys.executable, script], {},
                         dict(os.environ, PYTHONPATH=str(PEERS), PYTHONDONTWRITEBYTECODE="1"))
        self.addCleanup(made.close)
        return made

    def test_a_peer_whose_library_is_not_there_is_missing_with_its_reason(self):
        with self.assertRaisesRegex(Missing, "ModuleNotFoundError: No module named 'no_such_library'"):
            self.peer("import peer\n\ndef make(scenario):\n    import no_such_library\n\npeer.serve(make)\n")

    def test_a_peer_that_fails_at_a_command_is_missing_with_its_reason(self):
        made = self.peer("import peer\npeer.serve(lambda scenario: lambda command: 1 // 0)\n")
        with self.assertRaisesRegex(Missing, "ZeroDivisionError"):
            made.ask(do="epoch")

    def test_a_program_that_cannot_be_started_is_missing(self):
        with self.assertRaisesRegex(Missing, "does not start"):
            Contender("peer", [self.folder / "none"], {})

    def test_a_peer_that_died_is_missing_with_its_last_words(self):
        made = self.peer("import os\nos.close(0)\nprint('{}', flush=True)\n"
                         "os.write(2, b'first\\nout of memory\\n')\nos._exit(3)\n")
        for _ in range(2):  # it stays so
            with self.assertRaisesRegex(Missing, "ended with 3: out of memory"):
                made.ask(do="epoch")

    def test_a_peer_that_answers_no_json_is_missing(self):
        made = self.peer("print('{}', flush=True)\ninput()\nprint('Hello', flush=True)\n")
        with self.assertRaisesRegex(Missing, "'Hello', which is no JSON"):
            made.ask(do="epoch")

    def test_a_peer_may_say_more_than_a_pipe_holds(self):
        made = self.peer("import peer, sys\n\ndef act(command):\n    print('x' * 1000000, flush=True)\n"
                         "    print('y' * 1000000, file=sys.stderr, flush=True)\n    return {'samples': 1}\n\n"
                         "peer.serve(lambda scenario: act)\n")
        self.assertEqual(made.ask(do="epoch"), {"samples": 1})

    def test_ours_says_how_it_was_built(self):
        made = ours(BUILD, "build", {"kind": "build"})
        self.addCleanup(made.close)
        self.assertLessEqual({"type", "flags", "optimised", "compiler"}, set(made.about))

    def test_ours_gives_all_samples_of_an_epoch(self):
        made = ours(BUILD, "loader", {"kind": "loader", "computing": 0, "items": 200, "batch": 64, "workers": 2})
        self.addCleanup(made.close)
        answer = made.ask(do="epoch", round=1)
        self.assertEqual((answer["samples"], answer["threads"]), (200, 2))

    def test_ours_ends_with_words_at_a_jpeg_that_cannot_be_decoded(self):
        (self.folder / "1.jpg").write_bytes(b"no JPEG at all")
        made = ours(BUILD, "ceiling", {"kind": "ceiling", "folder": str(self.folder), "threads": 2})
        self.addCleanup(made.close)
        with self.assertRaisesRegex(Missing, "ended with 1: a JPEG of the benchmark cannot be decoded: Not a JPEG"):
            made.ask(do="epoch")


if __name__ == "__main__":
    unittest.main()
