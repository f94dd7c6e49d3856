/* bench/remote_files.c - a job's files at another machine: bytes a second through the file system
 * of roost-rsys-mount, over the loopback with TLS.
 *
 * Beside it, in the same run and in turns with it: the same bytes from a process to another one
 * over a TLS connection of the loopback, with nothing between: read from a file and sent, received
 * and written to a file, and 4 KiB at random places asked for one by one.  What is said is the
 * median of BENCH_ROUNDS rounds, and the ratio to the median of the copies.  Files are in memory.
 * Each round mounts anew, so that the kernel has nothing of the files.
 *
 * Then the same program without a file system, its own calls wrapped (rsyscall/wrap).
 *
 * Environment: ROOST_BIN and ROOST_BUILD (needed), BENCH_MIB, BENCH_ROUNDS.  Root runs it as
 * nobody.
 *
 * SHORT: BENCH_MIB=4 BENCH_ROUNDS=1 BENCH_PART=50
 * LINK: base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/check.h"
#include "bench/bench_env.h"
#include "tests/support/fast_dir.h"

#define BUFFER     ((size_t)1 << 20)
#define ROUNDS_MAX 15
#define NOBODY     65534
#define SMALL_SIZE ((size_t)4096)
#define SMALLS     2000 /* asked for one by one */

enum figure {
    COPY_READ,
    COPY_WRITE,
    COPY_RANDOM, /* ns, as those of a job are */
    READ,
    WRITE,
    SMALL,
    RANDOM,
    STAT,
    OPEN,
    FIGURES
};
static const char *const NAMES[FIGURES] = {"",      "",       "",     "read", "write",
                                           "small", "random", "stat", "open"};

static double seen[FIGURES][ROUNDS_MAX], wrapped[FIGURES][ROUNDS_MAX];
static unsigned char buffer[BUFFER];

static double now_s(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void path_in(char *ret, size_t size, const char *dir, const char *name)
{
    CHECK((size_t)snprintf(ret, size, "%s/%s", dir, name) < size);
}

/* ---- a plain copy ---------------------------------------------------------------------------- */

static SSL_CTX *copy_context(bool server)
{
    SSL_CTX *context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
    CHECK(context != NULL && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1);
    CHECK(SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1);
    if (server) {
        EVP_PKEY *key = EVP_EC_gen("P-256");
        X509 *cert = X509_new();
        CHECK(key != NULL && cert != NULL && X509_set_pubkey(cert, key) == 1);
        CHECK(ASN1_INTEGER_set(X509_get_serialNumber(cert), 1) == 1);
        CHECK(X509_gmtime_adj(X509_getm_notBefore(cert), 0) != NULL);
        CHECK(X509_gmtime_adj(X509_getm_notAfter(cert), 86400) != NULL);
        CHECK(X509_sign(cert, key, EVP_sha256()) > 0);
        CHECK(SSL_CTX_use_certificate(context, cert) == 1);
        CHECK(SSL_CTX_use_PrivateKey(context, key) == 1);
        X509_free(cert);
        EVP_PKEY_free(key);
    }
    return context;
}

static SSL *copy_session(SSL_CTX *context, int fd, bool server)
{
    SSL *ssl = SSL_new(context);
    int on = 1;
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    CHECK(ssl != NULL && SSL_set_fd(ssl, fd) == 1);
    CHECK((server ? SSL_accept(ssl) : SSL_connect(ssl)) == 1);
    return ssl;
}

static void send_bytes(SSL *ssl, size_t length)
{
    size_t done = 0, part;
    while (done < length) {
        CHECK(SSL_write_ex(ssl, buffer + done, length - done, &part) == 1);
        done += part;
    }
}

static void receive(SSL *ssl, void *to, size_t length)
{
    size_t done = 0, part;
    while (done < length) {
        CHECK(SSL_read_ex(ssl, (unsigned char *)to + done, length - done, &part) == 1);
        done += part;
    }
}

/* The other process: sends the file, receives as much into another one, then sends pieces of it
 * that it is asked for. */
_Noreturn static void copy_other(int listener, const char *dir, uint64_t bytes)
{
    char path[256];
    size_t got = 0;
    SSL *ssl = copy_session(copy_context(true), accept(listener, NULL, NULL), true);
    path_in(path, sizeof path, dir, "big");
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && SSL_read_ex(ssl, buffer, 1, &got) == 1);
    for (ssize_t part; (part = read(fd, buffer, BUFFER)) > 0;) {
        send_bytes(ssl, (size_t)part);
    }
    path_in(path, sizeof path, dir, "copied");
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0 && SSL_read_ex(ssl, buffer, 1, &got) == 1);
    for (uint64_t done = 0; done < bytes; done += got) {
        CHECK(SSL_read_ex(ssl, buffer, BUFFER, &got) == 1);
        CHECK(write(fd, buffer, got) == (ssize_t)got);
    }
    CHECK(SSL_write_ex(ssl, buffer, 1, &got) == 1);
    uint64_t place;
    path_in(path, sizeof path, dir, "big");
    fd = open(path, O_RDONLY);
    for (int i = 0; i < part_of(SMALLS); i++) {
        receive(ssl, &place, sizeof place);
        CHECK(pread(fd, buffer, SMALL_SIZE, (off_t)place) == (ssize_t)SMALL_SIZE);
        send_bytes(ssl, SMALL_SIZE);
    }
    _exit(0);
}

