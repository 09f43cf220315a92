"""`tenon doctor`: says that all is well, or what is not and what to do."""

import unittest

from program import BUILD, ProgramTest


class DoctorTest(ProgramTest):
    def test_this_build_can_train(self):
        code, out, err = self.tenon("doctor")
        self.assertEqual((code, err), (0, ""), out)
        self.assertTrue(out.endswith("\nall is well\n"))
        for subject in ("tenon", "plugins", "libtorch", "engine", "cpu", "cuda", "runs", "cache"):
            self.assertRegex(out, rf"(?m)^{subject} +(ok|note)  \S")
        self.assertIn(f"plugins in {BUILD}/lib/tenon/plugins\n", out)

    def test_a_refused_plugin_is_a_problem(self):
        (self.folder / "extra").mkdir()
        (self.folder / "extra" / "broken.so").write_bytes(b"\x7fELF")
        code, out, err = self.tenon("doctor", "--plugin-path", "extra")
        self.assertEqual((code, err), (3, ""))
        self.assertRegex(out, rf"(?m)^plugins +problem  {self.folder}/extra/broken\.so: \w")
        self.assertTrue(out.endswith("\n1 problem\n"))

    def test_a_missing_libtorch_is_a_problem_with_a_cure(self):
        code, out, err = self.tenon("doctor", env={"TENON_LIBTORCH": str(self.folder)})
        self.assertEqual((code, err), (3, ""))
        self.assertRegex(out, r"(?m)^libtorch +problem  .*set TENON_LIBTORCH to ")


if __name__ == "__main__":
    unittest.main()
