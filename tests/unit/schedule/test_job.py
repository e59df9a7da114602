"""What is scheduled: times as people write them, names that keep state folders apart, paths that can be held."""

import pytest

from recall.core.errors import RecallError, UsageError
from recall.schedule.job import Job, check_paths, minutes_of, name_of, unicode_only, words_of


@pytest.mark.parametrize(
    ("every", "minutes"),
    [("5m", 5), ("15m", 15), ("15 min", 15), (" 90M ", 90), ("1h", 60), ("2h", 120), ("24h", 1440), ("1440m", 1440)],
)
def test_times_are_read(every: str, minutes: int) -> None:
    assert minutes_of(every) == minutes
    assert minutes_of(words_of(minutes)) == minutes


@pytest.mark.parametrize("every", ["", "15", "4m", "0h", "25h", "1441m", "-15m", "1.5h", "15s", "１５m", "15m 2h", "h"])
def test_other_times_are_one_sentence_with_what_is_expected(every: str) -> None:
    with pytest.raises(UsageError, match="expected a time from 5m to 24h") as caught:
        minutes_of(every)
    assert repr(every) in str(caught.value)


def test_two_state_folders_have_two_names_and_one_has_always_the_same() -> None:
    assert name_of("/home/a/state") == name_of("/home/a/state")
    assert name_of("/home/a/state") != name_of("/home/a/State")
    assert name_of("/home/\udcff").isascii()


@pytest.mark.parametrize("letter", ["\n", "\r", "\0", "\x7f", "\t"])
def test_a_path_that_would_begin_a_new_line_is_refused(letter: str) -> None:
    with pytest.raises(RecallError, match="control characters"):
        check_paths(Job("/bin/recall", f"/home/a{letter}* * * * * rm", 15))
    check_paths(Job("/opt/日本 'q' %/recall", "/home/あ い", 15))


def test_names_that_are_no_unicode_are_for_cron_alone() -> None:
    with pytest.raises(RecallError, match="--using cron"):
        unicode_only(Job("/bin/recall", "/home/\udcff", 15), "systemd's files")
    unicode_only(Job("/bin/recall", "/home/日本", 15), "systemd's files")
