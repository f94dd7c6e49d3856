# Functions of tests/CMakeLists.txt: from files to ctest cases.  Every case has a time limit.
#
# SPDX-License-Identifier: Apache-2.0

set(ROOST_TEST_ENV "ROOST_BIN=${CMAKE_BINARY_DIR}/bin" "ROOST_SRC=${CMAKE_SOURCE_DIR}" "ROOST_BUILD=${CMAKE_BINARY_DIR}"
    "PYTHONDONTWRITEBYTECODE=1")
if(ROOST_SANITIZE)
    # An allocation that cannot succeed returns NULL, as it does elsewhere: tests ask for some.
    list(APPEND ROOST_TEST_ENV "ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1"
        "TSAN_OPTIONS=allocator_may_return_null=1:second_deadlock_stack=1:atexit_sleep_ms=0" "UBSAN_OPTIONS=print_stacktrace=1")
endif()

# Reads the value of a line "KEY: value" in the first comment of a file ("// LINK: classad", "# TIMEOUT: 120").
function(roost_header_line FILE KEY RET)
    set(value "")
    file(STRINGS "${FILE}" lines LIMIT_INPUT 2000 REGEX "^[ /*#]*${KEY}: ")
    if(lines)
        list(GET lines 0 line)
        string(REGEX REPLACE "^[ /*#]*${KEY}: *" "" value "${line}")
        string(REGEX REPLACE "[ */]+$" "" value "${value}")
    endif()
    set(${RET} "${value}" PARENT_SCOPE)
endfunction()

# roost_measure_pace(RET): how much slower this machine compiles tools/pace.c now than the one on which the limits of the
# lints were chosen; 1 at least, in whole numbers.
set(ROOST_PACE_US 150000)
function(roost_measure_pace RET)
    string(TIMESTAMP began "%s%f")
    execute_process(COMMAND "${CMAKE_C_COMPILER}" -std=c17 -D_GNU_SOURCE -O2 -c "${CMAKE_SOURCE_DIR}/tools/pace.c"
        -o "${CMAKE_BINARY_DIR}/pace.o" OUTPUT_QUIET ERROR_QUIET)
    string(TIMESTAMP ended "%s%f")
    math(EXPR pace "(${ended} - ${began} + ${ROOST_PACE_US} - 1) / ${ROOST_PACE_US}")
    set(${RET} "${pace}" PARENT_SCOPE)
endfunction()

# roost_case(NAME LABEL FILE DEFAULT_TIMEOUT COMMAND...): one ctest case; exit status 77 means skipped.
function(roost_case NAME LABEL FILE TIMEOUT)
    roost_header_line("${FILE}" TIMEOUT own)
    if(own)
        set(TIMEOUT ${own})
    endif()
    # The limits are those of a quiet machine, and end what hangs: a machine may be three times as slow, or busy.
    math(EXPR TIMEOUT "${TIMEOUT} * 3")
    if(ROOST_SANITIZE)
        math(EXPR TIMEOUT "${TIMEOUT} * 3")
    endif()
    if(LABEL STREQUAL "lint")
        math(EXPR TIMEOUT "${TIMEOUT} * ${ROOST_PACE}")
    endif()
    add_test(NAME ${NAME} COMMAND ${ARGN} COMMAND_EXPAND_LISTS)
    set_tests_properties(${NAME} PROPERTIES LABELS ${LABEL} TIMEOUT ${TIMEOUT} SKIP_RETURN_CODE 77
        ENVIRONMENT "${ROOST_TEST_ENV}")
endfunction()

