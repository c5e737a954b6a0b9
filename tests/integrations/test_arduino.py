"""Tests the library that cmake/arduino.cmake makes. The library must follow Arduino's library specification (format
1.5, revision 2.2), and Arduino's builder must compile its example."""

import re
import zipfile

from common import FLAGS, HERE, InFolder, ROOT, attention_of_examples, machine_of, main, need_command, run, version

HARDWARE = HERE / "arduino/hardware"
URL = "https://example.org/ladon"
CATEGORIES = ("Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing", "Data Storage",
              "Data Processing", "Other")


class Library(InFolder):
    def setUp(self):
        super().setUp()
        run("cmake", f"-DOUTPUT={self.folder}", f"-DLADON_URL={URL}", "-P", ROOT / "cmake/arduino.cmake")
        self.library = self.folder / "Ladon"
        self.sketch = self.library / "examples/Attention/Attention.ino"

    def test_properties(self):
        lines = (self.library / "library.properties").read_text().splitlines()
        properties = dict(line.split("=", 1) for line in lines)
        self.assertEqual(len(properties), len(lines))
        for required in ("name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url",
                         "architectures"):
            self.assertTrue(properties.get(required), required)
        self.assertRegex(properties["name"], r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}$")
        self.assertFalse(properties["name"].lower().startswith("arduino"))
        self.assertEqual(properties["version"], version())
        self.assertIn(properties["category"], CATEGORIES)
        self.assertEqual(properties["url"], URL)
        for header in properties["includes"].split(","):
            self.assertTrue((self.library / "src" / header).is_file(), header)

    def test_layout(self):
        self.assertRegex(self.library.name, r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")
        there = {str(path.relative_to(self.library)) for path in self.library.rglob("*") if path.is_file()}
        self.assertEqual(there, {"library.properties", "LICENSE", "src/ladon.h", "examples/Attention/Attention.ino",
                                 "examples/Attention/weights.h"})
        self.assertEqual(self.sketch.stem, self.sketch.parent.name)

    def test_archive(self):
        with zipfile.ZipFile(self.folder / f"Ladon-{version()}.zip") as archive:
            files = [name for name in archive.namelist() if not name.endswith("/")]
        self.assertEqual(sorted(files), sorted(
            str(path.relative_to(self.folder)) for path in self.library.rglob("*") if path.is_file()))

    def test_needs_an_address(self):
        copy = self.folder / "copy" / "cmake"
        copy.mkdir(parents=True)
        for name in ("arduino.cmake", "version.cmake"):
            (copy / name).write_bytes((ROOT / "cmake" / name).read_bytes())
        (copy.parent / "include").symlink_to(ROOT / "include")
        with self.assertRaisesRegex(AssertionError, "LADON_URL"):
            run("cmake", f"-DOUTPUT={self.folder}/none", "-P", copy / "arduino.cmake",
                GIT_CEILING_DIRECTORIES=str(self.folder))

    @need_command("arduino-builder")
    @need_command("arduino-ctags")
    @need_command("arm-none-eabi-g++")
    def test_example_by_arduino_builder(self):
        libraries, tools = self.folder / "libraries", self.folder / "tools"
        libraries.mkdir()
        tools.mkdir()
        self.library = self.library.rename(libraries / "Ladon")
        for board in ("native", "cortex_m7"):
            build = self.folder / board
            build.mkdir()
            said = run("arduino-builder", "-compile", "-verbose", "-hardware", HARDWARE,
                       "-hardware", "/usr/share/arduino-builder", "-tools", tools, "-libraries", libraries,
                       "-fqbn", f"ladon:host:{board}", "-build-path", build,
                       "-prefs", f"compiler.cpp.extra_flags={' '.join(FLAGS)}",
                       self.library / "examples/Attention/Attention.ino")
            self.assertIn(f"Using library Ladon at version {version()}", said)
            compiled = re.findall(r'/([^"/]+\.cpp)" -o "[^"]+\.o"$', said, re.MULTILINE)
            self.assertEqual(compiled, ["Attention.ino.cpp", "main.cpp"], "of the library nothing is to be compiled")
        self.assert_says_what_is_right(run(self.folder / "native/Attention.ino.elf"))
        self.assertEqual(machine_of(self.folder / "cortex_m7/Attention.ino.elf"), 40)

    def assert_says_what_is_right(self, said):
        self.assertAlmostEqual(float(said), attention_of_examples(), delta=2e-6)


if __name__ == "__main__":
    main()
