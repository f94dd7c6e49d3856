/* base/symbol_linux.h - names functions of this program by its own table of symbols.
 *
 * Most callbacks are static functions, which dladdr() does not know, and which the table of symbols
 * of the program's file does, also in a static program.  A program that was stripped has no table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SYMBOL_LINUX_H
#define BASE_SYMBOL_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes "function (file)", or "function" for a function that other files may call, to ret.
 * address: of the function, as it is in memory.  Returns false, with ret untouched: not known.
 * Reads the program's file, which takes about a millisecond. */
bool symbol_name(uintptr_t address, char *ret, size_t size);
/* Returns the function's place in the program's file, for `addr2line -f -e PROGRAM`. */
uint64_t symbol_offset(uintptr_t address);

#endif
