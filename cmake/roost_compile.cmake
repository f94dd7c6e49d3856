# Compiler flags, the same for every target, and where results go.
#
# SPDX-License-Identifier: Apache-2.0

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

set(ROOST_SANITIZE "" CACHE STRING "for -fsanitize=, for example address,undefined")
option(ROOST_FUZZ "build the fuzz targets with libFuzzer (clang), and nothing else of the tests" OFF)
set(ROOST_PLANT "" CACHE STRING "bugs to plant (base/plant.h), to show that the simulator finds them")
option(ROOST_COVERAGE "instrument for llvm-cov (clang)" OFF)

# Warnings are errors with the compilers of Debian 12, which we test with.  Another compiler knows other warnings:
# there they are only shown, so that Roost still builds.
set(roost_werror OFF)
if((CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION MATCHES "^12\\.")
   OR (CMAKE_C_COMPILER_ID STREQUAL "Clang" AND CMAKE_C_COMPILER_VERSION MATCHES "^14\\."))
    set(roost_werror ON)
endif()
option(ROOST_WERROR "warnings are errors" ${roost_werror})

set(ROOST_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2)

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
add_library(roost_flags INTERFACE)
target_include_directories(roost_flags INTERFACE "${CMAKE_SOURCE_DIR}")
# Defined as empty, as a file that still says "#define _GNU_SOURCE" defines it.
target_compile_definitions(roost_flags INTERFACE _GNU_SOURCE= "ROOST_VERSION=\"${PROJECT_VERSION}\"")
target_compile_options(roost_flags INTERFACE ${ROOST_WARNINGS} -fno-common -fno-strict-aliasing
    # __FILE__ is the path in the tree: messages of CHECK do not depend on where it was built.
    "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # Two warnings of the optimizer that are wrong about things we do everywhere.  "return err_set(err, -EINVAL, ...)": it
    # cannot know that what comes back is not 0, and takes the results of a function that failed for perhaps unset.
    # "self->destroyed = &destroyed": a callback that looks whether its object is still there lends it a local variable.
    target_compile_options(roost_flags INTERFACE -Wno-maybe-uninitialized -Wno-dangling-pointer)
endif()
if(ROOST_WERROR)
    target_compile_options(roost_flags INTERFACE -Werror)
endif()
# A program loads only what it calls: `roost` starts fast although its libraries could need more.
target_link_options(roost_flags INTERFACE -Wl,--as-needed)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    # CHECK() does not depend on NDEBUG, and assert() is not used: the stock "-O3 -DNDEBUG" gives way to plain -O2
    # with symbols, so that a core file of the field can be read.
    set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
    # What makes a bug hard to use; lint.hardening looks for it in what was built.
    target_compile_options(roost_flags INTERFACE -fstack-protector-strong)
    foreach(flag -fstack-clash-protection -fcf-protection=full)
        string(MAKE_C_IDENTIFIER "ROOST_HAS${flag}" has)
        check_c_compiler_flag(${flag} ${has})
        if(${has})
            target_compile_options(roost_flags INTERFACE ${flag})
        endif()
    endforeach()
    target_link_options(roost_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
string(TOUPPER "CMAKE_C_FLAGS_${CMAKE_BUILD_TYPE}" flags)
if("${${flags}}" MATCHES "-O[123]" AND NOT ROOST_SANITIZE)
    # In dev, too: it brings warnings about results that are not looked at.  3 also bounds what has a size that is known only
    # when the program runs; the C library falls back to 2, with a warning, where the compiler cannot do that.
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("#include <string.h>
        #if __USE_FORTIFY_LEVEL < 3
        #error no level 3
        #endif
        int main(void) { return 0; }" ROOST_HAS_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    target_compile_options(roost_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$<IF:$<BOOL:${ROOST_HAS_FORTIFY_3}>,3,2>)
endif()
if(ROOST_SANITIZE)
    target_compile_options(roost_flags INTERFACE "-fsanitize=${ROOST_SANITIZE}" -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    target_link_options(roost_flags INTERFACE "-fsanitize=${ROOST_SANITIZE}")
endif()
if(ROOST_SANITIZE OR ROOST_COVERAGE)
    # os_leave() of base/os/os_run.h returns: what is left behind is looked at, or written at the end.
    target_compile_definitions(roost_flags INTERFACE ROOST_TIDY_EXIT)
endif()
if(ROOST_FUZZ)
    target_compile_options(roost_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
foreach(plant IN LISTS ROOST_PLANT)
    target_compile_definitions(roost_flags INTERFACE ROOST_PLANT_${plant})
endforeach()
if(ROOST_COVERAGE)
    target_compile_options(roost_flags INTERFACE -fprofile-instr-generate -fcoverage-mapping)
    target_link_options(roost_flags INTERFACE -fprofile-instr-generate)
endif()

include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