# roost_test_program(TARGET FILE LINK...): adds the libraries of the file's line "LINK: a b".  Linked with the real
# bodies, unless the simulator, which has its own, is among the libraries; without those of base/stream/stream.h when the
# file brings its own: line "STREAMS: own".
function(roost_test_program TARGET FILE)
    roost_header_line("${FILE}" LINK more)
    separate_arguments(more)
    set(libs ${ARGN} ${more})
    list(REMOVE_DUPLICATES libs)
    foreach(lib IN LISTS libs)
        if(NOT TARGET ${lib})
            message(FATAL_ERROR "${FILE}: is to be linked with '${lib}', and there is no such folder with .c files")
        endif()
    endforeach()
    roost_header_line("${FILE}" STREAMS streams)
    if(streams STREQUAL "own")
        list(APPEND libs "$<FILTER:$<TARGET_OBJECTS:base_real>,EXCLUDE,/(stream_[a-z_]*|daemon_prepared_linux)[.]c>"
            "$<TARGET_PROPERTY:base_real,INTERFACE_LINK_LIBRARIES>")
    elseif(NOT "sim" IN_LIST libs)
        list(APPEND libs base_real)
    endif()
    add_executable(${TARGET} "${FILE}")
    set_target_properties(${TARGET} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/bin")
    target_link_libraries(${TARGET} PRIVATE ${libs})
    if(TARGET test_support)
        target_link_libraries(${TARGET} PRIVATE test_support)
    endif()
endfunction()

# roost_cmocka_tests(LABEL FOLDER TIMEOUT LINK...): FOLDER/test_*.c -> cases LABEL.[last part of FOLDER.]NAME
function(roost_cmocka_tests LABEL PREFIX FOLDER TIMEOUT)
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${FOLDER}/test_*.c")
    foreach(file IN LISTS files)
        get_filename_component(stem "${file}" NAME_WE)
        string(REGEX REPLACE "^test_" "" stem "${stem}")
        roost_packages(cmocka cmocka)
        roost_test_program(${PREFIX}.${stem} "${file}" ${ARGN})
        target_link_libraries(${PREFIX}.${stem} PRIVATE ${cmocka})
        roost_case(${PREFIX}.${stem} ${LABEL} "${file}" ${TIMEOUT} ${PREFIX}.${stem})
    endforeach()
endfunction()

# roost_script_tests(LABEL FOLDER TIMEOUT): FOLDER/*.sh, but lib*.sh which others source.
function(roost_script_tests LABEL FOLDER TIMEOUT)
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${FOLDER}/*.sh")
    list(FILTER files EXCLUDE REGEX "/lib[^/]*\\.sh$")
    foreach(file IN LISTS files)
        get_filename_component(stem "${file}" NAME_WE)
        string(REGEX REPLACE "^test_" "" stem "${stem}")
        roost_case(${LABEL}.${stem} ${LABEL} "${file}" ${TIMEOUT} bash "${file}")
    endforeach()
endfunction()

# roost_fuzz_tests(): tests/fuzz/fuzz_*.c.  Preset fuzz: libFuzzer for ROOST_FUZZ_SECONDS each; otherwise the corpus of the
# tree is replayed.
set(ROOST_FUZZ_SECONDS 20 CACHE STRING "how long each fuzz case runs in a ROOST_FUZZ build")
function(roost_fuzz_tests)
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_*.c")
    foreach(file IN LISTS files)
        get_filename_component(target "${file}" NAME_WE)
        string(REGEX REPLACE "^fuzz_" "" name "${target}")
        set(corpus "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name}")
        roost_test_program(${target} "${file}")
        # libFuzzer calls LLVMFuzzerTestOneInput, which has no header.
        set_source_files_properties("${file}" PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
        if(ROOST_FUZZ)
            target_link_options(${target} PRIVATE -fsanitize=fuzzer)
            math(EXPR limit "${ROOST_FUZZ_SECONDS} + 60")
            set(work "${CMAKE_BINARY_DIR}/corpus/${name}")
            file(MAKE_DIRECTORY "${work}")
            # libFuzzer ends with 77 after a finding, unless told otherwise: that is our word for a skipped test.
            roost_case(fuzz.${name} fuzz "${file}" ${limit} ${target} -error_exitcode=1 -max_total_time=${ROOST_FUZZ_SECONDS}
                -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 "-artifact_prefix=${work}-" "${work}" "${corpus}")
        else()
            target_sources(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/replay_main.c")
            roost_case(fuzz.${name} fuzz "${file}" 60 ${target} "${corpus}")
        endif()
    endforeach()
endfunction()

# roost_benches(FOLDER): FOLDER/*.c, built by the target `benches` only; FOLDER/programs/*.c are small programs that benches
# run: one file, libc alone.  Each bench, scripts too, is a case bench.NAME, which runs it with short sizes (tools/bench.sh).
function(roost_benches FOLDER)
    add_custom_target(benches)
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${FOLDER}/*.c")
    foreach(file IN LISTS files)
        get_filename_component(stem "${file}" NAME_WE)
        roost_test_program(bench_${stem} "${file}")
        set_target_properties(bench_${stem} PROPERTIES OUTPUT_NAME ${stem} EXCLUDE_FROM_ALL ON
            RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
        add_dependencies(benches bench_${stem})
    endforeach()
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${FOLDER}/programs/*.c")
    foreach(file IN LISTS files)
        get_filename_component(stem "${file}" NAME_WE)
        add_executable(bench_program_${stem} EXCLUDE_FROM_ALL "${file}")
        target_link_libraries(bench_program_${stem} PRIVATE roost_flags)
        set_target_properties(bench_program_${stem} PROPERTIES OUTPUT_NAME ${stem}
            RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench/programs")
        add_dependencies(benches bench_program_${stem})
    endforeach()
    if(ROOST_SANITIZE OR ROOST_COVERAGE OR ROOST_FUZZ)
        return() # what costs are measured of is what users run
    endif()
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${FOLDER}/*.c" "${CMAKE_SOURCE_DIR}/${FOLDER}/*.sh")
    foreach(file IN LISTS files)
        get_filename_component(stem "${file}" NAME_WE)
        roost_case(bench.${stem} bench "${file}" 60 bash "${CMAKE_SOURCE_DIR}/tools/bench.sh" --short "${CMAKE_BINARY_DIR}" ${stem})
    endforeach()
endfunction()
