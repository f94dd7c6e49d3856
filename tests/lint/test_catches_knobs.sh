#!/bin/bash
# The check lint.knobs finds where code, samples and page disagree with the tables.
#
# The tables are played by a script in place of tools/knobs_dump.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

new_tree
cat >"$WORK/dump" <<'END'
#!/bin/bash
case ${1:-} in
--list)
    printf '\t-\tSPOOL\tpath\n'
    printf 'ROOSTER\t-\tROOSTER_INTERVAL\tduration\n'
    printf 'ROOSTER\tnode\tmethod\tstring\n'
    ;;
*) printf 'the page\nof knobs\n' ;;
esac
END
chmod +x "$WORK/dump"
lint() {
    (cd "$TREE" && "$PYTHON" tools/lint_knobs.py "$WORK/dump" "$TREE") >"$OUT" 2>&1
}

plant docs/CONFIG.md <<<$'the page\nof knobs'
plant etc/roost.conf <<'END'
# A sample.
SPOOL = "$(TOP)/spool"
#TOP = /srv
# ROOSTER_INTERVAL = 10s
END
plant rooster/knobs.c <<'END'
static const struct knob NODE[] = {{"method"}};
static const struct knob KNOBS[] = {{"ROOSTER_INTERVAL"}};
END
plant rooster/main.c <<<'int main(void) { return 0; }'
plant rooster/rooster.c <<<'int f(void) { return config_int(c, "ROOSTER_INTERVAL") + section_int(s, "method") + config_int(c, "SPOOL"); }'
passes "all agree" knobs

plant docs/CONFIG.md <<<$'the page\nof knob'
finds "an old page" "docs/CONFIG.md:2: the page differs from the tables" knobs
plant docs/CONFIG.md <<<$'the page\nof knobs'
plant etc/roost.conf <<<'#ROOSTER_INTERVALL = 10s'
finds "a wrong name in a sample" "etc/roost.conf:1: unknown knob 'ROOSTER_INTERVALL'" knobs
rm "$TREE/etc/roost.conf"
plant rooster/rooster.c <<<'int f(void) { return config_int(c, "ROOSTER_INTERVALL") + section_int(s, "method"); }'
finds "a wrong name in code" "rooster/rooster.c:1: unknown knob 'ROOSTER_INTERVALL'" knobs
finds "a knob that no code reads" "rooster/knobs.c:2: no code reads the knob 'ROOSTER_INTERVAL'" knobs
rm "$TREE/rooster/main.c"
finds "and that is allowed while the process is not there" "rooster/rooster.c:1: " knobs
if grep -q 'no code reads' "$OUT"; then fail "a table ahead of its process"; fi
finish
