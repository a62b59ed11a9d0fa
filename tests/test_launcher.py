"""The launcher at the root, with scripts in the parts of Python, pip and uv."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).parents[1] / "haloscope"
TOOLS = "sh readlink dirname cat cksum grep find rm mkdir flock tee tail env touch sleep chmod"

PYTHON = """\
#!/bin/sh
# a Python: what CAN names can be imported
case "$1 $2" in
-c*) for module in ensurepip virtualenv pip; do
       case "$2 " in *" $module "*) case " $CAN " in *" $module "*) ;; *) exit 1 ;; esac ;; esac
     done
     case " $CAN " in *" python "*) exit 0 ;; *) exit 1 ;; esac ;;
--version*) echo "Python 3.9.2" ;;
"-m pip") echo "$*" >>"$CALLS"; cp "$SCRIPTS/pip" "$VENV/bin/pip" ;;
*) echo "$*" >>"$CALLS"
   mkdir -p "$VENV/bin"
   ln -sf "$SCRIPTS/venv-python" "$VENV/bin/python"
   case "$*" in *--without-pip*) ;; *) cp "$SCRIPTS/pip" "$VENV/bin/pip" ;; esac ;;
esac
"""
VENV_PYTHON = '#!/bin/sh\necho "ran $*"\n'
PIP = """\
#!/bin/sh
echo "pip $*" >>"$CALLS"
if [ -e "$SCRIPTS/slow" ]; then
  trap "exit 1" INT  # is heeded between two naps, wherever the signal came
  naps=0  # until it is no longer slow; some end, in case nobody says so
  while [ -e "$SCRIPTS/slow" ] && [ "$naps" -lt 3000 ]; do sleep 0.1; naps=$((naps + 1)); done
