/* base/os/os_linux.c - facts about this machine and its users.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_run.h"
#include "base/text.h"

#define PASSWD_BYTES_MAX ((size_t)1 << 20)
#define CPUS_MAX         8192

int os_create(struct loop *loop, struct os **ret, struct err *err)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return err_set(err, -errno, "cannot read the limit of open files: %s", strerror(errno));
    }
    struct os *os = mem_zalloc(sizeof(*os));
    os->loop = loop;
    os->files = files;
    os->processes = process_table_create(os);
    *ret = os;
    return 0;
}

void os_destroy(struct os *os)
{
    if (os != NULL) {
        prepared_end(os);
        process_table_destroy(os->processes);
        mem_free(os);
    }
}

void os_raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

void os_leave(int status)
{
#ifdef ROOST_TIDY_EXIT
    (void)status;
#else
    _exit(status);
#endif
}

int32_t os_zone_offset_s(struct os *os, int64_t at_s)
{
    (void)os;
    time_t at = (time_t)at_s;
    struct tm local;
    return localtime_r(&at, &local) != NULL ? (int32_t)local.tm_gmtoff : 0;
}

const char *os_getenv(struct os *os, const char *name)
{
    (void)os;
    return getenv(name);
}

const char *const *os_environment(struct os *os)
{
    static const char *const NONE[] = {NULL};
    (void)os;
    return environ != NULL ? (const char *const *)environ : NONE;
}

const char *os_sqlite_vfs(struct os *os)
{
    (void)os;
    return NULL;
}

ssize_t os_read_small(const char *path, char *buffer, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return -errno;
    }
    size_t length = 0;
    ssize_t got = 0;
    while (length < size - 1 && (got = read(fd, buffer + length, size - 1 - length)) > 0) {
        length += (size_t)got;
    }
    int error = errno;
    close(fd);
    if (got < 0) {
        return -error;
    }
    buffer[length] = '\0';
    return (ssize_t)length;
}

/* ---- the machine ----------------------------------------------------------------------------- */

static int read_boot_id(char ret[OS_BOOT_ID_SIZE], struct err *err)
{
    const char *given = getenv("ROOST_BOOT_ID");
    if (given != NULL && given[0] != '\0') {
        if (strlen(given) >= OS_BOOT_ID_SIZE) {
            return err_set(err, -EINVAL, "ROOST_BOOT_ID='%s' is longer than %d characters", given,
                           OS_BOOT_ID_SIZE - 1);
        }
        memcpy(ret, given, strlen(given) + 1);
        return 0;
    }
    char text[64];
    ssize_t got = os_read_small("/proc/sys/kernel/random/boot_id", text, sizeof(text));
    if (got < OS_BOOT_ID_SIZE - 1) {
        return err_set(err, got < 0 ? (int)got : -EIO, "cannot read the kernel's boot id");
    }
    memcpy(ret, text, OS_BOOT_ID_SIZE - 1);
    ret[OS_BOOT_ID_SIZE - 1] = '\0';
    return 0;
}

static int read_boot_time(int64_t *ret, struct err *err)
{
    const char *given = getenv("ROOST_BOOT_TIME");
    if (given != NULL && given[0] != '\0') {
        int code = text_parse_int64(given, ret, err);
        return code == 0 ? 0 : err_prefix(err, code, "ROOST_BOOT_TIME");
    }
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen("/proc/stat", "re");
    long long seconds = 0;
    while (file != NULL && seconds == 0 && getline(&line, &room, file) > 0) {
        if (strncmp(line, "btime ", 6) == 0) {
            seconds = strtoll(line + 6, NULL, 10);
        }
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file); /* was only read */
    }
    if (seconds <= 0) {
        return err_set(err, -EIO, "/proc/stat does not show the time of the last boot");
    }
    *ret = seconds;
    return 0;
}

size_t os_cpu_numbers(struct os *os, uint32_t *ret, size_t max)
{
    (void)os;
    size_t count = 0;
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    CHECK(set != NULL);
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    if (sched_getaffinity(0, size, set) == 0) {
        for (uint32_t cpu = 0; cpu < CPUS_MAX && count < max; cpu++) {
            if (CPU_ISSET_S(cpu, size, set)) {
                ret[count++] = cpu;
            }
        }
    }
    CPU_FREE(set);
    return count;
}

static uint32_t count_cpus(struct os *os)
{
    uint32_t numbers[CPUS_MAX];
    size_t count = os_cpu_numbers(os, numbers, CPUS_MAX);
    return count > 0 ? (uint32_t)count : 1;
}

