"""Pins processes to cores, and describes the machine for the figures."""

import datetime
import os
import platform

from ladon_bench.process import say


def pinned(threads, last):
    """Returns the cores for all contestants, one for each thread. Moves this process to the remaining cores, if there
    are any."""
    if not hasattr(os, "sched_setaffinity"):
        say("this system cannot pin a process to a core: the figures are less certain")
        return None
    allowed = os.sched_getaffinity(0)
    if len(allowed) < threads:
        raise SystemExit(f"bench: {threads} threads need {threads} cores, and there are {len(allowed)}")
    last = max(allowed) if last is None else last
    cores = {last, *sorted(allowed - {last})[-(threads - 1):]} if threads > 1 else {last}
    if allowed > cores:
        os.sched_setaffinity(0, allowed - cores)
    return sorted(cores)


def machine_of(contestants, options, known):
    """Returns the description of the machine: the description of Ladon's process, and facts about the system. Keeps the
    versions, the date and the load of `known`, the description from the previous cases."""
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
