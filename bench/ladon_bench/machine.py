"""The machine: which of its cores are used, and what figures say of it."""

import datetime
import os
import platform

from ladon_bench.process import say


def pinned(threads, last):
    """The cores that all run on, as many as threads; this process itself keeps off them where there are others."""
    if not hasattr(os, "sched_setaffinity"):
        say("this system pins no process to a core: figures are less sure")
        return None
    allowed = os.sched_getaffinity(0)
    if len(allowed) < threads:
        raise SystemExit(f"bench: {threads} threads, and {len(allowed)} cores")
    last = max(allowed) if last is None else last
    cores = {last, *sorted(allowed - {last})[-(threads - 1):]} if threads > 1 else {last}
    if allowed > cores:
        os.sched_setaffinity(0, allowed - cores)
    return sorted(cores)


def machine_of(contestants, options, known):
    """Ladon's words of it, which come first, and the system's; what `known` has from cases before stays."""
    versions = {**known.get("versions", {}), **{name: version for one in contestants
                                                for name, version in one.versions.items()}}
    return {**contestants[0].machine, "system": system(), "kernel": platform.release(),
            "python": platform.python_version(), "cores": options.cores or [], "rounds": options.rounds,
            "seconds_a_round": options.seconds, "versions": versions,
            "date": known.get("date") or datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "load_at_start": known.get("load_at_start") or os.getloadavg()}


def system():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.platform()
