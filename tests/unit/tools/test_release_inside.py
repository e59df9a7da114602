"""What is inside a program: owners of files, licences from metadata, Go modules; nothing without an owner."""

import subprocess
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest

from release import contents, distributions, gomodules, inside, licences
from release.inside import Inside, Native

SSL = Native("OpenSSL", "Apache-2.0", "https://example.org", modules=("_ssl",), files=("libssl[.-]*",))
YAML = Native("libyaml", "MIT", "https://example.org", modules=("_yaml",))
STDLIB = Path(sysconfig.get_path("stdlib"))


def test_each_file_has_its_owner(tmp_path: Path) -> None:
    package, root, work = tmp_path / "site-packages" / "yaml", tmp_path / "checkout", tmp_path / "work"
    found = Inside(
        {"yaml": str(package / "__init__.py"), "recall": str(root / "recall" / "__init__.py")},
        {
            "yaml/_yaml.so": str(package / "_yaml.so"),
            "libssl.so.3": "/usr/lib/libssl.so.3",
            "base_library.zip": str(work / "base_library.zip"),
            "python3.11/lib-dynload/_json.so": str(STDLIB / "lib-dynload" / "_json.so"),
            "recall/_models/a.toml": str(root / "models" / "a.toml"),
            "libpython3.11.so.1.0": "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
        },
        {},
    )
    owners = {str(package / name): "PyYAML" for name in ("__init__.py", "_yaml.so")}
    contents = inside.contents(found, owners, root, work, [SSL, YAML])
    assert contents.distributions == ["pyinstaller", "PyYAML"]
    assert contents.owner_of == {
        "yaml/_yaml.so": "PyYAML",
        "libssl.so.3": "OpenSSL",
        "base_library.zip": inside.PYTHON,
        "python3.11/lib-dynload/_json.so": inside.PYTHON,
        "recall/_models/a.toml": inside.OWN,
        "libpython3.11.so.1.0": inside.PYTHON,
    }
    assert [native.name for native in contents.natives] == ["OpenSSL", "libyaml"], "the second by its module alone"


def test_files_without_an_owner_stop_the_build_and_are_all_named(tmp_path: Path) -> None:
    found = Inside({}, {"liba.so": "/opt/liba.so", "libb.so": "/opt/libb.so", "libssl.so.3": "/opt/libssl.so.3"}, {})
    with pytest.raises(ValueError, match=r"/opt/liba\.so, /opt/libb\.so; leave it out"):
        inside.contents(found, {}, tmp_path, tmp_path, [SSL])


def test_a_library_that_a_wheel_carries_is_not_the_wheels_own_work(tmp_path: Path) -> None:
    carried = tmp_path / "site-packages" / "numpy.libs"
    files = {f"numpy.libs/{name}": str(carried / name) for name in ("libssl-1a.so.3", "libnobodys-2b.so.1")}
    owners = dict.fromkeys(files.values(), "numpy")
    with pytest.raises(ValueError, match=r"found none of \S+libnobodys-2b\.so\.1; leave it out"):
        inside.contents(Inside({}, files, {}), owners, tmp_path, tmp_path, [SSL])


def test_a_native_library_says_its_version_itself(tmp_path: Path) -> None:
    library = tmp_path / "libssl.so.3"
    library.write_bytes(b"\x7fELF\0\xffOpenSSL 3.5.9 29 Sep 2026\0")
    native = Native("OpenSSL", "Apache-2.0", "https://example.org", version=r"OpenSSL (\d+\.\d+\.\d+)")
    assert native.version_in(library) == "3.5.9"
    library.write_bytes(b"\x7fELF")
    assert native.version_in(library) == ""
    assert SSL.version_in(library) == ""


