/* base/daemon/daemon_run.c - a daemon's life between its loop and its own code.
 *
 * The order at the start: arguments, configuration, lock, log, start() of the daemon's table,
 * signals, "ready".  The lock comes before the log, so that a second instance does not write into
 * the log of the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/config/config_os.h"
#include "base/daemon/daemon.h"
#include "base/daemon/daemon_checking.h"
#include "base/daemon/daemon_guard.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"

#define EXIT_NOT_STARTED 1
#define EXIT_LOCKED      3
#define DIRECTORY_BYTES  4096
#define NAME_BYTES_MAX   128 /* most bytes of a daemon's name, with the terminating zero */

struct options {
    const char *config, *log, *pidfile, *instance;
    bool no_resurrect;
    bool check; /* only check the configuration */
    int first;  /* of argv: the first that is not ours */
};

struct daemon_run {
    const struct daemon *daemon;
    struct loop *loop;
    struct os *os;
    struct options options;
    char name[NAME_BYTES_MAX];      /* "shadow.alice" */
    char subsystem[NAME_BYTES_MAX]; /* "SHADOW" */
    struct config *config;
    struct os_lock *lock;
    struct log *log;
    struct loop_timer *log_timer; /* counts of repeated lines are written when it ends */
    uint64_t log_due_ms;          /* when it does */
    struct daemon_guard *guard;
    struct daemon_env env;
    void *state;
    bool stopping;
};

/* ---- arguments ------------------------------------------------------------------------------- */

static bool is_option(const char *word, const char *name)
{
    if (word[0] == '-' && word[1] == '-') {
        word++;
    }
    return word[0] == '-' && strcmp(word + 1, name) == 0;
}

static int parse_options(int argc, char *const *argv, struct options *ret, struct err *err)
{
    struct options options = {.first = 1};
    const struct {
        const char *name;
        const char **value;
    } with_value[] = {{"config", &options.config},
                      {"log", &options.log},
                      {"pidfile", &options.pidfile},
                      {"instance", &options.instance}};
    while (options.first < argc) {
        const char *word = argv[options.first];
        const char **value = NULL;
        for (size_t i = 0; i < ARRAY_COUNT(with_value); i++) {
            value = is_option(word, with_value[i].name) ? with_value[i].value : value;
        }
        if (value != NULL) {
            if (options.first + 1 == argc) {
                return err_set(err, -EINVAL, "%s needs a value", word);
            }
            *value = argv[options.first + 1];
            options.first += 2;
        } else if (is_option(word, "noresurrect")) {
            options.no_resurrect = true;
            options.first++;
        } else if (is_option(word, "check")) {
            options.check = true;
            options.first++;
        } else {
            break;
        }
    }
    const char *instance = options.instance;
    if (instance != NULL &&
        (instance[0] == '\0' || instance[0] == '.' || strchr(instance, '/') != NULL ||
         strlen(instance) >= NAME_BYTES_MAX / 2)) {
        return err_set(err, -EINVAL, "'%s' is not a valid instance name", instance);
    }
    *ret = options;
    return 0;
}

