/* A job that is an enemy of its submit machine: for SECONDS it asks for what is not its own, as
 * fast as it can.
 *
 * enemy SECONDS PORT SOCKET...: says "reached ..." of all that it should not have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static unsigned long asked;

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void try_network(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((unsigned short)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0) {
        (void)printf("reached the schedd's port\n");
    }
    (void)close(fd);
}

static void try_socket(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (snprintf(to.sun_path, sizeof to.sun_path, "%s", path) < (int)sizeof to.sun_path &&
        fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0) {
        (void)printf("reached %s\n", to.sun_path);
    }
    (void)close(fd);
}

/* It has three descriptors, and of processes sees its own. */
static void try_processes(void)
{
    char path[64], what[256];
    for (int pid = 1; pid < 400; pid++) {
        for (int fd = 0; fd < 40; fd++) {
            (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
            ssize_t length = readlink(path, what, sizeof what - 1);
            what[length > 0 ? length : 0] = '\0';
            if (strncmp(what, "socket:", 7) == 0 || strcmp(what, "/dev/fuse") == 0) {
                (void)printf("reached %s: %s\n", path, what);
            }
        }
        (void)snprintf(path, sizeof path, "/proc/%d/root/outside/secret", pid);
        if (access(path, F_OK) == 0) {
            (void)printf("reached %s\n", path);
        }
    }
}

static void look(const char *path)
{
    char text[256];
    int fd = open(path, O_RDONLY);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    asked++;
    text[got > 0 ? got : 0] = '\0';
    if (strstr(text, "nobody outside") != NULL || strstr(text, "root:") != NULL) {
        (void)printf("reached %s\n", path);
    }
    (void)close(fd);
}

static void one_round(unsigned long number)
{
    char name[300], far[600];
    struct stat about;
    (void)snprintf(name, sizeof name, "/own/name.%lu", number);
    asked += 8;
    (void)symlink(number % 2 ? "../../outside/secret" : "/../../../../../../etc/passwd", name);
    look(name);
    (void)snprintf(far, sizeof far, "/own/../../outside/../outside/secret");
    look(far);
    look("/../outside/secret");
    look("/proc/self/root/../outside/secret");
    (void)rename("/own/swap", "/own/other");
    (void)rename("/own/link", "/own/swap");
    look("/own/swap/secret");
    (void)rename("/own/swap", "/own/link");
    (void)rename("/own/other", "/own/swap");
    (void)truncate("/own/huge", (off_t)1 << 62);
    int fd = open("/own/huge", O_RDWR | O_CREAT, 0666);
    (void)pwrite(fd, name, 1, ((off_t)1 << 62) + (off_t)number);
    (void)fallocate(fd, 0, 0, (off_t)1 << 50);
    (void)pread(fd, name, sizeof name, ((off_t)1 << 61) + (off_t)number);
    (void)close(fd);
    (void)snprintf(name, sizeof name, "/own/name.%lu", number);
    (void)unlink(name);
    (void)memset(far, 'x', sizeof far - 1);
    far[0] = '/';
    far[sizeof far - 1] = '\0';
    (void)stat(far, &about);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        return 2;
    }
    (void)printf("begins\n");
    (void)fflush(stdout);
    try_network((int)strtol(argv[2], NULL, 10));
    for (int i = 3; i < argc; i++) {
        try_socket(argv[i]);
    }
    try_processes();
    (void)mkdir("/own/swap", 0777);
    (void)symlink("../../outside", "/own/link");
    double began = now();
    for (unsigned long number = 0; now() - began < strtod(argv[1], NULL); number++) {
        one_round(number);
    }
    (void)printf("%.0f a second\n", (double)asked / (now() - began));
    return 0;
}
