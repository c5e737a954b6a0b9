"""Tests ./dev release: the files, their checksums and their bill of materials. A second run must give equal bytes. Run
by ./dev test --release, from a checkout without uncommitted changes. The WebAssembly modules are compiled once, for
both runs."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import tarfile
import tempfile
import unittest
import zipfile

from common import ROOT, run, version

COMPILER = os.environ.get("CXX", "c++").split()
URL = "https://example.org/ladon"
SYSTEM = "linux-x86_64"  # the other systems take minutes more


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = pathlib.Path(tempfile.mkdtemp(prefix="ladon-release-"))
        cls.addClassCleanup(shutil.rmtree, cls.temporary)
        cls.folder = cls.temporary / "first"
        run(ROOT / "dev", "release", cls.folder, LADON_URL=URL, LADON_RELEASE_SYSTEMS=SYSTEM)

    def file(self, name):
        return self.folder / name.replace("VERSION", version())

    def test_files(self):
        names = {path.name for path in self.folder.iterdir()}
        self.assertEqual(
            names,
            {
                self.file(name).name
                for name in (
                    "ladon.hpp",
                    "ladon-VERSION.tar.gz",
                    "ladon-VERSION.tgz",
                    "Ladon-VERSION.zip",
                    f"ladon-programs-VERSION-{SYSTEM}.zip",
                    "ladon-VERSION.spdx.json",
                    "SHA256SUMS",
                )
            },
        )

    def test_checksums(self):
        said = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=self.folder)
        self.assertEqual(said.count(": OK"), len(list(self.folder.iterdir())) - 1)

    def test_second_run_gives_the_same_bytes(self):
        again = self.temporary / "second"
        # A different umask, time zone and locale must not change the files. bash passes its umask to ./dev.
        run(
            "bash",
            "-c",
            'umask 077; exec "$@"',
            "bash",
            ROOT / "dev",
            "release",
            again,
            LADON_URL=URL,
            LADON_RELEASE_SYSTEMS=SYSTEM,
            TZ="Asia/Tokyo",
            LC_ALL="C",
        )
        for path in self.folder.iterdir():
            self.assertEqual(path.read_bytes(), (again / path.name).read_bytes(), path.name)

    def test_source_archive(self):
        with tarfile.open(self.file("ladon-VERSION.tar.gz")) as archive:
            files = {member.name.split("/", 1)[1] for member in archive if not member.isdir()}
        self.assertEqual(
            files, set(run("git", "ls-tree", "-r", "-z", "--name-only", "HEAD", cwd=ROOT).strip("\0").split("\0"))
        )

    def test_single_header(self):
        program = self.temporary / "main.cpp"
        program.write_text(
            '#include "ladon.hpp"\nstatic_assert(LADON_VERSION >= 1);\n'
            "using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 8, .model = 16, "
            ".heads = 2}>;\nstatic_assert(sizeof(Attention::Workspace) > 0);\n"
        )
        run(*COMPILER, "-std=c++20", "-fsyntax-only", f"-I{self.folder}", program)

    def test_npm_tarball(self):
        with tarfile.open(self.file("ladon-VERSION.tgz")) as archive:
            names = archive.getnames()
            manifest = json.load(archive.extractfile("package/package.json"))
        for needed in (
            "LICENSE",
            "README.md",
            "dist/index.js",
            "dist/index.d.ts",
            "dist/files.js",
            "dist/modules/LICENSE-kissfft.txt",
            "dist/LICENSE-tokenizers.txt",
        ):
            self.assertIn(f"package/{needed}", names)
        modules = json.loads((ROOT / "wasm/modules.json").read_text())
        kernels = [f"{name}.{variant}" for name in modules for variant in ("relaxed", "simd", "scalar")]
        kernels += [
            f"{name}.{variant}.threads"
            for name, arguments in modules.items()
            if "THREADS" in arguments.split()
            for variant in ("relaxed", "simd")
        ]
        front_ends = ["keywords_front_end.simd", "keywords_front_end.scalar"]
        self.assertEqual(
            sorted(name for name in names if name.endswith(".wasm")),
            sorted(f"package/dist/modules/{name}.wasm" for name in kernels + front_ends),
        )
        self.assertFalse(
            [name for name in names if re.match("package/(dist/demo|dist/stories|src|tests|node_modules)/", name)]
        )
        self.assertEqual(manifest["repository"], {"type": "git", "url": f"git+{URL}.git"})
        self.assertEqual(manifest["homepage"], f"{URL}#readme")
        self.assertEqual(manifest["bugs"], {"url": f"{URL}/issues"})
        self.assertEqual((manifest["author"], manifest["license"]), ("The Ladon authors", "Apache-2.0"))
        self.assertGreater(len(manifest["keywords"]), 3)

    def test_arduino_library(self):
        with zipfile.ZipFile(self.file("Ladon-VERSION.zip")) as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual(archive.read("Ladon/src/ladon.h"), (self.folder / "ladon.hpp").read_bytes())
            self.assertIn(f"url={URL}", archive.read("Ladon/library.properties").decode().splitlines())

    def test_bill_of_materials(self):
        from spdx_tools.spdx.model.relationship import RelationshipType
        from spdx_tools.spdx.parser.parse_anything import parse_file
        from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

        document = parse_file(str(self.file("ladon-VERSION.spdx.json")))
        self.assertEqual(validate_full_spdx_document(document), [])
        packages = {package.spdx_id: package for package in document.packages}
        described = [
            packages[one.related_spdx_element_id]
            for one in document.relationships
            if one.relationship_type == RelationshipType.DESCRIBES
        ]
        self.assertEqual(
            {package.name for package in described},
            {path.name for path in self.folder.iterdir()} - {"SHA256SUMS", self.file("ladon-VERSION.spdx.json").name},
        )
        for package in described:
            digest = hashlib.sha256((self.folder / package.name).read_bytes()).hexdigest()
            self.assertEqual(package.checksums[0].value, digest)
        names = {package.name for package in document.packages}
        self.assertLessEqual({"xsimd", "doctest", "esbuild", "typescript"}, names)
        contained = [
            (packages[one.spdx_element_id].name, packages[one.related_spdx_element_id].name)
            for one in document.relationships
            if one.relationship_type == RelationshipType.CONTAINED_BY
        ]
        tarball = self.file("ladon-VERSION.tgz").name
        programs = self.file(f"ladon-programs-VERSION-{SYSTEM}.zip").name
        self.assertEqual(
            sorted(contained),
            [
                ("@huggingface/tokenizers", tarball),
                ("cli11", programs),
                ("kissfft", tarball),
                ("nlohmann_json", programs),
                ("protozero", programs),
            ],
        )

    def test_programs(self):
        archive = self.file(f"ladon-programs-VERSION-{SYSTEM}.zip")
        run("unzip", "-q", archive, cwd=self.temporary)
        folder = self.temporary / archive.stem
        self.assertEqual(
            {path.name for path in folder.iterdir()}, {"LICENSE", "THIRD_PARTY.txt", "ladon-import", "ladon-weights"}
        )
        for name in ("ladon-import", "ladon-weights"):
            self.assertEqual(run(folder / name, "--version").strip(), f"{name} {version()}")
            self.assertNotIn(str(ROOT).encode(), (folder / name).read_bytes())
            self.assertIn("statically linked", run("file", folder / name))
        model = ROOT / "tests/data/families/gpt2"
        self.assertIn("ladon::", run(folder / "ladon-weights", "describe", model))
        run(folder / "ladon-import", model, "--cpp", self.temporary / "imported")
        self.assertTrue((self.temporary / "imported/CMakeLists.txt").is_file())


class Refusals(unittest.TestCase):
    """Tests that ./dev release fails and writes nothing if there are uncommitted changes, or if LADON_URL is empty."""

    def setUp(self):
        self.clone = pathlib.Path(tempfile.mkdtemp(prefix="ladon-release-")) / "clone"
        self.addCleanup(shutil.rmtree, self.clone.parent)
        run("git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), self.clone)

    def refuses(self, message, **environment):
        with self.assertRaisesRegex(AssertionError, message):
            run(self.clone / "dev", "release", self.clone.parent / "out", **environment)
        self.assertFalse((self.clone.parent / "out").exists())

    def test_uncommitted_changes(self):
        (self.clone / "new.txt").write_text("new")
        self.refuses("commit or stash your changes", LADON_URL=URL)

    def test_no_address(self):
        self.refuses("LADON_URL=<the project's page>", LADON_URL="")


if __name__ == "__main__":
    unittest.main(verbosity=2)
