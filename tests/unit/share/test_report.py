"""The standing in words."""

from recall.replica.membership import Membership
from recall.share.report import Standing, in_words

MEMBER = Membership("postgresql://me@db/team", "a" * 32, "desk", "aki", "t")


def standing(**changes: object) -> Standing:
    fields: dict[str, object] = {
        "member": MEMBER, "server": "db:5432/team", "protected": False, "sent": 3, "received": 5,
        "machines": [("laptop", "ben", 5)], "synced": None, "failed": None, "failing_since": None,
    }  # fmt: skip
    return Standing(**{**fields, **changes})  # type: ignore[arg-type]


def test_before_the_first_exchange() -> None:
    assert in_words(standing().fields) == "db:5432/team as desk: 3 sent, 5 received; last exchange never"


def test_a_failure_is_told_with_its_beginning() -> None:
    fields = standing(synced=86_400, failed="it does not answer", failing_since=172_800).fields
    words = in_words(fields)
    assert fields["synced"] in words
    assert words.endswith(f"; failing since {fields['failing_since']}: it does not answer")


def test_who_is_paused_is_not_failing() -> None:
    paused = Membership(**{**{name: getattr(MEMBER, name) for name in MEMBER.__slots__}, "paused": True})
    words = in_words(standing(member=paused, failed="it does not answer", failing_since=1).fields)
    assert words == "db:5432/team as desk: 3 sent, 5 received; paused"
