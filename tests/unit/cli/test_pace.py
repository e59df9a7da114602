"""What is offered where a warm answer takes too long."""

from recall.cli.pace import Pace, measure_pace, remedies
from recall.wire.paths import StatePaths


def pace(p95: float) -> Pace:
    return Pace(p50=p95 / 2, p95=p95, model="bge-m3", device="CPU, 2 threads", reason="")


def test_the_cut_off_leaves_room_for_the_hook_and_is_a_multiple_of_a_hundred() -> None:
    assert [pace(p95).needed_ms for p95 in (10, 180, 181, 480, 9000)] == [200, 300, 400, 600, 5000]


def test_a_faster_model_and_another_device_are_offered_beside_the_higher_cut_off_and_nothing_is_last() -> None:
    found = remedies(pace(480), 300, "cpu", ["multilingual-e5-small"])
    assert [(remedy.key, remedy.value) for remedy in found] == [
        ("hook.budget_ms", 600),
        ("model", "multilingual-e5-small"),
        ("device", "auto"),
        ("", ""),
    ]


def test_no_cut_off_is_offered_that_is_no_higher_and_no_device_where_recall_chooses() -> None:
    assert [remedy.key for remedy in remedies(pace(9000), 5000, "auto", [])] == [""]


def test_a_pace_counts_twenty_questions_or_more_and_not_those_that_warm_up() -> None:
    spent = iter([1000.0] * 5 + [10.0] * 24 + [50.0])
    asked: list[str] = []

    def ask(paths: StatePaths, verb: str, fields: object = None) -> dict[str, object]:
        asked.append(verb)
        if verb == "status":
            return {"model": "m", "device": "CPU, 1 thread", "device_reason": "asked for"}
        return {"ms": next(spent)}

    found = measure_pace(StatePaths("/nowhere"), ask)
    assert (found.p50, found.model, found.reason) == (10.0, "m", "asked for")
    assert found.p95 > 10
    assert asked.count("query") >= 25
