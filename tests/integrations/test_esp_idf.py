"""The component of ESP-IDF: idf_component.yml as its component manager reads it, and CMakeLists.txt as ESP-IDF does,
twice. ESP-IDF itself is on no package registry: what of it the component meets is stood in for."""

import pathlib
import re
import sys

from common import (CORTEX_M7, HERE, InFolder, ROOT, attention_of_examples, machine_of, main, need_command, need_module,
                    run, version)

PROJECT = HERE / "esp_idf"
COMPONENT = f"-DLADON_COMPONENT={ROOT}"


class Manifest(InFolder):
    def test_version(self):
        manifest = (ROOT / "idf_component.yml").read_text()
        self.assertEqual(re.findall(r'^version: "(.*)"$', manifest, re.MULTILINE), [version()])

    @need_module("idf_component_manager")
    def test_schema(self):
        compote = pathlib.Path(sys.executable).with_name("compote")  # the component manager's command
        run(compote, "manifest", "lint", ROOT / "idf_component.yml")
        wrong = self.folder / "idf_component.yml"
        wrong.write_text('version: "one"\n')
        with self.assertRaisesRegex(AssertionError, 'Invalid field "version"'):
            run(compote, "manifest", "lint", wrong)


class Component(InFolder):
    def test_first_reading(self):
        said = run("cmake", "-DESP_PLATFORM=1", COMPONENT, "-P", PROJECT / "first_reading.cmake", cwd=self.folder)
        self.assertEqual(said, f"-- registered INCLUDE_DIRS;{ROOT}/include\n")

    def test_builds(self):
        self.build()
        said = run(self.folder / "app")
        self.assertAlmostEqual(float(said.split(",")[0]), attention_of_examples(), delta=2e-6)
        self.assertRegex(run(self.folder / "kernel"), r"^ok, \d+\n$")

    @need_command("arm-none-eabi-g++")
    def test_builds_by_a_cross_compiler(self):
        flags = " ".join(CORTEX_M7)
        self.build("-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_C_COMPILER=arm-none-eabi-gcc",
                   "-DCMAKE_CXX_COMPILER=arm-none-eabi-g++", f"-DCMAKE_CXX_FLAGS={flags}",
                   f"-DCMAKE_C_FLAGS={' '.join(flag for flag in CORTEX_M7 if flag != '-fno-rtti')}",
                   "-DCMAKE_EXE_LINKER_FLAGS=-specs=nano.specs -specs=nosys.specs",
                   "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY")
        for name in ("app", "kernel"):
            self.assertEqual(machine_of(self.folder / name), 40)

    def build(self, *settings):
        run("cmake", "-S", PROJECT, "-B", self.folder, COMPONENT, "-DCMAKE_BUILD_TYPE=MinSizeRel",
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *settings)
        run("cmake", "--build", self.folder)
        commands = (self.folder / "compile_commands.json").read_text()
        application = next(line for line in commands.splitlines() if '"command"' in line and "main.cpp" in line)
        self.assertIn("-ffp-contract=off -fno-math-errno", application)
        self.assertEqual(re.findall(r"-std=\S+", application), ["-std=gnu++2b"], "no older C++ than the application's")


if __name__ == "__main__":
    main()
