# SPDX-License-Identifier: BSD-3-Clause
"""The launcher at the root, with scripts in the parts of Python, pip and uv."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from noted import shows

LAUNCHER = Path(__file__).parents[1] / "haloscope"
TOOLS = "sh readlink dirname cat cksum grep find rm mkdir flock tee tail env touch sleep chmod sed"

PYTHON = """\
#!/bin/sh
# a Python: what CAN names can be imported
case "$1 $2" in
-c*) for module in ensurepip virtualenv pip; do
       case "$2 " in *" $module "*) case " $CAN " in *" $module "*) ;; *) exit 1 ;; esac ;; esac
     done
     case " $CAN " in *" python "*) exit 0 ;; *) exit 1 ;; esac ;;
--version*) echo "Python 3.9.2" ;;
"-P -m") shift 3; exec pip "$@" ;;
*) echo "$*" >>"$CALLS"
   mkdir -p "$VENV/bin"
   ln -sf "$SCRIPTS/venv-python" "$VENV/bin/python"
   case "$*" in *--without-pip*) ;; *) touch "$VENV/has-pip" ;; esac ;;
esac
"""
VENV_PYTHON = """\
#!/bin/sh
# the Python of .venv, which has pip where has-pip is
case "$1 $2" in
"-c import pip") [ -e "$VENV/has-pip" ] ;;
"-c import ensurepip"*) [ ! -e "$SCRIPTS/no-wheel-of-pip" ] && touch "$VENV/has-pip" ;;
"-P -m") if [ "$3" = pip ]; then shift 3; exec pip "$@"; fi; echo "ran $*" ;;
esac
"""
SLOW_OR_BROKEN = """\
if [ -e "$SCRIPTS/slow-$me" ]; then
  trap "exit 1" INT  # is heeded between two naps, wherever the signal came
  naps=0  # until it is no longer slow; some end, in case nobody says so
  while [ -e "$SCRIPTS/slow-$me" ] && [ "$naps" -lt 3000 ]; do sleep 0.1; naps=$((naps + 1)); done
fi
case "$*" in *"$(cat "$SCRIPTS/broken-$me" 2>/dev/null || echo nothing)"*)
  echo "no route to the index"; exit 1 ;;
esac
"""
PIP = (
    """\
#!/bin/sh
me=pip
case "$*" in *"config list") cat "$SCRIPTS/pip-settings"; exit ;; esac
echo "pip $*" >>"$CALLS"
"""
    + SLOW_OR_BROKEN
    + """\
case "$*" in *requirements.uv.txt*)
  cp "$SCRIPTS/uv-wheel" "$VENV/bin/uv"; chmod +x "$VENV/bin/uv" ;;
esac
"""
)
UV = (
    """\
