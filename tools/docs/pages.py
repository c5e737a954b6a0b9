#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py ROOT FOLDER: writes the pages of the site into FOLDER, for MkDocs.

The pages are README.md, the pages of docs/, and all Markdown files to which a page links. The site has the folders of
the repository, so links between pages need no change. A page may also link to a source file or to a folder. For such a
link, the site gets a page with the text of the file, or with the list of the folder's files.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import sys

STARTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "wasm/README.md"]
LINK = re.compile(r"(\]\()([^)#\s]+)")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.S)
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".h": "c", ".c": "c", ".py": "python", ".mjs": "js", ".ts": "ts",
             ".cmake": "cmake", ".txt": "text", ".json": "json", ".ino": "cpp", ".ini": "ini", ".sh": "bash"}
PICTURES = {".svg", ".png"}
HIDDEN = {"node_modules", "__pycache__", "build", "dist"}
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"


@dataclasses.dataclass
class Site:
    root: pathlib.Path
    folder: pathlib.Path
    done: set[str] = dataclasses.field(default_factory=set)

    def add(self, name):
        """Writes a file of the repository, and all files to which the file links."""
        if name in self.done:
            return
        self.done.add(name)
        source = self.root / name
        if source.suffix == ".md":
            self.write(name, self.with_links(name, source.read_text()))
        elif source.suffix in PICTURES:
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        elif source.is_dir():
            self.write(f"{name}/index.md", listing(name, source))
        else:
            self.write(f"{name}.md", quotation(name, source.read_text(errors="replace")))

    def write(self, name, text):
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def with_links(self, page, text):
        """Returns the text of a page. Links to source files and folders become links to their pages."""
        parts = CODE.split(text)
        return "".join(part if index % 2 else LINK.sub(lambda link: link[1] + self.target(page, link[2]), part)
                       for index, part in enumerate(parts))

    def target(self, page, link):
        """Returns the link for the site, and adds its target to the site. Raises ValueError for a dead link."""
        if re.match(r"[a-z]+:", link):
            return link
        name = os.path.normpath(os.path.join(os.path.dirname(page), link))
        source = self.root / name
        if name.startswith("..") or not source.exists():
            raise ValueError(f"{page} links to {link}, which does not exist")
        if source.is_dir() and (source / "README.md").is_file():
            self.add(f"{name}/README.md")
            return f"{link.rstrip('/')}/README.md"
        self.add(name)
        if source.is_dir():
            return f"{link.rstrip('/')}/index.md"
        return link if source.suffix == ".md" or source.suffix in PICTURES else f"{link}.md"


def quotation(name, text):
    """Returns a page with the text of a source file."""
    return f"{UNSEARCHED}# {name}\n\n````{LANGUAGES.get(pathlib.Path(name).suffix, 'text')}\n{text.rstrip()}\n````\n"


def listing(name, folder):
    """Returns a page with the names of the files in a folder."""
    entries = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in folder.iterdir()
                     if entry.name not in HIDDEN and not entry.name.startswith("."))
    return f"{UNSEARCHED}# {name}\n\n" + "".join(f"- `{entry}`\n" for entry in entries)


def main():
    site = Site(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
    shutil.rmtree(site.folder, ignore_errors=True)
    shutil.copytree(pathlib.Path(__file__).parent / "assets", site.folder / "assets")
    for name in [*STARTS, *(f"docs/{page.name}" for page in sorted((site.root / "docs").glob("*.md")))]:
        site.add(name)


if __name__ == "__main__":
    main()
