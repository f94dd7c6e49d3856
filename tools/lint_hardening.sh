#!/bin/bash
# tools/lint_hardening.sh [--cet] FILE... - programs, libraries and archives were built with all protections.
#
# Programs and shared libraries are position independent; all relocations are done at the start and then read-only (RELRO,
# NOW); neither the stack nor a segment is writable and executable.  Programs contain the checks of the compiler (stack
# protector) and of the C library (_FORTIFY_SOURCE).  With --cet, each object of an archive (*.a) is marked: its indirect
# jumps and returns can be checked (IBT, SHSTK).  Programs are marked only where the C library's own objects are, which
# is not so in Debian 12.
#
# SPDX-License-Identifier: Apache-2.0
set -u
export LC_ALL=C
cet=no
if [ "${1:-}" = --cet ]; then
    cet=yes
    shift
fi
[ $# -gt 0 ] || { echo "lint.hardening: no files given; usage: tools/lint_hardening.sh [--cet] FILE..." >&2; exit 2; }
failed=0
finding() {
    echo "$1: $2"
    failed=1
}

# marks TEXT: the features in the notes of a file.
marks() { sed -n 's/.*x86 feature: *//p' <<<"$1"; }

look_at_archive() {
    local member='' line
    declare -A marked=()
    while IFS= read -r line; do
        case $line in
        File:*) member=${line##*(} member=${member%)} marked[$member]='' ;;
        *"x86 feature: "*) marked[$member]=${line##*feature: } ;;
        esac
    done < <(readelf -n "$1" 2>/dev/null)
    [ ${#marked[@]} -gt 0 ] || finding "$1" "the archive contains no objects"
    for member in "${!marked[@]}"; do
        [[ ${marked[$member]} == *IBT*SHSTK* ]] || finding "$1" "$member is not marked for IBT and SHSTK"
    done
}

look_at_program() {
    local headers symbols
    headers=$(readelf -hldW "$1" 2>/dev/null) || { finding "$1" "not an ELF file"; return; }
    grep -q '^ *Type: *DYN' <<<"$headers" || finding "$1" "not position independent: compile with -fPIE, link with -pie"
    grep -q 'GNU_RELRO' <<<"$headers" || finding "$1" "no RELRO: link with -z relro"
    grep -qE '\((BIND_NOW|FLAGS|FLAGS_1)\).*\b(BIND_)?NOW\b' <<<"$headers" || finding "$1" "symbols are bound late: link with -z now"
    grep -q '(TEXTREL)' <<<"$headers" && finding "$1" "its code is changed when it is loaded (TEXTREL): compile with -fPIC"
    grep -qE '^ *GNU_STACK .* RW +0x' <<<"$headers" || finding "$1" "its stack is executable, or not marked otherwise: link with -z noexecstack"
    grep -qE '^ *LOAD .* (RWE|WE) +0x' <<<"$headers" && finding "$1" "a segment is writable and executable"
    case $1 in *.so) return ;; esac
    symbols=$(nm "$1" 2>/dev/null)
    grep -q ' __stack_chk_fail' <<<"$symbols" || finding "$1" "no stack protector: compile with -fstack-protector-strong"
    grep -qE ' __[a-z]+_chk\b' <<<"$symbols" || finding "$1" "no checks of _FORTIFY_SOURCE: compile with -O2 -D_FORTIFY_SOURCE=2"
    [ "$wanted" = no ] || [[ $(marks "$(readelf -nW "$1")") == *IBT*SHSTK* ]] || finding "$1" "not marked for IBT and SHSTK"
}

wanted=no
if [ $cet = yes ] && [[ $(marks "$(readelf -nW "$(cc -print-file-name=Scrt1.o)")") == *IBT*SHSTK* ]]; then
    wanted=yes
fi
for file in "$@"; do
    case $file in
    *.a) [ $cet = no ] || look_at_archive "$file" ;;
    *) look_at_program "$file" ;;
    esac
done
exit $failed
