#!/bin/bash
# tools/coverage.sh BUILD_FOLDER - runs the tests of a coverage build; the report is BUILD_FOLDER/coverage/index.html.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$1"
rm -rf profiles
mkdir profiles
# %m: one file per program, merged by the programs themselves.
LLVM_PROFILE_FILE=$PWD/profiles/%m.profraw ctest --output-on-failure -j "${TEST_JOBS:-3}" -LE lint || echo "coverage: some tests failed; the report covers what ran"
llvm-profdata merge -sparse -o all.profdata profiles/*.profraw
objects=()
for program in bin/* tests/bin/*; do
    if [ -f "$program" ] && [ -x "$program" ]; then
        objects+=(-object "$program")
    fi
done
ignore='(^|/)(tests|bench)/'
llvm-cov show "${objects[@]}" -instr-profile all.profdata -ignore-filename-regex "$ignore" -format html -output-dir coverage
llvm-cov report "${objects[@]}" -instr-profile all.profdata -ignore-filename-regex "$ignore"
echo "coverage: the report is $PWD/coverage/index.html"
