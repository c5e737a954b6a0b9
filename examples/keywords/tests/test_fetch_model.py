"""test_fetch_model.py [--shared FOLDER] CLASS: tests fetch_model with a server on this machine in the place of GitHub.

The class Failures needs only Python. The class Results needs the model of ../shared/models/kwt1, and pip with its
package index, because the conversion needs packages. If something is missing, the program prints "skipped: REASON".
"""

import argparse
import hashlib
import http.server
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

EXAMPLE = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = EXAMPLE / "fetch_model"
UNREACHABLE = "http://127.0.0.1:9"  # nothing listens to the port "discard"


def load_program():
    loader = importlib.machinery.SourceFileLoader("fetch_model", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


fetch_model = load_program()
MODEL, TFLITE, RECORDINGS = fetch_model.MODEL, fetch_model.TFLITE, fetch_model.RECORDINGS


class Server:
    """Serves {name: content} at the paths of GitHub. `asked` lists the names of all requests."""

    def __init__(self, files):
        self.asked = asked = []
        contents = {fetch_model.address(name, ""): content for name, content in files.items()}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path.rsplit("/", 1)[1])
                content = contents.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class WithFolders(unittest.TestCase):
    """Each test has a home folder without a model, and a folder that LADON_KEYWORDS_DIR may name."""

    packages = None  # a folder with the packages of the conversion

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ladon-fetch-model-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.cache = self.folder / "cache" / "ladon" / "keywords"
        self.named = self.folder / "named"
        self.named.mkdir()

    def server(self, files):
        server = Server(files)
        self.addCleanup(server.close)
        return server

    def run_program(self, *arguments, named=None, mirror=UNREACHABLE, use_packages=True):
        """Returns the finished process. Its stderr is text."""
        environment = {name: value for name, value in os.environ.items()
                       if name != "LADON_KEYWORDS_DIR" and not name.lower().endswith("_proxy")}
        environment["XDG_CACHE_HOME"] = str(self.folder / "cache")
        if named:
            environment["LADON_KEYWORDS_DIR"] = str(named)
        options = ["--mirror", mirror]
        if self.packages and use_packages:
            options += ["--packages", str(self.packages)]
        command = [sys.executable, str(PROGRAM), *options, *map(str, arguments)]
        return subprocess.run(command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    def assert_files(self, folder, names):
        """Checks that the folder has these files and nothing else, not even a hidden folder, and that each file has the
        right contents."""
        self.assertEqual(sorted(path.name for path in folder.iterdir()), sorted(names))
        for name in names:
            self.assertEqual(hashlib.sha256((folder / name).read_bytes()).hexdigest(), fetch_model.FILES[name][1], name)

    def assert_nothing_left(self, folder):
        self.assertEqual(list(folder.iterdir()) if folder.exists() else [], [])

    def assert_fails(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("Traceback", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def assert_succeeds(self, done, *words):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)


class Failures(WithFolders):
    def test_without_network(self):
        """Checks that the message has all that a person needs to get the file: address, size, checksum and folder."""
        size, checksum = fetch_model.FILES[TFLITE]
        done = self.run_program()
        self.assert_fails(done, fetch_model.address(TFLITE, UNREACHABLE), str(size), checksum, str(self.cache))
        self.assert_nothing_left(self.cache)

    def test_default_address(self):
        said = subprocess.run([sys.executable, str(PROGRAM), "--help"], text=True, stdout=subprocess.PIPE).stdout
        self.assertIn("https://raw.githubusercontent.com", said)

    def test_missing_on_the_server(self):
        self.assert_fails(self.run_program(mirror=self.server({}).address), "404")
        self.assert_nothing_left(self.cache)

    def test_wrong_contents(self):
        size = fetch_model.FILES[TFLITE][0]
        words = {b"": "found 0 bytes", b"<html>": "found 6 bytes", b"x" * size: f"found {size} bytes with",
                 b"x" * (size + 9): f"found {size + 1} bytes or more"}
        for content, found in words.items():
            done = self.run_program(mirror=self.server({TFLITE: content}).address)
            self.assert_fails(done, "is not the right file", found, hashlib.sha256(content[:size + 1]).hexdigest())
            self.assert_nothing_left(self.cache)

    def test_wrong_contents_of_a_given_file(self):
        wrong = self.folder / "wrong.tflite"
        wrong.write_bytes(b"x")
        self.assert_fails(self.run_program("--tflite", wrong), f"{wrong} is not the right file")

    def test_another_model_is_not_replaced(self):
        for folder in (self.named, self.cache):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / MODEL).write_bytes(b"my own")
            done = self.run_program(named=self.named)
            self.assert_fails(done, f"{folder / MODEL} is there, but is another file")
            self.assertEqual((folder / MODEL).read_bytes(), b"my own")
            (folder / MODEL).unlink()

    def test_no_folder_can_be_made(self):
        (self.folder / "cache").write_bytes(b"a file in the place of the folder")
        self.assert_fails(self.run_program(), "failed")

    def test_check_and_find(self):
        for arguments in (["--check"], ["--find", MODEL]):
            done = self.run_program(*arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", ""))


class Results(WithFolders):
    shared = None

    def setUp(self):
        super().setUp()
        self.published = {name: (self.shared / name).read_bytes() for name in (TFLITE, *RECORDINGS)}

    def test_from_nothing(self):
        server = self.server(self.published)
        done = self.run_program(mirror=server.address, use_packages=False)
        self.assert_succeeds(done, "pip", f"the model is {self.cache / MODEL}")
        self.assert_files(self.cache, fetch_model.FILES)
        self.assertEqual((self.cache / MODEL).read_bytes(), (self.shared / MODEL).read_bytes())
        self.assertEqual(len({path.stat().st_mode for path in self.cache.iterdir()}), 1, "permissions differ")
        self.assertEqual(sorted(server.asked), sorted(self.published))
        again = self.run_program("--all", mirror=server.address)
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertEqual(len(server.asked), len(self.published), "the second run asked the server")

    def test_named_folder(self):
        done = self.run_program(named=self.named / "new", mirror=self.server(self.published).address)
        self.assert_succeeds(done)
        self.assert_files(self.named / "new", fetch_model.FILES)
        self.assert_nothing_left(self.cache)

    def test_folder_as_an_argument(self):
        """Checks that files are written to a folder given as an argument, even if the folder has the tflite file."""
        (self.named / TFLITE).write_bytes(self.published[TFLITE])
        self.assert_succeeds(self.run_program(self.named, named=self.shared))
        self.assert_files(self.named, [MODEL, TFLITE])

    def test_folder_with_the_tflite_file(self):
        (self.named / TFLITE).write_bytes(self.published[TFLITE])
        server = self.server(self.published)
        done = self.run_program(named=self.named, mirror=server.address)
        self.assert_succeeds(done, f"{self.named} has {TFLITE} and is left as it is: new files go to {self.cache}")
        self.assert_files(self.named, [TFLITE])
        self.assert_files(self.cache, [MODEL, *RECORDINGS])
        self.assertNotIn(TFLITE, server.asked)
        self.assertEqual(self.run_program("--check", "--all", named=self.named).returncode, 0)

    def test_read_only_folder(self):
        self.named.chmod(0o555)
        done = self.run_program(named=self.named, mirror=self.server(self.published).address)
        self.assert_succeeds(done, f"{self.named} cannot be written: new files go to {self.cache}")
        self.assert_nothing_left(self.named)
        self.assert_files(self.cache, fetch_model.FILES)

    def test_complete_folder(self):
        done = self.run_program("--all", named=self.shared)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_nothing_left(self.cache)
        for name in fetch_model.FILES:
            self.assertEqual(self.run_program("--find", name, named=self.shared).stdout, f"{self.shared / name}\n")

    def test_without_recordings(self):
        done = self.run_program("--tflite", self.shared / TFLITE)
        self.assert_succeeds(done, "goes on without the recordings")
        self.assert_files(self.cache, [MODEL, TFLITE])
        self.assert_fails(self.run_program("--all"), fetch_model.address(RECORDINGS[0], UNREACHABLE))
        self.assert_files(self.cache, [MODEL, TFLITE])
        self.assert_succeeds(self.run_program("--all", mirror=self.server(self.published).address))
        self.assert_files(self.cache, fetch_model.FILES)

    def test_damaged_recording(self):
        server = self.server({**self.published, RECORDINGS[1]: b"x"})
        self.assert_succeeds(self.run_program(mirror=server.address), f"{RECORDINGS[1]} is not the right file")
        self.assert_files(self.cache, [MODEL, TFLITE, RECORDINGS[0]])

    def test_packages_without_the_reader(self):
        empty = self.folder / "empty"
        empty.mkdir()
        done = self.run_program("--packages", empty, "--tflite", self.shared / TFLITE, use_packages=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("could not be converted", done.stderr)
        self.assert_nothing_left(self.cache)


def missing_for_results(folder, work):
    """Installs the packages of the conversion. Returns what Results lacks, or None."""
    if not (folder / MODEL).exists():
        return f"there is no {folder}"
    if not fetch_model.has_module("pip") and not fetch_model.has_module("ensurepip"):
        return "there is no pip"
    try:
        Results.packages = fetch_model.install_packages(work)
    except fetch_model.Failure as failure:
        return str(failure)
    Results.shared = folder
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=pathlib.Path, default=EXAMPLE.parents[2] / "shared")
    parser.add_argument("tests", choices=["Failures", "Results"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ladon-fetch-model-") as work:
        if options.tests == "Results":
            missing = missing_for_results(options.shared.resolve() / "models" / "kwt1", pathlib.Path(work))
            if missing:
                print(f"skipped: {missing}")
                return
        unittest.main(argv=[sys.argv[0], options.tests], verbosity=2)


if __name__ == "__main__":
    main()
