# Functions of the table in the top CMakeLists.txt: from folders to libraries and programs.
#
# SPDX-License-Identifier: Apache-2.0

# The targets of Debian's libraries, asked for when the first folder that needs them exists.
function(roost_packages RET)
    set(found "")
    foreach(name IN LISTS ARGN)
        if(NOT TARGET PkgConfig::${name})
            pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${name})
            if(NOT ${name}_FOUND)
                message(FATAL_ERROR "pkg-config does not know '${name}': run 'make deps', which installs what is missing")
            endif()
        endif()
        list(APPEND found PkgConfig::${name})
    endforeach()
    set(${RET} ${found} PARENT_SCOPE)
endfunction()

# Compiled with the headers of Debian's library NAME, not linked with it: the target TARGET loads it itself, by the name that
# ROOST_SONAME_<NAME> is defined as.
function(roost_loaded_package TARGET NAME)
    roost_packages(package ${NAME})
    get_target_property(library ${package} INTERFACE_LINK_LIBRARIES)
    list(GET library 0 library)
    execute_process(COMMAND "${CMAKE_OBJDUMP}" -p "${library}" OUTPUT_VARIABLE headers RESULT_VARIABLE failed)
    if(failed OR NOT headers MATCHES "SONAME +([^ \n]+)")
        message(FATAL_ERROR "'${library}' has no SONAME: a shared library was expected")
    endif()
    set(soname "${CMAKE_MATCH_1}")
    string(TOUPPER "${NAME}" name)
    string(MAKE_C_IDENTIFIER "${name}" name)
    target_include_directories(${TARGET} SYSTEM PUBLIC
        $<TARGET_PROPERTY:${package},INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_definitions(${TARGET} PUBLIC "ROOST_SONAME_${name}=\"${soname}\"")
    target_link_libraries(${TARGET} PUBLIC ${CMAKE_DL_LIBS})
endfunction()

# Those of our libraries that exist so far.
function(roost_existing RET)
    set(found "")
    foreach(name IN LISTS ARGN)
        if(TARGET ${name})
            list(APPEND found ${name})
        endif()
    endforeach()
    set(${RET} ${found} PARENT_SCOPE)
endfunction()

# A source for a library whose own files have not come yet: an archive may not be empty.
function(roost_placeholder RET)
    set(file "${CMAKE_BINARY_DIR}/empty.c")
    if(NOT EXISTS "${file}")
        file(WRITE "${file}" "typedef int empty_for_now;\n")
    endif()
    set(${RET} "${file}" PARENT_SCOPE)
endfunction()

# roost_sources(RET NAME): the files NAME/*.c, and those of its subfolders: NAME/*/*.c.  Subfolders that are built in a way of
# their own are no part of it.
set(ROOST_OWN_SUBFOLDERS "(ckpt/stub|ckpt/library|rsyscall/wrap)")
function(roost_sources RET NAME)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${NAME}/*.c" "${CMAKE_SOURCE_DIR}/${NAME}/*/*.c")
    list(FILTER sources EXCLUDE REGEX "/${ROOST_OWN_SUBFOLDERS}/[^/]*$")
    get_property(parsers GLOBAL PROPERTY ROOST_KNOB_PARSERS)
    list(REMOVE_ITEM sources ${parsers} "")
    set(${RET} "${sources}" PARENT_SCOPE)
endfunction()

# roost_library(NAME [OBJECT] [SOURCES ...] [LINK ...]): without SOURCES, roost_sources() but main.c and knobs.c.
function(roost_library NAME)
    cmake_parse_arguments(PARSE_ARGV 1 A "OBJECT" "" "SOURCES;LINK")
    if(NOT DEFINED A_SOURCES AND NOT "SOURCES" IN_LIST A_KEYWORDS_MISSING_VALUES)
        roost_sources(A_SOURCES ${NAME})
        list(FILTER A_SOURCES EXCLUDE REGEX "/(main|knobs)\\.c$")
    endif()
    if(NOT A_SOURCES)
        roost_placeholder(A_SOURCES)
    endif()
    if(A_OBJECT)
        add_library(${NAME} OBJECT ${A_SOURCES})
    else()
        add_library(${NAME} STATIC ${A_SOURCES})
    endif()
    target_link_libraries(${NAME} PUBLIC roost_flags ${A_LINK})
    set_property(GLOBAL APPEND PROPERTY ROOST_LIBRARIES ${NAME})
endfunction()

# roost_program(NAME FOLDER LINK... [FIRST pkg-config names..]): FOLDER/main.c, the folder's library and the given ones.
# FIRST: Debian's libraries that are searched for symbols before all others.
function(roost_program NAME FOLDER)
    cmake_parse_arguments(PARSE_ARGV 2 A "" "" "FIRST")
    roost_packages(first ${A_FIRST})
    set(target ${NAME})
    if(NAME STREQUAL FOLDER) # the library has that name
        set(target ${NAME}_program)
    endif()
    add_executable(${target} "${CMAKE_SOURCE_DIR}/${FOLDER}/main.c")
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${NAME})
    target_link_libraries(${target} PRIVATE ${first} ${FOLDER} ${A_UNPARSED_ARGUMENTS})
    set_property(GLOBAL APPEND PROPERTY ROOST_PROGRAMS ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# roost_static_program(NAME FOLDER LIBS ours.. SYSTEM names..): FOLDER/main.c as a static executable that is loaded at a random
# address, of our libraries and the static ones of the system (`ssl` is libssl.a), which all are on the link line: what
# pkg-config says of the shared ones does not count.
# The folder's objects come first, so that a function of theirs takes the place of the C library's.
function(roost_static_program NAME FOLDER)
    cmake_parse_arguments(PARSE_ARGV 2 A "" "" "LIBS;SYSTEM")
    roost_sources(sources ${FOLDER})
    set(archives "")
    foreach(lib IN LISTS A_LIBS)
        list(APPEND archives "$<TARGET_FILE:${lib}>")
    endforeach()
    list(TRANSFORM A_SYSTEM PREPEND "-l")
    add_executable(${NAME} ${sources} $<TARGET_OBJECTS:base_real>)
    add_dependencies(${NAME} ${A_LIBS})
    set_property(GLOBAL APPEND PROPERTY ROOST_PROGRAMS ${NAME})
    set_target_properties(${NAME} PROPERTIES LINK_DEPENDS "${archives}")
    target_link_libraries(${NAME} PRIVATE roost_flags -static-pie -Wl,--fatal-warnings -Wl,--wrap=dlopen
        -Wl,--start-group ${archives} ${A_SYSTEM} -Wl,--end-group)
    install(TARGETS ${NAME} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# roost_small_program(NAME): NAME/main.c with the folder's library, base, and of the bodies of base what it needs and no more: a
# static executable of one or two megabytes, without OpenSSL.  A sanitizer cannot be linked statically.
# The target is NAME_program, because the library has the name.
function(roost_small_program NAME)
    if(NOT TARGET ${NAME})
        return()
    endif()
    set(program ${NAME}_program)
    add_executable(${program} "${CMAKE_SOURCE_DIR}/${NAME}/main.c")
    if(ROOST_SANITIZE OR ROOST_COVERAGE OR ROOST_FUZZ)
        target_link_libraries(${program} PRIVATE ${NAME} base_real)
    else()
        if(NOT TARGET base_real_archive)
            add_library(base_real_archive STATIC $<TARGET_OBJECTS:base_real>)
        endif()
        # Names of users without NSS, which no static program can have.
        target_sources(${program} PRIVATE "${CMAKE_SOURCE_DIR}/pilot/libc_linux.c")
        set(archives "$<TARGET_FILE:${NAME}>" "$<TARGET_FILE:base>" "$<TARGET_FILE:base_real_archive>")
        add_dependencies(${program} ${NAME} base base_real_archive)
        set_target_properties(${program} PROPERTIES LINK_DEPENDS "${archives}")
        target_link_libraries(${program} PRIVATE roost_flags -static-pie -Wl,--fatal-warnings -Wl,--wrap=dlopen
            -Wl,--start-group ${archives} -levent_core -lresolv -lm -Wl,--end-group)
    endif()
    set_target_properties(${program} PROPERTIES OUTPUT_NAME ${NAME})
    set_property(GLOBAL APPEND PROPERTY ROOST_PROGRAMS ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# roost_base(base [PKGS..] [SYSTEM..] [REAL_PKGS..]): `base` holds what is pure; `base_real` the bodies of mem, loop,
# stream and os that touch the real world.  The simulator links `base` with bodies of its own.
#
# Bodies are OBJECT libraries: `base` calls them and they call `base`, and objects on the link line need no particular
# place in the order of the archives, while two archives that need each other do.
function(roost_base NAME)
    cmake_parse_arguments(PARSE_ARGV 1 A "" "" "PKGS;SYSTEM;REAL_PKGS")
    roost_sources(pure ${NAME})
    set(real ${pure})
    list(FILTER real INCLUDE REGEX "_(libc|event|linux|tls)\\.c$")
    list(FILTER pure EXCLUDE REGEX "_(libc|event|linux|tls)\\.c$")
    roost_packages(packages ${A_PKGS})
    roost_packages(real_packages ${A_REAL_PKGS})
    roost_library(${NAME} SOURCES ${pure} LINK ${packages} ${A_SYSTEM})
    roost_library(${NAME}_real OBJECT SOURCES ${real} LINK ${NAME} ${real_packages})
endfunction()

# roost_knobs(knobs [PARSERS files..] LINK...): every folder's knobs.c but base's, in one library, so that the CLI and
# tools/knobs_dump.c can list the knobs of all daemons without linking the daemons.  PARSERS: files that the tables' checks call;
# they are no part of their folders' libraries.  The list of all tables (knob_tables of base/knob.h) is made here.
function(roost_knobs NAME)
    cmake_parse_arguments(PARSE_ARGV 1 A "" "" "PARSERS")
    list(TRANSFORM A_PARSERS PREPEND "${CMAKE_SOURCE_DIR}/")
    set_property(GLOBAL PROPERTY ROOST_KNOB_PARSERS "${A_PARSERS}")
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/*/knobs.c")
    list(FILTER sources EXCLUDE REGEX "/base/knobs\\.c$")
    set(declared "")
    set(listed "    &knobs_common,\n")
    foreach(source IN LISTS sources)
        cmake_path(GET source PARENT_PATH folder)
        cmake_path(GET folder FILENAME folder)
        string(APPEND declared "extern const struct knob_table ${folder}_knobs;\n")
        string(APPEND listed "    &${folder}_knobs,\n")
    endforeach()
    set(list "${CMAKE_BINARY_DIR}/knob_tables.c")
    file(CONFIGURE OUTPUT "${list}" @ONLY CONTENT [[
/* Made by cmake/roost_folders.cmake from the folders that have a knobs.c. */
#include "base/knob.h"

@declared@
const struct knob_table *const knob_tables[] = {
@listed@    NULL,
};
]])
    roost_library(${NAME} SOURCES ${sources} ${A_PARSERS} "${list}" LINK ${A_UNPARSED_ARGUMENTS})
