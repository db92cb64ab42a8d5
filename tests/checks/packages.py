#!/usr/bin/env python3
"""Checks the packages: packages.py <build folder> <source folder> <version>.

Makes the .deb, the tarball and the wheel, and runs dlkprof from each: unpacked from the tarball and the .deb, installed with pip into an
environment of its own, from which it is removed again.
"""

import pathlib
import subprocess
import sys
import tempfile

TO_BE_THERE = (
    "bin/dlkprof",
    "lib/libdlkprof_inject.so",
    "include/dlkprof/capture_format.h",
    "share/cmake/dlkprof/dlkprofConfig.cmake",
    "share/doc/dlkprof/README.md",
    "share/doc/dlkprof/docs/user/install.md",
    "share/fish/vendor_completions.d/dlkprof.fish",
)
USER = """cmake_minimum_required(VERSION 3.25)
project(user CXX)
find_package(dlkprof %s REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE dlkprof::capture_format)
"""
READER = "#include <dlkprof/capture_format.h>\nint main() { return dlkprof::capture::kMagic[0] == 'D' ? 0 : 1; }\n"


def run(*command, **more):
    """Its stdout; what fails raises with what it said."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def faults_of_prefix(root, version, scratch):
    """What is wrong with an installation unpacked at `root`."""
    yield from (f"{part} is missing" for part in TO_BE_THERE if not (root / part).exists())
    yield from faults_of_program(root / "bin/dlkprof", version, scratch)


def faults_of_program(program, version, scratch):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(scratch)}
    if version not in run(program, "--version", env=environment, cwd=scratch):
        yield f"{program}: --version does not say {version}"
    if "Iteration" not in run(program, "demo", env=environment, cwd=scratch):
        yield f"{program}: demo does not show an iteration"


def faults_of_headers(root, version, scratch):
    """A program that finds the package and includes the format."""
    folder = scratch / "user"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(USER % version)
    (folder / "user.cpp").write_text(READER)
    run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={root}")
    run("cmake", "--build", folder / "build")
    run(folder / "build/user")
    return []


def python_with(*modules):
    """The Python that has them: the one that runs this, or the distribution's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {', '.join(modules)}"], capture_output=True, check=False).returncode == 0:
            return python
    raise RuntimeError(f"no Python has {', '.join(modules)}: ./setup.sh test installs them")


def faults_of_wheel(source, root, version, scratch):
    maker = python_with("wheel.wheelfile", "ensurepip")
    wheel = run(maker, source / "packaging/make_wheel.py", root, version, scratch).strip()
    environment = scratch / "environment"
    run(maker, "-m", "venv", environment)
    python = environment / "bin/python"
    run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel)
    yield from faults_of_program(environment / "bin/dlkprof", version, scratch)
    capture = environment / "share/dlkprof/captures/cifar10_b4.dlkcap"
    lines = run(python, "-c", f"import dlkprof; print(sum(1 for _ in dlkprof.load({str(capture)!r})))", cwd=scratch)
    if int(lines) <= 0:
        yield "the module of the wheel loads no launches"
    run(python, "-m", "pip", "uninstall", "-y", "dlkprof")
    left = [path for path in environment.rglob("*dlkprof*") if path.is_file()]
    yield from (f"left behind by pip uninstall: {path}" for path in left)


def main(build, source, version):
    build, source = pathlib.Path(build), pathlib.Path(source)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for generator in ("DEB", "TZST"):
            run("cpack", "--config", build / "CPackConfig.cmake", "-G", generator, "-B", scratch / "packages")
        (tarball,) = (scratch / "packages").glob("*.tar.zst")
        (package,) = (scratch / "packages").glob("*.deb")
        unpacked = scratch / "unpacked"
        unpacked.mkdir()
        run("tar", "--zstd", "-xf", tarball, "-C", unpacked)
        (root,) = unpacked.iterdir()
        run("dpkg-deb", "-x", package, scratch / "root")
        faults = [
            *faults_of_prefix(root, version, scratch),
            *faults_of_prefix(scratch / "root/usr", version, scratch),
            *faults_of_headers(root, version, scratch),
            *faults_of_wheel(source, root, version, scratch),
        ]
    print("\n".join(faults) if faults else "The packages install, run and go.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
