"""``build-bridge``, where it cannot work; `ci/wheels` compiles one."""

import shutil
from argparse import Namespace
from pathlib import Path

import _pyarrow_cuda_compat_hook
import pyarrow as pa
import pytest

from pyarrow_cuda_compat._start import bridges, build_bridge

pytestmark = pytest.mark.independent


@pytest.mark.parametrize(
    ("compiler", "said"),
    [
        (
            "no-such-compiler",
            "cannot run no-such-compiler: No such file or directory; install g++, or set CXX",
        ),
        ("false", "false --version"),
    ],
)
def test_what_the_compiler_lacks_is_said(command, compiler, said):
    folder = Path(bridges.FOLDER)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    done = command("build-bridge", "--force", PATH="/usr/bin:/bin", CXX=compiler)
    assert done.returncode == 1
    version = f"for pyarrow {pa.__version__}"
    assert done.stdout == (
        f"build-bridge: compiling the C++ part {version}; this takes one to three minutes\n"
    )
    assert done.stderr.startswith("build-bridge: ")
    assert said in done.stderr
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A folder where the package is installed, with a list of what is."""
    package, info = tmp_path / "pyarrow_cuda_compat", tmp_path / "pyarrow_cuda_compat-1.dist-info"
    (package / "lib").mkdir(parents=True)
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pyarrow-cuda-compat\nVersion: 1\n")
    (info / "RECORD").write_text(f"{info.name}/METADATA,,\n{info.name}/RECORD,,\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(bridges, "FOLDER", str(package / "lib"))
    monkeypatch.setattr(
        build_bridge, "compile_to", lambda out, pyarrow: out.write_text(f"for {pyarrow}")
    )
    return tmp_path


def test_a_bridge_that_is_there_is_kept(command):
    library = Path(bridges.path_for(pa))
    before = library.stat().st_mtime_ns
    done = command("build-bridge")
    assert (done.returncode, done.stdout, library.stat().st_mtime_ns) == (1, "", before)
    assert done.stderr == (
        f"build-bridge: the bridge for pyarrow {pa.__version__} is there already: {library}; "
        "--force compiles it anew and replaces it\n"
    )


def test_what_is_built_is_on_the_list_of_installed_files(installed):
    for _ in range(2):
        library = build_bridge.build(force=True)
        assert library.read_text() == f"for {Path(pa.__file__).parent}"
    assert bridges.releases() == [bridges.release_of(pa)]
    record = (installed / "pyarrow_cuda_compat-1.dist-info" / "RECORD").read_text()
    assert record.count(f"pyarrow_cuda_compat/lib/{library.name},,\n") == 1


def test_each_development_version_has_its_own(installed, monkeypatch):
    monkeypatch.setattr(pa, "__version__", "99.0.0.dev7")
    first = build_bridge.build()
    monkeypatch.setattr(pa, "__version__", "99.0.0.dev8")
    assert not Path(bridges.path_for(pa)).exists()
    assert build_bridge.build() != first
    # They are no releases.
    assert bridges.releases() == []
    assert bridges.refusal(pa).endswith("lib: reinstall it")


def test_a_package_beside_the_installed_one_is_on_no_list(installed, tmp_path_factory, monkeypatch):
    """Such as that of an editable install, which is in the checkout."""
    folder = tmp_path_factory.mktemp("checkout")
    monkeypatch.setattr(bridges, "FOLDER", str(folder))
    record = installed / "pyarrow_cuda_compat-1.dist-info" / "RECORD"
    before = record.read_text()
    assert build_bridge.build().parent == folder
    assert record.read_text() == before


def test_a_folder_that_is_not_there_is_an_error(installed, capsys):
    shutil.rmtree(installed / "pyarrow_cuda_compat" / "lib")
    assert build_bridge.main(Namespace(force=False)) == 1
    assert "No such file or directory" in capsys.readouterr().err


def test_the_sources_are_installed():
    sources = build_bridge.SOURCES
    assert sources.parent == Path(_pyarrow_cuda_compat_hook.__file__).resolve().parent
    assert {"build.py", "border", "entries"} <= {path.name for path in sources.iterdir()}
