/* base/os/os_power_linux.c - see os_power.h.
 *
 * CLOCK_BOOTTIME counts suspends, CLOCK_MONOTONIC does not: their difference is the time asleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_power.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <utmpx.h>

#include "base/mem.h"
#include "base/os/os_linux.h"
#include "base/strmap.h"

#define PATH_BYTES     600 /* most bytes of a path, with the terminating zero */
#define UTMP_BYTES_MAX (1 << 20)

/* Reads the first line of a small file; "" if it cannot be read. */
static void first_line(const char *root, const char *name, char *ret, size_t size)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s%s", root, name);
    if (os_read_small(path, ret, size) < 0) {
        ret[0] = '\0';
    }
    ret[strcspn(ret, "\n")] = '\0';
}

void os_sleep_words(struct os *os, const char *root, struct os_sleep_words *ret)
{
    char path[PATH_BYTES];
    struct stat st;
    (void)os;
    first_line(root, "/sys/power/state", ret->state, sizeof ret->state);
    first_line(root, "/sys/power/mem_sleep", ret->mem_sleep, sizeof ret->mem_sleep);
    first_line(root, "/sys/power/disk", ret->disk, sizeof ret->disk);
    first_line(root, "/sys/power/resume", ret->resume, sizeof ret->resume);
    (void)snprintf(path, sizeof path, "%s/run/systemd/system", root);
    ret->has_systemd = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Finds the value of a line NAME=value; "" if there is none. */
static void value_of(const char *text, const char *name, char *ret, size_t size)
{
    size_t length = strlen(name);
    ret[0] = '\0';
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, name, length) == 0 && line[length] == '=') {
            const char *value = line + length + 1;
            (void)snprintf(ret, size, "%.*s", (int)strcspn(value, "\n"), value);
            return;
        }
    }
}

/* Calls each() for the files of a directory without a dot in their name: beside them are FIFOs,
 * N.ref. */
static void each_file(const char *root, const char *directory,
                      void (*each)(void *arg, const char *name, const char *text), void *arg)
{
    char path[PATH_BYTES], text[4096];
    (void)snprintf(path, sizeof path, "%s%s", root, directory);
    DIR *open = opendir(path);
    const struct dirent *file;
    while (open != NULL && (file = readdir(open)) != NULL) {
        if (strchr(file->d_name, '.') == NULL) {
            (void)snprintf(path, sizeof path, "%s%s/%.255s", root, directory, file->d_name);
            if (os_read_small(path, text, sizeof text) > 0) {
                each(arg, file->d_name, text);
            }
        }
    }
    if (open != NULL) {
        closedir(open);
    }
}

/* ---- who is logged in */

struct sessions {
    struct strmap *lines; /* terminals that are counted */
    size_t count;
    char *who;
    size_t size;
};

static void count_session(struct sessions *all, const char *line, const char *user)
{
    if (line[0] != '\0' && strmap_get(all->lines, line) != NULL) {
        return;
    }
    if (line[0] != '\0') {
        (void)strmap_set(all->lines, line, all->lines); /* that it is there is all */
    }
    if (all->count++ == 0) {
        (void)snprintf(all->who, all->size, "%s", user);
    }
}

static bool is_persons(const char *text)
{
    char class[40], state[40];
    value_of(text, "CLASS", class, sizeof class);
    value_of(text, "STATE", state, sizeof state);
    return (class[0] == '\0' || strcmp(class, "user") == 0) && strcmp(state, "closing") != 0;
}

static void logind_session(void *arg, const char *name, const char *text)
{
    char line[80], user[80];
    (void)name;
    value_of(text, "TTY", line, sizeof line);
    value_of(text, "USER", user, sizeof user);
    if (is_persons(text)) {
        count_session(arg, line, user);
    }
}

static void utmp_sessions(const char *root, struct sessions *all)
{
    char path[PATH_BYTES];
    char *bytes = mem_alloc(UTMP_BYTES_MAX);
    struct utmpx entry;
    (void)snprintf(path, sizeof path, "%s/run/utmp", root);
    ssize_t length = os_read_small(path, bytes, UTMP_BYTES_MAX);
    for (size_t at = 0; length > 0 && at + sizeof entry <= (size_t)length; at += sizeof entry) {
        char line[sizeof entry.ut_line + 1], user[sizeof entry.ut_user + 1];
        memcpy(&entry, bytes + at, sizeof entry);
        if (entry.ut_type == USER_PROCESS && entry.ut_user[0] != '\0') {
            (void)snprintf(line, sizeof line, "%.*s", (int)sizeof entry.ut_line, entry.ut_line);
            (void)snprintf(user, sizeof user, "%.*s", (int)sizeof entry.ut_user, entry.ut_user);
            count_session(all, line, user);
        }
    }
    mem_free(bytes);
}

size_t os_sessions(struct os *os, const char *root, char *who, size_t size)
{
    struct sessions all = {.lines = strmap_create(STRMAP_CASE_SENSITIVE), .who = who, .size = size};
    (void)os;
    who[0] = '\0';
    each_file(root, "/run/systemd/sessions", logind_session, &all);
    utmp_sessions(root, &all);
    strmap_destroy(all.lines, NULL);
    return all.count;
}

struct graphical {
    os_session_f each;
    void *arg;
};

static void graphical_session(void *arg, const char *name, const char *text)
{
    const struct graphical *all = arg;
    char type[40];
    value_of(text, "TYPE", type, sizeof type);
    if (is_persons(text) && (strcmp(type, "x11") == 0 || strcmp(type, "wayland") == 0)) {
        all->each(all->arg, name);
    }
}

void os_graphical_sessions(struct os *os, const char *root, os_session_f each, void *arg)
{
    struct graphical all = {each, arg};
    (void)os;
    each_file(root, "/run/systemd/sessions", graphical_session, &all);
}

/* ---- inhibitors */

struct inhibitors {
    os_inhibitor_f each;
    void *arg;
};

static void tell_inhibitor(void *arg, const char *name, const char *text)
{
    const struct inhibitors *all = arg;
    char mode[40], what[200], who[100], why[200];
    (void)name;
    value_of(text, "MODE", mode, sizeof mode);
    value_of(text, "WHAT", what, sizeof what);
    value_of(text, "WHO", who, sizeof who);
    value_of(text, "WHY", why, sizeof why);
    if (strcmp(mode, "delay") != 0) { /* who delays wants only to be told */
        all->each(all->arg, what, who, why);
    }
}

void os_inhibitors(struct os *os, const char *root, os_inhibitor_f each, void *arg)
{
    struct inhibitors all = {each, arg};
    (void)os;
    each_file(root, "/run/systemd/inhibit", tell_inhibitor, &all);
}

/* ---- the clocks */

static uint64_t clock_ms(clockid_t id)
{
    struct timespec now;
    return clock_gettime(id, &now) == 0
               ? (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000
               : 0;
}

uint64_t os_suspended_ms(struct os *os)
{
    (void)os;
    uint64_t running_ms = clock_ms(CLOCK_MONOTONIC); /* first: the other is never behind it */
    uint64_t boot_ms = clock_ms(CLOCK_BOOTTIME);
    return boot_ms > running_ms ? boot_ms - running_ms : 0;
}
