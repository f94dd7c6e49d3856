/* bench/programs/remote_files_job.c - reads and writes files, and says how fast.
 *
 * remote_files_job DIRECTORY MIB PART prints lines "read BYTES/S", "write BYTES/S", "small BYTES/S"
 * (writes of 4 KiB), "random NS" (reads of 4 KiB at random places), "stat NS", "open NS" (open,
 * read, close).  DIRECTORY has files `big` and `random` of MIB.  PART: what is asked for one by one
 * is asked for a PARTth of the times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFER  ((size_t)1 << 20)
#define PAGE    4096
#define RANDOMS 4000
#define STATS   200000
#define OPENS   2000

static char buffer[BUFFER];
static int part;

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int must(int result, const char *what)
{
    if (result < 0) {
        perror(what);
        exit(1);
    }
    return result;
}

static void say(const char *name, double value)
{
    (void)printf("%s %.0f\n", name, value);
}

static void read_all(double bytes)
{
    double began = now_s(), got_all = 0;
    int fd = must(open("big", O_RDONLY), "big");
    ssize_t got;
    while ((got = read(fd, buffer, BUFFER)) > 0) {
        got_all += (double)got;
    }
    must((int)got, "read");
    close(fd);
    if (got_all < bytes) {
        (void)fprintf(stderr, "the file is too short\n");
        exit(1);
    }
    say("read", got_all / (now_s() - began));
}

static void write_all(const char *name, double bytes, size_t piece)
{
    int fd = must(open("written", O_WRONLY | O_CREAT | O_TRUNC, 0644), "written");
    double began = now_s();
    for (double done = 0; done < bytes; done += (double)piece) {
        must((int)write(fd, buffer, piece), "write");
    }
    must(close(fd), "close"); /* all of it is at the server then */
    say(name, bytes / (now_s() - began));
}

static void read_randomly(uint64_t pages)
{
    int fd = must(open("random", O_RDONLY), "random");
    uint64_t at = 1;
    must(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), "fadvise");
    double began = now_s();
    for (int i = 0; i < RANDOMS / part; i++) {
        at = at * 6364136223846793005ULL + 1442695040888963407ULL;
        must((int)pread(fd, buffer, PAGE, (off_t)((at >> 33) % pages * PAGE)), "pread");
    }
    say("random", (now_s() - began) / (RANDOMS / part) * 1e9);
    close(fd);
}

static void ask_often(void)
{
    struct stat about;
    double began = now_s();
    for (int i = 0; i < STATS / part; i++) {
        must(stat("big", &about), "stat");
    }
    say("stat", (now_s() - began) / (STATS / part) * 1e9);
    began = now_s();
    for (int i = 0; i < OPENS / part; i++) {
        int fd = must(open("big", O_RDONLY), "open");
        must((int)read(fd, buffer, 1), "read");
        close(fd);
    }
    say("open", (now_s() - began) / (OPENS / part) * 1e9);
}

int main(int argc, char **argv)
{
    if (argc != 4 || chdir(argv[1]) != 0) {
        (void)fprintf(stderr, "usage: remote_files_job DIRECTORY MIB PART\n");
        return 2;
    }
    uint64_t bytes = strtoull(argv[2], NULL, 10) << 20;
    part = (int)strtol(argv[3], NULL, 10);
    memset(buffer, 'x', sizeof buffer);
    read_all((double)bytes);
    write_all("write", (double)bytes, BUFFER);
    write_all("small", (double)bytes / 8, PAGE);
    read_randomly(bytes / PAGE);
    ask_often();
    return 0;
}
