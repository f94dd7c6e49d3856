# What the library asks of the program that it is linked into: cmake -DNM= -DOBJECT= -P needs.cmake.  Its own thread has no thread-local
# storage: nothing is called there that could use it, nor the dynamic linker, which a call of a library's function may start.
#
# SPDX-License-Identifier: Apache-2.0
set(ALLOWED secure_getenv setenv strtoul strrchr strlen memcpy sigaction sigaddset sigfillset pthread_create pthread_detach pthread_sigmask
    __errno_location _GLOBAL_OFFSET_TABLE_)
execute_process(COMMAND "${NM}" -u "${OBJECT}" OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[A-Za-z_][A-Za-z_0-9]+" needed "${listed}")
list(REMOVE_ITEM needed U ${ALLOWED})
execute_process(COMMAND "${NM}" -g --defined-only "${OBJECT}" OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[A-Za-z] [A-Za-z_][A-Za-z_0-9]+\n" defined "${listed}")
list(FILTER defined EXCLUDE REGEX "^T roost_checkpoint")
if(needed OR defined)
    file(REMOVE "${OBJECT}")
    message(FATAL_ERROR "roost_checkpoint.o needs of programs: ${needed}; shows them: ${defined}")
endif()
