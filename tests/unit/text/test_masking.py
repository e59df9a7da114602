"""Masking: what people's notes hold besides tokens, the twins that must stay readable, and when the engine fails."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import betterleaks._lib
import pytest

from recall.core.errors import MaskingError
from recall.text.masking import mask

CASES = Path(__file__).parents[2] / "data" / "secrets" / "cases.jsonl.gz"
#: Made here so that no scanner of repositories takes it for a real one.
TOKEN = "ghp_" + "9aB3dE6fGh1jKlMn0pQrStUvWxYz12345678"
KEY_LINE = "QmFzZTY0TGluZXNPZktleU1hdGVyaWFsMTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1u"
BEGIN, END = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"


def cases(kind: str) -> list[dict[str, Any]]:
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        return [case for case in map(json.loads, lines) if case["kind"] == kind]


def test_every_fake_secret_is_gone() -> None:
    for case in cases("secret"):
        masked = mask(case["text"])
        assert masked.found, case["id"]
        assert case.get("secret", case["text"]) not in masked.text, case["id"]
        outside = masked.text
        for kind in masked.found:
            outside = outside.replace(f"[masked: {kind}]", " ")
        secret = case.get("secret", "")
        assert not [at for at in range(len(secret) - 9) if secret[at : at + 10] in outside], case["id"]


def test_at_most_three_in_a_hundred_harmless_texts_are_changed() -> None:
    harmless = cases("not-secret")
    changed = [case["id"] for case in harmless if mask(case["text"]).text != case["text"]]
    assert len(changed) <= 0.03 * len(harmless), changed


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("password: ", "hunter2", ""),
        ("The root password of the nas is ", "hunter2", "."),
        ("password for the staging db: ", "S3cret!pw", ""),
        ("password of the router → ", "Zx81spectrum", ""),
        ("db.office:5432:recall:ann:", "tr0ub4dor", ""),
        ("    `*:*:*:ann:", "correct-horse", "`"),
        ("the login for grafana is admin/", "Gr4fana!2024", ""),
        ("credentials: admin / ", "hunter2xyz", ""),
        ("ログイン情報：admin/", "hunter2", "。"),
        ('Password: "', "correct horse", '"'),
        ("**Password:** ", "hunter2", ""),
        ("| password | ", "hunter2x", " |"),
        ("パスワード：", "ひみつの花園", ""),
        ("パスワード: ", "さくら2024!", ""),
        ("パスワード（本番）：", "kawa9021", ""),
        ("パスワードは「", "桜咲く", "」です。"),
        ("DBのパスワードは", "hunter2", "です"),
        ("暗証番号：", "4821", ""),
        ("PIN: ", "4821", ""),
        ("password: ", "пароль123", ""),
        ("пароль: ", "секрет77", ""),
        ("the password is ", "Tr0ub4dor&3", ", ok"),
        ("mytool --password ", "hunter2", ""),
        ("machine x login bob password ", "s3cr3tpw", ""),
        ("DB_PASSWORD=", "p@ss;w0rd!x", ""),
        ("Server=db;User Id=sa;Password=", "S3cr3tX", ";Encrypt=yes"),
        ("<password>", "hunter2", "</password>"),
        ("- name: DB_PASSWORD\n  value: ", "hunter2x", ""),
        ("passphrase: ", "correct horse battery staple", ""),
        ("curl -u ", "admin:s3cretpw", " https://x"),
        ("mysql -u root -p", "S3cretPw", " db"),
        ("postgres://app:", "Pa55w/ord", "@db:5432/x"),
        ("mysql://root:", "ひみつ", "@localhost/db"),
        ("redis://:", "abc123def", "@cache:6379"),
        ("https://bob:", "p@ss@w0rd", "@host.example.com/"),
        ("https://", "a1b2c3d4e5f60718293a4b5c6d7e8f90", "@o12345.ingest.sentry.io/12"),
        ("Authorization: Bearer\n  ", "abcDEF123456ghiJKL789", ""),
        ("Authorization:\n  Bearer ", "abcDEF123456ghiJKL789", "\nAccept: x"),
        ("Authorization: Bearer ", "abcDEF123456ghiJKL789\n  mnoPQR012stuVWX345yz", ""),
        ('"Authorization": "Basic ', "dXNlcjpwYXNzd29yZA==", '"'),
        ("-H 'X-Api-Key: ", "3f9a8b7c6d5e4f3a2b1c", "'"),
        ("Cookie: ", "sessionid=8f3b2c1d9e7a6f5b4c3d2e1f; theme=dark", ""),
        ("", f"{BEGIN}\n{KEY_LINE}\n{KEY_LINE}\n{END}", "\nafter"),
        ("", f"{BEGIN}\n{KEY_LINE}\n{KEY_LINE[:30]}", "\n\nそのあと"),
        ("", f"{BEGIN}\nProc-Type: 4,ENCRYPTED\n\n{KEY_LINE}", "\n"),
        ("before it\n", f"{KEY_LINE}\n{KEY_LINE}\n{END}", "\nafter"),
        ('"private_key": "', f"{BEGIN}\\n{KEY_LINE}\\n{END}", '\\n"'),
        ("トークンは", TOKEN, "です"),
        ("", TOKEN, "を使う"),
        ("APIキーは", "a1b2c3d4e5f6g7h8i9j0", "です"),
        ("APIキー「", "a1b2c3d4e5f6g7h8i9j0", "」を設定"),
        ('api_key: str = "', "a1b2c3d4e5f6g7h8", '"'),
        ('os.environ.get("API_TOKEN", "', "a1b2c3d4e5f6g7h8", '")'),
        ('<add key="ApiKey" value="', "a1b2c3d4e5f6g7h8", '" />'),
        ("token: >-\n  ", "a1b2c3d4e5f6g7h8", ""),
        ("?page=1&access_token=", "a1b2c3d4e5f6g7h8", "&x=1"),
        ("//registry.npmjs.org/:_authToken=", "00a1b2c3-1234-4567-89ab-cdef01234567", ""),
        ("otpauth://totp/x?secret=", "JBSWY3DPEHPK3PXP", "&issuer=x"),
        ("TOTP seed: ", "JBSW Y3DP EHPK 3PXP", ""),
        ("seed phrase: ", "abandon ability able about above absent absorb abstract absurd abuse access accident", ""),
        ("discord.com/api/webhooks/123456789012345678/", "abcDEFghiJKLmnoPQRstuVWXyz0123456789_-abc", ""),
        ("root:", "$6$abcdefgh$0123456789abcdefABCDEF./xyzxyz", ":19000"),
        ("a\0b token ", TOKEN, ""),
        ("\ud800 token ", TOKEN, " \udfff"),
        ("token ", TOKEN, " # gitleaks:allow"),
        ("token ", TOKEN, " # betterleaks:allow"),
    ],
)
def test_only_the_secret_is_replaced(before: str, secret: str, after: str) -> None:
    masked = mask(before + secret + after)
    assert sum(masked.found.values()) == 1
    (kind,) = masked.found
    assert masked.text == f"{before}[masked: {kind}]{after}"


@pytest.mark.parametrize(
    "text",
    [
        "The password for the user is stored in the vault2go app",
        "the password of user 42 is checked by argon2id",
        "the password of the backup job was changed by bob2 yesterday",
        "src/x.py:120:4:error:unused",
        "image registry:5000:app:v1:latest is built nightly",
        "the login page is pages/login.tsx",
        "login: see docs/login/README.md",
        "credentials: admin / your-password",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes the token leak",
        "session_id: 3f2a8c1e-1111-4222-8333-444455556666",
        "see /Users/bob/src/token2/secret_3.py:12",
        '"integrity": "sha512-Ab3dE6fGh1jKlMn0pQrStUvWxYz12345678Ab3dE6fGh1jKlMn0pQrStUvWxYz12345678AbCdEfGh=="',
        "pip install x --hash=sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        'resolved "https://registry.npmjs.org/a/-/a-1.0.0.tgz#9fceb02d0ae598e95dc970b74767f19372d61af8"',
        "token: YOUR_API_KEY",
        "API_KEY=xxxxxxxx",
        "token: <token>",
        "TOKEN=${TOKEN}",
        "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
        "token: process.env.API_TOKEN",
        'password = os.environ["DB_PASSWORD"]',
        "const token = getToken(user1)",
        "password: string",
        "password: Optional[str] = None",
        "password: must be at least 8 characters",
        "パスワード：必須",
        "パスワード: 8文字以上",
        "パスワードはbcryptでハッシュ化する",
        "パスワード: 1Passwordを見る",
        "トークンの有効期限は3600秒",
        "APIキーは環境変数 OPENAI_API_KEY から読む",
        "パス: src/recall/text",
        "max_tokens: 4096",
        "tokenizer: Xenova/gpt-4",
        "name: api-token-rotation-2024q3",
        "postgres://user:password@host/db",
        "http://localhost:8080/path?mail=a@b.c",
        "Authorization: Bearer $TOKEN",
        "the Authorization: Bearer header is required",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        'public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIabcdefghijklmnopqrstuvwxyz0123456789AB"',
        "bypass: allowed",
        "tests pass: 12, fail: 3",
        "pwd: /home/bob/src",
    ],
)
def test_harmless_twins_stay_readable(text: str) -> None:
    assert mask(text).text == text
    assert mask(text).found == {}


def test_a_secret_that_is_named_once_is_masked_wherever_it_stands() -> None:
    masked = mask("use a1b2c3d4e5f6g7h8 here\n\nAPI_KEY=a1b2c3d4e5f6g7h8")
    assert masked.text == "use [masked: token] here\n\nAPI_KEY=[masked: token]"
    assert masked.found == {"token": 2}


def test_a_mask_is_never_masked_again() -> None:
    text = "password: [masked: password] token=[masked: github-pat]\nAuthorization: Bearer [masked: jwt]"
    assert mask(text) == (text, {})


def test_a_secret_at_the_edge_of_what_the_engine_gets_at_once_is_found() -> None:
    for filling in range(16_384 - len(TOKEN) - 2, 16_384 + 2):
        assert mask("a " * (filling // 2) + TOKEN + " b" * 6000).found == {"github-pat": 1}


def test_a_long_secret_goes_whole() -> None:
    secret = "a1B2c3D4" * 400
    assert mask(f"token: {secret} end").text == "token: [masked: token] end"


def test_threads_do_not_disturb_each_other() -> None:
    def rounds(thread: int) -> set[str]:
        token = TOKEN[:-2] + f"{thread:02d}"
        return {mask(f"{round_} {token} {thread}").text.partition(" ")[2] for round_ in range(50)}

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(rounds, range(8)))
    assert found == [{f"[masked: github-pat] {thread}"} for thread in range(8)]


def test_an_engine_that_fails_stops_the_text_and_tells_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "libbetterleaks.so"
    broken.write_bytes(b"no library")
    monkeypatch.setenv("BETTERLEAKS_LIB_PATH", str(broken))
    monkeypatch.setattr(betterleaks._lib, "_binding_instance", None)
    with pytest.raises(MaskingError) as caught:
        mask("my secret words")
    assert "my secret words" not in str(caught.value)
    assert "reinstall recall" in str(caught.value)
    assert caught.value.__suppress_context__
