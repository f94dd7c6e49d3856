/* base/sleep_level.c - see sleep_level.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/sleep_level.h"

#include <stddef.h>

#include "base/check.h"
#include "base/text.h"

static const struct level_word {
    const char *word;
    int level;
} LEVEL_WORDS[] = {
    {"NONE", 0}, {"S1", 1},        {"STANDBY", 1}, {"SLEEP", 1},    {"S2", 2},
    {"S3", 3},   {"RAM", 3},       {"MEM", 3},     {"SUSPEND", 3},  {"S4", 4},
    {"DISK", 4}, {"HIBERNATE", 4}, {"S5", 5},      {"SHUTDOWN", 5}, {"OFF", 5},
};

int sleep_level_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(LEVEL_WORDS); i++) {
        if (text_equal_nocase(name, LEVEL_WORDS[i].word)) {
            return LEVEL_WORDS[i].level;
        }
    }
    return -1;
}
