"""Tests the Conan recipe in packaging/conan: conan create, which builds and runs packaging/conan/test_package."""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from common import ROOT, run

CONAN = pathlib.Path(sys.executable).parent / "conan"


@unittest.skipUnless(CONAN.exists() or os.environ.get("LADON_RELEASE_TOOLS") == "all", "conan is not installed")
class Recipe(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ladon-conan-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder)
        self.conan("profile", "detect")

    def conan(self, *arguments):
        """Runs conan without any remote, with a separate home folder. Returns the output."""
        return run(CONAN, *arguments, cwd=self.folder, CONAN_HOME=str(self.folder / "home"))

    def create(self, *arguments):
        return self.conan("create", ROOT / "packaging/conan", "--no-remote", "-s:h", "compiler.cppstd=20",
                          "-c:h", f"tools.cmake.cmake_layout:test_folder={self.folder / 'test'}", *arguments)

    def test_with_xsimd_of_the_system(self):
        # Conan treats xsimd as installed by the system (platform_requires), because no remote provides xsimd.
        (self.folder / "system_xsimd").write_text("include(default)\n[platform_requires]\nxsimd/8.1.0\n")
        said = self.create("-pr:h", "system_xsimd", "-pr:b", "default")
        self.assertIn("xsimd/8.1.0 - Platform", said)
        self.assertRegex(said, r"ladon [0-9.]+, xsimd: 0 wrong")
        self.assertRegex(said, r"keyword_attention of ladon [0-9.]+, \d+ bytes: 0 wrong")
        self.check_package()

    def test_without_xsimd(self):
        said = self.create("-o", "ladon/*:with_xsimd=False")
        self.assertNotIn("xsimd/", re.sub(r"\S*(include|detail)/\S*", "", said))
        self.assertRegex(said, r"ladon [0-9.]+, \S.*: 0 wrong")

    def test_older_standard(self):
        with self.assertRaisesRegex(AssertionError, "Invalid: .*C\\+\\+20|cppstd.*is lower than the required"):
            self.create("-o", "ladon/*:with_xsimd=False", "-s:h", "compiler.cppstd=17")

    def check_package(self):
        """Checks that the package has the licence, and has no compiled file."""
        package = next(path for path in (self.folder / "home/p").glob("**/licenses")).parent
        self.assertTrue((package / "licenses/LICENSE").is_file())
        self.assertTrue((package / "share/ladon/cmake/ladonConfig.cmake").is_file())
        self.assertFalse([path for path in package.rglob("*") if path.suffix in (".a", ".so", ".o")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
