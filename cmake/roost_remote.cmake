# The wrappers of a program's calls on files (rsyscall/wrap): lib/roost/roost_remote.so, to be preloaded, and roost_remote.o, which
# `roost-compile --remote` links into a program.  Nothing of it is seen by the program but the calls that it stands before.
#
# SPDX-License-Identifier: Apache-2.0
function(roost_remote_library)
    set(folder "${CMAKE_BINARY_DIR}/remote_library")
    set(output "${CMAKE_BINARY_DIR}/lib/roost")
    file(MAKE_DIRECTORY "${folder}" "${output}")
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/rsyscall/wrap/*.c")
    list(APPEND sources "${CMAKE_SOURCE_DIR}/rsyscall/rsys_codec.c" "${CMAKE_SOURCE_DIR}/rsyscall/rsys_bytes.c")
    set(objects "")
    # glibc's headers promise what callers do not keep: that a name is not NULL.  (clang has no such warning.)
    set(lenient "")
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        set(lenient -Wno-nonnull-compare)
    endif()
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        add_custom_command(OUTPUT "${folder}/${name}.o" DEPENDS "${source}" DEPFILE "${folder}/${name}.o.d" VERBATIM
            COMMAND "${CMAKE_C_COMPILER}" -std=gnu17 -O2 -g0 -fPIC -fvisibility=hidden -fno-stack-protector -fno-common
                -fno-delete-null-pointer-checks ${lenient} -Wall -Wextra -Wshadow -Wconversion -Werror -U_FORTIFY_SOURCE -D_GNU_SOURCE
                "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=" "-I${CMAKE_SOURCE_DIR}" -MD -MF "${folder}/${name}.o.d"
                -c "${source}" -o "${folder}/${name}.o")
        list(APPEND objects "${folder}/${name}.o")
    endforeach()
    add_custom_command(OUTPUT "${output}/roost_remote.so" DEPENDS ${objects} VERBATIM
        COMMAND "${CMAKE_C_COMPILER}" -shared -Wl,-z,defs,-z,relro,-z,now,-z,noexecstack -Wl,-s -o "${output}/roost_remote.so" ${objects})
    add_custom_command(OUTPUT "${output}/roost_remote.o" DEPENDS ${objects} VERBATIM
        COMMAND "${CMAKE_LINKER}" -r -o "${output}/roost_remote.o" ${objects}
        COMMAND "${CMAKE_OBJCOPY}" --localize-hidden --strip-unneeded "${output}/roost_remote.o")
    add_custom_target(roost_remote ALL DEPENDS "${output}/roost_remote.so" "${output}/roost_remote.o")
    install(FILES "${output}/roost_remote.so" "${output}/roost_remote.o" DESTINATION lib/roost)
endfunction()
