/* bench/transfer.c - files through a whole pool: bytes and small files a second, both ways.
 *
 * A personal pool with real daemons, one slot.  A job of /bin/true alone; the same with one file of
 * BENCH_MIB; the same with a directory of BENCH_FILES files of 1 KiB; each as input, then as output
 * (the job makes it).  What the job alone takes is taken off.  Beside it, in the same run: the same
 * files from a thread of this process to another over a TCP connection of the loopback, each summed
 * (SHA-256) at both ends, written and made durable at the end: what a copy program would have to do
 * at least, less the encryption.  CPU time is that of all daemons and jobs together (as root).
 *
 * Environment: ROOST_BIN (needed), BENCH_MIB, BENCH_FILES.
 *
 * SHORT: BENCH_MIB=4 BENCH_FILES=50
 * LINK: starter cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/job_pool.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>

#include "base/digest.h"
#include "base/os/os_run.h"

#define PIECE      ((size_t)256 << 10)
#define FILE_BYTES 1024

struct taken {
    double wall_s, cpu_ms;
};

static double now_s(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double own_cpu_ms(void)
{
    struct timespec own;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) == 0);
    return (double)own.tv_sec * 1e3 + (double)own.tv_nsec / 1e6;
}

/* ---- what is copied -------------------------------------------------------------------------- */

static void write_file(const char *path, size_t bytes)
{
    static char buffer[PIECE];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0);
    for (size_t i = 0; i < sizeof buffer; i++) {
        buffer[i] = (char)(i * 2654435761U >> 13); /* the values say nothing */
    }
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < sizeof buffer ? bytes - done : sizeof buffer;
        CHECK(write(fd, buffer, part) == (ssize_t)part);
        done += part;
    }
    CHECK(close(fd) == 0);
}

static void make_inputs(const char *dir, int mib, int files)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/large", dir);
    write_file(path, (size_t)mib << 20);
    (void)snprintf(path, sizeof path, "%s/many", dir);
    CHECK(mkdir(path, 0755) == 0);
    for (int i = 0; i < files; i++) {
        (void)snprintf(path, sizeof path, "%s/many/file.%d", dir, i);
        write_file(path, FILE_BYTES);
    }
}

/* ---- over a socket --------------------------------------------------------------------------- */

static void read_whole(int fd, void *data, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t got = read(fd, (char *)data + done, length - done);
        CHECK(got > 0);
        done += (size_t)got;
    }
}

static void send_one(int to, const char *path, char *buffer)
{
    struct digest *digest = digest_create();
    char hex[DIGEST_HEX_SIZE];
    struct stat st;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    int64_t size = st.st_size;
    CHECK(write(to, &size, sizeof size) == sizeof size);
    ssize_t got;
    while ((got = read(fd, buffer, PIECE)) > 0) {
        digest_update(digest, buffer, (size_t)got);
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(to, buffer + done, (size_t)(got - done));
            CHECK(put > 0);
            done += put;
        }
    }
    digest_hex(digest, hex);
    CHECK(write(to, hex, sizeof hex) == sizeof hex);
    digest_destroy(digest);
    CHECK(close(fd) == 0);
}

static void receive_one(int from, const char *path, char *buffer)
{
    struct digest *digest = digest_create();
    char hex[DIGEST_HEX_SIZE], said[DIGEST_HEX_SIZE];
    int64_t left = 0;
    read_whole(from, &left, sizeof left);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0);
    while (left > 0) {
        size_t part = (size_t)left < PIECE ? (size_t)left : PIECE;
        read_whole(from, buffer, part);
        digest_update(digest, buffer, part);
        CHECK(write(fd, buffer, part) == (ssize_t)part);
        left -= (int64_t)part;
    }
    digest_hex(digest, hex);
    read_whole(from, said, sizeof said);
    CHECK(strcmp(hex, said) == 0 && close(fd) == 0);
    digest_destroy(digest);
}

struct sending {
    const char *dir;
    struct sockaddr_in address;
    int files; /* 0: the large one */
};

static void *send_all(void *arg)
{
    const struct sending *sending = arg;
    char path[600];
    char *buffer = mem_alloc(PIECE);
    int to = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(to >= 0 &&
          connect(to, (const struct sockaddr *)&sending->address, sizeof sending->address) == 0);
    for (int i = 0; i < (sending->files > 0 ? sending->files : 1); i++) {
        (void)snprintf(path, sizeof path, sending->files > 0 ? "%s/many/file.%d" : "%s/large",
                       sending->dir, i);
        send_one(to, path, buffer);
    }
    mem_free(buffer);
    CHECK(close(to) == 0);
    return NULL;
}