endfunction()

# roost_folder(NAME [BODIES] [PROGRAM executable [FIRST pkg-config names..]] [LIBS ours..] [PKGS pkg-config names..]
#              [LOADS pkg-config names..] [SYSTEM others..])
#
# FIRST: see roost_program.  LOADS: what the folder loads itself when it needs it (roost_loaded_package).
# Makes the library NAME, and the executable when NAME/main.c exists.  BODIES: the library brings its own bodies of
# mem, loop, stream and os, so its program is not linked with base_real.
function(roost_folder NAME)
    cmake_parse_arguments(PARSE_ARGV 1 A "BODIES" "PROGRAM" "FIRST;LIBS;PKGS;LOADS;SYSTEM")
    roost_sources(sources ${NAME})
    if(NOT sources)
        return()
    endif()
    roost_existing(libs ${A_LIBS})
    roost_packages(packages ${A_PKGS})
    set(kind "")
    set(bodies base_real)
    if(A_BODIES)
        set(kind OBJECT)
        set(bodies "")
    endif()
    roost_library(${NAME} ${kind} LINK ${libs} ${packages} ${A_SYSTEM})
    foreach(package IN LISTS A_LOADS)
        roost_loaded_package(${NAME} ${package})
    endforeach()
    if(A_PROGRAM AND EXISTS "${CMAKE_SOURCE_DIR}/${NAME}/main.c")
        roost_program(${A_PROGRAM} ${NAME} ${bodies} FIRST ${A_FIRST})
    endif()
endfunction()
