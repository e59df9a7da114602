"""Masking of what people write into their notes: tables, commands, sentences, numbers, recovery codes, file names."""

import pytest

from recall.text.masking import mask

#: Made here so that no scanner of repositories takes them for real ones.
TOKEN = "ghp_" + "9aB3dE6fGh1jKlMn0pQrStUvWxYz12345678"
KEY_ID = "AKIA" + "Q7Z4M2X5L5K3J6H2"
SECRET_KEY = "h7Gd93kfLs0aQwErTy" + "UiOpZx/CvBnM1+2Kj4mR5t"


def assert_only(text: str) -> None:
    """What stands between ⟦ and ⟧ is masked, each whole, and nothing else."""
    masked = mask(text.replace("⟦", "").replace("⟧", ""))
    parts = text.replace("⟧", "⟦").split("⟦")
    at = 0
    for number, part in enumerate(parts):
        if number % 2:
            assert masked.text.startswith("[masked: ", at), (part, masked.text)
            at = masked.text.index("]", at) + 1
        else:
            assert masked.text.startswith(part, at), (part, masked.text)
            at += len(part)
    assert at == len(masked.text)
    assert mask(masked.text) == (masked.text, {})


@pytest.mark.parametrize(
    "text",
    [
        "| user | password |\n|---|---|\n| ann | ⟦Puku2012rs⟧ |\n| bob | ⟦hunter⟧ |\n\nafter",
        "| ユーザー | パスワード |\n| :--- | ---: |\n| ann | ⟦さくら2024⟧ |\n| bob | ⟦Zx81spectrum⟧ |",
        "user | PW | note\n--- | --- | ---\nann | ⟦Puku2012rs⟧ | x",
        "| service | password |\n|---|---|\n| nas | `⟦sommerregen⟧` |",
        "user | pw\n-|-\nann | ⟦Puku2012rs⟧\nbob | ⟦tr0ub4dor⟧",
        "> | Service | **Password** (prod) |\n> |---|---|\n> | nas | `⟦Puku2012rs⟧` |\n> | web | ⟦tr0ub4dor!⟧ |",
        "| name | API token |\n|--|--|\n| x | ⟦a1b2c3d4e5f6g7h8⟧ |\n| y | ⟦z9y8x7w6v5u4t3s2⟧ |",
        "| door | PIN |\n|--|--|\n| front | ⟦4821⟧ |\n| back | ⟦77120⟧ |",
        "| password |\n|---|\n| ⟦Puku2012rs⟧ |\n| ⟦kawa9021⟧ |",
        "| login | pass |\r\n|---|---|\r\n| ann | ⟦sommerregen⟧ |\r\n",
        "| a | user | WiFi password |\n|---|---|---|\n|| ann | ⟦Puku2012rs⟧ (old) |",
    ],
)
def test_a_column_for_passwords_is_masked(text: str) -> None:
    assert_only(text)


@pytest.mark.parametrize(
    "text",
    [
        "docker login -u ann -p ⟦Puku2012rs⟧",
        "docker login -u ann -p ⟦sommerregen⟧ registry.example.com",
        "$ docker login registry.example.com \\\n    -u ann \\\n    -p ⟦Puku2012rs⟧",
        "`podman login -u ann -p ⟦sommerregen⟧`",
        "podman login -u ann -p '⟦with space 9⟧' quay.example",
        "helm registry login -u ann -p ⟦Puku2012rs⟧ r.example && helm push x",
        "az login -u ann@example.com -p ⟦Puku2012rs⟧",
        "az acr login -n x -u ann -p ⟦Puku2012rs⟧",
        "redis-cli -h cache -a ⟦Puku2012rs⟧ ping",
        "redis-cli -a ⟦sommerregen⟧",
        "sqlcmd -S db -U sa -P ⟦Puku2012rs⟧ -Q x",
        "mongo -u ann -p ⟦Puku2012rs⟧ db.example/x",
        "mongosh --username ann -p ⟦sommerregen⟧ --quiet",
        "smbclient //nas/share -U ann%⟦Puku2012rs⟧",
        "smbclient -U ann%⟦sommerregen⟧ //nas/share",
        "mount it: //nas/share$ -U dom/ann%⟦Puku2012rs⟧",
        'smbclient //nas/share -U "dom/ann%⟦Puku 2012⟧"',
        "ftp user ann pass ⟦sommerregen⟧",
        "ftp nas: user ann pass ⟦Puku2012rs⟧, port 21",
        "USER ann\nPASS ⟦Puku2012rs⟧",
    ],
)
def test_a_password_in_a_command_is_masked(text: str) -> None:
    assert_only(text)