static void set_names(struct daemon_run *run)
{
    const char *instance = run->options.instance;
    size_t length = strlen(run->daemon->name);
    CHECK(length < NAME_BYTES_MAX / 2 - 1);
    (void)snprintf(run->name, sizeof(run->name), "%s%s%s", run->daemon->name,
                   instance != NULL ? "." : "", instance != NULL ? instance : "");
    for (size_t i = 0; i < length; i++) {
        char c = run->daemon->name[i];
        run->subsystem[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
}

/* ---- configuration, log, lock ---------------------------------------------------------------- */

static size_t count_tables(const struct knob_table *const *tables)
{
    size_t count = 0;
    while (tables != NULL && tables[count] != NULL) {
        count++;
    }
    return count;
}

/* Loads the configuration. settings: run-time settings to try; NULL: those of the file. */
static int load_config(struct daemon_run *run, const char *settings, struct config **ret,
                       struct err *err)
{
    struct config_source source = config_source_os(run->os);
    struct os_machine machine;
    char pid[32], cpus[32], memory[32];
    int code = os_machine(run->os, &machine, err);
    if (code != 0) {
        return code;
    }
    (void)snprintf(pid, sizeof(pid), "%d", (int)os_pid(run->os));
    (void)snprintf(cpus, sizeof(cpus), "%u", (unsigned)machine.cpus);
    (void)snprintf(memory, sizeof(memory), "%lld", (long long)machine.memory_mib);
    char host[sizeof(machine.hostname)];
    char program_dir[DIRECTORY_BYTES];
    os_program_dir(run->os, program_dir, sizeof(program_dir));
    memcpy(host, machine.hostname, sizeof(host));
    host[strcspn(host, ".")] = '\0';
    const struct config_macro macros[] = {
        {"HOSTNAME", host},
        {"FULL_HOSTNAME", machine.hostname},
        {"PROGRAM_DIR", program_dir},
        {"PID", pid},
        {"DETECTED_CPUS", cpus},
        {"DETECTED_MEMORY", memory},
        {"ARCH", machine.arch},
        {"OPSYS", machine.opsys},
        {"INSTANCE", run->options.instance != NULL ? run->options.instance : ""},
    };
    struct config_options options = {
        .subsystem = run->subsystem,
        .path = run->options.config,
        .tables = run->daemon->tables,
        .table_count = run->daemon->table_count,
        .others = run->daemon->known,
        .other_count = count_tables(run->daemon->known),
        .macros = macros,
        .macro_count = ARRAY_COUNT(macros),
        .check_expr = run->daemon->check_expr,
        .gather_texts = run->daemon->gather_texts && os_uid(run->os) != 0,
        .check_section = run->daemon->check_section,
        .settings = settings,
    };
    if (run->daemon->only_title == NULL) {
        return config_load(&source, &options, ret, err);
    }
    /* The title may stand behind the sections: so it is read first, with no section. */
    struct config *titles;
    options.only_title = "";
    code = config_load(&source, &options, &titles, err);
    if (code == 0) {
        const char *title = config_string(titles, run->daemon->only_title);
        options.only_title = title != NULL && title[0] != '\0' ? title : machine.hostname;
        code = config_load(&source, &options, ret, err);
        config_destroy(titles);
    }
    return code;
}

/* Puts the place where a knob was set before a message that begins with the knob's name. */
static int place_message(const struct config *config, int code, struct err *err)
{
    char knob[NAME_BYTES_MAX];
    struct config_origin origin;
    size_t length = strcspn(err->text, ": ");
    if (length == 0 || length >= sizeof(knob)) {
        return code;
    }
    memcpy(knob, err->text, length);
    knob[length] = '\0';
    bool is_placed = config_why(config, knob, &origin) && origin.file != NULL;
    return is_placed && origin.line > 0 ? err_prefix(err, code, "%s:%u", origin.file, origin.line)
           : is_placed                  ? err_prefix(err, code, "%s", origin.file)
                                        : code;
}

static int log_level(const struct daemon_run *run, const struct config *config, enum log_level *ret,
                     struct err *err)
{
    char knob[NAME_BYTES_MAX + 8];
    (void)snprintf(knob, sizeof(knob), "%s_DEBUG", run->subsystem);
    const char *text = config_text(config, knob);
    if (text == NULL) {
        return log_level_parse(config_string(config, "ALL_DEBUG"), ret, err);
    }
    int code = log_level_parse(text, ret, err);
    return code == 0 ? 0 : place_message(config, err_prefix(err, code, "%s", knob), err);
}

/* Appends HTCondor's name of the log file if it differs from "<Name>Log". */
static void append_log_name(struct strbuf *path, const struct daemon_run *run)
{
    static const struct {
        const char *daemon, *log;
    } NAMES[] = {{"schedd", "SchedLog"}, {"startd", "StartLog"}};
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        if (strcmp(run->daemon->name, NAMES[i].daemon) == 0) {
            strbuf_puts(path, NAMES[i].log);
            return;
        }
    }
    strbuf_putc(path, run->subsystem[0]);
    strbuf_printf(path, "%sLog", run->daemon->name + 1);
    if (run->options.instance != NULL) {
        strbuf_printf(path, ".%s", run->options.instance);
    }
}

static int64_t log_time(void *context)
{
    return loop_wall_ms(context);
}

static uint64_t log_now(void *context)
{
    return loop_now_ms(((struct daemon_run *)context)->loop);
}

static void log_due(void *arg)
{
    log_flush(((struct daemon_run *)arg)->log);
}

static void log_wake_at(void *context, uint64_t at_ms)
{
    struct daemon_run *run = context;
    uint64_t now_ms = loop_now_ms(run->loop);
    if (!loop_timer_is_set(run->log_timer) || at_ms < run->log_due_ms) {
        run->log_due_ms = at_ms;
        loop_timer_set(run->log_timer, at_ms > now_ms ? at_ms - now_ms : 0);
    }
}

static int open_log(struct daemon_run *run, const struct log_sink *given, struct err *err)
{
    enum log_level level;
    struct log_sink sink;
    int code = log_level(run, run->config, &level, err);
    if (code != 0) {
        return code;
    }
    if (given != NULL) {
        sink = *given;
    } else if (run->options.log != NULL && strcmp(run->options.log, "-") == 0) {
        sink = log_sink_stderr();
    } else {
        struct strbuf path;
        strbuf_init(&path, 0);
        if (run->options.log != NULL) {
            strbuf_puts(&path, run->options.log);
        } else {
            const char *directory = config_path(run->config, "LOG");
            code = os_mkdirs(run->os, directory, 0755, err);
            strbuf_printf(&path, "%s/", directory);
            append_log_name(&path, run);
        }
        if (code == 0) {
            code =
                log_sink_file(strbuf_text(&path),
                              (uint64_t)config_bytes(run->config, "MAX_DEFAULT_LOG"),
                              (unsigned)config_int(run->config, "MAX_NUM_DEFAULT_LOG"), &sink, err);
        }
        strbuf_fini(&path);
    }
    if (code == 0) {
        run->log = log_create(run->name, level, sink,
                              (struct log_clock){.utc_ms = log_time, .context = run->loop});
        run->log_timer = loop_timer_create(run->loop, log_due, run);
        if (given == NULL) { /* who gives a sink looks at each line */
            log_collapse(run->log, &(struct log_repeats){.now_ms = log_now,
                                                         .wake_at = log_wake_at,
                                                         .context = run});
        }
    }
    return code;
}

static int take_lock(struct daemon_run *run, struct err *err)
{
    struct strbuf path;
    pid_t holder = 0;
    const char *directory = config_path(run->config, "LOCK");
    int code = os_mkdirs(run->os, directory, 0755, err);
    if (code == 0) {
        strbuf_init(&path, 0);
        strbuf_printf(&path, "%s/%s.lock", directory, run->name);
        code = os_lock(run->os, strbuf_text(&path), &run->lock, &holder, err);
        if (code == -EAGAIN) {
            (void)err_set(err, code, "the %s is already running: process %d holds the lock %s",
                          run->name, (int)holder, strbuf_text(&path));
        }
        strbuf_fini(&path);
    }
    return code;
}

static int write_pidfile(struct daemon_run *run, struct err *err)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "%d\n", (int)os_pid(run->os));
    return run->options.pidfile == NULL ? 0
                                        : os_write_file(run->os, run->options.pidfile, text,
                                                        (size_t)length, 0644, false, err);
}

