/* cli/submit_host.c - what the submitting host gives to a submit file: see submit_host.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/submit_host.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/random.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "submit/relinked.h"

/* depth of directories to which the sizes of files are added up */
#define SIZE_DEPTH_MAX 64
/* bytes of a script's first line that the kernel reads, without the terminating zero */
#define SCRIPT_BYTES 128
/* The list of a directory for output is read when the LIST_AFTER-th file is looked for there,
 * unless the directory is so large that it has tens of thousands of names. */
#define LIST_AFTER     64
#define LIST_BYTES_MAX ((int64_t)1 << 20)

/* ---- files ------------------------------------------------------------------------------------
 */

int submit_host_check_text(const char *path, char *text, size_t *length, struct err *err)
{
    const char *zero = memchr(text, '\0', *length);
    if (zero != NULL) {
        unsigned line = 1;
        for (const char *at = text; at < zero; at++) {
            line += *at == '\n' ? 1 : 0;
        }
        return err_set(err, -EINVAL, "%s:%u: the line contains a zero byte; not a text file", path,
                       line);
    }
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) { /* an editor's mark that it is UTF-8 */
        *length -= 3;
        memmove(text, text + 3, *length + 1);
    }
    return 0;
}

/* Reads a pipe to its end, however slow the writer is, for `roost submit <(...)` and `queue x from
 * fifo`.  Follows symbolic links. */
static int read_pipe(const char *path, char **text, size_t *length, struct err *err)
{
    struct strbuf all;
    char buffer[16384];
    size_t got;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    }
    strbuf_init(&all, SUBMIT_FILE_MAX);
    strbuf_puts(&all, "");
    while (!all.failed && (got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        strbuf_append(&all, buffer, got);
    }
    int rc = ferror(file) != 0 ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
    (void)fclose(file);
    if (rc != 0) {
        strbuf_fini(&all);
        return rc;
    }
    if (all.failed) {
        strbuf_fini(&all);
        return err_set(err, -EFBIG, "%s: larger than %zu bytes", path, SUBMIT_FILE_MAX);
    }
    *length = all.length;
    *text = strbuf_take(&all);
    return 0;
}

static int read_file(void *arg, const char *path, char **text, struct err *err)
{
    struct submit_host *host = arg;
    struct os_stat stat;
    size_t length;
    char *found = NULL;
    bool is_pipe = os_stat(host->cli->os, path, &stat) == 0 && !stat.is_file && !stat.is_dir;
    int rc = is_pipe ? read_pipe(path, &found, &length, err)
                     : os_read_file(host->cli->os, path, SUBMIT_FILE_MAX, &found, &length, err);
    rc = rc != 0 ? rc : submit_host_check_text(path, found, &length, err);
    if (rc != 0) {
        mem_free(found);
        return rc;
    }
    *text = found;
    return 0;
}

/* Like os_stat(), for the file to which symbolic links lead. */
static int look_through(struct submit_host *host, const char *path, struct os_stat *ret)
{
    char real[PATH_MAX];
    int rc = os_stat(host->cli->os, path, ret);
    if (rc != 0 || !ret->is_link) {
        return rc;
    }
    return realpath(path, real) != NULL ? os_stat(host->cli->os, real, ret) : -errno;
}

struct matching {
    struct submit_host *host;
    /* path up to and including the last slash; "" for the working directory */
    const char *directory;
    const char *pattern; /* pattern for the last component of the path */
    bool files, dirs;
    struct vec *names;
};

static void match_one(void *arg, const char *name)
{
    struct matching *matching = arg;
    char path[4096];
    struct os_stat stat;
    (void)snprintf(path, sizeof path, "%s%s", matching->directory, name);
    if (text_glob(matching->pattern, name, false) &&
        (name[0] != '.' || matching->pattern[0] == '.') &&
        look_through(matching->host, path, &stat) == 0 &&
        (stat.is_dir ? matching->dirs : matching->files)) {
        size_t length = strlen(path);
        (void)snprintf(path + length, sizeof path - length, "%s", stat.is_dir ? "/" : "");
        vec_push(matching->names, mem_strdup(path));
    }
}

