"""Tests the Zephyr module in zephyr/: its manifest, and its Kconfig options. kconfiglib reads these options here, as
in Zephyr. No package registry has Zephyr, so no test builds the module. tests/integrations/zephyr/Kconfig declares the
symbols that the options depend on."""

import os
import unittest

from common import HERE, ROOT, main, need_module

# The keys that Zephyr's scripts/zephyr_module.py allows in the section `build` of a module.yml.
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
        """Sets the Kconfig symbols to "y". Returns the values of LADON and APP_LINK_WITH_LADON."""
        import kconfiglib

        os.environ["LADON_MODULE"] = str(ROOT)
        kconfig = kconfiglib.Kconfig(str(HERE / "zephyr/Kconfig"))
        self.assertEqual(kconfig.warnings, [])
        for symbol in symbols:
            kconfig.syms[symbol].set_value("y")
        return kconfig.syms["LADON"].str_value, kconfig.syms["APP_LINK_WITH_LADON"].str_value


if __name__ == "__main__":
    main()