/* ---- signals --------------------------------------------------------------------------------- */

static void guard_stop(struct daemon_run *run)
{
    daemon_guard_destroy(run->guard);
    run->guard = NULL;
}

static void stop_by(struct daemon_run *run, void (*stop)(void *state))
{
    bool at_once = run->stopping || stop == NULL;
    log_info(run->log, "daemon.stop",
             at_once ? "stop requested: stopping at once" : "stop requested");
    guard_stop(run);
    run->stopping = true;
    if (at_once) {
        loop_stop(run->loop, 0);
    } else {
        stop(run->state);
    }
}

static void told_to_stop(void *arg)
{
    struct daemon_run *run = arg;
    stop_by(run, run->daemon->stop);
}

static void told_to_stop_all(void *arg)
{
    struct daemon_run *run = arg;
    stop_by(run, run->daemon->stop_all != NULL ? run->daemon->stop_all : run->daemon->stop);
}

static void told_to_stop_host(void *arg)
{
    struct daemon_run *run = arg;
    if (run->daemon->stop_host == NULL) {
        told_to_stop_all(run);
        return;
    }
    stop_by(run, run->daemon->stop_host);
}

static void told_to_end(void *arg)
{
    struct daemon_run *run = arg;
    log_info(run->log, "daemon.stop", "stop requested: stopping at once");
    guard_stop(run);
    run->stopping = true;
    loop_stop(run->loop, 0);
}