/* Adds the files that match a pattern. '*' and '?' are special only in the last component. */
static int match_files(void *arg, const char *pattern, bool files, bool dirs, void *names,
                       struct err *err)
{
    struct submit_host *host = arg;
    char directory[4096];
    const char *slash = strrchr(pattern, '/');
    int length = slash != NULL ? (int)(slash - pattern) + 1 : 0;
    (void)snprintf(directory, sizeof directory, "%.*s", length, pattern);
    struct matching matching = {.host = host,
                                .directory = directory,
                                .pattern = pattern + length,
                                .files = files,
                                .dirs = dirs,
                                .names = names};
    return os_list(host->cli->os, length > 0 ? directory : ".", match_one, &matching, err);
}

/* ---- commands ---------------------------------------------------------------------------------
 */

struct running {
    bool over;
    int status; /* exit status; 0: success */
};

static void command_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct running *running = arg;
    (void)pid;
    running->over = true;
    running->status = how->signal != 0 ? 128 + how->signal : how->status;
}

/* Runs a shell command and takes its output.  The output goes through a temporary file, because it
 * may be larger than a pipe. */
static int run_command(void *arg, const char *command, char **text, struct err *err)
{
    struct submit_host *host = arg;
    char path[] = "/tmp/roost-submit-XXXXXX";
    int descriptor = mkstemp(path);
    if (descriptor < 0) {
        return err_set(err, -errno, "cannot create a temporary file for the output of `%.100s`",
                       command);
    }
    (void)close(descriptor);
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .stdin_path = "-",
                                  .stdout_path = path,
                                  .stderr_path = "-",
                                  .truncate_output = true};
    struct running running = {0};
    pid_t pid;
    int rc = os_spawn(host->cli->os, &spec, command_ended, &running, &pid, err);
    if (rc == 0) {
        loop_run_until(host->cli->loop, &running.over);
        rc = running.status == 0 ? read_file(host, path, text, err)
                                 : err_set(err, -EINVAL, "`%.200s` failed with exit status %d",
                                           command, running.status);
    }
    (void)unlink(path);
    return rc;
}

/* ---- looking ----------------------------------------------------------------------------------
 */

struct size {
    struct submit_host *host;
    const char *path;
    int64_t bytes;
    int depth;
};

static void add_entry(void *arg, const char *name)
{
    struct size *size = arg;
    struct os_stat stat;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", size->path, name) >= (int)sizeof path ||
        os_stat(size->host->cli->os, path, &stat) != 0) {
        return;
    }
    if (!stat.is_dir) {
        size->bytes += stat.is_file ? stat.size_bytes : 0;
    } else if (size->depth < SIZE_DEPTH_MAX) {
        struct size below = {.host = size->host, .path = path, .depth = size->depth + 1};
        (void)os_list(size->host->cli->os, path, add_entry, &below, NULL); /* else: not counted */
        size->bytes += below.bytes;
    }
}

static int look_at_size(struct submit_host *host, const char *path, int64_t *bytes)
{
    struct os_stat stat;
    *bytes = 0;
    if (look_through(host, path, &stat) != 0) {
        return 0; /* what is not there takes no room */
    }
    if (stat.is_dir) {
        struct size size = {.host = host, .path = path};
        (void)os_list(host->cli->os, path, add_entry, &size, NULL); /* else: not counted */
        *bytes = size.bytes;
    } else if (stat.is_file) {
        *bytes = stat.size_bytes;
    }
    return 0;
}

/* The path as the user wrote it: relative again, if it is below the working directory. */
static const char *as_written(const struct submit_host *host, const char *path)
{
    const char *cwd = host->place.cwd;
    size_t length = cwd != NULL ? strlen(cwd) : 0;
    return length > 0 && strncmp(path, cwd, length) == 0 && path[length] == '/' ? path + length + 1
                                                                                : path;
}

/* Checks the executable.  A script with DOS line endings is refused, because its first line would
 * name an interpreter that does not exist. */
