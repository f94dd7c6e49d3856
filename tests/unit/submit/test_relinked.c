/* tests/unit/submit/test_relinked.c - programs that were linked with the wrappers are known.
 *
 * LINK: submit
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/relinked.h"

#include "tests/support/unit.h"

#include <string.h>

#include "base/mem.h"

#define NOTES 0x100

/* An ELF file with one segment of notes: another's, then ours. */
static size_t make(unsigned char *file)
{
    static const unsigned char OTHER[] = {4,   0,   0,   0, 5, 0, 0, 0, 1, 0, 0, 0,
                                          'G', 'N', 'U', 0, 9, 9, 9, 9, 9, 0, 0, 0};
    static const unsigned char OURS[] = {6,   0,   0,   0,   4,   0, 0, 0, 1, 0, 0, 0,
                                         'R', 'o', 'o', 's', 't', 0, 0, 0, 1, 0, 0, 0};
    memset(file, 0, 0x200);
    memcpy(file, "\177ELF\2\1", 6);
    file[32] = 64; /* where the table is */
    file[54] = 56; /* bytes of an entry */
    file[56] = 2;  /* entries */
    file[64] = 1;  /* PT_LOAD */
    file[120] = 4; /* PT_NOTE */
    file[120 + 9] = NOTES >> 8;
    file[120 + 32] = sizeof OTHER + sizeof OURS;
    memcpy(file + NOTES, OTHER, sizeof OTHER);
    memcpy(file + NOTES + sizeof OTHER, OURS, sizeof OURS);
    return NOTES + sizeof OTHER + sizeof OURS;
}

static void a_program_with_the_note_is_known(void **state)
{
    (void)state;
    unsigned char file[0x200];
    size_t length = make(file);
    assert_true(relinked_is_remote(file, length));
    file[NOTES + 24 + 12] = 'r'; /* another name */
    assert_false(relinked_is_remote(file, length));
    make(file);
    file[NOTES + 24 + 8] = 2; /* another type */
    assert_false(relinked_is_remote(file, length));
    make(file);
    file[120] = 1; /* no segment of notes */
    assert_false(relinked_is_remote(file, length));
    make(file);
    file[4] = 1; /* 32 bits */
    assert_false(relinked_is_remote(file, length));
    assert_false(relinked_is_remote("#!/bin/sh\n", 10));
}

static void what_is_cut_or_lies_is_no_program(void **state)
{
    (void)state;
    unsigned char file[0x200];
    size_t length = make(file);
    for (size_t cut = 0; cut < length; cut++) {
        unsigned char *copy = mem_dup(file, cut > 0 ? cut : 1);
        assert_false(relinked_is_remote(copy, cut));
        mem_free(copy);
    }
    for (size_t at = 0; at < length; at++) { /* it says anything, and reads nothing outside */
        make(file);
        file[at] = 0xff;
        unsigned char *copy = mem_dup(file, length);
        (void)relinked_is_remote(copy, length);
        mem_free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_with_the_note_is_known),
        cmocka_unit_test(what_is_cut_or_lies_is_no_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
