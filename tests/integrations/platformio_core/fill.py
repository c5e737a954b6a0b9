"""fill.py CORE_FOLDER PLATFORM_FOLDER...: provides the packages that PlatformIO would download.

PlatformIO builds with SCons, which it downloads from its registry as the package tool-scons. PyPI has this SCons, too.
The script puts this SCons and the platforms (PLATFORM_FOLDER...) where `pio run` looks for them, so that `pio run`
needs no network. Run the script with the Python that has platformio and SCons.
"""

import json
import pathlib
import shutil
import sys

import SCons
from platformio.dependencies import get_core_dependencies

SCONS_PY = "import SCons.Script\n\nSCons.Script.main()\n"


def add_package(folder, kind, name, version, owner):
    """Writes `.piopm`, the description of a package that `pio pkg install` writes to the package's folder."""
    spec = {"owner": owner, "id": None, "name": name, "requirements": None, "uri": None}
    (folder / ".piopm").write_text(json.dumps({"type": kind, "name": name, "version": version, "spec": spec}))


def main():
    core, *platforms = map(pathlib.Path, sys.argv[1:])
    version = get_core_dependencies()["tool-scons"].lstrip("~")
    scons = core / "packages" / "tool-scons"
    shutil.copytree(pathlib.Path(SCons.__file__).parent, scons / "SCons")
    (scons / "scons.py").write_text(SCONS_PY)
    (scons / "package.json").write_text(json.dumps({"name": "tool-scons", "version": version}))
    add_package(scons, "tool", "tool-scons", version, "platformio")
    for platform in platforms:
        installed = core / "platforms" / platform.name
        shutil.copytree(platform, installed)
        manifest = json.loads((platform / "platform.json").read_text())
        add_package(installed, "platform", manifest["name"], manifest["version"], "platformio")


main()
