"""What figures hold for: the machine, and how our side was built."""

import os
import pathlib
import platform
import re


def unfit(build):
    """Why figures of such a build say nothing; nothing where they do."""
    if "-fsanitize" in build["flags"]:
        return f"was built with sanitizers: {build['flags']}"
    if not build["optimised"]:
        return f"was built without optimisation, as {build['type'] or 'no type at all'}"
    if build["type"] != "Release":
        return f"was built as {build['type'] or 'no type at all'}"
    return None


def processor():
    found = re.search(r"^model name\s*:\s*(.+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def described(build):
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    flags = f" {build['flags'].strip()}" if build["flags"].strip() else ""
    return (f"{processor()}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} cores, {memory:.0f} GB, "
            f"Linux {platform.release()}; {build['type']}{flags} by {build['compiler']}")
