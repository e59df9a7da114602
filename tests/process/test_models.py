"""`recall models` as people run it, against a stand-in for the hub that serves the bundled model under another name."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub import REPOSITORY, REVISION, Hub, serving
from recall.embed.catalog import SHIPPED
from recall.embed.manifest import BUNDLED
from support import Sandbox, wait_until

NAME = "twin"
WEIGHTS = "onnx/model.onnx.data"
QUESTION = "どのポートでテストのデータベースが動きますか？"


def bundled() -> tuple[Path, Path]:
    """The bundled model's manifest and the folder of its files."""
    return next((folder / f"{BUNDLED}.toml", folder / BUNDLED) for folder in SHIPPED if (folder / BUNDLED).is_dir())


def manifest_text(*, terms: str = "") -> str:
    """The bundled model's manifest under another name, with a place on the hub in a folder there."""
    file, folder = bundled()
    text = file.read_text("utf-8").partition("[source]")[0].replace(f'name = "{BUNDLED}"', f'name = "{NAME}"')
    for path in folder.iterdir():
        text = text.replace(f'[files."{path.name}"]', f'[files."{path.name}"]\npath = "onnx/{path.name}"')
    if terms:
        text = text.replace("licence = ", f'terms = "{terms}"\nlicence = ', 1)
    return f'{text}\n[hub]\nrepository = "{REPOSITORY}"\nrevision = "{REVISION}"\n'


