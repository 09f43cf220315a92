"""Every way in which a plugin can be bad is told by name with its cure, and what must not be opened is not."""

import copy
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import time
import unittest
from typing import Callable, NamedTuple, Optional

from program import BUILD, ProgramTest

RAW = BUILD / "tests" / "bad_plugins"
OBJCOPY = shutil.which("objcopy") or shutil.which("llvm-objcopy")
ID = "org.tenon.tests.bad"
PROBED = True  # opened in a child, so that its constructor functions have run


class Way(NamedTuple):
    code: str  # of the finding that names it
    says: tuple  # parts of the message
    raw: str = "good"
    manifest: Optional[Callable] = None  # changes the good manifest
    file: Optional[Callable] = None  # changes the made file
    opened: bool = False
    taken: bool = True  # the catalogue takes it, so that its plugin's id is known to the pipeline
    exit: int = 3


def edit(**members):
    return lambda manifest: manifest.update(members)


def component(**members):
    return lambda manifest: manifest["components"][0].update(members)


def fingerprint(old, new):
    def change(manifest):
        assert old in manifest["fingerprint"] or not old
        manifest["fingerprint"] = manifest["fingerprint"].replace(old, new) if old else manifest["fingerprint"] + new
    return change


def patch(offset, data):
    def change(path):
        content = bytearray(path.read_bytes())
        content[offset : offset + len(data)] = data
        path.write_bytes(content)
    return change


def no_build_id(path):
    subprocess.run([OBJCOPY, "--remove-section", ".note.gnu.build-id", path], check=True)


def link_out_of_the_folder(path):
    outside = path.parent.parent / "outside"
    outside.mkdir(mode=0o777)
    outside.chmod(0o777)
    path.rename(outside / path.name)
    path.symlink_to(outside / path.name)


def replace_by(make):
    def change(path):
        path.unlink()
        make(path)
    return change


