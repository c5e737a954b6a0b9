#!/usr/bin/env python3
"""Tests that check_blocks.py accepts correct blocks and reports each kind of mistake."""

import pathlib
import tempfile
import unittest

import check_blocks

FENCE = "```"


class CheckBlocks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("tests", "wasm/tests", "docs"):
            (self.root / name).mkdir(parents=True)
        (self.root / "tests/CMakeLists.txt").write_text("take(recipe.cpp)\n")
        (self.root / "ci").write_text("step ./dev demo\nREADS = '```text'\n")
        for name in ("CONTRIBUTING.md", "wasm/README.md"):
            (self.root / name).write_text("")

    def mistakes(self, text):
        (self.root / "README.md").write_text(text)
        return list(check_blocks.mistakes(self.root))

    def block(self, marker, language, code):
        return self.mistakes(f"Text.\n\n{marker}\n{FENCE}{language}\n{code}\n{FENCE}\n")

    def test_right(self):
        self.assertEqual(self.block("", "cpp", "int x;"), [])
        self.assertEqual(self.block("<!-- recipe.cpp -->", "cpp", "int x;"), [])
        self.assertEqual(self.block("<!-- run by ci -->", "sh", "./dev demo   # reads dates"), [])
        self.assertEqual(self.block("<!-- read by ci -->", "text", "output"), [])
        self.assertEqual(self.block("<!-- not run: needs a board -->", "sh", "flash"), [])
        self.assertEqual(self.mistakes("1. A list.\n   Continued.\n    Continued.\n"), [])

    def test_wrong(self):
        for marker, language, code, message in [
            ("", "sh", "./dev demo", "no test"),
            ("", "cpp", "// `x`", "backtick"),
            ("<!-- other.cpp -->", "cpp", "int x;", "no test takes other.cpp"),
            ("<!-- run by ci -->", "sh", "./dev demo\n./dev test", "ci lacks: ./dev test"),
            ("<!-- run by nothing -->", "sh", "./dev demo", "nothing does not exist"),
            ("<!-- read by ci -->", "console", "$ x", "ci lacks"),
            ("<!-- not run: so -->", "sh", "x", "too short"),
        ]:
            with self.subTest(message):
                [wrong] = self.block(marker, language, code)
                self.assertIn(message, wrong)
                self.assertTrue(wrong.startswith("README.md:4:"), wrong)

    def test_indented(self):
        [wrong] = self.mistakes("Text.\n\n    ./dev demo\n")
        self.assertIn("line 3: an indented block", wrong)

    def test_without_end(self):
        [wrong] = self.mistakes(f"{FENCE}sh\nx\n")
        self.assertIn("without end", wrong)


if __name__ == "__main__":
    unittest.main()
