"""How many threads may compute: the cores that this process is allowed to use, not those of the host."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import psutil

_CGROUPS = Path("/sys/fs/cgroup")


def allowed_threads() -> int:
    """Threads for this process, 1 or more, by its CPU affinity, the physical cores and its cgroup's quota."""
    return thread_count(_affinity(), psutil.cpu_count(logical=False), _cgroup_quotas())


def thread_count(usable: int, physical: int | None, quotas: Iterable[float]) -> int:
    """The decision: no more than the usable CPUs, the physical cores (None: unknown) and the tightest quota in CPUs.

    Quotas are rounded down: a thread that gets half a core is suspended for the other half, and all others wait.
    """
    limits = [float(usable), *quotas]
    if physical is not None:
        limits.append(float(physical))
    return max(1, int(min(limits)))


def quota_v2(cpu_max: str) -> float | None:
    """CPUs granted by the content of a `cpu.max` (microseconds of quota and period), None for no limit."""
    quota, _, period = cpu_max.strip().partition(" ")
    return None if quota == "max" else int(quota) / int(period or 100_000)


def quota_v1(quota: str, period: str) -> float | None:
    """CPUs granted by `cpu.cfs_quota_us` and `cpu.cfs_period_us`, None for no limit (-1)."""
    return None if int(quota) <= 0 else int(quota) / int(period)


def cgroup_paths(proc_self_cgroup: str) -> Iterator[tuple[str, PurePosixPath]]:
    """(mount, path) of the groups that can limit CPU time: mount "" for version 2, "cpu" for version 1."""
    for line in proc_self_cgroup.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            yield "", PurePosixPath(path)
        elif "cpu" in controllers.split(","):
            yield "cpu", PurePosixPath(path)


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cgroup_quotas() -> Iterator[float]:
    """Quotas of this process's group and all groups around it; a container sees its own group as the root."""
    try:
        groups = list(cgroup_paths(Path("/proc/self/cgroup").read_text("ascii", "replace")))
    except (OSError, ValueError):
        return
    for mount, path in groups:
        for inner in (path, *path.parents):
            folder = _CGROUPS / mount / str(inner).lstrip("/")
            try:
                if mount == "":
                    quota = quota_v2((folder / "cpu.max").read_text("ascii"))
                else:
                    quota = quota_v1(
                        (folder / "cpu.cfs_quota_us").read_text("ascii"),
                        (folder / "cpu.cfs_period_us").read_text("ascii"),
                    )
            except (OSError, ValueError):
                continue
            if quota is not None:
                yield quota