/* ---- another configuration ------------------------------------------------------------------- */

static void log_unknown(const struct daemon_run *run)
{
    for (size_t i = 0; run->daemon->known != NULL && i < config_unknown_count(run->config); i++) {
        log_warn(run->log, "config.unknown", config_unknown(run->config, i));
    }
}

static void log_doubt(void *arg, const char *text)
{
    log_warn(((struct daemon_run *)arg)->log, "config.doubt", text);
}

/* Refuses a file where the daemons make a directory. */
static int check_directories(const struct daemon_checking *checking, struct err *err)
{
    static const char *const KNOBS[] = {"LOG", "SPOOL", "EXECUTE", "LOCK", "RUN"};
    for (size_t i = 0; i < ARRAY_COUNT(KNOBS); i++) {
        const char *path = config_path(checking->config, KNOBS[i]);
        struct os_stat found;
        if (path != NULL && os_stat(checking->os, path, &found) == 0 && found.is_file) {
            return err_set(err, -ENOTDIR, "%s: %s is a file; expected a directory", KNOBS[i], path);
        }
    }
    return 0;
}

/* Checks what the tables do not, with the place of the knob in err. */
static int check_whole(struct daemon_run *run, const struct daemon_checking *checking,
                       struct err *err)
{
    struct err why = {""};
    int code = check_directories(checking, &why);
    if (code == 0 && run->daemon->check != NULL) {
        code = run->daemon->check(checking, &why);
    }
    if (code != 0) {
        code = place_message(checking->config, code, &why);
        (void)err_set(err, code, "%s", why.text);
    }
    return code;
}

/* doubt NULL: doubts are logged. */
static int load_fresh(struct daemon_run *run, const char *settings,
                      void (*doubt)(void *arg, const char *text), struct config **ret,
                      enum log_level *level, struct err *err)
{
    struct config *fresh = NULL;
    int code = load_config(run, settings, &fresh, err);
    code = code != 0 ? code : log_level(run, fresh, level, err);
    if (code == 0) {
        const struct daemon_checking checking = {.os = run->os,
                                                 .config = fresh,
                                                 .doubt = doubt != NULL ? doubt : log_doubt,
                                                 .arg = run};
        code = check_whole(run, &checking, err);
    }
    if (code != 0) {
        config_destroy(fresh);
        return code;
    }
    *ret = fresh;
    return 0;
}

/* The new configuration is valid: gives it to the daemon. */
static void take_over(struct daemon_run *run, struct config *fresh, enum log_level level,
                      struct strbuf *changed, struct strbuf *restart)
{
    config_compare(run->config, fresh, changed, restart);
    log_set_level(run->log, level);
    run->daemon->reload(run->state, fresh);
    config_destroy(run->config);
    run->config = fresh;
    run->env.config = fresh;
    log_info(run->log, "config.reloaded", "new configuration in use",
             LOG_TEXT("changed", strbuf_text(changed)),
             LOG_TEXT("after_restart", strbuf_text(restart)));
    log_unknown(run);
}

static int may_change(const struct daemon_env *env, struct err *err)
{
    if (env->run == NULL || env->run->daemon->reload == NULL || env->run->state == NULL) {
        return err_set(err, -ENOTSUP, "this daemon reads a new configuration at a restart only");
    }
    return 0;
}

