#!/bin/bash
# `cmake --install` puts programs, manual pages, completion, units and samples where they belong, below DESTDIR; the pages are
# right for man and mandoc, and say what --help says.
#
# TIMEOUT: 120
# SPDX-License-Identifier: Apache-2.0
set -u
: "${ROOST_BIN:?where the programs are}"
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
chmod 755 "$WORK"
export MANPATH="$WORK/usr/share/man" MANROFFSEQ='' LC_ALL=C.UTF-8
unset ROOST_CONFIG

fail() {
    echo "FAILED: $*"
    exit 1
}

build=$(dirname "$ROOST_BIN")
DESTDIR=$WORK cmake --install "$build" --prefix /usr >"$WORK/log" 2>&1 || fail "$(tail -5 "$WORK/log")"
for program in roost roost-master roost-collector roost-negotiator roost-schedd roost-shadow roost-startd roost-starter; do
    [ -x "$WORK/usr/bin/$program" ] || fail "no $program in usr/bin"
done
for file in share/bash-completion/completions/roost share/zsh/site-functions/_roost share/man/man1/roost.1 \
    share/man/man1/roost-q.1 share/man/man5/roost_config.5 share/man/man5/roost_submit.5 share/doc/roost/README.md \
    share/doc/roost/etc/roost.conf share/doc/roost/docs/CONFIG.md lib/systemd/system/roost.service lib/systemd/system/roost-central.service share/man/man1/roost-compile.1 share/man/man3/roost_checkpoint.3; do
    [ -s "$WORK/usr/$file" ] || fail "no usr/$file"
done
grep -q '^ExecStart=/usr/bin/roost-master$' "$WORK/usr/lib/systemd/system/roost.service" || fail "the unit starts another program"
if command -v systemd-analyze >/dev/null; then
    units=$WORK/usr/lib/systemd/system
    mkdir "$WORK/units"
    for unit in roost roost-central; do # with a program that is there
        sed "s|/usr/bin/roost-master|$WORK/usr/bin/roost-master|" "$units/$unit.service" >"$WORK/units/$unit.service"
        found=$(systemd-analyze verify --man=no "$WORK/units/$unit.service" 2>&1 | grep "$unit.service")
        [ -z "$found" ] || fail "systemd-analyze verify: $found"
    done
    # exposure, times ten: what is taken away here again has to be said here
    for limit in roost:76 roost-central:28; do
        systemd-analyze security --offline=yes --threshold="${limit#*:}" "$WORK/units/${limit%:*}.service" >"$WORK/security" 2>&1 ||
            fail "systemd-analyze security: $(tail -n 1 "$WORK/security")"
    done
    rm -r "$WORK/units" "$WORK/security"
fi
if grep -rl "$WORK" "$WORK/usr/lib" "$WORK/usr/share"; then fail "DESTDIR is in what was installed"; fi
# the programs find one another where they are: below DESTDIR, and after the tree was moved
for place in usr moved/usr; do
    [ -d "$WORK/$place" ] || { mkdir "$WORK/moved" && mv "$WORK/usr" "$WORK/moved/usr"; }
    "$WORK/$place/bin/roost" init "$WORK/pool" --nodes 1 >/dev/null || fail "$place: init"
    sed -i '/^SBIN = /d' "$WORK/pool/roost.conf"
    export ROOST_CONFIG=$WORK/pool/roost.conf
    [ "$("$WORK/$place/bin/roost" config get SBIN)" = "$WORK/$place/bin" ] || fail "$place: SBIN is $("$WORK/$place/bin/roost" config get SBIN)"
    said=$("$WORK/$place/bin/roost" start 2>&1) || fail "$place: $said"
    program=$(readlink "/proc/$(head -n 1 "$WORK/pool/lock/collector.lock")/exe")
    "$WORK/$place/bin/roost" stop >/dev/null || fail "$place: stop"
    [ "$program" = "$WORK/$place/bin/roost-collector" ] || fail "$place: the collector is $program"
    unset ROOST_CONFIG
    rm -r "$WORK/pool"
done
mv "$WORK/moved/usr" "$WORK/usr" && rmdir "$WORK/moved"
bash -n "$WORK/usr/share/bash-completion/completions/roost" || fail "completion"
if find "$WORK" -mindepth 1 -maxdepth 1 ! -name usr ! -name log | grep .; then fail "something is outside of usr"; fi

doc=$WORK/usr/share/doc/roost
while read -r named; do
    [ -s "$doc/$named" ] || [ -s "$doc/rsyscall/$named" ] || fail "a page names $named, which is not installed"
done < <(grep -rhoE '\b([a-z_]+/)+README\.md' "$doc/docs" "$doc/README.md" "$doc/etc" | sort -u)
pages=$(find "$WORK/usr/share/man" -name 'roost*.[15]' | wc -l)
commands=$("$WORK/usr/bin/roost" --help | grep -c '^  [a-z]')
[ "$pages" -eq $((commands + 4)) ] || fail "$pages pages for $commands commands"
for program in pcontrol pclient; do
    [ -s "$WORK/usr/share/man/man1/$program.1" ] || fail "no manual page of $program"
    [ -x "$WORK/usr/bin/$program" ] || fail "$program is not installed"
done
printed=$(printf 'host a\njob echo works\nwait\nstdout 1\n' |
    ROOST_PCONTROL_COMMAND=HOST=%h ROOST_PCONTROL_SHELL=$WORK/usr/bin/pclient "$WORK/usr/bin/pcontrol" | tail -n 1)
[ "$printed" = works ] || fail "a job of the installed pcontrol: $printed"
for page in "$WORK"/usr/share/man/man?/*; do
    found=$(mandoc -T lint -W warning "$page" 2>&1 | grep -v 'missing date')
    [ -z "$found" ] || fail "mandoc: $found"
    found=$(groff -man -Tutf8 -ww -z "$page" 2>&1 | grep -v "can.*t \(adjust\|break\) line")
    [ -z "$found" ] || fail "groff: $found"
done
for command in $("$WORK/usr/bin/roost" --help | sed -n 's/^  \([a-z-]\+\) .*/\1/p'); do
    mandoc -T utf8 "$WORK/usr/share/man/man1/roost-$command.1" | sed 's/.\x08//g' >"$WORK/page"
    "$WORK/usr/bin/roost" help "$command" | sed -n 's/^  \( *-[-a-z]*\) .*/\1/p' | while read -r option; do
        grep -q -e "$option" "$WORK/page" || fail "$command: its page has no $option"
    done || exit 1
done
"$WORK/usr/bin/roost" help --man roost_config | mandoc -T utf8 | sed 's/.\x08//g' | grep -q 'COLLECTOR_HOST' || fail "roost_config"
echo "install.sh: passed"
