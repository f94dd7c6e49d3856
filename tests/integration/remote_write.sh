#!/bin/bash
# What a job of the standard universe can change of its owner's files is what it was given: what is below its initial
# directory, what remote_write names, its outputs; not the start-up files and programs that were there. What it makes
# itself (git clone, make, gcc) it can go on to change, also when it begins again. Whatever its machine asks for.
#
# TIMEOUT: 180
# SPDX-License-Identifier: Apache-2.0
if [ -z "${REMOTE_WRITE_INSIDE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "skipped: only root can have two ordinary users with homes"; exit 77; }
    for program in git make gcc python3; do
        command -v "$program" >/dev/null || { echo "skipped: there is no $program"; exit 77; }
    done
    unshare --mount true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 77; }
    REMOTE_WRITE_INSIDE=1 exec unshare --mount --propagation private bash "$0"
fi
. "$(dirname "$0")/lib.sh"
[ -x "$ROOST_BIN/roost-pilot" ] || { echo "skipped: no checkpoints, and so no standard universe, in a build with sanitizers"; exit 77; }
[ -x "$ROOST_BIN/roost-rsys-mount" ] || { echo "skipped: there is no roost-rsys-mount"; exit 77; }
setpriv --reuid=65534 --regid=65534 --clear-groups "$ROOST_BIN/roost-rsys-mount" --probe >/dev/null 2>&1 ||
    { echo "skipped: no namespaces, or no /dev/fuse, here"; exit 77; }

# Two users of this test's own, with homes.
HOMES=$WORK/home
mkdir "$HOMES"
{
    cat /etc/passwd
    echo "walice:x:61001:61001::$HOMES/walice:/bin/sh"
    echo "wbob:x:61002:61002::$HOMES/wbob:/bin/sh"
} >"$WORK/passwd"
chmod 0644 "$WORK/passwd"
mount --bind "$WORK/passwd" /etc/passwd || { echo "skipped: /etc/passwd cannot be covered"; exit 77; }
for user in walice wbob; do mkdir -m 0755 "$HOMES/$user" && chown "$user" "$HOMES/$user"; done
as() { HOME=$HOMES/$1 setpriv --reuid="$1" --regid="$(id -u "$1")" --clear-groups "${@:2}"; }

pool_init --nodes 1 --cpus-per-node 4
echo 'STARTER_FAILURE_BACKOFF = 0' >>"$ROOST_CONFIG"
pool_start

HOME_DIR=$HOMES/walice
SITE=.local/lib/python3.11/site-packages
as walice bash -c "cd ~ && mkdir -p bin run/old given logs $SITE run/lib/site-packages &&
    printf '#!/bin/sh\necho the owner\n' >bin/ls && cp bin/ls run/tool && cp bin/ls run/old/tool && chmod 0755 bin/ls run/tool run/old/tool &&
    echo notes >notes && echo 1 >run/data && echo 'alias l=ls' >.bashrc && ln -s tool run/link" || fail "a home"
as walice bash -c "cd ~ && git init -q repository && cd repository && cat >main.c && printf 'prog: main.c\n\tgcc -o prog main.c\n\t./prog\n' >Makefile &&
    printf '#!/bin/sh\n:\n' >configure && chmod 0755 configure &&
    git -c user.name=a -c user.email=a@b add . && git -c user.name=a -c user.email=a@b commit -q -m all" <<'END_OF_C' || fail "a repository"
#include <stdio.h>
int main(void) { return puts("built") < 0; }
END_OF_C
before=$(cd "$HOME_DIR" && find . -path ./run/own -prune -o -path ./repository -prune -o -type f -print0 | sort -z | xargs -0 sha256sum)

# What a hostile execute machine does with its job's files; each line that it writes is a hole.
cat >"$WORK/evil.py" <<'END_OF_PYTHON'
import errno, os, sys
home, outside = sys.argv[1], sys.argv[2:]
holes = []
def tries(what, call, *args):
    try:
        call(*args)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.EBUSY, errno.EEXIST, errno.EINVAL, errno.EPERM, errno.ENOENT):
            holes.append("%s: %s" % (what, error))
        return
    holes.append(what)
def write(path):
    with open(path, "w") as file:
        file.write("#!/bin/sh\necho evil\n")
def put(path):
    write("evil")
    os.chmod("evil", 0o755)
    os.rename("evil", path)
NEW = [".bash_aliases", ".inputrc", ".tmux.conf", ".pam_environment", ".k5login", ".rhosts", ".shosts", ".Rprofile",
       ".exrc", ".npmrc", ".curlrc", ".wgetrc", ".vim", ".emacs.d", ".bashrc", ".config", ".new", "new", "bin/ls",
       "bin/new", "notes", ".local/lib/python3.11/site-packages/usercustomize.py"]
