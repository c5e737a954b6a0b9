"""Replaces files so that a reader sees either the complete old or the complete new content, also after an interrupt.
The C++ programs use src/files/replace_file.hpp for this purpose."""

import argparse
import os
import pathlib
import stat
import tempfile


def _write_temporary(target, content, mode):
    """Writes a temporary file beside the target and returns the path of the temporary file."""
    descriptor, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
    except BaseException:
        os.unlink(name)
        raise
    return name


def _mode_of(target):
    """Returns the permissions of the file, or of a new file if the file does not exist. Raises IsADirectoryError for a
    folder."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(21, "Is a directory", str(target))
    return stat.S_IMODE(status.st_mode) & 0o777


def _is_special(path):
    return path.exists() and not path.is_file() and not path.is_dir()


def write(path, text):
    """Replaces the content of a file, or of the target of a link, by `text`. A device or a pipe is written directly."""
    path = pathlib.Path(path)
    if _is_special(path):
        path.write_text(text, "utf-8")
        return
    target = pathlib.Path(os.path.realpath(path))
    temporary = _write_temporary(target, text.encode(), _mode_of(target))
    try:
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def path(text):
    """Converts the text of an option to the path of an output file, as a `type` for argparse. Raises ArgumentTypeError
    if the file cannot be written now, so that no measurement is lost. The file does not change."""
    try:
        if not _is_special(pathlib.Path(text)):
            target = pathlib.Path(os.path.realpath(text))
            os.unlink(_write_temporary(target, b"", _mode_of(target)))
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be written: {error.strerror}") from None
    return pathlib.Path(text)
