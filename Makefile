# Roost: what one types.  The build itself is CMake's: CMakeLists.txt, CMakePresets.json.
#
#   make            Release build into build/, programs in build/bin/
#   make deps       install the Debian packages that are missing, and say which and what for
#   make demo       build, then show a pool of sleeping machines that wakes for work
#   make test       build, then all tests
#   make bench      build, then all benches; lines "BENCH name value unit"
#   make install    into $(DESTDIR)$(PREFIX)
#   make dev        Debug build with gcc into build/dev
#   make asan tsan  all tests under sanitizers, in build/asan, build/tsan
#   make fuzz       libFuzzer on every parser for a while, in build/fuzz; make fuzz FUZZ_S=600: for so
#                   many seconds each, and inputs that reach more code are added to tests/fuzz/corpus
#   make coverage   which lines the tests run, in build/coverage
#   make lint fmt   the checks of the sources; format all C files
#   make tidy       clang-tidy and cppcheck: slower, and for a reader to judge
#   make config-page  docs/CONFIG.md from the tables of knobs
#
# SPDX-License-Identifier: Apache-2.0
PREFIX ?= /usr/local
# How many tests at a time; the limits of time in the suite are meant for this on two processors: more
# than half of its time a test waits.
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
	@if [ -x tools/demo.sh ]; then exec tools/demo.sh; else echo "make demo: there is no tools/demo.sh yet" >&2; exit 1; fi

test:
	@tools/deps.sh build test lint
	@tools/build.sh release
	@cd build && $(CTEST)

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

.PHONY: all dev deps demo test lint bench install asan tsan fuzz coverage fmt tidy config-page clean