int daemon_reload(const struct daemon_env *env, struct strbuf *changed, struct strbuf *restart,
                  struct err *err)
{
    struct daemon_run *run = env->run;
    struct config *fresh = NULL;
    enum log_level level = LOG_LEVEL_INFO;
    struct err own = {""};
    int code = may_change(env, err);
    if (code != 0) {
        return code;
    }
    code = load_fresh(run, NULL, NULL, &fresh, &level, &own);
    if (code != 0) {
        log_error(run->log, "config.bad", own.text, LOG_TEXT("kept", "the old configuration"));
        return err_set(err, code, "%s", own.text);
    }
    take_over(run, fresh, level, changed, restart);
    return 0;
}

static void told_to_reload(void *arg)
{
    struct daemon_run *run = arg;
    struct strbuf changed, restart;
    struct err err = {""};
    strbuf_init(&changed, 0);
    strbuf_init(&restart, 0);
    int code = daemon_reload(&run->env, &changed, &restart, &err);
    if (code == -ENOTSUP) {
        log_warn(run->log, "config.restart", err.text);
    }
    strbuf_fini(&changed);
    strbuf_fini(&restart);
}

/* Reads the file of settings; nothing if there is none. */
static int read_settings(struct daemon_run *run, const char *path, char **ret, struct err *err)
{
    size_t length = 0;
    struct err own = {""};
    int code = os_read_file(run->os, path, CONFIG_FILE_MAX, ret, &length, &own);
    if (code == -ENOENT) {
        *ret = mem_strdup("");
        return 0;
    }
    if (code != 0) {
        return err_set(err, code, "%s", own.text);
    }
    if (strlen(*ret) != length) {
        return err_set(err, -EBADMSG, "%s: the value contains a zero byte", path);
    }
    return 0;
}

static int write_settings(struct daemon_run *run, const char *path, struct strbuf *text,
                          struct err *err)
{
    char *directory = mem_strdup(path);
    *strrchr(directory, '/') = '\0';
    int code = os_mkdirs(run->os, directory, 0755, err);
    mem_free(directory);
    return code != 0
               ? code
               : os_write_file(run->os, path, strbuf_text(text), text->length, 0644, true, err);
}

int daemon_set(const struct daemon_env *env, const char *name, const char *value,
               struct strbuf *changed, struct strbuf *restart, struct err *err)
{
    struct daemon_run *run = env->run;
    struct config *fresh = NULL;
    enum log_level level = LOG_LEVEL_INFO;
    struct strbuf text;
    char *now = NULL;
    int code = may_change(env, err);
    if (code != 0) {
        return code;
    }
    const char *path = config_settings_path(run->config);
    if (path == NULL) {
        return err_set(err, -EPERM,
                       "the configuration here does not allow settings at run time "
                       "(ENABLE_PERSISTENT_CONFIG is false)");
    }
    strbuf_init(&text, 0);
    /* A name that no version of us knows any more can still be taken back. */
    code = value != NULL ? config_settings_may_name(run->config, name, err) : 0;
    code = code != 0 ? code : read_settings(run, path, &now, err);
    code = code != 0 ? code : config_settings_edit(path, now, name, value, &text, err);
    code = code != 0 ? code : load_fresh(run, strbuf_text(&text), NULL, &fresh, &level, err);
    if (code == 0) {
        code = write_settings(run, path, &text, err);
        if (code == 0) {
            take_over(run, fresh, level, changed, restart);
        } else {
            config_destroy(fresh);
        }
    }
    mem_free(now);
    strbuf_fini(&text);
    return code;
}

/* ---- life ------------------------------------------------------------------------------------ */

void *daemon_run_state(const struct daemon_run *run)
{
    return run->state;
}

struct log *daemon_run_log(const struct daemon_run *run)
{
    return run->log;
}