for name in [home + "/" + name for name in NEW] + outside:
    tries("writes " + name, write, name)
    tries("replaces " + name, put, name)
    tries("links " + name, os.symlink, "/bin/true", name)
    tries("makes " + name, os.mkdir, name)
    tries("removes " + name, os.unlink, name)
    tries("closes " + name, os.chmod, name, 0)
    tries("hard link to " + name, os.link, name, "second")
for name in ("tool", "old/tool"):
    tries("writes " + name, write, name)
    tries("replaces " + name, put, name)
    tries("removes " + name, os.unlink, name)
    tries("renames " + name, os.rename, name, "away")
    tries("chmod " + name, os.chmod, name, 0o644)
    tries("truncates " + name, os.truncate, name, 0)
tries("removes a link to a program", os.unlink, "link")
tries("renames a directory of programs", os.rename, "old", "away")
tries("renames where it begins", os.rename, home + "/run", home + "/run2")
tries("renames where it begins into itself", os.rename, home + "/run", home + "/run/x")
tries("a module", write, "lib/site-packages/sitecustomize.py")
tries("moves modules", os.rename, "lib", "lib2")
# by a link of its own, which it follows itself
os.path.lexists("way") or os.symlink(home + "/bin", "way")
tries("writes through a link", write, "way/ls")
if not os.path.exists(home + "/given/job"):
    tries("nothing", os.stat, home + "/nowhere")
open("data", "a").write("2\n")
if sys.argv[1] != home or os.access(home + "/given", os.W_OK):
    open(home + "/given/job", "w").write("given\n")
print("\n".join(holes + ["tried"]))
END_OF_PYTHON
chmod 0755 "$WORK/evil.py"
evil() { # evil NAME LINE...: a job of walice in ~/run; its output
    local name=$1
    shift
    {
        printf 'universe = standard\ninitialdir = %s/run\nexecutable = /usr/bin/python3\n' "$HOME_DIR"
        printf 'arguments = %s %s %s/wbob/x /tmp/roost-remote-write\noutput = %s.out\nerror = %s.err\n' "$WORK/evil.py" "$HOME_DIR" "$HOMES" "$name" "$name"
        printf '%s\n' "$@" queue
    } >"$WORK/$name.sub"
    chmod 0644 "$WORK/$name.sub"
    as walice "$ROOST" submit "$WORK/$name.sub" -terse >"$WORK/$name.id" 2>"$WORK/$name.said" || fail "submit: $(cat "$WORK/$name.said")"
    cluster=$(sed 's/[. ].*//' "$WORK/$name.id")
    until_true 60 "$name is done" is_done "$cluster" 1
    cat "$HOME_DIR/run/$name.err"
}
unchanged() {
    equals "the owner's files" "$(cd "$HOME_DIR" && find . -path ./run/own -prune -o -path ./repository -prune -o -path './run/*.out' -prune -o \
        -path './run/*.err' -prune -o -path ./run/data -prune -o -path ./given/job -prune -o -path ./run/evil -prune -o -type f -print0 | sort -z |
        xargs -0 sha256sum)" "$(grep -v ' ./run/data$' <<<"$before")"
}

say "a job changes what is below its initial directory, and nothing else"
equals "what it says" "$(evil alone)" ""
equals "what it could change" "$(cat "$HOME_DIR/run/alone.out")" tried
equals "what it may change" "$(tail -n 1 "$HOME_DIR/run/data")" 2
unchanged
[ ! -e "$HOME_DIR/given/job" ] || fail "it wrote where it may not"

say "and what remote_write names"
equals "what it says" "$(evil given "remote_write = $HOME_DIR/given, ../logs")" ""
equals "what it could change" "$(cat "$HOME_DIR/run/given.out")" tried
equals "what it was given" "$(cat "$HOME_DIR/given/job")" given
unchanged

say "what cannot be given is refused by name"
refused() { # refused TEXT DIRECTORY
    printf 'universe = standard\ninitialdir = %s/run\nexecutable = /bin/true\nremote_write = %s\nqueue\n' "$HOME_DIR" "$2" >"$WORK/refused.sub"
    as walice "$ROOST" submit "$WORK/refused.sub" >"$WORK/refused.out" 2>&1 && fail "remote_write = $2 was taken"
    grep -q -- "$1" "$WORK/refused.out" || fail "remote_write = $2: $(cat "$WORK/refused.out")"
}
refused "nowhere: no such directory" nowhere
refused "data: not a directory" data
refused "/: this directory contains home directories" /
refused "home: this directory contains home directories" "$HOMES"
refused "wbob: the directory is not yours" "$HOMES/wbob"
refused "/var/tmp: the directory is not yours" /var/tmp
refused "/etc: the directory is not yours" /etc

