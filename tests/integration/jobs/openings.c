/* Has files open in every way that there is, and looks again and again whether each descriptor is
 * what it was: sealed memory that is mapped, too; files without a name, or with another one; locks;
 * pipes of packets; flags, positions, and who shares them; as many descriptors as it may have.
 * openings DIRECTORY
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS 25
#define PAGE   4096
#define FAR    (((off_t)1 << 32) + 12345)
#define MOST   1000 /* descriptors */

static const char *folder;

static void must(int right, const char *what)
{
    if (!right) {
        (void)printf("wrong: %s (%s)\n", what, strerror(errno));
        (void)fflush(stdout);
        _exit(1);
    }
}

static const char *at(const char *name)
{
    static char path[2][4096];
    static int which;
    which = 1 - which;
    (void)snprintf(path[which], sizeof path[which], "%s/%s", folder, name);
    return path[which];
}

static int make(const char *name, int flags)
{
    (void)unlink(at(name));
    int fd = open(at(name), flags | O_CREAT, 0640);
    must(fd >= 0, name);
    return fd;
}

/* ---- memory */

static void look_at_memory(int round)
{
    static int sealed = -1, future, plain, reader;
    static volatile int *shown, *kept, *shared, *part;
    struct stat a, b;
    int number = 0;
    char path[64];
    if (sealed < 0) {
        sealed = memfd_create("sealed", MFD_ALLOW_SEALING | MFD_CLOEXEC);
        future = memfd_create("future", MFD_ALLOW_SEALING);
        plain = memfd_create("plain", 0);
        must(sealed >= 0 && future >= 0 && plain >= 0, "memfd_create");
        must(write(sealed, "0123456789", 10) == 10, "writing to memory");
        must(ftruncate(future, 3 * PAGE) == 0 && ftruncate(plain, 8 * PAGE) == 0, "its size");
        must(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) == 0, "seals");
        shown = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, future, 0);
        must(fcntl(future, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0, "later writing");
        part = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, plain, 2 * PAGE);
        shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        kept = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, plain, 2 * PAGE);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", plain);
        reader = open(path, O_RDONLY);
        must(reader >= 0 && pwrite(plain, "tail", 4, 7 * PAGE) == 4, "opened again");
        must(fchmod(plain, 0400) == 0 && lseek(reader, 5, SEEK_SET) == 5, "who may");
        must(shown != MAP_FAILED && part != MAP_FAILED && shared != MAP_FAILED, "mmap");
        shared[1] = 1;
    } else {
        must(shown[PAGE / 4] == round - 1 && part[3] == round - 1 && shared[2] == round - 1,
             "memory");
    }
    char text[16];
    must(pread(sealed, text, 16, 0) == 10 && memcmp(text, "0123456789", 10) == 0, "sealed memory");
    must(pwrite(sealed, "x", 1, 0) == -1 && errno == EPERM, "it is sealed");
    must(fcntl(sealed, F_GET_SEALS) == (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW), "its seals");
    must(fcntl(future, F_GET_SEALS) == (F_SEAL_FUTURE_WRITE | F_SEAL_SEAL), "other seals");
    must(fcntl(plain, F_GET_SEALS) == F_SEAL_SEAL, "no seals");
    must(pwrite(future, "x", 1, 0) == -1 && errno == EPERM, "no writing any more");
    shown[PAGE / 4] = part[3] = shared[2] = round;
    must(pread(future, &number, 4, PAGE * 4) == 0, "behind its end");
    must(pread(plain, &number, 4, 2 * PAGE + 12) == 4 && number == round, "what was mapped");
    must(pread(reader, &number, 4, 2 * PAGE + 12) == 4 && number == round, "by another opening");
    must(pwrite(plain, &round, 4, 2 * PAGE + 16) == 4 && kept[4] == round, "what was written");
    must(pread(reader, text, 9, 7 * PAGE) == 9 && memcmp(text, "tail\0", 5) == 0, "its end");
    must(write(reader, "x", 1) == -1 && errno == EBADF && lseek(reader, 0, SEEK_CUR) == 5,
         "reading");
    must(fstat(plain, &a) == 0 && fstat(reader, &b) == 0 && a.st_ino == b.st_ino, "the same file");
    must((a.st_mode & 0777) == 0400 && a.st_size == 8 * PAGE, "its mode, its size");
}