/* Returns the smallest memory.max between our cgroup and the root; INT64_MAX: no limit. */
static int64_t cgroup_memory_bytes(void)
{
    char own[1024], path[1200], text[64];
    int64_t least = INT64_MAX;
    if (os_read_small("/proc/self/cgroup", own, sizeof(own)) <= 0) {
        return least;
    }
    char *at = strstr(own, "0::/");
    if (at == NULL) {
        return least;
    }
    at += 3;
    at[strcspn(at, "\n")] = '\0';
    while (at[0] == '/') {
        int64_t bytes;
        (void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", at);
        if (os_read_small(path, text, sizeof(text)) > 0) {
            text[strcspn(text, "\n")] = '\0';
            if (text_parse_int64(text, &bytes, NULL) == 0 && bytes < least) { /* else "max" */
                least = bytes;
            }
        }
        *strrchr(at, '/') = '\0';
    }
    return least;
}

static const char *condor_arch(const char *machine)
{
    if (strcmp(machine, "x86_64") == 0) {
        return "X86_64";
    }
    return strcmp(machine, "i686") == 0 ? "INTEL" : machine;
}

void os_program_dir(struct os *os, char *ret, size_t size)
{
    (void)os;
    ssize_t length = readlink("/proc/self/exe", ret, size);
    bool is_whole = length > 0 && (size_t)length < size;
    ret[is_whole ? length : 0] = '\0';
    char *slash = strrchr(ret, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
}

int os_machine(struct os *os, struct os_machine *ret, struct err *err)
{
    struct os_machine machine = {.cpus = count_cpus(os)};
    struct utsname names;
    struct sysinfo info;
    int code = read_boot_id(machine.boot_id, err);
    if (code == 0) {
        code = read_boot_time(&machine.boot_time_s, err);
    }
    if (code != 0) {
        return code;
    }
    if (uname(&names) != 0 || sysinfo(&info) != 0) {
        return err_set(err, -errno, "cannot ask the kernel about this machine: %s",
                       strerror(errno));
    }
    int64_t memory_bytes = (int64_t)info.totalram * info.mem_unit;
    int64_t limit_bytes = cgroup_memory_bytes();
    machine.memory_mib = (memory_bytes < limit_bytes ? memory_bytes : limit_bytes) >> 20;
    (void)snprintf(machine.hostname, sizeof(machine.hostname), "%s", names.nodename);
    (void)snprintf(machine.arch, sizeof(machine.arch), "%.31s", condor_arch(names.machine));
    (void)snprintf(machine.opsys, sizeof(machine.opsys), "LINUX");
    (void)snprintf(machine.kernel, sizeof(machine.kernel), "%s", names.release);
    *ret = machine;
    return 0;
}

double os_load_average(struct os *os)
{
    (void)os;
    double load = 0;
    return getloadavg(&load, 1) == 1 ? load : 0;
}

int64_t os_disk_free_kib(struct os *os, const char *path)
{
    (void)os;
    struct statvfs st;
    if (statvfs(path, &st) != 0) {
        return -errno;
    }
    return (int64_t)((uint64_t)st.f_bavail * st.f_frsize / 1024);
}

/* ---- users ----------------------------------------------------------------------------------- */

uid_t os_uid(struct os *os)
{
    (void)os;
    return geteuid();
}

int os_become(struct os *os, uid_t uid, gid_t gid, struct err *err)
{
    (void)os;
    CHECK(uid != 0);
    if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) {
        return err_set(err, -errno, "cannot become uid %u: %s", (unsigned)uid, strerror(errno));
    }
    CHECK(setuid(0) != 0);                    /* there is no way back */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* that account's processes may not look into us */
    return 0;
}

/* Calls getpwnam_r() (name) or getpwuid_r() (uid) with a buffer that is large enough. */
static int find_user(const char *name, uid_t uid, struct passwd *entry, char **room)
{
    size_t size = 1024;
    for (;;) {
        struct passwd *found = NULL;
        *room = mem_alloc(size);
        int error = name != NULL ? getpwnam_r(name, entry, *room, size, &found)
                                 : getpwuid_r(uid, entry, *room, size, &found);
        if (found != NULL) {
            return 0;
        }
        mem_free(*room);
        *room = NULL;
        if (error != ERANGE || size >= PASSWD_BYTES_MAX) {
            return error == 0 ? -ENOENT : -error;
        }
        size *= 4;
    }
}

int os_user_find(struct os *os, const char *name, uid_t *uid, gid_t *gid, struct err *err)
{
    (void)os;
    struct passwd entry;
    char *room;
    int code = find_user(name, 0, &entry, &room);
    if (code != 0) {
        return err_set(err, -ENOENT, "no such user: '%s'", name);
    }
    *uid = entry.pw_uid;
    *gid = entry.pw_gid;
    mem_free(room);
    return 0;
}

int os_user_home(struct os *os, const char *name, char *ret, size_t size, struct err *err)
{
    (void)os;
    struct passwd entry;
    char *room;
    int code = find_user(name, 0, &entry, &room);
    if (code != 0) {
        return err_set(err, -ENOENT, "no such user: '%s'", name);
    }
    size_t length = strlen(entry.pw_dir);
    if (length < size) {
        memcpy(ret, entry.pw_dir, length + 1);
    }
    mem_free(room);
    return length < size ? 0
                         : err_set(err, -ENAMETOOLONG,
                                   "the home directory of '%s' has too long a path", name);
}

int os_user_name(struct os *os, uid_t uid, char *ret, size_t size, struct err *err)
{
    (void)os;
    struct passwd entry;
    char *room;
    int code = find_user(NULL, uid, &entry, &room);
    if (code != 0) {
        return err_set(err, -ENOENT, "no user has uid %u", (unsigned)uid);
    }
    size_t length = strlen(entry.pw_name);
    if (length >= size) {
        mem_free(room);
        return err_set(err, -ENAMETOOLONG, "the user name of uid %u is too long", (unsigned)uid);
    }
    memcpy(ret, entry.pw_name, length + 1);
    mem_free(room);
    return 0;
}
