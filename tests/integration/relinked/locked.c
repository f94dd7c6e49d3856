/* tests/integration/relinked/locked.c DIRECTORY - a program that has locks on remote files: of
 * ranges, of what it opened, of a whole file; and which makes an image of itself then.  Exit
 * status 7: the image is made.  Resumed, it makes the file `here`, waits for the file `go`, and
 * writes to each of the three, or says why it cannot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ckpt/library/roost_checkpoint.h"

static const char *const NAMES[3] = {"ranges", "opened", "whole"};

static int set(int fd, int command, short type, off_t start, off_t length)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(fd, command, &lock);
}

static int take(const int fds[3])
{
    return set(fds[0], F_SETLK, F_WRLCK, 0, 100) != 0 ||
           set(fds[0], F_SETLK, F_UNLCK, 10, 10) != 0 ||
           set(fds[1], F_OFD_SETLK, F_WRLCK, 0, 0) != 0 || flock(fds[2], LOCK_EX) != 0;
}

int main(int argc, char **argv)
{
    int fds[3];
    if (argc != 2 || chdir(argv[1]) != 0) {
        perror("chdir");
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        fds[i] = open(NAMES[i], O_RDWR | O_CREAT, 0666);
        if (fds[i] < 0) {
            perror(NAMES[i]);
            return 1;
        }
    }
    if (take(fds) != 0) {
        perror("locks");
        return 1;
    }
    int life = roost_checkpoint();
    if (life <= 0) {
        return life < 0 ? 1 : 7;
    }
    int here = creat("here", 0666);
    while (here < 0 || access("go", F_OK) != 0) {
        (void)usleep(10000);
    }
    for (int i = 0; i < 3; i++) {
        const char *what = write(fds[i], "mine", 4) == 4 ? "written" : strerror(errno);
        if (printf("%s: %s\n", NAMES[i], what) < 0) {
            return 1;
        }
    }
    return 0;
}