static void ask_plainly(SSL *ssl, uint64_t bytes, unsigned round)
{
    uint64_t place = 1;
    size_t done;
    double began = now_s();
    for (int i = 0; i < part_of(SMALLS); i++) {
        place = place * 6364136223846793005U + 1442695040888963407U;
        uint64_t asked = place % (bytes / SMALL_SIZE) * SMALL_SIZE;
        CHECK(SSL_write_ex(ssl, &asked, sizeof asked, &done) == 1);
        receive(ssl, buffer, SMALL_SIZE);
    }
    seen[COPY_RANDOM][round] = (now_s() - began) / part_of(SMALLS) * 1e9;
}

static void copy_plainly(const char *dir, uint64_t bytes, unsigned round)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    size_t got = 0;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 1) == 0 &&
          getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) {
        copy_other(listener, dir, bytes);
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    SSL_CTX *context = copy_context(false);
    SSL *ssl = copy_session(context, fd, false);
    double began = now_s();
    CHECK(SSL_write_ex(ssl, buffer, 1, &got) == 1);
    for (uint64_t done = 0; done < bytes; done += got) {
        CHECK(SSL_read_ex(ssl, buffer, BUFFER, &got) == 1);
    }
    seen[COPY_READ][round] = (double)bytes / (now_s() - began);
    began = now_s();
    CHECK(SSL_write_ex(ssl, buffer, 1, &got) == 1);
    for (uint64_t done = 0; done < bytes; done += BUFFER) {
        send_bytes(ssl, BUFFER);
    }
    CHECK(SSL_read_ex(ssl, buffer, 1, &got) == 1); /* it has all */
    seen[COPY_WRITE][round] = (double)bytes / (now_s() - began);
    ask_plainly(ssl, bytes, round);
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(fd);
    close(listener);
    CHECK(waitpid(other, NULL, 0) == other);
}

/* ---- the file system ------------------------------------------------------------------------- */

/* Starts a program whose output comes back. */
static pid_t start(char *const *argv, FILE **ret)
{
    int pipes[2];
    CHECK(pipe2(pipes, O_CLOEXEC) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        CHECK(dup2(pipes[1], 1) == 1);
        (void)execv(argv[0], argv);
        _exit(127);
    }
    close(pipes[1]);
    *ret = fdopen(pipes[0], "r");
    CHECK(*ret != NULL);
    return pid;
}

static void take_line(const char *line, double (*to)[ROUNDS_MAX], unsigned round)
{
    char name[32];
    double value = 0;
    if (sscanf(line, "%31s %lf", name, &value) == 2) {
        for (int i = READ; i < FIGURES; i++) {
            if (strcmp(name, NAMES[i]) == 0) {
                to[i][round] = value;
            }
        }
    }
}

/* scratch: where its calls are wrapped; NULL: in a file system. */
static void run_job(char *server, char *pin, char *ticket, char *mib, char *scratch, unsigned round)
{
    char mount[512], job[512], library[512], line[256], part[16];
    FILE *out;
    int status = 0, count = 0;
    (void)snprintf(part, sizeof part, "%d", number("BENCH_PART", 1, 1000000));
    path_in(mount, sizeof mount, getenv("ROOST_BIN"), "roost-rsys-mount");
    path_in(library, sizeof library, getenv("ROOST_BUILD"), "lib/roost/roost_remote.so");
    path_in(job, sizeof job, getenv("ROOST_BUILD"), "bench/programs/remote_files_job");
    char *argv[20] = {mount, "--server", server, "--pin", pin, "--ticket-file", ticket};
    count = 7;
    if (scratch != NULL) {
        argv[count++] = "--scratch";
        argv[count++] = scratch;
        argv[count++] = "--wrap";
        argv[count++] = library;
    }
    argv[count++] = "--";
    argv[count++] = job;
    argv[count++] = "/files";
    argv[count++] = mib;
    argv[count++] = part;
    pid_t pid = start(argv, &out);
    while (fgets(line, sizeof line, out) != NULL) {
        take_line(line, scratch != NULL ? wrapped : seen, round);
    }
    (void)fclose(out);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* ---- figures --------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_of(const double *values, unsigned rounds)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, rounds, sizeof sorted[0], by_value);
    return sorted[rounds / 2];
}