/* ---- files */

static void look_at_files(int round)
{
    static int gone = -1, view, hidden, huge, moved, twin, low, log, log_again, kept;
    static volatile int *map, *guarded;
    struct stat st, other;
    int number = 0;
    char text[8], path[64];
    if (gone < 0) {
        gone = make("gone", O_RDWR | O_APPEND);
        must(write(gone, "begin", 5) == 5 && ftruncate(gone, 2 * PAGE) == 0, "writing");
        map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, gone, 0);
        view = open(at("gone"), O_RDONLY);
        must(map != MAP_FAILED && view >= 0 && unlink(at("gone")) == 0, "removing");
        hidden = open(folder, O_TMPFILE | O_RDWR | O_EXCL, 0600);
        hidden = hidden >= 0 ? hidden : make("hidden", O_RDWR);
        (void)unlink(at("hidden"));
        must(pwrite(hidden, "x", 1, FAR) == 1 && pwrite(hidden, "y", 1, 0) == 1, "far behind");
        huge = make("huge", O_RDWR);
        must(pwrite(huge, "z", 1, FAR) == 1 && lseek(huge, FAR, SEEK_SET) == FAR, "a long file");
        moved = make("before", O_RDWR);
        must(write(moved, "name", 4) == 4 && rename(at("before"), at("after")) == 0, "renaming");
        twin = make("one", O_RDWR | O_NOATIME | O_NONBLOCK);
        (void)unlink(at("two"));
        must(link(at("one"), at("two")) == 0 && unlink(at("one")) == 0, "another name");
        log = make("log", O_WRONLY | O_APPEND);
        log_again = open(at("log"), O_WRONLY | O_CLOEXEC);
        low = open(at("after"), O_PATH | O_CLOEXEC);
        kept = dup(moved);
        int both = make("guarded", O_RDWR);
        must(ftruncate(both, PAGE) == 0, "its size");
        guarded = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, both, 0);
        must(guarded != MAP_FAILED && close(both) == 0, "a mapping to be read");
        must(log_again >= 0 && low >= 0 && kept >= 0, "open");
    }
    must(map[PAGE / 4 + 1] == (round > 0 ? round - 1 : 0), "a mapping of a removed file");
    map[PAGE / 4 + 1] = round;
    must(guarded[5] == (round > 0 ? round - 1 : 0), "a mapping that is written at times");
    must(mprotect((void *)guarded, PAGE, PROT_READ | PROT_WRITE) == 0, "to be written");
    guarded[5] = round;
    must(mprotect((void *)guarded, PAGE, PROT_READ) == 0, "to be read");
    must(pread(view, &number, 4, PAGE + 4) == 4 && number == round, "the removed file");
    must(fstat(view, &st) == 0 && fstat(gone, &other) == 0 && st.st_ino == other.st_ino,
         "one file");
    must(st.st_nlink == 0 && (st.st_mode & 0777) == 0640, "it has no name");
    must(write(gone, "+", 1) == 1 && fstat(view, &st) == 0, "appending");
    must(st.st_size == 2 * PAGE + round + 1 && (fcntl(gone, F_GETFL) & O_APPEND) != 0, "its end");
    must(write(view, "x", 1) == -1 && errno == EBADF, "to be read only");
    must(fstat(hidden, &st) == 0 && st.st_size == FAR + 1 && st.st_blocks < 1000, "holes");
    must(pread(hidden, text, 1, FAR) == 1 && text[0] == 'x', "what is far");
    must(pread(hidden, text, 8, 0) == 8 && text[0] == 'y' && text[1] == 0, "what is near");
    must(lseek(huge, 0, SEEK_CUR) == FAR && read(huge, text, 8) == 1 && text[0] == 'z',
         "a position");
    must(lseek(huge, FAR, SEEK_SET) == FAR, "winding back");
    must(pread(moved, text, 8, 0) == 4 && fstat(moved, &st) == 0 && st.st_nlink == 1, "renamed");
    must(stat(at("after"), &other) == 0 && st.st_ino == other.st_ino, "its new name");
    must(lseek(kept, round, SEEK_SET) == round && lseek(moved, 0, SEEK_CUR) == round, "sharing");
    must(stat(at("two"), &other) == 0 && fstat(twin, &st) == 0 && st.st_ino == other.st_ino, "two");
    must((fcntl(twin, F_GETFL) & (O_NOATIME | O_NONBLOCK)) == (O_NOATIME | O_NONBLOCK),
         "its flags");
    must(write(log, "line\n", 5) == 5 && lseek(log, 0, SEEK_CUR) == 5 * (round + 1), "a log");
    must(lseek(log_again, 0, SEEK_CUR) == 0 && (fcntl(log_again, F_GETFL) & O_APPEND) == 0,
         "again");
    must((fcntl(log_again, F_GETFD) & FD_CLOEXEC) != 0 && fcntl(log, F_GETFD) == 0,
         "close-on-exec");
    must((fcntl(low, F_GETFL) & O_PATH) != 0 && read(low, text, 1) == -1 && errno == EBADF,
         "O_PATH");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", low);
    must(stat(path, &st) == 0 && stat(at("after"), &other) == 0 && st.st_ino == other.st_ino,
         "place");
}

