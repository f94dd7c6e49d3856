/* bench/programs/stamp.c - the wake command of bench/wake_latency: writes CLOCK_MONOTONIC in
 * nanoseconds, read first thing, to the file that its first argument names.
 *
 * The file appears under its name complete or not at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
    struct timespec now;
    char path[4096];
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0 || argc < 2) {
        return 2;
    }
    (void)snprintf(path, sizeof path, "%s.new", argv[1]);
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return 1;
    }
    int wrote = fprintf(file, "%lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    return fclose(file) == 0 && wrote > 0 && rename(path, argv[1]) == 0 ? 0 : 1;
}
