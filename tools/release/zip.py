# SPDX-License-Identifier: Apache-2.0
"""zip FOLDER NAME ZIP: writes FOLDER/NAME into an archive. The bytes depend only on the names and contents of the
files, on whether their owner may run them, and on SOURCE_DATE_EPOCH, the time of all entries."""

import os
import pathlib
import sys
import time
import zipfile


def main():
    folder, name, archive = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    files = sorted(path for path in (folder / name).rglob("*") if path.is_file())
    if not files:
        sys.exit(f"zip: {folder / name} has no files")
    with zipfile.ZipFile(archive, "w") as out:
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), date)
            entry.create_system = 3  # Unix: external_attr has a Unix file mode
            entry.external_attr = (0o100755 if path.stat().st_mode & 0o100 else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, path.read_bytes())


main()
