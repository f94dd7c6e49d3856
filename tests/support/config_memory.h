/* tests/support/config_memory.h - a config_source whose files and environment variables are given
 * by the test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_CONFIG_MEMORY_H
#define TESTS_SUPPORT_CONFIG_MEMORY_H

#include <stddef.h>

#include "base/config/config.h"

#define CONFIG_MEMORY_MAX 64

struct config_memory_pair {
    const char *name; /* path of a file, or name of a variable */
    const char *text;
};

/* The files and environment variables of a config_memory_source(); in each array, the first entry
 * whose name is NULL ends the list.  A path that is the beginning of other paths ("/etc/conf.d" of
 * "/etc/conf.d/a.conf") is a directory. */
struct config_memory {
    struct config_memory_pair files[CONFIG_MEMORY_MAX];
    struct config_memory_pair environment[CONFIG_MEMORY_MAX];
};

/* Makes a source that reads from memory, which must outlive the source. */
struct config_source config_memory_source(struct config_memory *memory);

#endif
