#!/bin/bash
# tools/lint_hardening.sh [--cet] FILE... - what was built can be loaded anywhere and written nowhere that it should not be.
#
# Programs and shared libraries: position independent, all relocations done at the start and read-only then (RELRO, NOW), no
# memory that is writable and executable, neither stack nor segment.  Programs: checks of the compiler (stack protector) and
# of the C library (_FORTIFY_SOURCE) are in them.  Archives (*.a), with --cet: each object says that its indirect jumps
# and returns can be checked (IBT, SHSTK).  Programs say so only where the C library's own objects do, which is not
# so in Debian 12.
#
# SPDX-License-Identifier: Apache-2.0
set -u
export LC_ALL=C
cet=no
if [ "${1:-}" = --cet ]; then
    cet=yes
    shift
fi
[ $# -gt 0 ] || { echo "lint.hardening: no files to look at" >&2; exit 2; }
failed=0
finding() {
    echo "$1: $2"
    failed=1
}

# marks TEXT: the features of which the notes of a file tell.
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
    [ ${#marked[@]} -gt 0 ] || finding "$1" "no objects in it"
    for member in "${!marked[@]}"; do
        [[ ${marked[$member]} == *IBT*SHSTK* ]] || finding "$1" "$member is not marked for IBT and SHSTK"
    done
}

look_at_program() {
    local headers symbols
    headers=$(readelf -hldW "$1" 2>/dev/null) || { finding "$1" "not an ELF file"; return; }
    grep -q '^ *Type: *DYN' <<<"$headers" || finding "$1" "not position independent"
    grep -q 'GNU_RELRO' <<<"$headers" || finding "$1" "no RELRO"
    grep -qE '\((BIND_NOW|FLAGS|FLAGS_1)\).*\b(BIND_)?NOW\b' <<<"$headers" || finding "$1" "symbols are bound late (no NOW)"
    grep -q '(TEXTREL)' <<<"$headers" && finding "$1" "its code is written when it is loaded (TEXTREL)"
    grep -qE '^ *GNU_STACK .* RW +0x' <<<"$headers" || finding "$1" "its stack is executable, or it does not say"
    grep -qE '^ *LOAD .* (RWE|WE) +0x' <<<"$headers" && finding "$1" "a segment is writable and executable"
    case $1 in *.so) return ;; esac
    symbols=$(nm "$1" 2>/dev/null)
    grep -q ' __stack_chk_fail' <<<"$symbols" || finding "$1" "no stack protector"
    grep -qE ' __[a-z]+_chk\b' <<<"$symbols" || finding "$1" "no checks of _FORTIFY_SOURCE"
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