def test_what_pyinstaller_found_is_noted_with_the_sources_of_all_kinds(tmp_path: Path) -> None:
    analysis = SimpleNamespace(
        pure=[("yaml", "/site/yaml/__init__.py", "PYMODULE"), ("empty", "-", "PYMODULE")],
        binaries=[("libz.so.1", "/lib/libz.so.1", "BINARY"), ("liba.so", "numpy.libs/liba.so", "SYMLINK")],
        datas=[("recall\\notes.toml", "/checkout/notes.toml", "DATA")],
        scripts=[("__main__", "/checkout/__main__.py", "PYSOURCE")],
    )
    inside.record(analysis, tmp_path)
    found = inside.read(tmp_path)
    assert found.modules == {"yaml": "/site/yaml/__init__.py"}
    assert found.files == {"libz.so.1": "/lib/libz.so.1", "recall/notes.toml": "/checkout/notes.toml"}
    assert found.sources() == {*found.modules.values(), *found.files.values(), "/checkout/__main__.py"}


def test_the_known_native_libraries_are_told_by_their_files_on_every_system() -> None:
    known = inside.natives()
    expected = {
        "libcrypto.so.3": "OpenSSL",
        "libcrypto-3.dll": "OpenSSL",
        "libssl.3.dylib": "OpenSSL",
        "sqlite3.dll": "SQLite",
        "VCRUNTIME140_1.dll": "Microsoft Visual C++ runtime",
        "numpy.libs\\msvcp140-263139962577ecda4cd9469ca360a746.dll": "Microsoft Visual C++ runtime",
        "numpy.libs/libgfortran-040039e1-0352e75f.so.5.0.0": "GCC runtime library",
        "numpy.libs/libscipy_openblas64_-32a4b2a6.so": "OpenBLAS",
        "numpy/.dylibs/libscipy_openblas64_.dylib": "OpenBLAS",
        "libffi-8.dll": "libffi",
        "libz.so.1": "zlib",
        "psycopg_binary.libs/libcrypto-3a0647ea.so.3": "OpenSSL (psycopg)",
        "psycopg_binary.libs\\libssl-3-x64-d878e6db8e3f85ffea8dd83cd38f1e97.dll": "OpenSSL (psycopg)",
        "psycopg_binary/.dylibs/libcrypto.3.dylib": "OpenSSL (psycopg)",
        "psycopg_binary.libs/libpq-b5fba87b7d467685822e9fec10022db9.dll": "libpq",
        "psycopg_binary/.dylibs/libpq.5.dylib": "libpq",
        "psycopg_binary.libs/libcom_err-55c5739a.so.3.0": "MIT Kerberos",
        "psycopg_binary/.dylibs/libcom_err.3.0.dylib": "MIT Kerberos",
        "psycopg_binary/.dylibs/libkrb5support.1.1.dylib": "MIT Kerberos",
        "psycopg_binary.libs/libcom_err-2abe824b.so.2.1": "libcom_err",
        "psycopg_binary.libs/libcrypt-bc2db45e.so.1": "libcrypt",
        "psycopg_binary.libs/liblber-7b3e3cc5.so.2.0.200": "OpenLDAP",
        "psycopg_binary.libs/libsasl2-84219a89.so.3.0.0": "Cyrus SASL",
        "psycopg_binary.libs/libkeyutils-dfe70bd6.so.1.5": "keyutils",
    }
    for path, name in expected.items():
        found = inside.native_of(path, known)
        assert found is not None and found.name == name, path
    assert all(native.licence and native.home.startswith("https://") for native in known)


@pytest.mark.parametrize(
    ("expression", "words", "classifiers", "licence"),
    [
        ("MIT", "something else", [], "MIT"),
        ("", "MIT License", [], "MIT"),
        ("", "The text\nof a whole licence", ["License :: OSI Approved :: MIT License"], "MIT"),
        ("", "", ["License :: OSI Approved", "License :: OSI Approved :: Apache Software License"], "Apache-2.0"),
        ("", "UNKNOWN", [], ""),
    ],
)
def test_a_licence_is_read_from_what_metadata_has(
    expression: str, words: str, classifiers: list[str], licence: str
) -> None:
    assert distributions.licence_of("some", expression, words, classifiers) == licence


