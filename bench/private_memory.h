/* bench/private_memory.h - the memory that a process does not share with other processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_PRIVATE_MEMORY_H
#define BENCH_PRIVATE_MEMORY_H

#include <stdio.h>

/* The sum of Private_* in /proc/PID/smaps_rollup in kB; 0 when the process is gone. */
static inline double private_kb(int pid)
{
    char path[64], line[200];
    double kb = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        long value;
        if (sscanf(line, "Private_%*[A-Za-z_]: %ld kB", &value) == 1) {
            kb += (double)value;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kb;
}

#endif
