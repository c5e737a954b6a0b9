# SPDX-License-Identifier: Apache-2.0
"""The Conan recipe for this checkout. Use: conan create packaging/conan -s compiler.cppstd=20"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Ladon(ConanFile):
    name = "ladon"
    description = "Masked multi-head attention and the transformer layers around it, every size a template argument"
    license = "Apache-2.0"
    author = "The Ladon authors"
    topics = ("attention", "transformer", "inference", "simd", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_xsimd": [True, False]}
    default_options = {"with_xsimd": True}  # False: the system's xsimd, or plain arrays, which are slow

    @property
    def _checkout(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._checkout, "include/ladon/version.hpp"))
        parts = [re.search(rf"#define LADON_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH")]
        self.version = ".".join(parts)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "tools/export/*"):
            copy(self, pattern, self._checkout, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        if self.options.with_xsimd:
            self.requires("xsimd/[>=8.1 <15]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()  # one package serves all settings, because it contains no compiled code

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["LADON_INSTALL"] = True
        for part in ("TESTS", "EXAMPLES", "BENCH", "WEIGHTS_TOOL"):
            toolchain.cache_variables[f"LADON_BUILD_{part}"] = False
        if not self.options.with_xsimd:
            toolchain.cache_variables["LADON_ARRAY_LANES"] = "4"  # CMake does not search for xsimd
        toolchain.generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        # The installed files contain a CMake package with ladon_add_kernel, so Conan must not generate a CMake package.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/ladon/cmake"]
        self.cpp_info.set_property("pkg_config_name", "ladon")