@pytest.fixture
def hub(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The stand-in, and a person who knows of a model there but does not have it."""
    with serving({f"onnx/{path.name}": path for path in bundled()[1].iterdir()}) as server:
        for name in [*os.environ]:
            if name.startswith("HF_") or name.casefold().endswith("_proxy"):
                monkeypatch.delenv(name)
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        know(sandbox)
        yield server


def know(sandbox: Sandbox, text: str | None = None) -> None:
    folder = Path(sandbox.paths.models, NAME)
    folder.mkdir(parents=True)
    (folder / "manifest.toml").write_text(text or manifest_text(), "utf-8")


def add(sandbox: Sandbox, *words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    return sandbox.run("models", "add", NAME, "--yes", "--no-measure", *words, check=check)


def start_add(sandbox: Sandbox) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "recall", "models", "add", NAME, "--yes", "--no-measure"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=sandbox.project,
    )  # fmt: skip


def model(sandbox: Sandbox) -> dict[str, object]:
    return next(entry for entry in sandbox.json("models") if entry["name"] == NAME)


def nothing_left(sandbox: Sandbox) -> bool:
    """Whether the model is as unknown to the disk as before, but for the lock."""
    left = {path.name for path in Path(sandbox.paths.models).rglob("*")}
    return left <= {NAME, "manifest.toml", f".adding-{NAME}.lock"}


def test_a_model_is_added_from_the_hub_used_and_removed(sandbox: Sandbox, hub: Hub) -> None:
    sandbox.configure('model = "multilingual-e5-small"\n')
    sandbox.note("reference_ports", "Where the test database listens", "The test database listens on port 5544.")
    sandbox.run("index")
    added = sandbox.run("models", "add", NAME, "--yes")
    assert "licence: MIT" in added.stdout
    assert "to fetch: 86 MB; free on the disk: " in added.stdout
    assert f"source: {hub.endpoint}/{REPOSITORY} at {REVISION[:12]}" in added.stdout
    assert "ms a question" in added.stdout
    entry = model(sandbox)
    assert (entry["installed"], entry["in_use"], entry["gate_measured"]) == (["int8"], False, True)
    assert entry["speed"]["query_ms_p50"] > 0  # type: ignore[index]
    folder = Path(sandbox.paths.models, NAME)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}

    used = sandbox.run("models", "use", NAME)
    assert "2 of 2 chunks of the index have to be embedded: about " in used.stdout
    assert "going back costs nothing" in used.stdout
    assert sandbox.json("index")["chunks_embedded"] == 2
    assert sandbox.json("status")["model"].startswith(f"{NAME}@")
    assert sandbox.json("query", QUESTION)["hits"][0]["name"] == "reference_ports"

    assert sandbox.run("models", "remove", NAME, "--yes", check=False).returncode == 1
    back = sandbox.run("models", "use", BUNDLED, "--no-measure")
    assert "it costs nothing" in back.stdout
    sandbox.run("index")  # until the running daemon has followed
    removed = sandbox.run("models", "remove", NAME, "--yes")
    assert "and 2 vectors of the index" in removed.stdout  # a chunk and a headline
    assert not folder.exists()
    assert sandbox.json("query", QUESTION)["hits"][0]["name"] == "reference_ports"


def test_nothing_is_asked_of_the_hub_without_add(sandbox: Sandbox, hub: Hub) -> None:
    sandbox.note("reference_ports", "Where the test database listens", "The test database listens on port 5544.")
    sandbox.run("setup", "--yes")
    sandbox.run("models")
    sandbox.run("models", "verify")
    sandbox.run("models", "use", NAME, check=False)
    sandbox.configure(f'model = "{NAME}"\n')  # what a person may write who expects a download
    sandbox.run("index", check=False)
    sandbox.run("query", QUESTION, check=False)
    sandbox.hook(sandbox.message(QUESTION))
    sandbox.run("status")
    assert hub.log == []
    refused = sandbox.run("models", "add", NAME, check=False)
    assert refused.returncode == 2
    assert "Fetch 86 MB from" in refused.stderr
    assert "--yes says yes" in refused.stderr
    assert hub.log == []


def test_unknown_sizes_are_asked_for_and_nothing_is_written_outside_the_state_folder(
    sandbox: Sandbox, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = manifest_text()
    start, end = text.index('[files."model.onnx"]'), text.index("[hub]")
    bare = "".join(f'[files."{path.name}"]\npath = "onnx/{path.name}"\n' for path in bundled()[1].iterdir())
    know_file = Path(sandbox.paths.models, NAME, "manifest.toml")
    know_file.write_text(text[:start] + bare + text[end:], "utf-8")  # sizes have to be asked for as well
    hub.behaviour("onnx/model.onnx").large = False
    before = sorted(sandbox.home.rglob("*"))
    monkeypatch.setenv("HTTP_PROXY", "socks5://127.0.0.1:9")
    assert "cannot be asked through the proxy" in add(sandbox, check=False).stderr
    monkeypatch.delenv("HTTP_PROXY")
    add(sandbox)
    assert sorted(sandbox.home.rglob("*")) == before
    assert {asked.path.split("/")[1] for asked in hub.log} == {"people", "store"}
    sandbox.run("models", "verify", NAME)
    assert manifest_text().count("sha256 = ") == know_file.read_text("utf-8").count("sha256 = ")


def test_a_connection_that_breaks_is_taken_up_again(sandbox: Sandbox, hub: Hub) -> None:
    hub.behaviour(WEIGHTS).cut = 30_000_000
    add(sandbox)
    assert hub.parts(WEIGHTS) == [None, "bytes=30000000-", "bytes=60000000-"]
    sandbox.run("models", "verify", NAME)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_add_goes_on_with_the_next(sandbox: Sandbox, hub: Hub, end: signal.Signals) -> None:
    hub.behaviour(WEIGHTS).hold = 40_000_000
    interrupted = start_add(sandbox)
    part = Path(sandbox.paths.models, f".adding-{NAME}")
    try:
        wait_until(hub.holding.is_set, "the server has sent the first part")
        wait_until(lambda: sum(f.stat().st_size for f in part.glob("model.onnx.data.part*")) > 30_000_000, "it is kept")
        interrupted.send_signal(end)
        _, errors = interrupted.communicate(timeout=30)
    finally:
        interrupted.kill()
    if end == signal.SIGINT:
        assert interrupted.returncode == 130
        assert f"`recall models add {NAME}` goes on from there" in errors
    assert model(sandbox)["installed"] == []
    assert model(sandbox)["interrupted"] is True
    (partial,) = part.glob("model.onnx.data.part*")
    size = partial.stat().st_size
    hub.behaviour(WEIGHTS).hold = None
    hub.log.clear()
    added = add(sandbox)
    assert hub.parts(WEIGHTS) == [f"bytes={size}-"]
    assert hub.parts("onnx/tokenizer.json") == []  # it was whole already
    assert f"to fetch: {(76_932_608 - size + 35_861) / 1e6:.0f} MB" in added.stdout
    sandbox.run("models", "verify", NAME)
    assert not part.exists()


def test_two_at_once_do_not_fight(sandbox: Sandbox, hub: Hub) -> None:
    hub.behaviour(WEIGHTS).hold = 40_000_000
    first = start_add(sandbox)
    try:
        wait_until(hub.holding.is_set, "the first is in the middle")
        second = add(sandbox, check=False)
        removing = sandbox.run("models", "remove", NAME, "--yes", check=False)
        hub.let_go.set()
        first.communicate(timeout=60)
    finally:
        first.kill()
    for late in (second, removing):
        assert late.returncode == 1
        assert f"{NAME} is being added or removed by another command" in late.stderr
    assert first.returncode == 0
    sandbox.run("models", "verify", NAME)


def test_a_wrong_checksum_is_refused_and_leaves_nothing(sandbox: Sandbox, hub: Hub) -> None:
    graph = (bundled()[1] / "model.onnx").read_bytes()
    hub.behaviour("onnx/model.onnx").content = bytes([graph[0] ^ 1]) + graph[1:]
    done = add(sandbox, check=False)
    assert done.returncode == 1
    assert "model.onnx" in done.stderr
    assert f"should have the SHA-256 {hashlib.sha256(graph).hexdigest()[:12]}..., but has " in done.stderr
    assert nothing_left(sandbox)


@pytest.mark.parametrize(
    ("status", "code", "sentence"),
    [
        (401, "GatedRepo", "asks for consent, log in there and give it, then set HF_TOKEN"),
        (403, "", "does not hand out people/model to you (status 403)"),
        (404, "EntryNotFound", "it was moved or removed there"),
        (407, "", "asks for a name and a password"),
        (503, "", "answers with status 503"),
    ],
)
def test_a_refusal_is_one_sentence(sandbox: Sandbox, hub: Hub, status: int, code: str, sentence: str) -> None:
    hub.behaviour("onnx/tokenizer.json").status = status
    hub.behaviour("onnx/tokenizer.json").code = code
    done = add(sandbox, check=False)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert nothing_left(sandbox)


def test_a_token_opens_a_gated_model_and_stays_with_the_hub(
    sandbox: Sandbox, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = "hf_of_this_person"
    assert "set HF_TOKEN" in add(sandbox, check=False).stderr
    monkeypatch.setenv("HF_TOKEN", "hf_cut…")
    mistyped = add(sandbox, check=False).stderr
    assert "set HF_TOKEN to the whole token" in mistyped
    assert "hf_cut" not in mistyped
    monkeypatch.setenv("HF_TOKEN", hub.token)
    hub.log.clear()
    add(sandbox)
    assert {asked.authorization for asked in hub.log if asked.path.startswith(f"/{REPOSITORY}")} == {
        f"Bearer {hub.token}"
    }
    assert {asked.authorization for asked in hub.log if asked.path.startswith("/store/")} == {None}


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"HF_HUB_OFFLINE": "1"}, "Offline mode is on"),
        ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "127.0.0.1:9 cannot be reached"),
        ({"HF_ENDPOINT": "http://hub.invalid"}, "The name hub.invalid cannot be resolved"),
        ({"HTTP_PROXY": "http://me:secret@127.0.0.1:9"}, "cannot be reached through the proxy http://127.0.0.1:9"),
        ({"HTTP_PROXY": "socks5://127.0.0.1:9"}, "cannot be asked through the proxy that the environment names"),
    ],
)
def test_a_missing_network_is_one_sentence(
    sandbox: Sandbox, hub: Hub, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], sentence: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = add(sandbox, check=False)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "secret" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert nothing_left(sandbox)


def test_a_proxy_that_refuses_is_one_sentence(sandbox: Sandbox, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    monkeypatch.setenv("HTTPS_PROXY", hub.endpoint)  # it knows no CONNECT
    done = add(sandbox, check=False)
    assert done.returncode == 1
    assert f"The proxy {hub.endpoint} refused the connection to hub.invalid (501 " in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_server_that_falls_silent_is_one_sentence(
    sandbox: Sandbox, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "1")
    hub.behaviour("onnx/tokenizer.json").hold = 0
    done = add(sandbox, check=False)
    assert done.returncode == 1
    assert "did not answer in time" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_disk_that_takes_no_more_is_one_sentence_and_the_rest_comes_later(sandbox: Sandbox, hub: Hub) -> None:
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000_000, 20_000_000))

    command = [sys.executable, "-m", "recall", "models", "add", NAME, "--yes", "--no-measure"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=sandbox.project, preexec_fn=limit
    )
    assert done.returncode == 1
    assert "takes no files of that size" in done.stderr
    assert done.stderr.count("\n") == 1
    hub.log.clear()
    add(sandbox)
    (part,) = hub.parts(WEIGHTS)
    assert part is not None
    assert 0 < int(part.removeprefix("bytes=").removesuffix("-")) <= 20_000_000
    sandbox.run("models", "verify", NAME)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_state_folder_is_one_sentence(sandbox: Sandbox, hub: Hub) -> None:
    Path(sandbox.paths.models).chmod(0o500)
    try:
        done = add(sandbox, check=False)
    finally:
        Path(sandbox.paths.models).chmod(0o700)
    assert done.returncode == 1
    assert "cannot be written" in done.stderr


def test_terms_are_shown_and_need_a_yes_of_their_own(sandbox: Sandbox, hub: Hub) -> None:
    shutil.rmtree(Path(sandbox.paths.models, NAME))
    know(sandbox, manifest_text(terms="https://terms.example/model"))
    done = add(sandbox, check=False)
    assert done.returncode == 2
    assert "https://terms.example/model" in done.stdout
    assert "--accept-terms" in done.stderr
    assert hub.log == []
    add(sandbox, "--accept-terms")
    assert model(sandbox)["terms"] == "https://terms.example/model"


@pytest.fixture
def share(tmp_path: Path) -> Path:
    """The model's folder as the export tools write it, on a file share for example."""
    folder = tmp_path / "share"
    shutil.copytree(bundled()[1], folder, copy_function=os.link)
    (folder / "manifest.toml").write_text(manifest_text().partition("[hub]")[0], "utf-8")
    return folder


def test_a_model_is_added_from_a_folder(sandbox: Sandbox, share: Path) -> None:
    before = {path: path.stat().st_mode for path in share.iterdir()}
    add(sandbox, "--from", str(share))
    assert {path: path.stat().st_mode for path in share.iterdir()} == before
    sandbox.run("models", "verify", NAME)
    sandbox.run("models", "use", NAME, "--no-measure")
    assert sandbox.json("index")["complete"]
    again = add(sandbox, "--from", str(share))
    assert f"{NAME} is installed" in again.stdout
    assert "did not come from the hub" in add(sandbox, check=False).stderr


def test_a_folder_that_lacks_a_file_is_refused(sandbox: Sandbox, share: Path) -> None:
    (share / "model.onnx.data").unlink()
    done = add(sandbox, "--from", str(share), check=False)
    assert done.returncode == 1
    assert f"{share} lacks model.onnx.data" in done.stderr
    assert not Path(sandbox.paths.models).exists()


def test_a_model_is_added_from_a_web_server(sandbox: Sandbox, share: Path) -> None:
    with serving({path.name: path for path in share.iterdir()}) as server:
        server.behaviour("model.onnx.data").cut = 50_000_000
        add(sandbox, "--from", f"http://me:secret@127.0.0.1:{server.port}/plain/")
        assert server.parts("model.onnx.data") == [None, "bytes=50000000-"]
        assert {asked.agent for asked in server.log} == {"recall/0.1.0"}
        gone = sandbox.run("models", "add", "x", "--from", f"{server.endpoint}/nowhere", "--yes", check=False)
    assert "has no manifest.toml (status 404)" in gone.stderr
    sandbox.run("models", "verify", NAME)


def test_verify_names_what_is_wrong_and_a_broken_manifest_hides_no_other(sandbox: Sandbox, share: Path) -> None:
    add(sandbox, "--from", str(share))
    folder = Path(sandbox.paths.models, NAME)
    with (folder / "model.onnx.data").open("r+b") as file:
        file.seek(1000)
        file.write(b"\xff\xfe\xfd")
    broken = Path(sandbox.paths.models, "broken")
    broken.mkdir()
    (broken / "manifest.toml").write_text("name = 3", "utf-8")
    done = sandbox.run("models", "verify", check=False)
    assert done.returncode == 1
    lines = {line.partition(": ")[0]: line.partition(": ")[2] for line in done.stdout.splitlines()}
    assert lines[BUNDLED] == "ok"
    assert "model.onnx.data" in lines[NAME]
    assert "cannot be used" in lines["broken"]
    listed = sandbox.run("models").stdout
    assert "broken: The model manifest" in listed
    assert f"*  {BUNDLED}" in listed
    assert [entry["problem"] is None for entry in json.loads(sandbox.run("models", "--json").stdout)].count(False) == 1


def test_only_add_loads_what_can_reach_the_network(sandbox: Sandbox) -> None:
    code = (
        "import sys; from recall.cli.main import main; code = main(sys.argv[1:]); "
        "print({'huggingface_hub', 'httpx2', 'ssl', 'http.client'} & set(sys.modules), code)"
    )
    for words in (["models"], ["models", "verify"], ["models", "use", BUNDLED], ["models", "remove", "x"]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=sandbox.project)
        assert done.stdout.splitlines()[-1].startswith("set()"), (words, done)


def test_setup_fetches_a_model_only_after_a_yes_that_names_the_size(sandbox: Sandbox, hub: Hub) -> None:
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    assert "would ask before it fetches 86 MB" in sandbox.run("setup", "--dry-run", "--model", NAME).stdout
    refused = sandbox.run("setup", "--model", NAME, check=False)
    assert refused.returncode == 1
    assert "Fetch 86 MB from" in refused.stdout
    assert "nothing was fetched" in refused.stderr
    assert not (sandbox.claude / "settings.json").exists()
    assert not any(asked.method == "GET" and "model.onnx" in asked.path for asked in hub.log)
    assert f"installed {NAME}" in sandbox.run("setup", "--model", NAME, "--yes").stdout
    assert sandbox.json("query", QUESTION)["model"] == NAME


def test_a_device_that_is_not_there_is_refused_before_anything_changes(sandbox: Sandbox) -> None:
    done = sandbox.run("setup", "--device", "cuda", check=False)
    assert done.returncode == 2
    assert "not cuda" in done.stderr
    assert not sandbox.state.exists()


def test_setup_asks_the_hub_nothing_before_a_yes(sandbox: Sandbox, hub: Hub) -> None:
    text = "\n".join(line for line in manifest_text().splitlines() if not line.startswith("sha256"))
    know_again = Path(sandbox.paths.models, NAME, "manifest.toml")
    know_again.write_text(text, "utf-8")
    for words in (("--dry-run",), ("--yes",), ()):
        done = sandbox.run("setup", "--model", NAME, *words, check=False)
        assert (done.returncode, f"recall models add {NAME}" in done.stderr) == (1, True)
    assert hub.log == []
