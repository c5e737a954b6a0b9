"""Tests bench/ladon_bench/whole_file.py, and the option --json of a benchmark driver that uses whole_file.py."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from ladon_bench import whole_file  # noqa: E402


class WholeFile(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.file = self.folder / "figures"
        self.file.write_text("old")

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_a_file_is_made_and_replaced(self):
        whole_file.write(self.folder / "made", "é")
        self.assertEqual((self.folder / "made").read_text("utf-8"), "é")
        self.file.chmod(0o640)
        whole_file.write(self.file, "new")
        self.assertEqual(self.file.read_text(), "new")
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.names(), ["figures", "made"])

    def test_the_file_behind_a_link_is_replaced(self):
        (self.folder / "link").symlink_to("figures")
        whole_file.write(self.folder / "link", "new")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertEqual(self.file.read_text(), "new")

    def test_an_interrupt_leaves_the_old_content(self):
        for function in ("fsync", "replace"):
            with mock.patch.object(os, function, side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
                whole_file.write(self.file, "new")
            self.assertEqual(self.file.read_text(), "old")
        self.assertEqual(self.names(), ["figures"])

    def test_an_option_of_a_file_that_cannot_be_written_is_refused(self):
        whole_file.path(str(self.file))
        whole_file.path(os.devnull)
        self.assertEqual(self.file.read_text(), "old")
        for wrong in (self.folder / "absent/figures", self.folder, self.file / "figures"):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "cannot be written: "):
                whole_file.path(str(wrong))
        self.assertEqual(self.names(), ["figures"])

    def test_a_driver_refuses_it_before_it_measures(self):
        command = [sys.executable, "-B", "-m", "ladon_bench.compare", "--revision", "a", "--commit", "b", "--isa", "c",
                   "--programs", "absent", "absent", "--json", str(self.folder / "absent/figures")]
        done = subprocess.run(command, cwd=BENCH, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("absent/figures cannot be written: No such file or directory", done.stderr)


unittest.main()