/* dir/large, or dir/many/file.<n>, to dir/copy. */
static struct taken copy_over_socket(const char *dir, int files)
{
    char path[600];
    char *buffer = mem_alloc(PIECE);
    struct sending sending = {.dir = dir,
                              .address = {.sin_family = AF_INET,
                                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
                              .files = files};
    socklen_t size = sizeof sending.address;
    int door = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(door >= 0 && bind(door, (struct sockaddr *)&sending.address, size) == 0 &&
          listen(door, 1) == 0 &&
          getsockname(door, (struct sockaddr *)&sending.address, &size) == 0);
    (void)snprintf(path, sizeof path, "%s/copy", dir);
    CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
    double began_s = now_s(), cpu_ms = own_cpu_ms();
    pthread_t sender;
    CHECK(pthread_create(&sender, NULL, send_all, &sending) == 0);
    int from = accept(door, NULL, NULL);
    CHECK(from >= 0);
    for (int i = 0; i < (files > 0 ? files : 1); i++) {
        (void)snprintf(path, sizeof path, "%s/copy/file.%d", dir, i);
        receive_one(from, path, buffer);
    }
    (void)snprintf(path, sizeof path, "%s/copy", dir);
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0 && syncfs(fd) == 0 && close(fd) == 0);
    CHECK(pthread_join(sender, NULL) == 0);
    struct taken taken = {now_s() - began_s, own_cpu_ms() - cpu_ms};
    CHECK(close(from) == 0 && close(door) == 0);
    mem_free(buffer);
    return taken;
}

/* ---- through the pool ------------------------------------------------------------------------ */

static struct taken run_job(struct job_pool *pool, const char *dir, const char *more)
{
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "executable = /bin/sh\ntransfer_executable = false\nrequest_memory = 32\n"
                   "initialdir = %s\nshould_transfer_files = YES\n%squeue\n",
                   dir, more);
    double began_s = now_s(), cpu_ms = pool_cpu_ms(pool), end_s = began_s + POOL_PATIENCE_MS / 1e3;
    pool_submit(pool, text);
    for (;;) {
        struct ad *totals = pool_totals(pool);
        int64_t left = ad_int_or(totals, "IdleJobs", 0) + ad_int_or(totals, "RunningJobs", 0) +
                       ad_int_or(totals, "CompletedJobs", 0);
        int64_t held = ad_int_or(totals, "HeldJobs", 0);
        ad_destroy(totals);
        if (held > 0 || now_s() > end_s) {
            pool_fail(pool, held > 0 ? "the job is held" : "the job does not end", NULL);
        }
        if (left == 0) {
            break;
        }
        cli_pause(&pool->bench.cli, POOL_POLL_MS);
    }
    return (struct taken){now_s() - began_s, pool_cpu_ms(pool) - cpu_ms};
}

static struct taken less(struct taken all, struct taken alone)
{
    const double least = 1e-3;
    double wall_s = all.wall_s - alone.wall_s, cpu_ms = all.cpu_ms - alone.cpu_ms;
    return (struct taken){wall_s > least ? wall_s : least, cpu_ms > 0 ? cpu_ms : 0};
}

static void print(const char *name, const char *unit, double amount, struct taken pool,
                  struct taken socket)
{
    (void)printf("BENCH transfer_%s %.1f %s ratio %.2f vs %.1f_%s_over_a_socket\n", name,
                 amount / pool.wall_s, unit, socket.wall_s / pool.wall_s, amount / socket.wall_s,
                 unit);
    if (pool.cpu_ms > 0) {
        (void)printf("BENCH transfer_%s_cpu %.3f ms_each ratio %.2f vs %.3f_over_a_socket\n", name,
                     pool.cpu_ms / amount, pool.cpu_ms / socket.cpu_ms, socket.cpu_ms / amount);
    }
    (void)fflush(stdout);
}

int main(void)
{
    struct job_pool pool = {.bench = {.bin = getenv("ROOST_BIN"), .what = "transfer"}};
    int mib = number("BENCH_MIB", 256, 100000), files = number("BENCH_FILES", 5000, 90000);
    char made[300], dir[] = "/tmp/roost-transfer-files-XXXXXX";
    CHECK(mkdtemp(dir) != NULL && chmod(dir, 0777) == 0);
    make_inputs(dir, mib, files);
    struct taken large = copy_over_socket(dir, 0);
    struct taken many = copy_over_socket(dir, files);
    pool_begin(&pool, "1", "");
    (void)run_job(&pool, dir, "arguments = \"-c true\"\n"); /* the claim is there from here on */
    struct taken alone = run_job(&pool, dir, "arguments = \"-c true\"\n");
    struct taken in =
        run_job(&pool, dir, "arguments = \"-c true\"\ntransfer_input_files = large\n");
    print("input", "MiB/s", mib, less(in, alone), large);
    (void)
        snprintf(made, sizeof made,
                 "arguments = \"-c 'head -c %d /dev/zero >made'\"\ntransfer_output_files = made\n",
                 mib << 20);
    print("output", "MiB/s", mib, less(run_job(&pool, dir, made), alone), large);
    in = run_job(&pool, dir, "arguments = \"-c true\"\ntransfer_input_files = many\n");
    print("input_files", "files/s", files, less(in, alone), many);
    (void)snprintf(made, sizeof made,
                   "arguments = \"-c 'mkdir came && cd came && seq 1 %d | split -l 1 -a 4 -'\"\n"
                   "transfer_output_files = came\n",
                   files);
    print("output_files", "files/s", files, less(run_job(&pool, dir, made), alone), many);
    pool_end(&pool);
    struct os *os = NULL;
    CHECK(os_create(NULL, &os, NULL) == 0 && os_remove_tree(os, dir, NULL) == 0);
    os_destroy(os);
    return 0;
}