#!/bin/sh
me=uv
if [ "$1" = --version ]; then exit; fi
echo "uv $*" >>"$CALLS"
echo "$PWD" >>"$SCRIPTS/uv-folders"
env >"$SCRIPTS/uv-environment"
if [ "$1" = venv ]; then mkdir -p "$VENV/bin"; ln -sf "$SCRIPTS/venv-python" "$VENV/bin/python"; fi
[ -z "$UV_CACHE_DIR" ] || mkdir -p "$UV_CACHE_DIR"
"""
    + SLOW_OR_BROKEN
)


@dataclass(frozen=True)
class Checkout:
    """A folder with the launcher in it, and a PATH with only the scripts above in it."""

    folder: Path
    scripts: Path

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    def environment(self, can: str, extras: str, **more: str) -> dict[str, str]:
        return {
            "PATH": str(self.scripts),
            "SCRIPTS": str(self.scripts),
            "VENV": str(self.venv),
            "CALLS": str(self.scripts / "calls"),
            "CAN": can,
            "HALOSCOPE_EXTRAS": extras,
            **more,
        }

    def start(
        self, *words: str, can: str = "python ensurepip", extras: str = "", **more: str
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.folder / "haloscope", *words],
            env=self.environment(can, extras, **more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(
        self, *words: str, can: str = "python ensurepip", extras: str = "", **more: str
    ) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        with self.start(*words, can=can, extras=extras, **more) as process:
            out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def calls(self) -> list[str]:
        """The calls of Python, pip and uv since the last time, in order."""
        log = self.scripts / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    def uv_folders(self) -> list[str]:
        """The folders in which uv was called, in order."""
        return (self.scripts / "uv-folders").read_text().splitlines()

    def uv_environment(self) -> dict[str, str]:
        """The environment of the last call of uv."""
        lines = (self.scripts / "uv-environment").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def breaks(self, tool: str, what: str) -> None:
        """From now on `tool` fails at calls that contain `what`."""
        (self.scripts / f"broken-{tool}").write_text(what)

    def mends(self, tool: str) -> None:
        (self.scripts / f"broken-{tool}").unlink()

    def script(self, name: str, text: str) -> None:
        (self.scripts / name).write_text(text)
        (self.scripts / name).chmod(0o755)


NAMED = ("pyproject.toml", "requirements.txt", "requirements-dev.txt", "requirements.uv.txt")
"""NAMED are the files that say what is needed."""


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    folder, scripts = tmp_path / "check out", tmp_path / "scripts"
    folder.mkdir()
    scripts.mkdir()
    shutil.copy(LAUNCHER, folder)
    for name in NAMED:
        (folder / name).write_text("first\n")
    (scripts / "pip-settings").touch()
    for tool in [*TOOLS.split(), "cp", "ln"]:
        (scripts / tool).symlink_to(str(shutil.which(tool)))
    fake = Checkout(folder, scripts)
    for name, text in (
        ("python3", PYTHON),
        ("venv-python", VENV_PYTHON),
        ("pip", PIP),
        ("uv-wheel", UV),
    ):
        fake.script(name, text)
    return fake


def test_only_the_first_use_sets_up_the_environment(checkout: Checkout) -> None:
    code, out, err = checkout.run("list", "a b")
    assert (code, out) == (0, "ran -P -m haloscope list a b\n")
    assert str(checkout.venv) in err
    phases = [line.partition(" of 3:")[0] for line in err.splitlines()[1:]]
    assert phases == [f"haloscope: {number}" for number in (1, 2, 3)]
    made, fetched, pinned, installed = checkout.calls()
    assert made == f"-m venv --without-pip {checkout.venv}"
    assert fetched.startswith("pip install") and "--only-binary :all:" in fetched
    assert fetched.endswith(f"--require-hashes --requirement {checkout.folder}/requirements.uv.txt")
    assert pinned.startswith("uv pip install")
    assert pinned.endswith(f"--require-hashes --requirement {checkout.folder}/requirements.txt")
    assert installed.startswith("uv pip install")
    assert installed.endswith("--no-deps --no-build-isolation --editable .")
    assert checkout.uv_folders() == ["/", str(checkout.folder)]
    assert checkout.run() == (0, "ran -P -m haloscope\n", "")
    assert checkout.calls() == []


def test_a_link_to_the_launcher_finds_its_checkout(checkout: Checkout, tmp_path: Path) -> None:
    checkout.run()
    (tmp_path / "link").symlink_to(checkout.folder / "haloscope")
    env = checkout.environment("python", "")
    done = subprocess.run([tmp_path / "link"], env=env, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("ran -P -m haloscope\n", "")


@pytest.mark.parametrize("name", NAMED)
def test_changed_requirements_are_installed_into_the_same_venv(
    checkout: Checkout, name: str
) -> None:
    checkout.run()
    checkout.calls()
    (checkout.folder / name).write_text("second\n")
    checkout.run()
    assert [call.split()[0] for call in checkout.calls()] == ["pip", "uv", "uv"]
    assert checkout.run()[2] == ""


def test_extras_are_added_once_and_kept(checkout: Checkout) -> None:
    checkout.run()
    checkout.calls()
    checkout.run(extras="dev")
    assert checkout.calls()[1].endswith(f"{checkout.folder}/requirements-dev.txt")
    checkout.run()
    checkout.run(extras="dev")
    assert checkout.calls() == []


def test_a_moved_checkout_is_set_up_again(checkout: Checkout, tmp_path: Path) -> None:
    checkout.run()
    checkout.calls()
    moved = Checkout(checkout.folder.rename(tmp_path / "moved"), checkout.scripts)
    moved.run()
    assert moved.calls()[0] == f"-m venv --without-pip {moved.venv}"


def test_a_failed_installation_is_explained_and_retried(checkout: Checkout) -> None:
    checkout.breaks("pip", "install")
    code, out, err = checkout.run()
    assert (code, out) == (2, "")
    assert "no route" in err
    assert str(checkout.venv / "set-up.log") in err
    checkout.mends("pip")
    checkout.calls()
    assert checkout.run()[:2] == (0, "ran -P -m haloscope\n")
    assert len(checkout.calls()) == 4


def test_a_failed_update_does_not_look_complete(checkout: Checkout) -> None:
    checkout.run()
    (checkout.folder / "pyproject.toml").write_text("second\n")
    checkout.breaks("pip", "install")
    assert checkout.run()[0] == 2
    checkout.mends("pip")
    (checkout.folder / "pyproject.toml").write_text("first\n")
    checkout.calls()
    assert checkout.run()[0] == 0
    assert len(checkout.calls()) == 4


@pytest.mark.parametrize(
    ("tool", "what", "tried"),
    [
        ("pip", "requirements.uv.txt", ["pip"]),
        ("uv", "requirements.txt", ["pip", "uv"]),
        ("uv", "--editable", ["pip", "uv", "uv"]),
    ],
    ids=["no uv for this platform", "uv fails", "uv fails at the checkout"],
)
def test_without_uv_pip_installs_and_the_launcher_says_so(
    checkout: Checkout, tool: str, what: str, tried: list[str]
) -> None:
    checkout.breaks(tool, what)
    code, out, err = checkout.run()
    assert (code, out) == (0, "ran -P -m haloscope\n")
    assert err.count(str(checkout.venv / "set-up.log")) == 1
    assert "no route" in (checkout.venv / "set-up.log").read_text()
    _, *calls, pinned, installed = checkout.calls()
    assert [call.split()[0] for call in calls] == tried
    assert pinned.startswith("pip install")
    assert pinned.endswith(f"--require-hashes --requirement {checkout.folder}/requirements.txt")
    assert installed.startswith("pip install")
    assert installed.endswith("--no-deps --no-build-isolation --editable .")
    assert not (checkout.venv / ".uv-cache").exists()
    assert checkout.run() == (0, "ran -P -m haloscope\n", "")
    assert checkout.calls() == []


def test_an_available_uv_is_used(checkout: Checkout) -> None:
    checkout.script("uv", UV)
    assert checkout.run()[0] == 0
    made, *calls = checkout.calls()
    assert made == f"-m venv --without-pip {checkout.venv}"
    assert [call.split()[:3] for call in calls] == [["uv", "pip", "install"]] * 2


def test_a_uv_that_fails_to_start_is_not_used(checkout: Checkout) -> None:
    checkout.script("uv", "#!/bin/sh\nexit 127\n")
    assert checkout.run()[0] == 0
    assert checkout.calls()[1].endswith("requirements.uv.txt")


def test_a_pip_with_its_wheel_elsewhere_comes_from_ensurepip(checkout: Checkout) -> None:
    (checkout.scripts / "no-wheel-of-pip").touch()
    assert checkout.run()[0] == 0
    assert checkout.calls()[:2] == [
        f"-m venv --without-pip {checkout.venv}",
        f"-m venv {checkout.venv}",
    ]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("global.index-url='https://one/simple'", {"UV_DEFAULT_INDEX": "https://one/simple"}),
        (
            ":env:.index-url='https://two'\nglobal.index-url='https://one'",
            {"UV_DEFAULT_INDEX": "https://two"},
        ),
        (
            "global.index-url='https://one'\ninstall.index-url='https://two'",
            {"UV_DEFAULT_INDEX": "https://two"},
        ),
        (
            r"global.extra-index-url='\nhttps://one\nhttps://two'",
            {"UV_INDEX": "https://one https://two"},
        ),
        (":env:.find-links='/one /two'", {"UV_FIND_LINKS": "/one,/two"}),
        (
            "global.cert='/own.pem'\nglobal.proxy='http://way:80'\nglobal.trusted-host='one'",
            {
                "SSL_CERT_FILE": "/own.pem",
                "ALL_PROXY": "http://way:80",
                "UV_INSECURE_HOST": "one",
            },
        ),
    ],
)
def test_uv_uses_the_package_index_configured_for_pip(
    checkout: Checkout, settings: str, expected: dict[str, str]
) -> None:
    (checkout.scripts / "pip-settings").write_text(settings + "\n")
    checkout.run()
    there = checkout.uv_environment()
    assert {name: there.get(name) for name in expected} == expected


def test_uv_uses_no_index_when_pip_is_configured_so(checkout: Checkout) -> None:
    checkout.run()
    assert "--no-index" not in checkout.calls()[2]
    (checkout.scripts / "pip-settings").write_text("global.no-index='true'\n")
    (checkout.folder / "pyproject.toml").write_text("second\n")
    checkout.run()
    assert "--no-index" in checkout.calls()[1]


def test_existing_uv_settings_are_kept(checkout: Checkout) -> None:
    (checkout.scripts / "pip-settings").write_text("global.index-url='https://one'\n")
    checkout.run(UV_DEFAULT_INDEX="https://own", UV_CACHE_DIR=str(checkout.scripts / "own"))
    there = checkout.uv_environment()
    assert there["UV_DEFAULT_INDEX"] == "https://own"
    assert there["UV_CACHE_DIR"] == str(checkout.scripts / "own")
    assert (checkout.scripts / "own").exists()


def test_the_uv_cache_is_temporary_and_next_to_the_packages(checkout: Checkout) -> None:
    checkout.run()
    assert checkout.uv_environment()["UV_CACHE_DIR"] == str(checkout.venv / ".uv-cache")
    assert not (checkout.venv / ".uv-cache").exists()


def test_settings_for_uv_and_pip_are_not_passed_to_haloscope(checkout: Checkout) -> None:
    (checkout.scripts / "pip-settings").write_text("global.cert='/own.pem'\n")
    checkout.script("venv-python", VENV_PYTHON.replace('echo "ran $*"', "env"))
    _, out, _ = checkout.run(UV_REQUIRE_HASHES="1")
    assert "UV_REQUIRE_HASHES=1\n" in out
    assert "UV_REQUIRE_HASHES" not in checkout.uv_environment()
    assert "/own.pem" not in out and "UV_CACHE_DIR" not in out


@pytest.mark.parametrize(("tool", "calls"), [("pip", 2), ("uv", 3)])
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_setup_starts_again(
    checkout: Checkout, by: signal.Signals, tool: str, calls: int
) -> None:
    (checkout.scripts / f"slow-{tool}").touch()
    with checkout.start() as process:
        wait_for_calls(checkout, calls)
        os.killpg(process.pid, by)
        _, err = process.communicate(timeout=600)
    assert process.returncode == (130 if by is signal.SIGINT else -by)
    assert "set-up.log" not in err
    (checkout.venv / "half").touch()
    (checkout.scripts / f"slow-{tool}").unlink()
    assert len(checkout.calls()) == calls
    assert checkout.run()[:2] == (0, "ran -P -m haloscope\n")
    assert len(checkout.calls()) == 4
    assert not (checkout.venv / "half").exists()


def test_concurrent_first_uses_set_up_once(checkout: Checkout) -> None:
    """The first goes on once the second waits for it."""
    (checkout.scripts / "slow-pip").touch()
    with checkout.start("one") as one:
        wait_for_calls(checkout, 2)
        with checkout.start("two") as two:
            assert two.stderr is not None
            said = two.stderr.readline()
            (checkout.scripts / "slow-pip").unlink()
            answers = [each.communicate(timeout=600) for each in (one, two)]
    assert [out for out, _ in answers] == [f"ran -P -m haloscope {n}\n" for n in ("one", "two")]
    assert "waiting for another haloscope" in said
    assert len(checkout.calls()) == 4


def test_the_lock_is_not_held_while_haloscope_runs(checkout: Checkout) -> None:
    ask = "flock -n .venv/.launcher-lock echo free"
    checkout.script("venv-python", VENV_PYTHON.replace('echo "ran $*"', ask))
    env = checkout.environment("python ensurepip", "")
    done = subprocess.run(
        [checkout.folder / "haloscope"],
        env={**env, "PATH": f"{env['PATH']}:/bin"},
        cwd=checkout.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "free\n"


@pytest.mark.parametrize(
    ("can", "calls"),
    [
        ("python virtualenv pip", ["-m virtualenv --quiet VENV", "pip install"]),
        ("python pip", ["-m venv --without-pip VENV", "pip --python VENV/bin/python install"]),
    ],
)
@pytest.mark.parametrize("uv", [True, False], ids=["uv", "no uv"])
def test_without_ensurepip_the_available_pip_is_used(
    checkout: Checkout, can: str, calls: list[str], uv: bool
) -> None:
    if not uv:
        checkout.breaks("pip", "requirements.uv.txt")
    assert checkout.run(can=can)[0] == 0
    made = [call.replace(str(checkout.venv), "VENV") for call in checkout.calls()]
    assert made[0] == calls[0]
    assert made[1].startswith(calls[1])
    assert [call.startswith("uv pip install" if uv else calls[1]) for call in made[2:]] == [
        True
    ] * 2
    assert made[-1].endswith("--editable .")


def test_without_ensurepip_uv_does_the_whole_setup(checkout: Checkout) -> None:
    checkout.script("uv", UV)
    assert checkout.run(can="python")[0] == 0
    made, pinned, installed = checkout.calls()
    assert made.startswith("uv venv")
    assert pinned.startswith("uv pip install") and "--require-hashes" in pinned
    assert installed.startswith("uv pip install") and installed.endswith("--editable .")


def test_the_lock_of_uv_is_free_during_setup(checkout: Checkout) -> None:
    """It waits for .venv/.lock, for ever where the launcher itself has that."""
    wants = 'if [ "$1" = pip ]; then flock -n "$VENV/.lock" /bin/true || exit 1; fi\n'
    checkout.script("uv", UV + wants)
    assert checkout.run(can="python")[0] == 0


def test_an_unknown_dependency_group_is_named(checkout: Checkout) -> None:
    code, _, err = checkout.run(extras="fast")
    assert code == 2
    assert "requirements-fast.txt" in err
    assert checkout.calls() == []


@pytest.mark.parametrize("tool", ["cksum", "find", "sed"])
def test_a_missing_tool_is_named_and_setup_is_not_repeated(checkout: Checkout, tool: str) -> None:
    assert checkout.run()[0] == 0
    checkout.calls()
    (checkout.scripts / tool).unlink()

    code, _, err = checkout.run()

    assert (code, checkout.calls()) == (2, [])
    assert f"{tool} is not in PATH" in err


def test_without_any_installer_the_error_names_what_to_install(checkout: Checkout) -> None:
    code, _, err = checkout.run(can="python")
    assert code == 2
    assert "has no ensurepip" in err
    assert "apt install python3-venv" in err


def test_a_too_old_python_is_refused(checkout: Checkout) -> None:
    code, _, err = checkout.run(can="")
    assert code == 2
    assert shows(err, "Python 3.11 or newer", "Python 3.9.2")


def test_a_newer_python_under_another_name_is_found(checkout: Checkout) -> None:
    checkout.script("python3.12", PYTHON.replace("$CAN", "python ensurepip"))
    assert checkout.run(can="")[0] == 0


def test_a_missing_python_is_reported(checkout: Checkout) -> None:
    (checkout.scripts / "python3").unlink()
    code, _, err = checkout.run()
    assert code == 2
    assert "apt install python3 python3-venv" in err


def wait_for_calls(checkout: Checkout, number: int) -> None:
    deadline = time.monotonic() + 300
    log = checkout.scripts / "calls"
    while not log.exists() or len(log.read_text().splitlines()) < number:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("there", ["nothing", "a set-up", "a set-up and its lock"])
def test_another_users_checkout_without_a_setup_is_reported(there: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # others may look, and write nothing
        shutil.copy(LAUNCHER, folder)
        for file in ("requirements.txt", "pyproject.toml"):
            (folder / file).touch()
        if there != "nothing":
            (folder / ".venv").mkdir()
        if there == "a set-up and its lock":
            (folder / ".venv").chmod(0o777)
            (folder / ".venv" / ".launcher-lock").touch(0o644)

        done = subprocess.run(
            [folder / "haloscope", "--version"],
            env={"PATH": os.environ["PATH"]},  # ./check requests the developers' extras
            capture_output=True,
            text=True,
            check=False,
            user=65534,
            group=65534,
            extra_groups=[],
        )

    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 2, lines  # no word of the shell's own
    assert lines[0].startswith("haloscope: ") and "copy the checkout" in lines[1]
