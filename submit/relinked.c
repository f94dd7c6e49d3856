/* submit/relinked.c - see relinked.h.  The format ELF is described in elf(5).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/relinked.h"

#include <stdint.h>
#include <string.h>

#define HEADER_BYTES  64
#define SEGMENT_BYTES 56
#define NOTE_BYTES    12
#define PT_NOTE       4

static uint64_t read_number(const unsigned char *at, size_t bytes)
{
    uint64_t ret = 0;
    for (size_t i = bytes; i > 0; i--) {
        ret = ret << 8 | at[i - 1];
    }
    return ret;
}

static size_t padded_size(uint64_t bytes)
{
    return ((size_t)bytes + 3) & ~(size_t)3;
}

static bool has_note(const unsigned char *notes, size_t length)
{
    static const char NAME[] = "Roost";
    size_t at = 0;
    while (length - at >= NOTE_BYTES) {
        uint64_t name = read_number(notes + at, 4), words = read_number(notes + at + 4, 4);
        uint64_t type = read_number(notes + at + 8, 4);
        at += NOTE_BYTES;
        if (name > length || words > length ||
            padded_size(name) + padded_size(words) > length - at) {
            return false;
        }
        if (type == 1 && name == sizeof NAME && memcmp(notes + at, NAME, sizeof NAME) == 0) {
            return true;
        }
        at += padded_size(name) + padded_size(words);
    }
    return false;
}

bool relinked_is_remote(const void *head, size_t length)
{
    static const unsigned char ELF64_LSB[] = {0x7f, 'E', 'L', 'F', 2, 1};
    const unsigned char *file = head;
    if (length < HEADER_BYTES || memcmp(file, ELF64_LSB, sizeof ELF64_LSB) != 0) {
        return false;
    }
    uint64_t table = read_number(file + 32, 8), size = read_number(file + 54, 2);
    uint64_t count = read_number(file + 56, 2);
    for (uint64_t i = 0; i < count && size >= SEGMENT_BYTES; i++) {
        if (table > length || (i + 1) * size > length - table) {
            return false;
        }
        const unsigned char *segment = file + table + i * size;
        uint64_t begin = read_number(segment + 8, 8), bytes = read_number(segment + 32, 8);
        if (read_number(segment, 4) == PT_NOTE && begin <= length && bytes <= length - begin &&
            has_note(file + begin, (size_t)bytes)) {
            return true;
        }
    }
    return false;
}
