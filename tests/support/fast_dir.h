/* tests/support/fast_dir.h - a directory for tests that call fsync() thousands of times and need no
 * real disk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_FAST_DIR_H
#define TESTS_SUPPORT_FAST_DIR_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FAST_DIR_SIZE 64 /* most bytes of the directory's path, with the terminating zero */

/* Makes a new directory, in memory if the system has such a file system; false if it cannot be
 * made. */
static inline int fast_dir_make(char ret[FAST_DIR_SIZE])
{
    const char *above = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(ret, FAST_DIR_SIZE, "%s/roost-test-XXXXXX", above);
    return mkdtemp(ret) != NULL;
}

#endif