@pytest.mark.parametrize(
    "text",
    [
        'use "⟦sommerregen⟧" as password',
        'Use "⟦correct horse⟧" as the root password.',
        "I use ⟦Puku2012rs⟧ as password for the nas",
        "use `⟦Puku2012rs⟧` as my wifi password",
        "⟦Puku2012rs⟧ をパスワードに設定した",
        "「⟦さくらもち⟧」をパスワードにする",
        "NASは⟦Puku2012rs⟧をパスワードに",
        "パスは⟦Puku2012rs⟧です",
        "NASのパスは ⟦hunter2xy⟧ です。",
        "ユーザー名とパスワードは ann と ⟦Puku2012rs⟧",
        "ユーザー名とパスワードは ann と ⟦sommerregen⟧ です",
        "ID/パスワードは「ann」/「⟦sommerregen⟧」",
        "the username and password are ann and ⟦Puku2012rs⟧.",
        "passwords changed: ⟦Puku2012rs⟧ -> ⟦Puku2013rs⟧",
        "IDとパスは ann と ⟦Puku2012rs⟧",
        "ユーザー名とパスワードは、ann と ⟦Puku2012rs⟧",
        "新しいパスワード → ⟦Puku2012rs⟧",
        "new password -> ⟦hunter2⟧",
        "the nas password → ⟦Puku2012rs⟧",
        "Das Kennwort lautet ⟦Puku2012rs⟧",
        "Das Kennwort lautet ⟦Sommerregen⟧.",
        'Das Passwort lautet "⟦sommerregen⟧".',
        "金庫の鍵は ⟦Puku2012rs⟧",
        "鍵は「⟦Puku2012rs⟧」です",
        "WiFi の key: ⟦Puku2012rs⟧",
        "WiFi key: ⟦sommerregen⟧",
        "Wi-Fi key = ⟦Puku2012rs⟧",
        "WiFiのキーは ⟦Puku2012rs⟧",
        "password has been changed from ⟦Puku2012rs⟧ to ⟦Puku2013rs⟧",
        "The password for the nas was changed from ⟦sommer⟧ to ⟦Winter2024!⟧.",
        'changed the password from "⟦sommerregen⟧" to "⟦winterschnee⟧"',
        "パスワードを ⟦Puku2012rs⟧ から ⟦Puku2013rs⟧ に変更",
    ],
)
def test_a_password_in_a_sentence_is_masked(text: str) -> None:
    assert_only(text)


@pytest.mark.parametrize(
    "text",
    [
        "safe PIN ⟦4821⟧",
        "the safe's PIN is ⟦4821⟧.",
        "the PIN of the safe is ⟦4821⟧",
        "PIN for the front door: ⟦77120⟧",
        "door code ⟦4821⟧",
        "金庫の暗証番号は ⟦4821⟧",
        "玄関のPINは⟦4821⟧です",
        "暗証番号 → ⟦482193⟧",
        "card ⟦4539 1488 0343 6467⟧ exp 09/27",
        "⟦4539-1488-0343-6467⟧",
        "カードは⟦4539148803436467⟧です",
        "amex ⟦3714 496353 98431⟧",
        "diners ⟦30569309025904⟧",
        "JCB: ⟦3530111333300000⟧",
        "the old visa number is ⟦4222222222222⟧",
        "⟦5555 5555 5555 4444⟧ and ⟦6011 0009 9013 9424⟧",
    ],
)
def test_pins_and_payment_cards_are_masked(text: str) -> None:
    assert_only(text)


