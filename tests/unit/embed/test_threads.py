"""How many threads may compute."""

from pathlib import PurePosixPath

import pytest

from recall.embed.threads import allowed_threads, cgroup_paths, quota_v1, quota_v2, thread_count


@pytest.mark.parametrize(
    ("usable", "physical", "quotas", "expected"),
    [
        (8, 8, [], 8),
        (16, 8, [], 8),  # two threads a core
        (2, 8, [], 2),  # affinity
        (8, None, [], 8),  # physical cores unknown
        (8, 8, [3.9, 16.0], 3),  # the tightest of nested groups
        (8, 8, [0.5], 1),
    ],
)
def test_the_tightest_limit_decides(usable: int, physical: int | None, quotas: list[float], expected: int) -> None:
    assert thread_count(usable, physical, quotas) == expected


def test_quotas_of_both_cgroup_versions_are_read() -> None:
    assert quota_v2("max 100000\n") is None
    assert quota_v2("150000 100000\n") == 1.5
    assert quota_v2("200000\n") == 2.0
    assert quota_v1("-1\n", "100000\n") is None
    assert quota_v1("50000\n", "100000\n") == 0.5


def test_only_groups_that_limit_cpu_time_count() -> None:
    text = "12:cpuset:/other\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/x\n0::/user.slice/a:b.scope\n"
    assert list(cgroup_paths(text)) == [
        ("cpu", PurePosixPath("/docker/abc")),
        ("", PurePosixPath("/user.slice/a:b.scope")),
    ]


def test_this_process_may_use_at_least_one_core() -> None:
    assert allowed_threads() >= 1
