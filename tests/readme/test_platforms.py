#!/usr/bin/env python3
"""Tests tools/platforms/records.py: the table follows the records, and a table that differs is an error."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/platforms"))
import records  # noqa: E402

PAGE = "before\n<!-- platforms -->\nold\n<!-- end -->\nafter\n"
NAMES = {"armv7": "32-bit Arm", "s390x": "IBM Z"}
RECORDS = {"armv7": {"date": "2026-11-29", "compiler": "g++ 12", "emulator": "qemu 7", "set": "quick",
                     "passed": 3, "tests": 4}}


class Records(unittest.TestCase):
    def test_a_row_has_the_counts_and_a_platform_without_record_is_not_tested(self):
        rows = records.table(NAMES, RECORDS).splitlines()
        self.assertEqual(rows[2], "| 32-bit Arm | `armv7` | quick set: 3 of 4 passed | 2026-11-29 | g++ 12 | qemu 7 |")
        self.assertEqual(rows[3], "| IBM Z | `s390x` | not tested | | | |")

    def test_failed_and_skipped_tests_did_not_pass(self):
        results = '<testsuite><testcase status="run"/><testcase status="fail"/><testcase status="notrun"/></testsuite>'
        self.assertEqual(records.counts(results), (1, 3))

    def test_only_the_text_between_the_markers_changes(self):
        self.assertEqual(records.with_table(PAGE, "new\n"), PAGE.replace("old", "new"))

    def test_comments_of_the_table_are_no_platforms(self):
        self.assertEqual(records.platforms("# name | platform\nx | X | need | preset\n"), {"x": "X"})

    def check_in_copy(self, change):
        """Runs `records.py check` in a copy of the page and the records, after `change` of the folder."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shutil.copytree(ROOT / "tools/platforms", folder / "tools/platforms")
            (folder / "docs").mkdir()
            shutil.copy(ROOT / "docs/platforms.md", folder / "docs")
            change(folder)
            return subprocess.run([sys.executable, folder / "tools/platforms/records.py", "check"], stderr=subprocess.PIPE,
                                  text=True)

    def test_a_page_that_says_something_else_is_refused(self):
        def edit(folder):
            page = folder / "docs/platforms.md"
            page.write_text(page.read_text().replace("`armv7`", "`armv8`"))
        done = self.check_in_copy(edit)
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/platforms.md", done.stderr)

    def test_a_record_of_an_unknown_platform_is_refused(self):
        done = self.check_in_copy(lambda folder: (folder / "tools/platforms/records/vax.json").write_text("{}"))
        self.assertIn("vax.json", done.stderr)

    def test_the_help_names_every_platform(self):
        text = (ROOT / "tools/help.sh").read_text()
        for name in records.platforms((ROOT / "tools/platforms/table").read_text()):
            self.assertIn(name, text.replace(",", " ").split(), name)


if __name__ == "__main__":
    unittest.main()
