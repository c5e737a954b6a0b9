"""Tests the component of ESP-IDF: ESP-IDF's component manager must accept idf_component.yml. No package registry has
ESP-IDF, so no test builds the component."""

import pathlib
import re
import sys

from common import InFolder, ROOT, main, need_module, run, version


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


if __name__ == "__main__":
    main()
