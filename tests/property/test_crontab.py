"""Whatever a crontab holds: adding our line and taking it out gives the bytes back, and no other line changes."""

import re
import shlex

from hypothesis import assume, given
from hypothesis import strategies as st

from recall.schedule import crontab
from recall.schedule.job import Job

FOREIGN = st.lists(
    st.one_of(
        st.sampled_from(
            [
                b"# m h dom mon dow command", b"SHELL=/usr/bin/fish", b"MAILTO=", b"", b"\t", b"*/5 * * * * true\r",
                b"0 0 * * * echo '50\\%' # recall: /other", b"# */15 * * * * x # recall: /home/a",
                "0 1 * * * echo 日本".encode(),
            ]
        ),
        st.binary(max_size=40),
    ),
    max_size=8,
)  # fmt: skip
PATHS = st.text(st.characters(min_codepoint=32, exclude_characters="\x7f", codec="utf-8"), min_size=1, max_size=30).map(
    lambda name: f"/home/{name}"
)
TIMES = st.sampled_from([5, 15, 30, 60, 120, 1440])


@st.composite
def crontabs(draw: st.DrawFn) -> bytes:
    text = b"\n".join(draw(FOREIGN))
    return text + b"\n" if text and draw(st.booleans()) else text


@given(crontabs(), PATHS, PATHS, TIMES)
def test_added_and_taken_out_gives_the_bytes_back(before: bytes, program: str, home: str, minutes: int) -> None:
    assume(crontab.standing(before, home) is None)
    line = crontab.line(Job(program, home, minutes))
    after = crontab.with_line(before, home, line)
    assert after.endswith(before)
    assert crontab.standing(after, home) == line
    assert crontab.with_line(after, home, line) == after
    assert crontab.without_line(after, home) == before


@given(crontabs(), PATHS, PATHS, TIMES, TIMES)
def test_two_state_folders_stand_side_by_side(before: bytes, one: str, two: str, first: int, second: int) -> None:
    assume(one != two)
    assume(crontab.standing(before, one) is None)
    assume(crontab.standing(before, two) is None)
    of_one, of_two = (
        crontab.line(Job("/opt/recall", home, minutes)) for home, minutes in ((one, first), (two, second))
    )
    both = crontab.with_line(crontab.with_line(before, one, of_one), two, of_two)
    assert crontab.standing(both, one) == of_one
    assert crontab.standing(both, two) == of_two
    changed = crontab.with_line(both, one, crontab.line(Job("/opt/new", one, second)))
    assert crontab.standing(changed, two) == of_two
    assert crontab.without_line(changed, one) == crontab.with_line(before, two, of_two)
    assert crontab.without_line(crontab.without_line(changed, one), two) == before


@given(crontabs(), PATHS, TIMES)
def test_a_changed_line_stays_where_a_person_moved_it(others: bytes, home: str, minutes: int) -> None:
    assume(crontab.standing(others, home) is None)
    line = crontab.line(Job("/opt/recall", home, 15))
    new = crontab.line(Job("/opt/recall", home, minutes))
    moved = b"# mine\n" + line + b"\n" + others
    assert crontab.with_line(moved, home, new) == b"# mine\n" + new + b"\n" + others


AWKWARD = st.text(st.sampled_from("\\\\\\%%''\" a日$#!`"), min_size=1, max_size=12).map(lambda name: f"/home/{name}")


@given(PATHS | AWKWARD, PATHS | AWKWARD)
def test_cron_and_sh_read_the_command_back(program: str, home: str) -> None:
    job = Job(program, home, 15)
    command = crontab.line(job).decode().split(" ", 5)[5]
    assert not re.search(r"(?<!\\)%", command)  # a line break for cron
    assert shlex.split(re.sub(r"\\([\\%])", r"\1", command), comments=True) == list(job.command)  # Debian's, tried
    assert shlex.split(command, comments=True) == list(job.command)  # busybox'
