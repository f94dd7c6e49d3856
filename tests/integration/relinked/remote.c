/* tests/integration/relinked/remote.c DIRECTORY - a program whose files are elsewhere, and which
 * makes an image of itself in the middle.  With what it has open it goes on: a stream that it
 * reads, a file that it and a child write by one offset, one that has no name any more at the end.
 * Exit status 7: the image is made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ckpt/library/roost_checkpoint.h"

#define LINES 20000

static int fail(const char *what)
{
    perror(what);
    return 1;
}

static int be_the_child(int gate, int out)
{
    char c;
    return read(gate, &c, 1) == 1 && write(out, "the child's\n", 12) == 12 ? 0 : 3;
}

int main(int argc, char **argv)
{
    char line[64];
    long sum = 0;
    int gate[2], status, life = 0;
    if (argc != 2 || chdir(argv[1]) != 0) {
        return fail("chdir");
    }
    FILE *in = fopen("numbers", "r");
    int out = open("sums", O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (in == NULL || out < 0 || pipe(gate) != 0) {
        return fail("open");
    }
    pid_t child = fork();
    if (child == 0) {
        _exit(be_the_child(gate[0], out));
    }
    for (int i = 1; i <= LINES; i++) {
        if (fgets(line, sizeof line, in) == NULL) {
            return fail("reading");
        }
        sum += strtol(line, NULL, 10);
        if (i % 1000 == 0 && dprintf(out, "%d %ld\n", i, sum) < 0) {
            return fail("writing");
        }
        if (i == LINES / 2 + 1) {
            life = roost_checkpoint();
            if (life < 0) {
                fprintf(stderr, "no image: %s\n", roost_checkpoint_error());
                return 1;
            }
        }
    }
    int copy = dup(out);
    if (write(gate[1], "x", 1) != 1 || waitpid(child, &status, 0) != child || status != 0 ||
        dprintf(copy, "the end\n") < 0) {
        return fail("the child");
    }
    return life == 0 ? 7 : printf("sum %ld in %s\n", sum, getcwd(line, sizeof line)) < 0;
}
