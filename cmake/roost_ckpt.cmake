# The stub of images (ckpt/stub): a flat program without a C library, made with flags of its own, and put into roost-ckpt as bytes.
#
# SPDX-License-Identifier: Apache-2.0
function(roost_ckpt_stub TARGET)
    set(folder "${CMAKE_BINARY_DIR}/ckpt_stub")
    file(MAKE_DIRECTORY "${folder}")
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/ckpt/stub/*.c" "${CMAKE_SOURCE_DIR}/ckpt/stub/*.S")
    list(APPEND sources "${CMAKE_SOURCE_DIR}/ckpt/machine.c" "${CMAKE_SOURCE_DIR}/ckpt/xstate.c" "${CMAKE_SOURCE_DIR}/ckpt/sum.c" "${CMAKE_SOURCE_DIR}/ckpt/rest.c")
    set(flags -std=gnu17 -O2 -g0 -ffreestanding -fPIE -fvisibility=hidden -fno-stack-protector
        -fno-asynchronous-unwind-tables -fno-jump-tables -mgeneral-regs-only -fcf-protection=none
        -Wall -Wextra -Wshadow -Wconversion -Werror -U_FORTIFY_SOURCE -D_GNU_SOURCE
        "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=" "-I${CMAKE_SOURCE_DIR}")
    # For lint.stub, which asks another compiler.
    set_property(GLOBAL PROPERTY ROOST_STUB_FLAGS ${flags})
    set_property(GLOBAL PROPERTY ROOST_STUB_SOURCES ${sources})
    set(objects "")
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        set(object "${folder}/${name}.o")
        add_custom_command(OUTPUT "${object}" DEPENDS "${source}" DEPFILE "${object}.d" VERBATIM
            COMMAND "${CMAKE_C_COMPILER}" ${flags} -MD -MF "${object}.d" -c "${source}" -o "${object}")
        list(APPEND objects "${object}")
    endforeach()
    add_custom_command(OUTPUT "${folder}/stub.elf" DEPENDS ${objects} "${CMAKE_SOURCE_DIR}/ckpt/stub/stub.ld" VERBATIM
        COMMAND "${CMAKE_LINKER}" -T "${CMAKE_SOURCE_DIR}/ckpt/stub/stub.ld" -pie --no-dynamic-linker -o "${folder}/stub.elf" ${objects})
    add_custom_command(OUTPUT "${folder}/stub.bin" DEPENDS "${folder}/stub.elf" VERBATIM
        COMMAND "${CMAKE_OBJCOPY}" -O binary "${folder}/stub.elf" "${folder}/stub.bin")
    file(CONFIGURE OUTPUT "${folder}/stub_code.S" @ONLY CONTENT [[
#ifdef __CET__
#include <cet.h>
#endif
    .section .rodata
    .globl stub_code
    .balign 16
stub_code:
    .incbin "@folder@/stub.bin"
stub_code_end:
    .globl stub_code_bytes
    .balign 8
stub_code_bytes:
    .quad stub_code_end - stub_code
    .section .note.GNU-stack, "", %progbits
]])
    set_source_files_properties("${folder}/stub_code.S" PROPERTIES OBJECT_DEPENDS "${folder}/stub.bin")
    target_sources(${TARGET} PRIVATE "${folder}/stub_code.S" "${CMAKE_SOURCE_DIR}/ckpt/stub/keeper.c" "${CMAKE_SOURCE_DIR}/ckpt/stub/text.c")
endfunction()

# The library for relinked programs (ckpt/library): one object, lib/roost/roost_checkpoint.o, that roost-compile links into a program.
# It carries the helper, a static program, as bytes.  Nothing of it is seen by the program but what roost_checkpoint.h declares, and it
# asks of the program's C library only what is named here.
function(roost_ckpt_library)
    set(folder "${CMAKE_BINARY_DIR}/ckpt_library")
    set(source_folder "${CMAKE_SOURCE_DIR}/ckpt/library")
    set(object "${CMAKE_BINARY_DIR}/lib/roost/roost_checkpoint.o")
    file(MAKE_DIRECTORY "${folder}" "${CMAKE_BINARY_DIR}/lib/roost")

    add_executable(roost-checkpoint "${source_folder}/helper_main.c" "${CMAKE_SOURCE_DIR}/base/mem_libc.c")
    set_target_properties(roost-checkpoint PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${folder}" POSITION_INDEPENDENT_CODE OFF)
    add_dependencies(roost-checkpoint ckpt base)
    set_property(TARGET roost-checkpoint PROPERTY LINK_DEPENDS "$<TARGET_FILE:ckpt>" "$<TARGET_FILE:base>")
    target_link_libraries(roost-checkpoint PRIVATE roost_flags -static -no-pie -Wl,--gc-sections -Wl,-s
        -Wl,--start-group "$<TARGET_FILE:ckpt>" "$<TARGET_FILE:base>" ${ARGN} -Wl,--end-group)

    set(objects "")
    file(GLOB sources CONFIGURE_DEPENDS "${source_folder}/*.c" "${source_folder}/*.S")
    list(FILTER sources EXCLUDE REGEX "_main\\.c$")
    list(APPEND sources "${CMAKE_SOURCE_DIR}/ckpt/stub/text.c")
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        add_custom_command(OUTPUT "${folder}/${name}.o" DEPENDS "${source}" DEPFILE "${folder}/${name}.o.d" VERBATIM
            COMMAND "${CMAKE_C_COMPILER}" -std=gnu17 -O2 -g0 -fPIC -fvisibility=hidden -fno-stack-protector -fno-common
                -ftls-model=initial-exec -fno-strict-aliasing -Wall -Wextra -Wshadow -Wconversion -Werror -U_FORTIFY_SOURCE -D_GNU_SOURCE
                "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=" "-I${CMAKE_SOURCE_DIR}" -MD -MF "${folder}/${name}.o.d"
                -c "${source}" -o "${folder}/${name}.o")
        list(APPEND objects "${folder}/${name}.o")
    endforeach()
    file(CONFIGURE OUTPUT "${folder}/helper.S" @ONLY CONTENT [[
    .section .rodata
    .globl library_helper
    .hidden library_helper
    .balign 4096
library_helper:
    .incbin "@folder@/roost-checkpoint"
library_helper_end:
    .globl library_helper_bytes
    .hidden library_helper_bytes
    .balign 8
library_helper_bytes:
    .quad library_helper_end - library_helper
    .section .note.GNU-stack, "", %progbits
]])
    add_custom_command(OUTPUT "${object}" DEPENDS ${objects} roost-checkpoint "${folder}/helper.S" "${source_folder}/needs.cmake" VERBATIM
        COMMAND "${CMAKE_C_COMPILER}" -c "${folder}/helper.S" -o "${folder}/helper.o"
        COMMAND "${CMAKE_LINKER}" -r -o "${object}" ${objects} "${folder}/helper.o"
        COMMAND "${CMAKE_OBJCOPY}" --localize-hidden --strip-unneeded "${object}"
        COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DOBJECT=${object}" -P "${source_folder}/needs.cmake")
    add_custom_target(roost_checkpoint ALL DEPENDS "${object}")
    configure_file("${source_folder}/roost_checkpoint.h" "${CMAKE_BINARY_DIR}/include/roost_checkpoint.h" COPYONLY)
    install(FILES "${object}" DESTINATION lib/roost)
    install(FILES "${source_folder}/roost_checkpoint.h" DESTINATION include)

    add_executable(roost-compile "${source_folder}/compile_main.c")
    target_link_libraries(roost-compile PRIVATE roost_flags ckpt base base_real)
    set_property(GLOBAL APPEND PROPERTY ROOST_PROGRAMS roost-compile)
    install(TARGETS roost-compile RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