@pytest.mark.parametrize(
    "text",
    [
        "## GitHub recovery codes\n\n- ⟦a1b2c-3d4e5⟧\n- ⟦f6a7b-8c9d0⟧\n- ⟦abcde-fabcd⟧\n\nafter",
        "Backup codes (Google)\n1. ⟦1234 5670⟧\n2. ⟦2345 6780⟧",
        "backup codes:\n```\n⟦82391047⟧  ⟦19283746⟧\n⟦56473829⟧  ⟦91827364⟧\n```\nafter",
        "リカバリーコード\n\n- [ ] ⟦a1b2c-3d4e5⟧\n- [x] ⟦f6a7b-8c9d0⟧ 使用済み\n",
        "バックアップコード：⟦a1b2-c3d4⟧、⟦e5f6-a7b8⟧",
        "The 2FA backup codes are ⟦82391047⟧, ⟦19283746⟧ and more",
        "# Recovery codes\n\nKeep them safe!\n\n| ⟦a1b2c-3d4e5⟧ | ⟦f6a7b-8c9d0⟧ |\n| ⟦a9b8c-7d6e5⟧ | ⟦f4a3b-2c1d0⟧ |",
        "recovery codes are ⟦a1b2c-3d4e5⟧ and ⟦f6a7b-8c9d0⟧",
        "Google backup codes\n\n[ ] ⟦1357 9246⟧   [ ] ⟦2468 1358⟧\n[ ] ⟦1357 9249⟧   [ ] ⟦2468 1359⟧",
        "recovery code: ⟦K7Q2W-9XA3B-L0P4D-ZZ8Y1⟧",
    ],
)
def test_recovery_codes_are_masked(text: str) -> None:
    assert_only(text)


@pytest.mark.parametrize(
    "text",
    [
        f"id ⟦{KEY_ID}⟧\nsecret\n⟦{SECRET_KEY}⟧\n",
        f"⟦{SECRET_KEY}⟧ ⟦{KEY_ID}⟧",
        "memory/password=⟦Puku2012rs⟧.md",
        "memory/password=⟦sommerregen⟧.md",
        "see password=⟦Puku2012rs⟧/notes.md",
        "memory/api_key=⟦a1b2c3d4e5f6g7h8⟧.json",
        f"memory/token=⟦{TOKEN}⟧.md",
        f"memory/token=⟦{TOKEN}⟧/x.md",
        f"⟦{TOKEN}⟧.md",
        "パスワード：⟦Puku2012rs⟧.txt",
    ],
)
def test_keys_beside_key_ids_and_secrets_in_file_names_are_masked(text: str) -> None:
    assert_only(text)


