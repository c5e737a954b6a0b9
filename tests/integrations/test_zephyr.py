"""The module of Zephyr in zephyr/. Zephyr itself is on no package registry: its Kconfig and CMake are stood in for by
the few lines of theirs that the module meets; Kconfig is read by the library that Zephyr reads it by."""

import os
import unittest

from common import (CORTEX_M7, HERE, InFolder, ROOT, attention_of_examples, machine_of, main, need_command, need_module,
                    run)

# The keys of a module.yml that Zephyr's scripts/zephyr_module.py knows in `build`.
BUILD_KEYS = {"cmake", "kconfig", "cmake-ext", "kconfig-ext", "sysbuild-cmake", "sysbuild-kconfig",
              "sysbuild-cmake-ext", "sysbuild-kconfig-ext", "depends", "settings"}


class Module(unittest.TestCase):
    @need_module("yaml")
    def test_module_yml(self):
        import yaml

        module = yaml.safe_load((ROOT / "zephyr/module.yml").read_text())
        self.assertEqual(set(module), {"name", "build"})
        self.assertEqual(module["name"], "ladon")
        self.assertLessEqual(set(module["build"]), BUILD_KEYS)
        self.assertTrue((ROOT / module["build"]["cmake"] / "CMakeLists.txt").is_file())
        self.assertTrue((ROOT / module["build"]["kconfig"]).is_file())

    @need_module("kconfiglib")
    def test_kconfig(self):
        self.assertEqual(self.configured("CPP", "STD_CPP20", "REQUIRES_FULL_LIBCPP"), ("n", "n"))
        self.assertEqual(self.configured("CPP", "STD_CPP20", "REQUIRES_FULL_LIBCPP", "LADON"), ("y", "y"))
        self.assertEqual(self.configured("CPP", "STD_CPP2B", "REQUIRES_FULL_LIBCPP", "LADON"), ("y", "y"))
        self.assertEqual(self.configured("CPP", "STD_CPP17", "REQUIRES_FULL_LIBCPP", "LADON"), ("n", "n"))
        self.assertEqual(self.configured("CPP", "STD_CPP20", "LADON"), ("n", "n"))

    def configured(self, *symbols):
        """LADON and APP_LINK_WITH_LADON when these are wished for."""
        import kconfiglib

        os.environ["LADON_MODULE"] = str(ROOT)
        kconfig = kconfiglib.Kconfig(str(HERE / "zephyr/Kconfig"))
        self.assertEqual(kconfig.warnings, [])
        for symbol in symbols:
            kconfig.syms[symbol].set_value("y")
        return kconfig.syms["LADON"].str_value, kconfig.syms["APP_LINK_WITH_LADON"].str_value


class Application(InFolder):
    def test_builds(self):
        said = run(self.built("-DCONFIG_LADON=y", "-DCONFIG_APP_LINK_WITH_LADON=y"))
        self.assertAlmostEqual(float(said.split(",")[0]), attention_of_examples(), delta=2e-6)

    @need_command("arm-none-eabi-g++")
    def test_builds_for_cortex_m7(self):
        flags = " ".join([*CORTEX_M7, "-specs=nano.specs", "-specs=nosys.specs"])
        program = self.built("-DCONFIG_LADON=y", "-DCONFIG_APP_LINK_WITH_LADON=y", "-DCMAKE_SYSTEM_NAME=Generic",
                             "-DCMAKE_C_COMPILER=arm-none-eabi-gcc", "-DCMAKE_CXX_COMPILER=arm-none-eabi-g++",
                             f"-DCMAKE_CXX_FLAGS={flags}", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY")
        self.assertEqual(machine_of(program), 40)

    def test_is_not_there_unless_asked_for(self):
        with self.assertRaisesRegex(AssertionError, "ladon/ladon.hpp: No such file"):
            self.built("-DCONFIG_LADON=n")

    def built(self, *settings):
        run("cmake", "-S", HERE / "zephyr", "-B", self.folder, f"-DLADON_MODULE={ROOT}",
            "-DCMAKE_BUILD_TYPE=MinSizeRel", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *settings)
        run("cmake", "--build", self.folder)
        commands = (self.folder / "compile_commands.json").read_text()
        self.assertIn("-ffp-contract=off -fno-math-errno", commands)
        return self.folder / "app"


if __name__ == "__main__":
    main()
