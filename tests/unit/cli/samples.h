/* tests/unit/cli/samples.h - compares our output, without the columns that only we have, with
 * HTCondor's output (tests/conformance/cli).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_CLI_SAMPLES_H
#define TESTS_UNIT_CLI_SAMPLES_H

#include "tests/support/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the sample file without its first line. */
static inline char *sample_raw(const char *name)
{
    static char text[16384];
    char path[600];
    const char *source = getenv("ROOST_SRC");
    (void)snprintf(path, sizeof path, "%s/tests/conformance/cli/%s.txt",
                   source != NULL ? source : ".", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[length] = '\0';
    return strchr(text, '\n') + 1;
}

/* Reads the sample file without its first line and without blanks at the ends of lines. */
static inline char *sample_text(const char *name)
{
    static char clean[16384];
    size_t out = 0;
    for (const char *at = sample_raw(name); *at != '\0'; at++) {
        while (*at == '\n' && out > 0 && clean[out - 1] == ' ') {
            out--;
        }
        clean[out++] = *at;
    }
    clean[out] = '\0';
    return clean;
}

/* Removes our own columns from text: Power (power_width wide) where it stands, and Offline at the
 * end. */
static inline const char *without_ours(const char *text, size_t power_width)
{
    static char kept[16384];
    size_t out = 0, power_at = 0;
    bool totals = false;
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        const char *heading = strstr(line, "Power");
        if (line == text && heading != NULL && heading < line + length) {
            power_at = (size_t)(heading - line);
        }
        totals = totals || strncmp(line, "             ", 13) == 0;
        for (size_t i = 0; i < length; i++) {
            bool power = !totals && power_at > 0 && i >= power_at && i < power_at + power_width;
            bool offline = totals && length > 80 && i >= length - 8;
            if (!power && !offline) {
                kept[out++] = line[i];
            }
        }
        while (out > 0 && kept[out - 1] == ' ') {
            out--;
        }
        line += length;
        if (*line == '\n') {
            kept[out++] = *line++;
        }
    }
    kept[out] = '\0';
    return kept;
}

#endif
