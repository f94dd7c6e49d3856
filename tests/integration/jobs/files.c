/* Reads a file in pieces, appends to another one, keeps notes in one that it has removed, and
 * writes through descriptors that share a position.  files DIRECTORY
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES 1500

static void must(int right, const char *what)
{
    if (!right) {
        (void)printf("wrong: %s (%s)\n", what, strerror(errno));
        exit(1);
    }
}

static int open_in(const char *folder, const char *name, int flags)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, flags, 0600);
    must(fd >= 0, path);
    return fd;
}

int main(int argc, char **argv)
{
    char line[64], path[4096], notes[64];
    uint64_t sum = 0;
    must(argc == 2, "files DIRECTORY");
    int in = open_in(argv[1], "in", O_RDWR | O_CREAT | O_TRUNC);
    for (int i = 0; i < LINES; i++) {
        (void)snprintf(line, sizeof line, "%010d\n", i * 7919);
        must(write(in, line, 11) == 11, "writing the input");
    }
    must(lseek(in, 0, SEEK_SET) == 0, "winding back");
    int out = open_in(argv[1], "out", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    int both = open_in(argv[1], "both", O_RDWR | O_CREAT | O_TRUNC);
    int twin = dup(both);
    int hidden = open_in(argv[1], "hidden", O_RDWR | O_CREAT | O_TRUNC);
    (void)snprintf(path, sizeof path, "%s/hidden", argv[1]);
    must(unlink(path) == 0, "removing");
    for (int i = 0; i < LINES; i++) {
        must(read(in, line, 11) == 11, "reading");
        line[10] = '\0';
        sum = sum * 31 + strtoull(line, NULL, 10);
        line[10] = '\n';
        must(write(out, line, 11) == 11, "appending");
        must(write(i % 2 != 0 ? both : twin, line, 11) == 11, "writing by turns");
        must(pwrite(hidden, &sum, sizeof sum, (off_t)i * 8) == 8, "noting");
        (void)usleep(500);
    }
    for (int i = 0; i < LINES; i += 100) {
        must(pread(hidden, notes, 8, (off_t)i * 8) == 8, "reading notes");
        sum = sum * 31 + (unsigned char)notes[3];
    }
    must(lseek(both, 0, SEEK_CUR) == LINES * 11 && lseek(out, 0, SEEK_END) == LINES * 11, "sizes");
    (void)printf("%016llx\n", (unsigned long long)sum);
    return 7;
}
