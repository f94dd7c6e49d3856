/* base/os/os_idle_linux.c - finds out when somebody last typed on this machine.
 *
 * A terminal's access time changes when somebody types: at once after a pause of more than eight
 * seconds, else in steps of eight seconds (tty_update_time() of the kernel).  So the result is up
 * to eight seconds old while somebody types, and exact after a pause.
 *
 * Terminals without a session may change their times, too (a program in a pty that was left behind,
 * a serial line to a device).  Where that happens, only terminals with a session in utmp or logind
 * (which keeps a file for each session below /run/systemd/sessions) are looked at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_linux.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <utmpx.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"

#define SESSIONS "/run/systemd/sessions"
#define FUTURE_S 60 /* a terminal that was used later than this from now is not believed */

static void add_line(struct strmap *lines, const char *line)
{
    line += strncmp(line, "/dev/", 5) == 0 ? 5 : 0;
    if (line[0] != '\0') {
        (void)strmap_set(lines, line, lines); /* that it is there is all */
    }
}

/* Reads the line "TTY=pts/3" or "TTY=tty2" in logind's file of a session. */
static void add_session(struct strmap *lines, const char *name)
{
    char path[sizeof(SESSIONS) + 260], text[4096];
    (void)snprintf(path, sizeof(path), SESSIONS "/%.255s", name);
    if (os_read_small(path, text, sizeof(text)) <= 0) {
        return;
    }
    char *at = strncmp(text, "TTY=", 4) == 0 ? text : strstr(text, "\nTTY=");
    if (at != NULL) {
        at = strchr(at, '=') + 1;
        at[strcspn(at, "\n")] = '\0';
        add_line(lines, at);
    }
}

/* Lists the terminals on which somebody is logged in, as names below /dev. */
static struct strmap *session_lines(void)
{
    struct strmap *lines = strmap_create(STRMAP_CASE_SENSITIVE);
    const struct utmpx *entry;
    setutxent();
    while ((entry = getutxent()) != NULL) {
        if (entry->ut_type == USER_PROCESS) {
            char line[sizeof(entry->ut_line) + 1];
            (void)snprintf(line, sizeof(line), "%.*s", (int)sizeof(entry->ut_line), entry->ut_line);
            add_line(lines, line);
        }
    }
    endutxent();
    DIR *directory = opendir(SESSIONS);
    const struct dirent *file;
    while (directory != NULL && (file = readdir(directory)) != NULL) {
        if (file->d_name[0] != '.') {
            add_session(lines, file->d_name);
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    return lines;
}

/* True for tty1, tty2, ...; tty0 stands for the one that is shown now. */
static bool is_virtual_console(const char *line)
{
    return strncmp(line, "tty", 3) == 0 && text_is_digit(line[3]);
}

/* True for tty1, ttyS0, console, and all of /dev/pts; false for "tty", which stands for the
 * caller's own. */
static bool is_terminal(const char *line)
{
    return strncmp(line, "pts/", 4) == 0
               ? text_is_digit(line[4])
               : strcmp(line, "console") == 0 || (strncmp(line, "tty", 3) == 0 && line[3] != '\0');
}

struct look {
    const struct os_terminals *which;
    const struct strmap *sessions; /* NULL: all count */
    int64_t now_s;
    int64_t keyboard_s, console_s; /* when they were last used; 0: never */
};

static void look_at(struct look *look, const char *line)
{
    char path[300];
    struct stat st;
    bool console = is_virtual_console(line);
    for (size_t i = 0; i < look->which->console_count; i++) {
        console = console || strcmp(line, look->which->console[i]) == 0;
    }
    if (!console && (!is_terminal(line) ||
                     (look->sessions != NULL && strmap_get(look->sessions, line) == NULL))) {
        return;
    }
    (void)snprintf(path, sizeof(path), "/dev/%s", line);
    if (lstat(path, &st) != 0 || !S_ISCHR(st.st_mode)) {
        return;
    }
    int64_t used_s = st.st_atim.tv_sec;
    if (used_s > look->now_s + FUTURE_S) {
        return; /* the wall clock was set back since: its next use will show */
    }
    look->keyboard_s = used_s > look->keyboard_s ? used_s : look->keyboard_s;
    look->console_s = console && used_s > look->console_s ? used_s : look->console_s;
}

static void look_into(struct look *look, const char *directory, const char *prefix)
{
    DIR *open = opendir(directory);
    const struct dirent *entry;
    while (open != NULL && (entry = readdir(open)) != NULL) {
        char line[270];
        (void)snprintf(line, sizeof(line), "%s%s", prefix, entry->d_name);
        look_at(look, line);
    }
    if (open != NULL) {
        closedir(open);
    }
}

static int64_t idle_since(int64_t now_s, int64_t used_s)
{
    if (used_s == 0) {
        return OS_NEVER_IDLE_S;
    }
    return now_s > used_s ? now_s - used_s : 0;
}

void os_idleness(struct os *os, const struct os_terminals *which, struct os_idleness *ret)
{
    (void)os;
    struct strmap *sessions = which->sessions_only ? session_lines() : NULL;
    struct look look = {.which = which, .sessions = sessions, .now_s = (int64_t)time(NULL)};
    look_into(&look, "/dev", "");
    look_into(&look, "/dev/pts", "pts/");
    for (size_t i = 0; i < which->console_count; i++) {
        look_at(&look, which->console[i]); /* "input/mice" is in neither */
    }
    strmap_destroy(sessions, NULL);
    ret->keyboard_s = idle_since(look.now_s, look.keyboard_s);
    ret->console_s = idle_since(look.now_s, look.console_s);
}