static void look_at_folder(int round)
{
    static DIR *names;
    static int seen;
    if (names == NULL) {
        (void)mkdir(at("names"), 0700);
        for (int i = 0; i < ROUNDS; i++) {
            char name[32];
            (void)snprintf(name, sizeof name, "names/%d", i);
            (void)close(make(name, O_WRONLY));
        }
        names = opendir(at("names"));
        must(names != NULL, "opendir");
    }
    must(lseek(dirfd(names), 0, SEEK_CUR) >= 0, "where it is");
    const struct dirent *entry = readdir(names);
    seen += entry != NULL && entry->d_name[0] != '.' ? 1 : 0;
    must(round < ROUNDS || readdir(names) != NULL || seen >= ROUNDS - 2, "names");
}

/* ---- locks */

static int sees_lock(int fd, off_t from, off_t bytes, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = bytes};
    must(fcntl(fd, F_OFD_GETLK, &lock) == 0, "F_OFD_GETLK");
    return lock.l_type == F_UNLCK ? 0 : lock.l_pid == -1 ? 2 : 1;
}

static void look_at_locks(void)
{
    static int locked = -1, other, whole, whole_again;
    if (locked < 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 5};
        locked = make("locked", O_RDWR);
        other = open(at("locked"), O_RDWR);
        whole = make("whole", O_RDWR);
        whole_again = open(at("whole"), O_RDONLY);
        must(other >= 0 && fcntl(locked, F_SETLK, &lock) == 0, "F_SETLK");
        lock = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 1 << 30};
        must(fcntl(locked, F_SETLK, &lock) == 0, "F_SETLK to the end");
        lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 1};
        must(fcntl(locked, F_OFD_SETLK, &lock) == 0 && flock(whole, LOCK_EX) == 0, "locks");
    }
    must(sees_lock(other, 0, 10, F_WRLCK) == 0 && sees_lock(other, 10, 1, F_WRLCK) == 1, "a range");
    must(sees_lock(other, 14, 1, F_RDLCK) == 1 && sees_lock(other, 15, 1, F_WRLCK) == 0, "its end");
    must(sees_lock(other, FAR, 1, F_WRLCK) == 1 && sees_lock(other, FAR, 1, F_RDLCK) == 0,
         "to read");
    must(sees_lock(other, 100, 1, F_RDLCK) == 2, "an open file's lock");
    must(sees_lock(locked, 100, 1, F_RDLCK) == 0, "that is its own");
    must(flock(whole_again, LOCK_SH | LOCK_NB) == -1 && errno == EWOULDBLOCK, "a whole file");
}

/* ---- pipes */

static volatile sig_atomic_t told;

static void on_input(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    told = info->si_fd;
}

