#!/usr/bin/env python3
"""Tests tools/docs, which prepares the pages for MkDocs and the headers for Doxygen."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/docs"))

import doxygen_filter  # noqa: E402
import pages  # noqa: E402


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = pages.Site(pathlib.Path(folder.name) / "root", pathlib.Path(folder.name) / "site")
        for name, text in {"docs/page.md": "", "include/x.hpp": "int x;\n", "example/README.md": "# Example\n",
                           "tests/test.cpp": "", "a.svg": "<svg/>"}.items():
            file = self.site.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def page(self, text):
        """Returns the page docs/page.md of the site."""
        (self.site.root / "docs/page.md").write_text(text)
        self.site.add("docs/page.md")
        return (self.site.folder / "docs/page.md").read_text()

    def test_links(self):
        for before, after in [("../include/x.hpp", "../include/x.hpp.md"), ("../tests", "../tests/index.md"),
                              ("../example", "../example/README.md"), ("page.md#part", "page.md#part"),
                              ("../a.svg", "../a.svg"), ("https://x.org/y", "https://x.org/y"), ("#part", "#part")]:
            with self.subTest(before):
                self.site.done.clear()
                self.assertEqual(self.page(f"A [link]({before})."), f"A [link]({after}).")

    def test_files(self):
        self.page("[x](../include/x.hpp) [t](../tests) [e](../example) ![a](../a.svg)")
        self.assertIn("````cpp\nint x;\n````\n", (self.site.folder / "include/x.hpp.md").read_text())
        self.assertIn("- `test.cpp`\n", (self.site.folder / "tests/index.md").read_text())
        self.assertEqual((self.site.folder / "example/README.md").read_text(), "# Example\n")
        self.assertEqual((self.site.folder / "a.svg").read_text(), "<svg/>")

    def test_code_has_no_links(self):
        text = "`[x](nothing)`\n```cpp\nreturn a[x](nothing);\n```\n"
        self.assertEqual(self.page(text), text)

    def test_dead_link(self):
        for link in ("nothing.md", "../../outside.md"):
            with self.subTest(link), self.assertRaisesRegex(ValueError, "does not exist"):
                self.site.done.clear()
                self.page(f"A [link]({link}).")


class DoxygenFilter(unittest.TestCase):
    def filtered(self, *lines):
        return list(doxygen_filter.converted(lines))[:-1]

    def test_comments(self):
        self.assertEqual(self.filtered("// SPDX-License-Identifier: Apache-2.0", "// About the file.", "#pragma once"),
                         ["/**", " @file", " About the file.", " */", "#pragma once"])
        self.assertEqual(self.filtered("// File.", "", "  // Returns x.", "  int x();")[4:],
                         ["", "  /**", "   Returns x.", "   */", "  int x();"])

    def test_code(self):
        self.assertEqual(self.filtered("// File.", "//", "//     run(x)", "//", "// More.", "int x;"),
                         ["/**", " @file", " File.", " ", " @code{.cpp}", " run(x)", " ", " @endcode", " More.", " */",
                          "int x;"])

    def test_members(self):
        self.assertEqual(self.filtered("  int x = 0;  // the width"), ["  int x = 0;  /**< the width */"])
        self.assertEqual(self.filtered('  call("a // b");'), ['  call("a // b");'])

    def test_namespace(self):
        self.assertEqual(self.filtered("namespace LADON_NAMESPACE::mask {"), ["namespace ladon::mask {"])


if __name__ == "__main__":
    unittest.main()
