#!/usr/bin/env python3
"""How commits are written (CONTRIBUTING.md): commits.py <source folder> [<file>]. Exits 1, naming each that is not so; merges are left
out. With a file, what is checked is the message in it, of what is staged (.pre-commit-config.yaml)."""

import re
import subprocess
import sys

FIRST = "6613491"  # commits after it
MOST_TITLE = 72
# Forms that a verb in the imperative does not have, but for words such as "Need", "Bring" and "Pass".
NOT_IMPERATIVE = re.compile(r"(?:[^eb]ed|[^rt]ing|[^s]s)$")


def find_faults(commit, title, body, files):
    """What is wrong with a commit."""
    if len(title) > MOST_TITLE:
        yield f"{commit}: the title has {len(title)} characters, {MOST_TITLE} at most: {title}"
    word = title.split(" ")[0]
    if not word[:1].isupper() or NOT_IMPERATIVE.search(word) or title.endswith("."):
        yield f"{commit}: the title is to begin with a verb in the imperative, and has no full stop: {title}"
    if not body.strip() and any(file.startswith("src/") for file in files):
        yield f"{commit}: it changes src and has no body that says why: {title}"


def git(root, *words):
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True).stdout


def staged(root, path):
    """What is wrong with the message in the file, which git has not stripped of comments yet."""
    text = "".join(line for line in open(path, encoding="utf-8") if not line.startswith("#"))
    title, _, body = text.strip().partition("\n")
    return list(find_faults("this commit", title, body, git(root, "diff", "--cached", "--name-only").split("\n")))


def main(root, message=None):
    if message:
        faults = staged(root, message)
        print("\n".join(faults), end="\n" if faults else "")
        return 1 if faults else 0
    try:
        commits = git(root, "rev-list", "--no-merges", f"{FIRST}..HEAD").split()
    except (OSError, subprocess.CalledProcessError):
        print("There is no history here that could be looked at.")
        return 0
    faults = []
    for commit in commits:
        title, _, body = git(root, "log", "-1", "--format=%s%n%b", commit).partition("\n")
        files = git(root, "diff-tree", "--no-commit-id", "--name-only", "-r", commit).split("\n")
        faults += find_faults(commit[:10], title, body, files)
    print("\n".join(faults) if faults else f"{len(commits)} commits are as they should be.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