fi
if [ -e "$SCRIPTS/broken" ]; then echo "no route to the index"; exit 1; fi
"""
UV = """\
#!/bin/sh
echo "uv $*" >>"$CALLS"
if [ "$1" = venv ]; then mkdir -p "$VENV/bin"; ln -sf "$SCRIPTS/venv-python" "$VENV/bin/python"; fi
"""


@dataclass(frozen=True)
class Checkout:
    """A folder with the launcher in it, and a PATH with only the scripts above in it."""

    folder: Path
    scripts: Path

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    def environment(self, can: str, extras: str) -> dict[str, str]:
        return {
            "PATH": str(self.scripts),
            "SCRIPTS": str(self.scripts),
            "VENV": str(self.venv),
            "CALLS": str(self.scripts / "calls"),
            "CAN": can,
            "HALOSCOPE_EXTRAS": extras,
        }

    def start(
        self, *words: str, can: str = "python ensurepip", extras: str = ""
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.folder / "haloscope", *words],
            env=self.environment(can, extras),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(
        self, *words: str, can: str = "python ensurepip", extras: str = ""
    ) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        with self.start(*words, can=can, extras=extras) as process:
            out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def calls(self) -> list[str]:
        """The calls of Python, pip and uv since the last time, in order."""
        log = self.scripts / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    def script(self, name: str, text: str) -> None:
        (self.scripts / name).write_text(text)
        (self.scripts / name).chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    folder, scripts = tmp_path / "check out", tmp_path / "scripts"
    folder.mkdir()
    scripts.mkdir()
    shutil.copy(LAUNCHER, folder)
    for name in ("pyproject.toml", "requirements.txt", "requirements-dev.txt"):
        (folder / name).write_text("first\n")
    for tool in [*TOOLS.split(), "cp", "ln"]:
        (scripts / tool).symlink_to(str(shutil.which(tool)))
    fake = Checkout(folder, scripts)
    for name, text in (("python3", PYTHON), ("venv-python", VENV_PYTHON), ("pip", PIP)):
        fake.script(name, text)
    return fake


def test_the_first_use_sets_up_and_the_second_does_not(checkout: Checkout) -> None:
    code, out, err = checkout.run("list", "a b")
    assert (code, out) == (0, "ran -P -m haloscope list a b\n")
    assert err == f"haloscope: setting up {checkout.venv} (about a minute, once)\n"
    made, pinned, installed = checkout.calls()
    assert made == f"-m venv {checkout.venv}"
    assert pinned.endswith(f"--require-hashes --requirement {checkout.folder}/requirements.txt")
    assert installed.endswith(f"--no-deps --no-build-isolation --editable {checkout.folder}")
    assert checkout.run() == (0, "ran -P -m haloscope\n", "")
    assert checkout.calls() == []


def test_a_link_to_the_launcher_finds_its_checkout(checkout: Checkout, tmp_path: Path) -> None:
    checkout.run()
    (tmp_path / "link").symlink_to(checkout.folder / "haloscope")
    env = checkout.environment("python", "")
    done = subprocess.run([tmp_path / "link"], env=env, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("ran -P -m haloscope\n", "")


@pytest.mark.parametrize("name", ["pyproject.toml", "requirements.txt", "requirements-dev.txt"])
def test_a_change_of_what_is_needed_installs_again_into_the_same_venv(
    checkout: Checkout, name: str
) -> None:
    checkout.run()
    checkout.calls()
    (checkout.folder / name).write_text("second\n")
    checkout.run()
    assert [call.split()[0] for call in checkout.calls()] == ["pip", "pip"]
    assert checkout.run()[2] == ""


def test_extras_are_added_once_and_kept(checkout: Checkout) -> None:
    checkout.run()
    checkout.calls()
    checkout.run(extras="dev")
    assert checkout.calls()[0].endswith(f"{checkout.folder}/requirements-dev.txt")
    checkout.run()
    checkout.run(extras="dev")
    assert checkout.calls() == []


def test_a_moved_checkout_is_set_up_anew(checkout: Checkout, tmp_path: Path) -> None:
    checkout.run()
    checkout.calls()
    moved = Checkout(checkout.folder.rename(tmp_path / "moved"), checkout.scripts)
    moved.run()
    assert moved.calls()[0] == f"-m venv {moved.venv}"


def test_a_failed_installation_says_why_and_is_tried_anew(checkout: Checkout) -> None:
    (checkout.scripts / "broken").touch()
    code, out, err = checkout.run()
    assert (code, out) == (2, "")
    assert "no route to the index" in err
    assert f"everything that was said: {checkout.venv}/set-up.log" in err
    assert "needs the network" in err
    (checkout.scripts / "broken").unlink()
    checkout.calls()
    assert checkout.run()[:2] == (0, "ran -P -m haloscope\n")
    assert len(checkout.calls()) == 3


def test_a_failed_update_leaves_nothing_that_looks_whole(checkout: Checkout) -> None:
    checkout.run()
    (checkout.folder / "pyproject.toml").write_text("second\n")
    (checkout.scripts / "broken").touch()
    assert checkout.run()[0] == 2
    (checkout.scripts / "broken").unlink()
    (checkout.folder / "pyproject.toml").write_text("first\n")
    checkout.calls()
    assert checkout.run()[0] == 0
    assert len(checkout.calls()) == 3


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_a_set_up_that_was_cut_off_is_begun_anew(checkout: Checkout, by: signal.Signals) -> None:
    (checkout.scripts / "slow").touch()
    with checkout.start() as process:
        wait_for_calls(checkout, 2)
        os.killpg(process.pid, by)
        _, err = process.communicate(timeout=600)
    assert process.returncode == (130 if by is signal.SIGINT else -by)
    assert "could not install" not in err
    (checkout.venv / "half").touch()
    (checkout.scripts / "slow").unlink()
    checkout.calls()
    assert checkout.run()[:2] == (0, "ran -P -m haloscope\n")
    assert len(checkout.calls()) == 3
    assert not (checkout.venv / "half").exists()


def test_two_at_once_set_up_once(checkout: Checkout) -> None:
    """The first goes on once the second waits for it."""
    (checkout.scripts / "slow").touch()
    with checkout.start("one") as one:
        wait_for_calls(checkout, 2)
        with checkout.start("two") as two:
            assert two.stderr is not None
            said = two.stderr.readline()
            (checkout.scripts / "slow").unlink()
            answers = [each.communicate(timeout=600) for each in (one, two)]
    assert [out for out, _ in answers] == [f"ran -P -m haloscope {n}\n" for n in ("one", "two")]
    assert "waiting for another haloscope" in said
    assert len(checkout.calls()) == 3


def test_the_lock_is_not_held_while_haloscope_runs(checkout: Checkout) -> None:
    checkout.script("venv-python", "#!/bin/sh\nexec flock -n .venv/.launcher-lock echo free\n")
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
        ("python pip", ["-m venv --without-pip VENV", "-m pip --quiet --python VENV/bin/python"]),
    ],
)
def test_without_ensurepip_it_takes_what_is_there(
    checkout: Checkout, can: str, calls: list[str]
) -> None:
    assert checkout.run(can=can)[0] == 0
    made = [call.replace(str(checkout.venv), "VENV") for call in checkout.calls()]
    assert made[0] == calls[0]
    assert made[1].startswith(calls[1])
    assert made[-1].endswith(f"--editable {checkout.folder}")


def test_without_ensurepip_uv_does_it_all(checkout: Checkout) -> None:
    checkout.script("uv", UV)
    assert checkout.run(can="python")[0] == 0
    made, pinned, installed = checkout.calls()
    assert made.startswith("uv venv")
    assert pinned.startswith("uv pip install") and "--require-hashes" in pinned
    assert installed.startswith("uv pip install") and installed.endswith(str(checkout.folder))


def test_uv_finds_its_own_lock_free(checkout: Checkout) -> None:
    """It waits for .venv/.lock, for ever where the launcher itself has that."""
    wants = 'if [ "$1" = pip ]; then flock -n "$VENV/.lock" /bin/true || exit 1; fi\n'
    checkout.script("uv", UV + wants)
    assert checkout.run(can="python")[0] == 0


def test_a_group_that_there_is_not_is_named(checkout: Checkout) -> None:
    code, _, err = checkout.run(extras="fast")
    assert code == 2
    assert "requirements-fast.txt" in err
    assert checkout.calls() == []


def test_with_none_of_them_it_says_what_to_install(checkout: Checkout) -> None:
    code, _, err = checkout.run(can="python")
    assert code == 2
    assert "has no ensurepip" in err
    assert "apt install python3-venv" in err


def test_a_python_that_is_too_old(checkout: Checkout) -> None:
    code, _, err = checkout.run(can="")
    assert code == 2
    assert "Python 3.11 or newer is needed; found: Python 3.9.2" in err


def test_a_newer_python_under_another_name_is_found(checkout: Checkout) -> None:
    checkout.script("python3.12", PYTHON.replace("$CAN", "python ensurepip"))
    assert checkout.run(can="")[0] == 0


def test_no_python_at_all(checkout: Checkout) -> None:
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