static void look_at_pipes(void)
{
    static int packets[2] = {-1, -1}, fifo[2], asked[2], wide[2], again;
    char text[8192];
    int waiting = 0;
    if (packets[0] < 0) {
        struct sigaction action = {.sa_sigaction = on_input, .sa_flags = SA_SIGINFO | SA_RESTART};
        struct f_owner_ex owner = {F_OWNER_PID, getpid()};
        must(pipe2(packets, O_DIRECT) == 0 && pipe(asked) == 0 && pipe(wide) == 0, "pipe");
        (void)unlink(at("fifo"));
        must(mkfifo(at("fifo"), 0600) == 0, "mkfifo");
        fifo[0] = open(at("fifo"), O_RDONLY | O_NONBLOCK);
        fifo[1] = open(at("fifo"), O_WRONLY);
        must(fifo[0] >= 0 && fifo[1] >= 0 && write(fifo[1], "fifo", 4) == 4, "a pipe with a name");
        must(sigaction(SIGRTMIN + 3, &action, NULL) == 0, "sigaction");
        must(fcntl(asked[0], F_SETSIG, SIGRTMIN + 3) == 0, "F_SETSIG");
        must(fcntl(asked[0], F_SETOWN_EX, &owner) == 0, "F_SETOWN_EX");
        must(fcntl(asked[0], F_SETFL, O_ASYNC | O_NONBLOCK) == 0, "O_ASYNC");
        must(fcntl(wide[1], F_SETPIPE_SZ, 1 << 18) == 1 << 18, "F_SETPIPE_SZ");
        (void)snprintf(text, sizeof text, "/proc/self/fd/%d", wide[0]);
        again = open(text, O_RDONLY | O_NONBLOCK);
        must(again >= 0, text);
        for (int i = 0; i < 20; i++) {
            memset(text, 'a' + i, sizeof text);
            must(write(wide[1], text, sizeof text) == (ssize_t)sizeof text, "much");
        }
    } else {
        must(read(packets[0], text, sizeof text) == 3 && read(packets[0], text, 2) == 2, "packets");
        must(ioctl(packets[0], FIONREAD, &waiting) == 0 && waiting == 0, "no more of them");
    }
    must(write(packets[1], "abc", 3) == 3 && write(packets[1], "defgh", 5) == 5, "packets");
    must(read(fifo[0], text, 9) == 4 && memcmp(text, "fifo", 4) == 0, "what was in it");
    must(read(fifo[0], text, 9) == -1 && errno == EAGAIN, "no more in it");
    must(write(fifo[1], "fifo", 4) == 4, "filling it again");
    told = -1;
    must(write(asked[1], "x", 1) == 1 && told == asked[0] && read(asked[0], text, 9) == 1,
         "a signal");
    must(ioctl(wide[0], FIONREAD, &waiting) == 0 && waiting == 20 * 8192, "how much there is");
    must(fcntl(wide[0], F_GETPIPE_SZ) == 1 << 18, "how much it takes");
    must((fcntl(wide[0], F_GETFL) & O_NONBLOCK) == 0, "to wait for");
    must((fcntl(again, F_GETFL) & O_NONBLOCK) != 0, "not to wait for");
    must(read(again, text, sizeof text) == (ssize_t)sizeof text && text[0] == text[8191],
         "some of it");
    text[0] = text[8191];
    must(write(wide[1], text, sizeof text) == (ssize_t)sizeof text, "giving it back");
}

/* ---- as many as there may be */

static void look_at_numbers(int round)
{
    static int first = -1;
    if (first < 0) {
        struct rlimit limit = {MOST, MOST};
        first = dup(0);
        must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
        for (int fd = first; fd >= 0 && fd < MOST - 1;) {
            fd = fd % 3 == 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : dup(first);
            must(fd > first, "the next one");
        }
    }
    must(dup(0) == -1 && errno == EMFILE, "no more");
    must(fcntl(MOST - 1, F_GETFD) >= 0 && close(MOST - 2 - round) == 0, "one less");
    must(dup(0) == MOST - 2 - round, "it again");
}

int main(int argc, char **argv)
{
    must(argc == 2, "openings DIRECTORY");
    folder = argv[1];
    for (int i = 0; i < ROUNDS; i++) {
        look_at_memory(i);
        look_at_files(i);
        look_at_folder(i);
        look_at_locks();
        look_at_pipes();
        look_at_numbers(i);
        (void)usleep(10000);
    }
    (void)printf("as they should be\n");
    return 7;
}