def test_a_distribution_without_licence_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "secretive-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: secretive\nVersion: 1.0\n")
    (folder / "RECORD").write_text("secretive.py,,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match=r"expected a licence in the metadata of secretive 1\.0, found none; leave"):
        distributions.read("secretive")
    (folder / "LICENSE.txt").write_text("Do what you like.\n")
    (folder / "RECORD").write_text("secretive.py,,\nsecretive-1.0.dist-info/LICENSE.txt,,\n")
    assert distributions.read("secretive").texts == (("LICENSE.txt", "Do what you like."),)


@pytest.mark.parametrize(
    ("path", "is_text"),
    [
        ("a-1.dist-info/licenses/LICENSE", True),
        ("a-1.dist-info/licenses/AUTHORS.rst", True),
        ("a/ThirdPartyNotices.txt", True),
        ("a-1.dist-info/LICENCE", True),
        ("packaging/licenses/__init__.py", False),
        ("a/licensing.cpython-311.pyc", False),
        ("a/unlicensed.txt", False),
    ],
)
def test_texts_are_told_by_their_names(path: str, is_text: bool) -> None:
    assert distributions.is_text(path) == is_text


def test_go_modules_are_read_from_what_the_linker_left(tmp_path: Path) -> None:
    note = b"".join(
        [
            b"\0\xff Go buildinf:\x08\x02" + b"\0" * 16 + b"\x08go1.27.1\x9bpath\tmain\n",
            b"dep\tgithub.com/b/two\tv2.0.0\th1:abc=\ndep\tgithub.com/a/one\tv1.0.0-00010101000000-000000000000\n",
            b"=>\t../upstream\t(devel)\t\nbuild\t-buildmode=c-shared\n",
        ]
    )
    library = tmp_path / "lib.so"
    library.write_bytes(b"\x7fELF" + note)
    assert [(one.path, one.version, one.checksum) for one in gomodules.modules(library)] == [
        ("github.com/a/one", "v1.0.0", ""),
        ("github.com/b/two", "v2.0.0", "h1:abc="),
    ]
    assert gomodules.compiler(library) == "1.27.1"
    library.write_bytes(b"\x7fELF")
    assert (gomodules.modules(library), gomodules.compiler(library)) == ([], "")


def test_the_text_has_an_overview_first_and_points_to_texts_that_stand_elsewhere() -> None:
    text = licences.render(
        [
            licences.Section("one", "1.0", "Apache-2.0", texts=(("LICENSE", "Apache License\nVersion 2.0"),)),
            licences.Section("two", "2.0", "Apache-2.0", "https://two.example"),
            licences.Section("three", "", "MPL-2.0", "https://three.example"),
        ]
    )
    overview, _, rest = text.partition(f"\n{licences.RULE}\n")
    assert [line.split()[-1] for line in overview.splitlines()[-3:]] == ["Apache-2.0", "Apache-2.0", "MPL-2.0"]
    assert "--- LICENSE\nApache License\nVersion 2.0\n" in rest
    assert "the Apache License 2.0 stands under one." in rest
    assert "it can be read at https://three.example." in rest


def test_python_is_found_with_its_licence() -> None:
    section = licences.python_section()
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in section.texts[0][1]


@pytest.mark.skipif(sys.platform != "linux", reason="only there the interpreter's settings are replaced")
def test_the_packed_interpreter_is_asked_for_time_zones_alone(tmp_path: Path) -> None:
    (folder,) = contents.found_first(tmp_path)
    program = "import sysconfig, zoneinfo; print(zoneinfo.TZPATH[0], sysconfig.get_config_var('CC'))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {folder!r}); {program}"],
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.stdout.endswith(" None\n"), done.stderr