static int look_at_program(struct submit_host *host, const char *path, struct err *err)
{
    struct os_stat stat;
    char line[SCRIPT_BYTES + 1];
    int rc = look_through(host, path, &stat);
    if (rc != 0) {
        return err_set(err, rc, "%s: %s", as_written(host, path), strerror(-rc));
    }
    if (stat.is_dir) {
        return err_set(err, -EISDIR, "%s: is a directory", as_written(host, path));
    }
    if (stat.is_file && stat.size_bytes == 0) {
        return err_set(err, -EINVAL, "%s: the file is empty", as_written(host, path));
    }
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(line, 1, SCRIPT_BYTES, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    line[length] = '\0';
    size_t end = strcspn(line, "\n");
    if (strncmp(line, "#!", 2) == 0 && line[end] == '\n' && line[end - 1] == '\r') {
        return err_set(
            err, -EINVAL,
            "%s: the script has CRLF (DOS/Windows) line endings; run dos2unix on the file",
            as_written(host, path));
    }
    return 0;
}

static void forget_directory(struct submit_host *host)
{
    mem_free(host->good_directory);
    strmap_destroy(host->good_names, NULL);
    host->good_directory = NULL;
    host->good_names = NULL;
    host->good_names_wanted = 0;
}

/* Checks that files can be made in the directory of `path`, whose last slash is at path[length].
 * Thousands of jobs may have their output in one directory: the last good one is remembered. */
static int look_above(struct submit_host *host, const char *path, size_t length, struct err *err)
{
    struct os_stat stat;
    char *above = mem_strndup(path, length > 0 ? length : 1);
    int rc = 0;
    if (host->good_directory != NULL && strcmp(host->good_directory, above) == 0) {
        mem_free(above);
        return 0;
    }
    if (look_through(host, above, &stat) != 0 || !stat.is_dir) {
        rc = err_set(err, -ENOENT, "%s: no such directory: %s", path, above);
    } else if (access(above, W_OK | X_OK) != 0) {
        rc = err_set(err, -errno, "%s: %s: %s", path, above, strerror(errno));
    }
    if (rc == 0) {
        forget_directory(host);
        host->good_directory = above;
    } else {
        mem_free(above);
    }
    return rc;
}

static void add_name(void *arg, const char *name)
{
    (void)strmap_set(arg, name, arg); /* only presence counts */
}

/* Returns whether there is surely no file at `path`, whose last slash is at path[length]: the
 * directory was good, and its list does not have the name.  The list is read after some files, as a
 * look at each of thousands takes a fifth of the whole time of `roost submit`. */
static bool is_absent(struct submit_host *host, const char *path, size_t length)
{
    const char *name = path + length + 1;
    const char *above = host->good_directory;
    if (above == NULL || strncmp(above, path, length) != 0 || above[length] != '\0' ||
        name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return false;
    }
    struct os_stat stat;
    if (++host->good_names_wanted == LIST_AFTER && look_through(host, above, &stat) == 0 &&
        stat.size_bytes <= LIST_BYTES_MAX) {
        host->good_names = strmap_create(STRMAP_CASE_SENSITIVE);
        if (os_list(host->cli->os, above, add_name, host->good_names, NULL) != 0) {
            strmap_destroy(host->good_names, NULL);
            host->good_names = NULL;
        }
    }
    return host->good_names != NULL && strmap_get(host->good_names, name) == NULL;
}

/* Checks that an output file can be written; otherwise the shadow would find out after the job has
 * run. */
static int look_at_output(struct submit_host *host, const char *path, struct err *err)
{
    struct os_stat stat;
    const char *slash = strrchr(path, '/');
    int rc = 0;
    if (slash != NULL && is_absent(host, path, (size_t)(slash - path))) {
        return 0;
    }
    if (look_through(host, path, &stat) == 0) {
        if (stat.is_dir) {
            rc = err_set(err, -EISDIR, "%s: is a directory", path);
        } else if (access(path, W_OK) != 0) {
            rc = err_set(err, -errno, "%s: %s", path, strerror(errno));
        }
    } else if (slash != NULL) {
        rc = look_above(host, path, (size_t)(slash - path), err);
    }
    return rc;
}

/* Checks the job event log.  Symbolic links are refused; eventlog/log_append.h explains why. */
static int look_at_log(struct submit_host *host, const char *path, struct err *err)
{
    char target[2];
    if (host->good_log != NULL && strcmp(host->good_log, path) == 0) {
        return 0;
    }
    if (readlink(path, target, sizeof(target)) >= 0) {
        return err_set(err, -ELOOP, "%s: symbolic links are not followed; name the target file",
                       path);
    }
    int rc = look_at_output(host, path, err);
    if (rc == 0) {
        mem_free(host->good_log);
        host->good_log = mem_strdup(path);
    }
    return rc;
}

static int look_for_wrappers(const char *path, int64_t *ret)
{
    unsigned char *head = mem_alloc(RELINKED_HEAD_BYTES);
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(head, 1, RELINKED_HEAD_BYTES, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    *ret = relinked_is_remote(head, length);
    mem_free(head);
    return 0;
}

/* Gets the user's home directory with symbolic links resolved; false: the user has none. */
static bool find_home(const struct submit_host *host, char ret[PATH_MAX])
{
    char user[256], home[PATH_MAX];
    struct os *os = host->cli->os;
    return os_user_name(os, os_uid(os), user, sizeof user, NULL) == 0 &&
           os_user_home(os, user, home, sizeof home, NULL) == 0 && realpath(home, ret) != NULL;
}

static bool is_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return strcmp(directory, "/") == 0 ||
           (strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0'));
}

/* Checks a directory that the job may change.  The shadow repeats these checks when the job runs
 * (rsyscall/grants.h). */
static int look_at_given(const struct submit_host *host, const char *path, struct err *err)
{
    struct os_stat stat;
    char real[PATH_MAX], home[PATH_MAX];
    if (realpath(path, real) == NULL || os_stat(host->cli->os, real, &stat) != 0) {
        return err_set(err, -ENOENT, "%s: no such directory", path);
    }
    if (!stat.is_dir) {
        return err_set(err, -ENOTDIR, "%s: not a directory", path);
    }
    if (strcmp(real, "/") == 0 ||
        (find_home(host, home) && is_below(home, real) && strcmp(home, real) != 0)) {
        return err_set(
            err, -EPERM,
            "%s: this directory contains home directories; name a directory in your home", path);
    }
    bool is_own =
        stat.uid == os_uid(host->cli->os) || ((stat.mode & 0002) == 0 && access(real, W_OK) == 0);
    return is_own ? 0
                  : err_set(err, -EPERM,
                            "%s: the directory is not yours, so you cannot let jobs write there",
                            path);
}

static void look_for_home(const struct submit_host *host, const char *path, int64_t *bytes)
{
    char real[PATH_MAX], home[PATH_MAX];
    *bytes = realpath(path, real) != NULL && find_home(host, home) && is_below(home, real);
}

static int look_at_file(void *arg, enum submit_look what, const char *path, int64_t *bytes,
                        struct err *err)
{
    const struct submit_host *host = arg;
    struct os_stat stat;
    switch (what) {
    case SUBMIT_LOOK_SIZE:
        return look_at_size(arg, path, bytes);
    case SUBMIT_LOOK_WRAPPED:
        return look_for_wrappers(path, bytes);
    case SUBMIT_LOOK_EXECUTABLE:
        return look_at_program(arg, path, err);
    case SUBMIT_LOOK_GIVEN: /* of a spooled job's the schedd's machine knows */
        return host->is_spooled ? 0 : look_at_given(arg, path, err);
    case SUBMIT_LOOK_HOME:
        *bytes = 0;
        if (!host->is_spooled) {
            look_for_home(arg, path, bytes);
        }
        return 0;
    case SUBMIT_LOOK_DIRECTORY:
        if (access(path, X_OK) != 0 || look_through(arg, path, &stat) != 0 || !stat.is_dir) {
            return err_set(err, -ENOENT, "%s", path);
        }
        return 0;
    case SUBMIT_LOOK_INPUT:
        if (access(path, R_OK) != 0) {
            return err_set(err, -errno, "%s: %s", path, strerror(errno));
        }
        return look_through(arg, path, &stat) == 0 && stat.is_dir
                   ? err_set(err, -EISDIR, "%s: is a directory", path)
                   : 0;
    case SUBMIT_LOOK_OUTPUT:
        return host->is_spooled ? 0 : look_at_output(arg, path, err); /* made when it is fetched */
    case SUBMIT_LOOK_LOG:
        return host->is_spooled ? 0 : look_at_log(arg, path, err);
    }
    return 0;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static const char *environment_value(void *arg, const char *name)
{
    struct submit_host *host = arg;
    return os_getenv(host->cli->os, name);
}

static uint64_t random_number(void *arg)
{
    struct submit_host *host = arg;
    return rng_next(loop_rng(host->cli->loop));
}

static void print_warning(void *arg, const char *text)
{
    (void)arg;
    (void)fprintf(stderr, "WARNING: %s\n", text);
}

static const char *macro_value(void *arg, const char *name)
{
    struct submit_host *host = arg;
    return strmap_get(host->macros, name);
}

static const char *knob_value(void *arg, const char *knob)
{
    struct submit_host *host = arg;
    return host->cli->config != NULL ? config_text(host->cli->config, knob) : NULL;
}

static void set_macro(struct submit_host *host, const char *name, const char *value)
{
    mem_free(strmap_set(host->macros, name, mem_strdup(value)));
}

static void set_macros(struct submit_host *host, const char *file)
{
    time_t now = (time_t)loop_wall_s(host->cli->loop);
    struct tm tm = {0};
    char text[32];
    set_macro(host, "ARCH", host->arch);
    set_macro(host, "OPSYS", host->opsys);
    set_macro(host, "IsLinux", "1");
    set_macro(host, "IsWindows", "0");
    set_macro(host, "SUBMIT_FILE", file);
    (void)snprintf(text, sizeof text, "%lld", (long long)now);
    set_macro(host, "SUBMIT_TIME", text);
    if (localtime_r(&now, &tm) != NULL) {
        (void)snprintf(text, sizeof text, "%04d", tm.tm_year + 1900);
        set_macro(host, "YEAR", text);
        (void)snprintf(text, sizeof text, "%02d", tm.tm_mon + 1);
        set_macro(host, "MONTH", text);
        (void)snprintf(text, sizeof text, "%02d", tm.tm_mday);
        set_macro(host, "DAY", text);
    }
}

int submit_host_init(struct submit_host *host, struct cli *cli, const char *file, bool needs_config,
                     struct err *err)
{
    struct os_machine machine;
    extern char **environ;
    *host = (struct submit_host){.cli = cli, .macros = strmap_create(STRMAP_CASE_IGNORED)};
    if (getcwd(host->cwd, sizeof host->cwd) == NULL) {
        return err_set(err, -errno, "cannot find out the working directory");
    }
    int rc = os_machine(cli->os, &machine, err);
    if (rc == 0 && cli_config(cli, err) != 0 && needs_config) {
        return -EINVAL;
    }
    if (rc != 0) {
        return rc;
    }
    if (cli_owner_name(cli, host->user, sizeof host->user, NULL) != 0) {
        host->user[0] = '\0'; /* has none */
    }
    /* Elsewhere it is a token that says who we are, and another configuration that has a map. */
    const char *map = knob_value(host, "ACCOUNTING_MAP");
    bool has_map = map != NULL && map[0] != '\0';
    const char *domain = knob_value(host, "FILESYSTEM_DOMAIN");
    domain = domain != NULL ? domain : os_getenv(cli->os, "ROOST_FILESYSTEM_DOMAIN");
    (void)snprintf(host->domain, sizeof host->domain, "%s",
                   domain != NULL ? domain : machine.hostname);
    (void)snprintf(host->arch, sizeof host->arch, "%s", machine.arch);
    (void)snprintf(host->opsys, sizeof host->opsys, "%s", machine.opsys);
    set_macros(host, file);
    host->world = (struct submit_world){.read = read_file,
                                        .run = run_command,
                                        .match = match_files,
                                        .env = environment_value,
                                        .config = macro_value,
                                        .random = random_number,
                                        .warn = print_warning,
                                        .cwd = host->cwd,
                                        .arg = host};
    host->place = (struct submit_place){.cwd = host->cwd,
                                        .file = file,
                                        .arch = host->arch,
                                        .opsys = host->opsys,
                                        .user = host->user[0] != '\0' ? host->user : NULL,
                                        .own_charge_only = !has_map && cli_schedd_is_local(cli),
                                        .filesystem_domain = host->domain,
                                        .env = environ,
                                        .look = look_at_file,
                                        .site = knob_value,
                                        .warn = print_warning,
                                        .arg = host};
    return 0;
}

void submit_host_fini(struct submit_host *host)
{
    strmap_destroy(host->macros, mem_free);
    forget_directory(host);
    mem_free(host->good_log);
}
