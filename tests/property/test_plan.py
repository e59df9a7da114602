"""The plan, over any index and any scan."""

from hypothesis import given
from hypothesis import strategies as st

from recall.core.types import FoundFile
from recall.index.plan import RACY_NS, plan, trusted_mtime
from recall.store.entries import Stored

PATHS = st.sampled_from(["/a/1.md", "/a/2.md", "/a/b/1.md", "/a/b/c/1.md", "/ab/1.md", "/ab/2.md", "/c.md"])
PROJECTS = st.sampled_from(["/p", "/q"])
SMALL = st.integers(0, 2)
FILES = st.builds(FoundFile, st.just("memory"), PATHS, PROJECTS, SMALL, SMALL)
STORED = st.builds(Stored, PROJECTS, SMALL, st.none() | SMALL, st.booleans())
FOLDERS = st.sampled_from(["/a", "/a/", "/a/b", "/ab", "/", "/c.md", "/a/1.md"])


@given(st.dictionaries(PATHS, STORED), st.lists(FILES), st.lists(FOLDERS))
def test_every_path_is_accounted_for_exactly_once(
    stored: dict[str, Stored], found: list[FoundFile], unreadable: list[str]
) -> None:
    result = plan(stored, found, unreadable)
    looked_at = [file.path for file in result.new + result.maybe_changed + result.unchanged]
    assert len(looked_at) == len(set(looked_at))
    assert set(looked_at) == {file.path for file in found}
    assert {file.path for file in result.new} == set(looked_at) - set(stored)
    assert len(result.removed) == len(set(result.removed))
    assert set(result.removed) <= set(stored) - set(looked_at)


@given(st.dictionaries(PATHS, STORED), st.lists(FILES, unique_by=lambda file: file.path))
def test_a_file_is_left_alone_only_when_nothing_about_it_differs(
    stored: dict[str, Stored], found: list[FoundFile]
) -> None:
    unchanged = set(plan(stored, found, []).unchanged)
    for file in found:
        known = stored.get(file.path)
        same = known is not None and (known.project, known.size, known.mtime_ns, known.complete) == (
            file.project,
            file.size,
            file.mtime_ns,
            True,
        )
        assert (file in unchanged) == same


@given(st.dictionaries(PATHS, STORED), st.lists(FILES))
def test_an_index_that_has_carried_out_a_plan_has_nothing_left_to_do(
    stored: dict[str, Stored], found: list[FoundFile]
) -> None:
    first = plan(stored, found, [])
    after = {path: known for path, known in stored.items() if path not in first.removed}
    for file in first.new + first.maybe_changed:
        after[file.path] = Stored(file.project, file.size, file.mtime_ns, complete=True)
    second = plan(after, found, [])
    assert not second.new
    assert not second.maybe_changed
    assert not second.removed


@given(st.dictionaries(PATHS, STORED), FOLDERS)
def test_what_is_stored_below_an_unreadable_folder_is_kept_and_everything_else_goes(
    stored: dict[str, Stored], folder: str
) -> None:
    below = {path for path in stored if path.startswith(folder.rstrip("/") + "/")}
    assert set(plan(stored, [], [folder]).removed) == set(stored) - below


@given(st.integers(0, 2**62), st.integers(0, 2**62))
def test_a_time_is_trusted_only_when_it_lies_well_before_the_scan(mtime_ns: int, scanned_ns: int) -> None:
    trusted = trusted_mtime(mtime_ns, scanned_ns)
    assert trusted in (None, mtime_ns)
    assert (trusted is not None) == (scanned_ns - mtime_ns > RACY_NS)