say "and where it is found out when the job runs, its job is held by name"
as walice mkdir "$HOME_DIR/later"
printf 'universe = standard\ninitialdir = %s/run\nexecutable = /bin/true\nremote_write = %s/later\nhold = true\nqueue\n' "$HOME_DIR" "$HOME_DIR" >"$WORK/later.sub"
cluster=$(as walice "$ROOST" submit "$WORK/later.sub" -terse | sed 's/[. ].*//') || fail "submit"
rmdir "$HOME_DIR/later"
"$ROOST" release "$cluster" >/dev/null || fail "release"
is_held_by_name() { "$ROOST" q "$cluster" -af HoldReason | grep -q "remote_write: $HOME_DIR/later: No such file"; }
until_true 60 "it is held" is_held_by_name
"$ROOST" rm "$cluster" >/dev/null

say "who begins at home is told"
printf 'universe = standard\ninitialdir = %s\nexecutable = /bin/sh\narguments = "-c '"'"'echo ok; echo x >new; echo x >.bash_aliases; echo y >>out2; exit 0'"'"'"\noutput = logs/out\nerror = logs/err\ntransfer_output_files = out2\nqueue\n' \
    "$HOME_DIR" >"$WORK/home.sub"
as walice "$ROOST" submit "$WORK/home.sub" -terse >"$WORK/home.id" 2>"$WORK/home.said" || fail "submit: $(cat "$WORK/home.said")"
grep -q "initialdir is the home directory" "$WORK/home.said" || fail "it was not told: $(cat "$WORK/home.said")"
cluster=$(sed 's/[. ].*//' "$WORK/home.id")
until_true 60 "it is done" is_done "$cluster" 1
equals "its output" "$(cat "$HOME_DIR/logs/out")" ok
equals "its other output" "$(cat "$HOME_DIR/out2")" y
equals "errors" "$(grep -c "Read-only file system" "$HOME_DIR/logs/err")" 2
rm "$HOME_DIR/out2" "$HOME_DIR/logs/out" "$HOME_DIR/logs/err"
unchanged

say "what it makes itself it may change, also when it begins again"
as walice mkdir "$HOME_DIR/run/own"
cat >"$WORK/build.sh" <<END_OF_SCRIPT
set -e
[ -e clone ] || git clone -q $HOME_DIR/repository clone
cd clone
make -s
./prog
echo 'int main(void) { return 0; }' >main.c
make -s -B
gcc -o prog main.c
git checkout -q main.c configure
chmod 0644 configure
git checkout -q configure
rm prog
python3 -m venv --without-pip ../venv 2>/dev/null && : >../venv/lib/\$(ls ../venv/lib)/site-packages/mine.py
cd ..
if [ ! -e again ]; then
    : >again
    cp clone/configure mine
    until [ -e $WORK/go ]; do sleep 0.05; done
fi
echo more >>mine
rm -rf clone venv mine
echo finished
END_OF_SCRIPT
chmod 0755 "$WORK/build.sh"
printf 'universe = standard\ninitialdir = %s/run/own\nexecutable = /bin/bash\narguments = %s\noutput = out\nerror = err\ncheckpoint = false\nenvironment = HOME=%s/run/own PATH=/usr/bin:/bin\nqueue\n' \
    "$HOME_DIR" "$WORK/build.sh" "$HOME_DIR" >"$WORK/build.sub"
cluster=$(as walice "$ROOST" submit "$WORK/build.sub" -terse | sed 's/[. ].*//') || fail "submit"
is_again() { [ -e "$HOME_DIR/run/own/again" ] || is_done "$cluster" 1; }
until_true 60 "it has built" is_again
equals "errors" "$(cat "$HOME_DIR/run/own/err")" ""
shadow=$(head -n 1 "$POOL"/spool/owner/walice/shadow.*.lock)
[ ! -e "$HOME_DIR/run/own/mine" ] || kill -9 "$shadow" # what the next one knows is what the files say
"$ROOST" vacate "$cluster" >/dev/null 2>&1 || "$ROOST" hold "$cluster" >/dev/null
: >"$WORK/go"
"$ROOST" release "$cluster" >/dev/null 2>&1
until_true 90 "it is done" is_done "$cluster" 1
equals "errors" "$(cat "$HOME_DIR/run/own/err")" ""
grep -q finished "$HOME_DIR/run/own/out" || fail "it did not go on: $(cat "$HOME_DIR/run/own/out")"
[ "$("$ROOST" history "$cluster" -af NumShadowStarts)" -ge 2 ] || fail "it had one run"
equals "what is left of what it made" "$(ls "$HOME_DIR/run/own")" "again
err
out"
pool_stop
passed
