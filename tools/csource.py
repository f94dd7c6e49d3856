# tools/csource.py - what the Python checks share: the files of the tree, C text without comments, findings.
#
# Design note: a token-level reading of C is enough for the rules checked here and takes milliseconds; a compiler
# plugin would know more, and need a compiler of its own version.
#
# SPDX-License-Identifier: Apache-2.0
import fnmatch
import os
import re
import subprocess
import sys

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z)|//(?:\\\n|[^\n])*)"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""",
    re.DOTALL | re.VERBOSE,
)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text, keep_strings=False):
    """The same text with comments (and what is in quotes) as blanks: places stay the same."""

    def replace(match):
        if match.group("comment") is not None:
            return _blank(match.group())
        quoted = match.group("string")
        return quoted if keep_strings else quoted[0] + _blank(quoted[1:-1]) + quoted[-1]

    return _TOKEN.sub(replace, text)


def includes(text):
    """Yields (line, name, system) of each #include."""
    for number, line in enumerate(without_comments(text, keep_strings=True).split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(2), match.group(1) == "<"


def tree_files(root):
    """Paths, relative to root, of the files that are tracked, or new and not ignored."""
    if os.path.exists(os.path.join(root, ".git")):
        command = ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"]
        listed = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout
        names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    else:  # an unpacked tarball, or a planted tree of a test
        names = []
        for folder, folders, files in os.walk(root):
            if folder == root:
                folders[:] = [name for name in folders if not re.match(r"build(-|$)", name)]
            names += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return sorted({name for name in names if os.path.isfile(os.path.join(root, name))})


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def match_any(path, patterns):
    """True if one of the globs matches; * does not cross a slash, ** does."""
    return any(_glob(pattern).fullmatch(path) for pattern in patterns)


_globs = {}


def _glob(pattern):
    if pattern not in _globs:
        parts = [fnmatch.translate(part)[4:-3].replace(".*", "[^/]*") for part in pattern.split("**")]
        _globs[pattern] = re.compile(".*".join(parts), re.DOTALL)
    return _globs[pattern]


class Findings:
    def __init__(self):
        self._lines = set()

    def add(self, name, line, text):
        self._lines.add((name, line, text))

    def finish(self):
        for name, line, text in sorted(self._lines):
            print(f"{name}:{line}: {text}")
        sys.exit(1 if self._lines else 0)