static double median(enum figure figure, unsigned rounds)
{
    return median_of(seen[figure], rounds);
}

/* Rates to the plain copy's; times to the file system's. */
static void say_wrapped(unsigned rounds)
{
    for (int i = READ; i < FIGURES; i++) {
        bool is_rate = i <= SMALL;
        double value = median_of(wrapped[i], rounds);
        enum figure to = !is_rate ? (enum figure)i : i == READ ? COPY_READ : COPY_WRITE;
        (void)printf("BENCH wrapped_%s %.1f %s ratio %.2f vs %s\n", NAMES[i],
                     value / (is_rate ? 1e6 : 1e3), is_rate ? "MB/s" : "us",
                     value / median(to, rounds), is_rate ? "plain TLS copy" : "the file system");
    }
}

static void say(unsigned rounds)
{
    static const char *const WHAT[FIGURES] = {"", "", "", "read", "write", "write_4k"};
    for (int i = READ; i <= SMALL; i++) {
        enum figure copy = i == READ ? COPY_READ : COPY_WRITE;
        (void)printf("BENCH remote_%s %.0f MB/s ratio %.2f vs plain TLS copy\n", WHAT[i],
                     median((enum figure)i, rounds) / 1e6,
                     median((enum figure)i, rounds) / median(copy, rounds));
    }
    (void)printf("BENCH remote_random_4k %.1f us ratio %.2f vs asking for it over plain TLS\n",
                 median(RANDOM, rounds) / 1e3,
                 median(RANDOM, rounds) / median(COPY_RANDOM, rounds));
    (void)printf("BENCH remote_stat_cached %.2f us\n", median(STAT, rounds) / 1e3);
    (void)printf("BENCH remote_open_read_close %.1f us\n", median(OPEN, rounds) / 1e3);
    say_wrapped(rounds);
}

static void make_file(const char *dir, const char *name, uint64_t mib)
{
    char path[256];
    path_in(path, sizeof path, dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0);
    for (uint64_t i = 0; i < mib; i++) {
        CHECK(write(fd, buffer, BUFFER) == (ssize_t)BUFFER);
    }
    close(fd);
}

static void bench(char *dir)
{
    char serve[512], ticket[256], root[300], server[128] = "", pin[128] = "", mib[32], line[256];
    unsigned rounds = (unsigned)number("BENCH_ROUNDS", 5, ROUNDS_MAX);
    uint64_t size = (uint64_t)number("BENCH_MIB", 256, 1000000);
    FILE *out;
    (void)snprintf(mib, sizeof mib, "%llu", (unsigned long long)size);
    for (size_t i = 0; i < BUFFER; i++) {
        buffer[i] = (unsigned char)(i * 2654435761U >> 13);
    }
    make_file(dir, "big", size);
    make_file(dir, "random", size);
    path_in(ticket, sizeof ticket, dir, "ticket");
    FILE *file = fopen(ticket, "w");
    CHECK(file != NULL && fputs("let me in\n", file) >= 0 && fclose(file) == 0);
    path_in(serve, sizeof serve, getenv("ROOST_BIN"), "roost-rsys-serve");
    (void)snprintf(root, sizeof root, "/files=%s", dir);
    char *argv[] = {
        serve, "--listen", "tcp:127.0.0.1:0", "--ticket-file", ticket, "--root", "/=/", "--root",
        root,  NULL};
    pid_t pid = start(argv, &out);
    CHECK(fgets(line, sizeof line, out) != NULL && sscanf(line, "listening %127s", server) == 1);
    CHECK(fgets(line, sizeof line, out) != NULL && sscanf(line, "pin %127s", pin) == 1);
    for (unsigned round = 0; round < rounds; round++) {
        copy_plainly(dir, size << 20, round);
        run_job(server, pin, ticket, mib, NULL, round);
        run_job(server, pin, ticket, mib, dir, round);
    }
    CHECK(kill(pid, SIGTERM) == 0 && waitpid(pid, NULL, 0) == pid);
    (void)fclose(out);
    say(rounds);
}

int main(void)
{
    static const char *const FILES[] = {"big", "random", "copied", "written", "ticket"};
    char dir[FAST_DIR_SIZE], path[256];
    if (getuid() == 0) {
        CHECK(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    CHECK(getenv("ROOST_BIN") != NULL && getenv("ROOST_BUILD") != NULL && fast_dir_make(dir));
    bench(dir);
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        path_in(path, sizeof path, dir, FILES[i]);
        (void)unlink(path);
    }
    (void)rmdir(dir);
    return 0;
}