@pytest.mark.parametrize(
    "text",
    [
        "| field | password rules |\n|---|---|\n| login | at least 12 characters |",
        "| field | type | password |\n|---|---|---|\n| login | string | required |\n| x | int | optional |",
        "| user | password |\n|---|---|\n| ann | see the vault |\n| bob | ***** |\n| eve | 必須 |",
        "| token | count |\n|---|---|\n| the | 120391 |\n| tokenizer | 3 |",
        "| max tokens | model |\n|---|---|\n| 4096 | gpt2024x1y2z3 |",
        "| suite | pass | fail |\n|---|---|---|\n| unit2024 | 120 | 3 |",
        "| パス | 用途 |\n|---|---|\n| /usr/local/bin2 | tools1x |\n| src2/app3 | アプリ |",
        "| pin | GPIO |\n|---|---|\n| 12 | 18 |\n| 13 | 27 |",
        "| commit | date |\n|---|---|\n| 9fceb02d0ae598e95dc970b74767f19372d61af8 | 2024-05-01 |",
        "| user | forgot password |\n|---|---|\n| ann | page2login |",
        "docker run -p 8080:80 nginx",
        "docker login registry.example.com && docker run -p 8080:80 nginx2",
        "docker login, then docker run -p 8080:80 nginx",
        "docker login -u ann -p $DOCKER_PASSWORD",
        "docker login -u ann --password-stdin < ~/.docker/pw1",
        "docker login with -p is insecure, for -p shows in the process list",
        "aws ecr get-login-password | docker login -u AWS -p $(aws ecr get-login-password)",
        "mkdir -p build/out2/x1",
        "git add -p src/app2.py",
        "ssh -p 2222 ann@host",
        "psql -h db -p 5432 -U ann",
        "mongo --port 27017 -u ann -p",
        "redis-cli -a $REDIS_PASSWORD ping",
        "redis-cli --stat -i 5",
        "sqlcmd -S db -U sa -P $(SA_PASSWORD)",
        "smbclient -U ann //nas/share2",
        "curl //host/x -U 100%more",
        "print 50%discount2024 of //a/b",
        "all user tests pass after 3 rounds",
        "use bcrypt12 as password hash",
        'use "email2" as password field',
        "the same string is used as password",
        "誕生日をパスワードに使わない",
        "メールアドレスをパスワードにしないこと",
        "パスは /usr/local/bin です",
        "パスは src/app2/main3.py です",
        "パスは config2024.json です",
        "パスは C:\\Users\\ann2 です",
        "相対パスは使えません",
        "ファイルのパスは絶対パスで書く",
        "パスワードは別途連絡します",
        "ユーザー名とパスワードは環境変数で渡す",
        "ユーザー名とパスワードは POSTGRES_USER と POSTGRES_PASSWORD です",
        "the username and password are stored in vault2",
        "新しいパスワード → 確認画面 → 完了",
        "password → bcrypt → database",
        "Das Kennwort lautet wie folgt",
        "Das Kennwort lautet anders.",
        "パスは src と dist1 です",
        "Das Passwort ist falsch",
        "鍵は ed25519 です",
        "鍵は RSA4096 です",
        "鍵は金庫にある",
        "key: value2024x\nother: name",
        "the wifi keyboard is on channel 11",
        "primary key: user_id2",
        "password policy changed from 8 characters to 12 characters",
        "the password hash was changed from md5 to argon2id",
        "changed the password field from text to hidden",
        "pin the version 4821 of it",
        "pip pins numpy to 2024",
        "pin 4821 is unused on the board",
        "door codes are listed in section 4821a",
        "暗証番号は4桁です",
        "暗証番号は 4821桁までとする",
        "ISBN 978-4-87311-565-8 and 9784873115658",
        "order 4539148803436468",
        "order no. 4539 1488 0343 6460",
        "call 090-1234-5678 or +49 4539 1488 0343",
        "at 1700000000000 ms, 1700000000000000 us",
        "JAN 4901234567894",
        "f4539148803436467abc and 0.4539148803436467",
        "sha256 4539148803436467453914880343646745391488034364674539148803436467",
        "3f2a8c1e-1111-4222-8333-444455556666",
        "recovery codes are kept in the safe",
        "The backup code is in src/backup2.py",
        "## Backup codes\n\nprinted, in the drawer since 2024-05-01\n\n- [ ] print again\n- item20240501",
        "error codes\n\n- a1b2c-3d4e5",
        "Recovery codes: 128-bit random, 10 per person",
        "the backup codes are SHA256 hashes, `xxxxx-xxxxx`",
        "recovery codes -> table user_totp2",
        "password -> Word64 -> Bool",
        "wrong password -> 401",
        "password -> [String - required(if provider is local2)]",
        "recovery code path: read-only since 20240501",
        "## Backup code\n\n- step-one\n- step-two",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 near AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY is Amazon's example",
        "password: config.json",
        "password=secrets/db.txt",
        "token = tokens.json",
        "password: src/app2/form.ts",
        "password=form2.value",
        "password_file=db2prod1x.txt",
        "password_file=/run/secrets/db2_pw1.txt",
    ],
)
def test_harmless_notes_stay_readable(text: str) -> None:
    assert mask(text) == (text, {})


def test_a_key_without_a_key_id_beside_it_is_left() -> None:
    assert mask(SECRET_KEY).found == {}
    assert mask(f"{KEY_ID} {'word ' * 200} {SECRET_KEY}").found == {"aws-access-token": 1}
