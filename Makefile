# The commands of Roost's developers.  The build itself is CMake's: CMakeLists.txt, CMakePresets.json.
#
#   make            Release build into build/, programs in build/bin/
#   make deps       install the Debian packages that are missing, and say why each is needed
#   make demo       build, then show a pool whose sleeping machines wake for work
#   make test       build, then all tests, and each bench once in a short form
#   make test-htcondor  build, then a real HTCondor (fetched from Debian trixie) as a site of the factory
#   make bench      build, then all benches; lines "BENCH name value unit"
#   make install    into $(DESTDIR)$(PREFIX)
#   make dev        Debug build with gcc into build/dev
#   make asan tsan  all tests under sanitizers, in build/asan, build/tsan
#   make fuzz       libFuzzer on every parser for a while, in build/fuzz; make fuzz FUZZ_S=600: 600
#                   seconds for each parser, and inputs that reach more code are added to tests/fuzz/corpus
#   make coverage   which lines the tests run, in build/coverage
#   make lint fmt   the checks of the sources; format all C files
#   make tidy       clang-tidy and cppcheck: slow, and not every finding is a mistake
#   make config-page  docs/CONFIG.md from the tables of knobs
#
# SPDX-License-Identifier: Apache-2.0
PREFIX ?= /usr/local
# How many tests run at the same time.  The time limits of the suite are made for 3 on two processors: a
# test waits for more than half of its time.
TEST_JOBS ?= 3

CTEST = ctest --output-on-failure -j $(TEST_JOBS)

all:
	@tools/build.sh release

dev:
	@tools/build.sh dev

deps:
	@tools/deps.sh build test lint fuzz

demo:
	@tools/deps.sh build test
	@tools/build.sh release
	@if [ -x tools/demo.sh ]; then exec tools/demo.sh; else echo "make demo: tools/demo.sh is missing or not executable" >&2; exit 1; fi

test:
	@tools/deps.sh build test lint
	@tools/build.sh release all benches
	@cd build && $(CTEST)

test-htcondor:
	@tools/deps.sh build test
	@tools/build.sh release
	@tools/test_htcondor.sh build

lint:
	@tools/deps.sh build test lint
	@tools/build.sh release
	@cd build && $(CTEST) -L lint

bench:
	@tools/deps.sh build test
	@tools/build.sh release all benches
	@tools/bench.sh build

install: all
	@cmake --install build --prefix "$(PREFIX)"

asan tsan:
	@tools/deps.sh build test lint
	@tools/build.sh $@
	@cd build/$@ && $(CTEST) -LE lint

fuzz:
	@tools/deps.sh build test fuzz
	@tools/build.sh fuzz
	@TEST_JOBS=$(TEST_JOBS) tools/fuzz.sh $(if $(FUZZ_S),-s $(FUZZ_S)) build/fuzz

coverage:
	@tools/deps.sh build test fuzz
	@tools/build.sh coverage
	@tools/coverage.sh build/coverage

fmt:
	@tools/deps.sh lint
	@tools/fmt.sh

tidy:
	@tools/deps.sh build test tidy
	@tools/build.sh dev
	@tools/tidy.sh build/dev

config-page:
	@tools/build.sh release knobs_dump
	@build/tools/knobs_dump >docs/CONFIG.md

clean:
	rm -rf build

.PHONY: all dev deps demo test test-htcondor lint bench install asan tsan fuzz coverage fmt tidy config-page clean