REBUILD = "rebuild the plugin"
RETRY = "tenon plugins doctor --retry"
WAYS = {
    # Refused by what the file says, never opened.
    "empty": Way("truncated", ("it is empty",), file=lambda p: p.write_bytes(b""), taken=False),
    "text": Way("not-elf", ("not an ELF file",), file=lambda p: p.write_text("no library"), taken=False),
    "truncated": Way("truncated", ("it was cut off",), file=lambda p: os.truncate(p, p.stat().st_size // 2), taken=False),
    "fifo": Way("unreadable", ("no regular file",), file=replace_by(os.mkfifo), taken=False),
    "folder": Way("unreadable", ("it is a folder",), file=replace_by(os.mkdir), taken=False),
    "link_in_circles": Way("unreadable", ("symbolic links",), file=replace_by(lambda p: p.symlink_to(p)), taken=False),
    "32_bit": Way("architecture", ("32-bit", "64-bit"), file=patch(4, b"\x01"), taken=False),
    "big_endian": Way("architecture", ("big-endian", "little-endian"), file=patch(5, b"\x02"), taken=False),
    "other_machine": Way("architecture", ("another processor",), file=patch(18, struct.pack("<H", 243)), taken=False),
    "no_manifest": Way("no-manifest", ("no Tenon plugin", "tenon_add_plugin"), manifest=lambda m: m.clear(), taken=False),
    "manifest_of_later_format": Way("manifest-format", ("format 2", "format 1", "newer Tenon"), manifest=edit(manifest=2),
                                    taken=False),
    "manifest_that_steers_a_terminal": Way("manifest", ("at /components/0/summary", "control characters"),
                                           manifest=component(summary="\x1b[2J"), taken=False),
    "id_of_no_shape": Way("manifest", ("at /id", "reverse domain name"), manifest=edit(id="Bad plugin"), taken=False),
    "api_newer": Way("api", ("plugin API 2", "this Tenon has API 1", "use a newer Tenon"), manifest=edit(api=2), taken=False),
    "api_older": Way("api", ("plugin API 0", "this Tenon has API 1", REBUILD), manifest=edit(api=0), taken=False),
    "revision_newer": Way("revision", ("transform:bad_step", "tenon.transform revision 9", "this Tenon has tenon.transform revision 1",
                                       "newer than this Tenon", "use a newer Tenon"), manifest=component(revision=9), taken=False),
    "revision_older": Way("revision", ("transform:bad_step", "tenon.transform revision 0", "older than this Tenon", REBUILD),
                          manifest=component(revision=0), taken=False),
    "other_cxx_abi": Way("fingerprint", ("C++ ABI: plugin msvc, this Tenon itanium", REBUILD),
                         manifest=fingerprint("cxxabi=itanium", "cxxabi=msvc"), taken=False),
    "glibcxx_debug": Way("fingerprint", ("_GLIBCXX_DEBUG: plugin 1, this Tenon 0", "-D_GLIBCXX_DEBUG"),
                         manifest=fingerprint("debug=0", "debug=1"), taken=False),
    "other_libtorch": Way("fingerprint", ("libtorch: plugin 2.10.0, this Tenon 2.11.0", REBUILD),
                          manifest=fingerprint("", " libtorch=2.10.0 cuda=13"), taken=False),
    "world_writable_file": Way("untrusted", ("can be written by everybody", "chmod o-w"), file=lambda p: p.chmod(0o666),
                               taken=False),
    "world_writable_folder": Way("untrusted", ("can be written by everybody", "chmod o-w"),
                                 file=lambda p: p.parent.chmod(0o777), taken=False),
    "link_out_of_the_folder": Way("untrusted", ("outside", "can be written by everybody"), file=link_out_of_the_folder,
                                  taken=False),
    # Found by preflight, never opened.
    "misses_library": Way("missing-library", ("misses_library.so asks for libbad_misses_library.so.7", "looked for in",
                                              "/lib/x86_64-linux-gnu" if os.uname().machine == "x86_64" else "/lib",
                                              "libbad-misses-library7", "LD_LIBRARY_PATH"), raw="misses_library"),
    "misses_symbol": Way("missing-symbol", ("at::nowhere(int), which should be in libtorch",), raw="misses_symbol"),
    "second_libtorch": Way("second-libtorch", ("libbad_second_libtorch.so.7", "beside", "/lib of this Tenon"),
                           raw="second_libtorch"),
    "interposed": Way("interposed-symbols", ("libbad_interposed.so.7", "libcrypto", "SHA256_Init"), raw="interposed"),
    "no_entry": Way("no-entry", ("does not export tenon_plugin_1",), raw="no_entry"),
    "executable_stack": Way("executable-stack", ("-z,noexecstack",), raw="executable_stack"),
    "text_relocations": Way("text-relocations", ("-fPIC",), raw="text_relocations"),
    "no_nodelete": Way("no-nodelete", ("-z,nodelete",), raw="no_nodelete"),
    # Found by the first opening, in a child.
    "aborts": Way("crashed", ("SIGABRT", "while it was being opened", RETRY), raw="aborts", opened=PROBED),
    "throws": Way("crashed", ("SIGABRT", "while it was being opened", "thrown at namespace scope"), raw="throws", opened=PROBED),
    "hangs": Way("hung", ("after 20 s", "while it was being opened", RETRY), raw="hangs", opened=PROBED),
    "exits": Way("ended", ("exit code 0", "while it was being opened"), raw="exits", opened=PROBED),
    "changes_process": Way("changes-process", ("how the processor rounds", "umask", "nothing may be done"),
                           raw="changes_process", opened=PROBED),
    "handles_signals": Way("changes-process", ("handlers of signals",), raw="handles_signals", opened=PROBED),
    "crashes_in_describe": Way("crashed", ("SIGSEGV", "while it was asked what it holds"), raw="crashes_in_describe",
                               opened=PROBED),
    "null_entry": Way("entry", ("says nothing of itself",), raw="null_entry", opened=PROBED),
    "drifted_version": Way("drift", ("disagree about its version", '"2.0.0" and "1.0.0"', REBUILD),
                           manifest=edit(version="2.0.0"), opened=PROBED),
    "lies": Way("drift", ("the component bad_step", "random", REBUILD), raw="lies", opened=PROBED),
    "without_build_id": Way("crashed", ("SIGABRT",), raw="aborts", file=no_build_id, opened=PROBED),
    # Nothing but a warning.
    "extra_exports": Way("extra-exports", ("exports more than tenon_plugin_1", "--exclude-libs"), raw="extra_exports",
                         opened=PROBED, exit=0),
    "second_copy": Way("second-copy", ("libbad_second_copy.so.7", "libcrypto", "SHA256_Init"), raw="second_copy",
                       opened=PROBED, exit=0),
}

# Nobody knows what these would bring.
NAMELESS = ("empty", "text", "truncated", "fifo", "folder", "link_in_circles", "32_bit", "big_endian", "other_machine",
            "no_manifest", "manifest_that_steers_a_terminal")


class BadPluginsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.touched = self.folder.parent / "touched"
        self.plugins = self.folder.parent / "plugins"
        self.cache = self.folder.parent / "cache"

    def put(self, name, way, as_file=None):
        """The plugin as a file in `self.plugins`."""
        self.plugins.mkdir(mode=0o755, exist_ok=True)
        self.plugins.chmod(0o755)
        manifest = json.loads((RAW / "good.json").read_text())
        if way.manifest:
            way.manifest(manifest)
        path = self.plugins / (as_file or f"{name}.so")
        shutil.copy(RAW / f"{way.raw}.so", path)
        path.chmod(0o644)
        if manifest:
            text = self.folder.parent / "manifest.json"
            text.write_text(json.dumps(manifest))
            subprocess.run([OBJCOPY, "--add-section", f".tenon.manifest={text}", path], check=True)
        if way.file:
            way.file(path)
        return path

    def call(self, *words):
        self.touched.unlink(missing_ok=True)
        outcome = self.tenon(*words, "--plugin-path", self.plugins,
                             env={"TENON_TOUCH": str(self.touched), "TENON_CACHE": str(self.cache)})
        return outcome, self.touched.exists()

    def pipeline(self):
        return self.demo(lambda p: p["nodes"].update({"shift": {"use": "transform:bad_step", "in": "train_set"}}))

    def doctor(self, *more):
        (code, out, err), opened = self.call("plugins", "doctor", "--format", "json", *more)
        self.assertEqual(err, "")
        return code, json.loads(out), opened

    def test_each_way_is_told_and_what_must_not_be_opened_is_not(self):
        for name, way in WAYS.items():
            with self.subTest(way=name):
                self.setUp()
                path = self.put(name, way)
                words = ["run", self.pipeline(), "--limit", "train=1,val=1,test=1", "--set", "fit.epochs=1", "--set", "export=[]"]
                (code, out, err), opened = self.call(*words)
                nameless = name in NAMELESS
                self.assertEqual(code, 2 if nameless else way.exit, err)
                self.assertEqual(opened, way.opened, err)
                if way.taken:
                    self.assertIn(f"[{way.code}]: plugin {ID} ({path})", err)
                    self.assertRegex(err, r"(?m)^ *--> changed\.json:\d+:\d+")
                    for part in way.says:
                        self.assertIn(part, err)
                elif nameless:
                    self.assertIn("error[unknown-component]", err)
                else:
                    self.assertIn("error[refused-plugin]", err)
                self.assertEqual((self.folder / "runs").exists(), way.exit == 0)

                (code, out, err), opened = self.call("check", "changed.json")
                self.assertFalse(opened, "check opens nothing")
                seen_by_check = way.taken and not (way.opened and way.exit)
                if seen_by_check:
                    self.assertIn(f"[{way.code}]: plugin {ID} ({path})", err)
                self.assertEqual(code, 2 if nameless else 0 if way.opened else way.exit, err)

                code, report, _ = self.doctor()
                self.assertEqual(code, way.exit)
                (told,) = [each for each in report["plugins"] if each["path"] == str(path)]
                self.assertEqual(told["verdict"], "good" if way.exit == 0 else "refused" if not way.taken
                                 else "bad" if way.opened else "unfit")
                messages = [each["message"] for each in told["findings"] if each["code"] == way.code]
                self.assertTrue(messages, told)
                for part in way.says:
                    self.assertIn(part, " ".join(messages))
                self.assertTrue(all(each["verdict"] == "good" for each in report["plugins"] if each is not told), report)

    def test_a_bad_verdict_is_kept_by_build_told_again_and_forgotten_on_demand(self):
        self.put("aborts", WAYS["aborts"])
        _, report, opened = self.doctor()
        self.assertTrue(opened)
        (code, _, err), opened = self.call("run", self.pipeline())
        self.assertEqual((code, opened), (3, False))
        self.assertRegex(err, r"error\[crashed\]: .*SIGABRT.*\(found \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, when this very build")
        os.utime(self.plugins / "aborts.so")  # a file's time does not count
        self.assertFalse(self.doctor()[2])
        self.assertTrue(self.doctor("--retry")[2])

    def test_a_good_verdict_makes_later_runs_start_no_child(self):
        self.put("good", Way("", ()))
        code, _, opened = self.doctor()
        self.assertEqual((code, opened), (0, True))
        code, _, opened = self.doctor()
        self.assertEqual((code, opened), (0, False))
        shutil.rmtree(self.cache)
        self.assertTrue(self.doctor()[2])

    def test_a_cache_that_cannot_be_written_is_no_error(self):
        self.cache.write_text("not a folder")
        self.put("good", Way("", ()))
        for _ in range(2):
            code, _, opened = self.doctor()
            self.assertEqual((code, opened), (0, True))

    def test_a_damaged_verdict_is_found_anew(self):
        self.put("aborts", WAYS["aborts"])
        self.doctor()
        for kept in (self.cache / "verdicts").iterdir():
            kept.write_text("{")
        code, report, opened = self.doctor()
        self.assertEqual((code, opened), (3, True))

    def test_a_name_that_is_not_utf8_is_no_obstacle(self):
        os.rename(self.put("good", Way("", ())), os.fsencode(self.plugins) + b"/g\xff\xfed.so")
        code, report, opened = self.doctor()
        self.assertEqual((code, opened), (0, True))
        self.assertIn(ID, [each["id"] for each in report["plugins"]])
        self.assertFalse(self.doctor()[2], "its verdict is kept")

    def check(self, path, *more):
        (code, out, err), _ = self.call("plugins", "check", path, "--format", "json", *more)
        self.assertTrue(out, err)
        cases = json.loads(out)["cases"]
        return code, {(each["case"], each["component"].split(":")[0]): each for each in cases}, len(cases)

    def failures(self, path, *more):
        code, cases, _ = self.check(path, *more)
        self.assertEqual(code, 3)
        return {case: " ".join(finding["message"] for finding in each["findings"])
                for (case, _), each in cases.items() if each["verdict"] == "failed"}

    def test_the_check_names_what_opening_changes(self):
        for raw, parts in {
            "changes_process": ("the processor rounds", "permissions of new files"),
            "handles_signals": ("signal handlers change",),
            "leaves_a_process": ("a process is started",),
            "prints": ("it writes to standard output",),
        }.items():
            with self.subTest(raw):
                told = self.failures(self.put(raw, Way("", (), raw=raw)), "--only", "load.*")
                self.assertEqual(list(told), ["load.quiet"])
                for part in parts:
                    self.assertIn(part, told["load.quiet"])

    def test_a_case_ends_with_all_that_the_plugin_started(self):
        path = self.put("leaves_a_process", Way("", (), raw="leaves_a_process"))
        begin = time.monotonic()
        self.check(path, "--only", "load.*")
        self.assertLess(time.monotonic() - begin, 80, "the process that is left, and lives for 100 s, is waited for")
        left = 0
        for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
            try:
                left += str(path) in maps.read_text()
            except OSError:
                continue  # it has ended, or is another user's
        self.assertLessEqual(left, 1, "that of the process which tries the plugin is its own")

    def test_what_a_plugin_prints_hides_no_result(self):
        _, good, number = self.check(self.put("good", Way("", ())))
        code, cases, of_prints = self.check(self.put("prints", Way("", (), raw="prints")))
        self.assertEqual((code, of_prints), (3, number))
        different = [case for case in good if good[case]["verdict"] != cases[case]["verdict"]]
        self.assertEqual(different, [("load.quiet", "plugin")])

    def test_the_check_compares_the_manifest_with_the_code_first(self):
        for change, part in (
            (edit(id="org.tenon.tests.other"), 'its id is "org.tenon.tests.other", and the code that it is'),
            (edit(version="1.0.1"), 'its version is "1.0.1", and the code that it is "1.0.0"'),
            (edit(namespaces=["mine"]), 'torch operator namespaces is "mine"'),
            (component(name="other"), "the manifest names transform:other, which the code does not have"),
            (component(name="other"), "the code has transform:bad_step, which the manifest does not name"),
            (component(traits=["random"]), 'of transform:bad_step the manifest says {"abilities"'),
            (edit(components=[]), "the code has transform:bad_step"),
            (component(example={"with": 5}), "of transform:bad_step the manifest says"),
        ):
            with self.subTest(part):
                path = self.put("lies", Way("", (), manifest=change))
                for more in ((), ("--only", "state.*")):
                    told = self.failures(path, *more)
                    self.assertEqual(list(told), ["manifest.drift"])
                    self.assertIn(part, told["manifest.drift"])

    def test_of_two_that_claim_the_same_the_second_is_refused_with_both_named(self):
        torch = copy.deepcopy(Way("", ()))
        cases = {
            "duplicate-id": (edit(), f"plugin {ID} 1.0.0 is taken from"),
            "duplicate-component": (edit(id="org.tenon.tests.other"), f"transform:bad_step is brought by plugin {ID}"),
            "duplicate-namespace": (lambda m: (m.update(id="org.tenon.tests.other"), m["components"][0].update(name="another")),
                                    f"bad_ns is registered by plugin {ID}"),
        }
        for code, (change, says) in cases.items():
            with self.subTest(code=code):
                self.setUp()
                namespaces = edit(namespaces=["bad_ns"]) if code == "duplicate-namespace" else edit()
                first = self.put("first", torch._replace(manifest=namespaces))
                second = self.put("second", torch._replace(manifest=lambda m: (namespaces(m), change(m))))
                listed = json.loads(self.call("plugins", "list", "--format", "json")[0].out)["refused"]
                self.assertEqual([(each["path"], each["reason"]) for each in listed], [(str(second), code)])
                self.assertIn(says, listed[0]["message"])
                self.assertIn(str(first), listed[0]["message"])

    def test_an_undeclared_namespace_fails_the_build(self):
        describe = subprocess.run([BUILD / "bin" / "tenon-describe", RAW / "undeclared_namespace.so", self.folder / "out.json"],
                                  capture_output=True, text=True, env=self.environment(LD_LIBRARY_PATH=f"{RAW}/libraries:{BUILD}/lib"))
        self.assertEqual(describe.returncode, 3)
        self.assertIn("registers torch operators (TORCH_LIBRARY) but declares no namespace", describe.stderr)
        self.assertFalse((self.folder / "out.json").exists())

    def test_the_culprit_among_several_is_found(self):
        self.put("good", Way("", ()))
        self.put("aborts", WAYS["aborts"]._replace(
            manifest=lambda m: (m.update(id="org.tenon.tests.other"), m["components"][0].update(name="another"))))
        code, report, _ = self.doctor()
        self.assertEqual(code, 3)
        verdicts = {each["id"]: each["verdict"] for each in report["plugins"]}
        self.assertEqual(verdicts.pop("org.tenon.tests.other"), "bad")
        self.assertEqual(set(verdicts.values()), {"good"})

    def test_preflight_of_our_own_plugins_is_cheap(self):
        times = {}
        for words in (["check", "digits.json"], ["explain", "digits.json"]):
            taken = []
            for _ in range(5):
                start = time.perf_counter()
                self.assertEqual(self.tenon(*words).code, 0)
                taken.append(time.perf_counter() - start)
            times[words[0]] = min(taken)
        # explain does all that check does but for preflight; a number for the log, since machines differ.
        print(f"preflight of the demo's plugins: {1e3 * (times['check'] - times['explain']):.1f} ms", file=sys.stderr)


if __name__ == "__main__":
    if not OBJCOPY or not (RAW / "good.json").exists():
        print("skipped: objcopy or the bad plugins (target bad_plugins) are missing")
        sys.exit(77)
    unittest.main()
