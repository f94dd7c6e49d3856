# The stub of images (ckpt/stub): a flat program without a C library, made with flags of its own, and put into roost-ckpt as bytes.
#
# SPDX-License-Identifier: Apache-2.0
function(roost_ckpt_stub TARGET)
    set(folder "${CMAKE_BINARY_DIR}/ckpt_stub")
    file(MAKE_DIRECTORY "${folder}")
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/ckpt/stub/*.c" "${CMAKE_SOURCE_DIR}/ckpt/stub/*.S")
    list(APPEND sources "${CMAKE_SOURCE_DIR}/ckpt/machine.c" "${CMAKE_SOURCE_DIR}/ckpt/sum.c")
    set(objects "")
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        set(object "${folder}/${name}.o")
        add_custom_command(OUTPUT "${object}" DEPENDS "${source}" DEPFILE "${object}.d" VERBATIM
            COMMAND "${CMAKE_C_COMPILER}" -std=gnu17 -O2 -g0 -ffreestanding -fPIE -fvisibility=hidden -fno-stack-protector
                -fno-asynchronous-unwind-tables -fno-jump-tables -mgeneral-regs-only -fcf-protection=none
                -Wall -Wextra -Wshadow -Wconversion -Werror -U_FORTIFY_SOURCE -D_GNU_SOURCE
                "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=" "-I${CMAKE_SOURCE_DIR}" -MD -MF "${object}.d" -c "${source}" -o "${object}")
        list(APPEND objects "${object}")
    endforeach()
    add_custom_command(OUTPUT "${folder}/stub.elf" DEPENDS ${objects} "${CMAKE_SOURCE_DIR}/ckpt/stub/stub.ld" VERBATIM
        COMMAND "${CMAKE_LINKER}" -T "${CMAKE_SOURCE_DIR}/ckpt/stub/stub.ld" -pie --no-dynamic-linker -o "${folder}/stub.elf" ${objects})
    add_custom_command(OUTPUT "${folder}/stub.bin" DEPENDS "${folder}/stub.elf" VERBATIM
        COMMAND "${CMAKE_OBJCOPY}" -O binary "${folder}/stub.elf" "${folder}/stub.bin")
    file(CONFIGURE OUTPUT "${folder}/stub_code.S" @ONLY CONTENT [[
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