static int start_daemon(struct daemon_run *run, const struct log_sink *sink, int argc,
                        char *const *argv, struct err *err)
{
    int code = load_config(run, NULL, &run->config, err);
    if (code != 0) {
        return EXIT_NOT_STARTED;
    }
    code = take_lock(run, err);
    if (code != 0) {
        return code == -EAGAIN ? EXIT_LOCKED : EXIT_NOT_STARTED;
    }
    code = open_log(run, sink, err);
    if (code != 0) {
        return EXIT_NOT_STARTED;
    }
    log_info(run->log, "daemon.start", "starts", LOG_INT("pid", os_pid(run->os)),
             LOG_TEXT("version", ROOST_VERSION),
             LOG_TEXT("config",
                      config_file_count(run->config) > 0 ? config_file(run->config, 0) : NULL));
    log_unknown(run);
    run->env = (struct daemon_env){.loop = run->loop,
                                   .os = run->os,
                                   .log = run->log,
                                   .config = run->config,
                                   .name = run->name,
                                   .argc = argc - run->options.first,
                                   .argv = argv + run->options.first,
                                   .run = run};
    const struct daemon_checking checking = {.os = run->os,
                                             .config = run->config,
                                             .doubt = log_doubt,
                                             .arg = run};
    code = check_whole(run, &checking, err);
    code = code != 0 ? code : write_pidfile(run, err);
    if (code == 0) {
        code = run->daemon->start(&run->env, &run->state, err);
        CHECK(code <= 0);
    }
    if (code != 0) {
        run->state = NULL;
        log_error(run->log, "daemon.start", err->text);
        return EXIT_NOT_STARTED;
    }
    loop_on_signal(run->loop, SIGTERM, told_to_stop, run);
    loop_on_signal(run->loop, SIGINT, told_to_stop_all, run);
    loop_on_signal(run->loop, SIGPWR, told_to_stop_host, run);
    loop_on_signal(run->loop, SIGQUIT, told_to_end, run);
    loop_on_signal(run->loop, SIGHUP, told_to_reload, run);
    if (!run->options.no_resurrect && strcmp(run->daemon->name, "master") != 0) {
        run->guard = daemon_guard_create(run->loop, run->os, run->log, run->config);
    }
    os_lock_note(run->lock, "ready");
    return 0;
}

int daemon_run_check(const struct daemon *daemon, struct loop *loop, struct os *os, int argc,
                     char *const *argv, void (*doubt)(void *arg, const char *text), bool *asked,
                     struct err *err)
{
    struct daemon_run run = {.daemon = daemon, .loop = loop, .os = os};
    struct config *config = NULL;
    enum log_level level;
    int code = parse_options(argc, argv, &run.options, err);
    *asked = code == 0 && run.options.check;
    if (!*asked) {
        return 0; /* what is wrong with the options is said at the start */
    }
    set_names(&run);
    code = load_fresh(&run, NULL, doubt, &config, &level, err);
    config_destroy(config);
    return code;
}

int daemon_run_start(const struct daemon *daemon, struct loop *loop, struct os *os,
                     const struct log_sink *sink, int argc, char *const *argv,
                     struct daemon_run **ret, struct err *err)
{
    struct err own = {""};
    struct daemon_run *run = mem_zalloc(sizeof(*run));
    run->daemon = daemon;
    run->loop = loop;
    run->os = os;
    int status = EXIT_NOT_STARTED;
    if (parse_options(argc, argv, &run->options, &own) == 0) {
        set_names(run);
        status = start_daemon(run, sink, argc, argv, &own);
    }
    if (status != 0) {
        daemon_run_destroy(run);
        (void)err_set(err, status, "%s", own.text);
        return status;
    }
    *ret = run;
    return 0;
}

void daemon_run_destroy(struct daemon_run *run)
{
    if (run == NULL) {
        return;
    }
    guard_stop(run);
    if (run->state != NULL) {
        run->daemon->destroy(run->state);
    }
    if (run->lock != NULL && run->options.pidfile != NULL) {
        (void)os_remove(run->os, run->options.pidfile, NULL); /* a stale one harms nobody */
    }
    log_info(run->log, "daemon.ended", "ends");
    log_destroy(run->log);
    loop_timer_destroy(run->log_timer);
    os_unlock(run->lock);
    config_destroy(run->config);
    mem_free(run);
}
