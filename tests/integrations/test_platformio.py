"""Tests library.json with PlatformIO's parser, and compiles examples/platformio with g++ and with PlatformIO, for this
machine and for a Cortex-M7."""

import json
import re
import sys
import unittest

from common import (COMPILER, CORTEX_M7, FLAGS, HERE, InFolder, ROOT, attention_of_examples, copy_of_checkout,
                    machine_of, main, need_command, need_module, run, version)

EXAMPLE = ROOT / "examples/platformio"
ON_CORTEX_M7 = f"""
[env:cortex_m7]
platform = native
custom_prefix = arm-none-eabi-
build_flags = ${{env.build_flags}} {" ".join(CORTEX_M7)} -Wl,--gc-sections
"""


class Manifest(unittest.TestCase):
    def setUp(self):
        self.manifest = json.loads((ROOT / "library.json").read_text())

    def test_version(self):
        self.assertEqual(self.manifest["version"], version())

    def test_names_what_exists(self):
        build = self.manifest["build"]
        for path in (*self.manifest["export"]["include"], build["includeDir"], build["srcDir"]):
            self.assertTrue((ROOT / path).exists(), path)
        self.assertTrue((ROOT / build["includeDir"] / self.manifest["headers"]).is_file())
        for example in self.manifest["examples"]:
            for path in example["files"]:
                self.assertTrue((ROOT / example["base"] / path).is_file(), path)

    @need_module("platformio")
    def test_schema(self):
        from platformio.package.manifest.parser import ManifestParserFactory
        from platformio.package.manifest.schema import ManifestSchema

        # PlatformIO would download the list of licences. The lambda returns a list with one licence instead.
        ManifestSchema.load_spdx_licenses = staticmethod(lambda: {"licenses": [{"licenseId": "Apache-2.0"}]})
        manifest = ManifestParserFactory.new_from_file(str(ROOT / "library.json")).as_dict()
        self.assertEqual(ManifestSchema().load_manifest(manifest)["version"], version())


class Example(InFolder):
    def test_by_the_compiler(self):
        program = self.folder / "program"
        run(COMPILER, *FLAGS, "-O1", f"-I{ROOT}/include", EXAMPLE / "src/main.cpp", "-o", program)
        self.assert_says_what_is_right(run(program))

    @need_command("arm-none-eabi-g++")
    def test_by_the_compiler_of_cortex_m7(self):
        program = self.folder / "program"
        run("arm-none-eabi-g++", *FLAGS, *CORTEX_M7, "-Os", "-specs=nano.specs", "-specs=nosys.specs",
            f"-I{ROOT}/include", EXAMPLE / "src/main.cpp", "-o", program)
        self.assertEqual(machine_of(program), 40)

    @need_module("platformio")
    @need_module("SCons")
    @need_command("arm-none-eabi-g++")
    def test_by_platformio(self):
        core = self.folder / "core"
        run(sys.executable, HERE / "platformio_core/fill.py", core, HERE / "platformio_core/native")
        project = copy_of_checkout(self.folder / "ladon") / "examples/platformio"
        with (project / "platformio.ini").open("a") as settings:
            settings.write(ON_CORTEX_M7)
        for environment in ("native", "cortex_m7"):
            said = run(sys.executable, "-m", "platformio", "run", "-v", "-e", environment, cwd=project,
                       PLATFORMIO_CORE_DIR=str(core), PLATFORMIO_SETTING_ENABLE_TELEMETRY="no")
            self.assertIn(f"ladon @ {version()}", said)
            compiled = re.findall(r" -c .* (\S+\.cpp)$", said, re.MULTILINE)
            self.assertEqual(compiled, ["src/main.cpp"], "of the library nothing is to be compiled")
        builds = project / ".pio/build"
        self.assert_says_what_is_right(run(builds / "native/program"))
        self.assertEqual(machine_of(builds / "cortex_m7/program"), 40)

    def assert_says_what_is_right(self, said):
        self.assertRegex(said, r"^-?\d\.\d{6}, computed in \d+ bytes of workspace\n$")
        self.assertAlmostEqual(float(said.split(",")[0]), attention_of_examples(), delta=2e-6)


if __name__ == "__main__":
    main()
