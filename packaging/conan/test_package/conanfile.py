# SPDX-License-Identifier: Apache-2.0
"""Tests the package with a C++ program and a C kernel, whose results are compared with plain loops."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class LadonTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain", "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            for name in ("attend", "attend_c"):
                self.run(os.path.join(self.cpp.build.bindir, name), env="conanrun")
