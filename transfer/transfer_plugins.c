/* transfer/transfer_plugins.c - see transfer_plugins.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transfer/transfer_plugins.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "transfer/transfer_names.h"

#define ANSWER_MS        20000
#define ANSWER_BYTES_MAX ((size_t)64 << 10)

static const char *const CURL_METHODS[] = {"ftp", "http", "https"};

struct method {
    char *name, *path;
    bool is_curl, takes_several;
};

struct transfer_plugins {
    struct os *os;
    struct log *log;
    struct loop_timer *late; /* kills a program that does not answer */
    uint64_t answer_ms;
    bool is_late;
    struct vec paths; /* programs to be asked */
    size_t at;
    char *scratch;
    struct vec methods; /* struct method */
    pid_t pid;          /* the program that is being asked; 0: none */
    void (*ready)(void *arg);
    void *arg;
};

static void method_destroy(void *value)
{
    struct method *method = value;
    mem_free(method->name);
    mem_free(method->path);
    mem_free(method);
}

static void add_method(struct transfer_plugins *plugins, const char *name, const char *path,
                       bool is_curl, bool takes_several)
{
    struct method *method = mem_alloc(sizeof(*method));
    *method = (struct method){mem_strdup(name), mem_strdup(path), is_curl, takes_several};
    vec_push(&plugins->methods, method);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Reads the answer of a program that ended well.  Returns 0; or a negative errno with err. */
static int take_answer(struct transfer_plugins *plugins, const char *path, struct err *err)
{
    char *text = NULL;
    size_t length = 0, before = plugins->methods.count;
    struct ad *ad = NULL;
    int rc = os_read_file(plugins->os, plugins->scratch, ANSWER_BYTES_MAX, &text, &length, err);
    rc = rc != 0 ? rc : ad_parse_long(text, length, &ad, err);
    if (rc == 0) {
        const char *at = ad_string_or(ad, "SupportedMethods", "");
        char *name;
        while ((name = transfer_list_next(&at, ',')) != NULL) {
            if (name[0] != '\0') {
                add_method(plugins, name, path, false,
                           ad_bool_or(ad, "MultipleFileSupport", false));
            }
            mem_free(name);
        }
        ad_destroy(ad);
        rc = plugins->methods.count > before
                 ? 0
                 : err_set(err, -EINVAL, "its answer to -classad names no SupportedMethods");
    } else {
        (void)err_prefix(err, rc, "its answer to -classad");
    }
    mem_free(text);
    return rc;
}

/* Says in the log why the program that is being asked will not be used. */
static void log_unusable(struct transfer_plugins *plugins, const struct err *err)
{
    log_warn(plugins->log, "plugin.unusable", err->text,
             LOG_TEXT("program", plugins->paths.items[plugins->at]));
}

static void plugin_is_late(void *arg)
{
    struct transfer_plugins *plugins = arg;
    plugins->is_late = true;
    (void)os_kill_group(plugins->os, plugins->pid, SIGKILL); /* plugin_answered() goes on */
}

static bool ask_next(struct transfer_plugins *plugins);

static void plugin_answered(void *arg, pid_t pid, const struct os_exit *how)
{
    struct transfer_plugins *plugins = arg;
    (void)pid;
    plugins->pid = 0;
    loop_timer_stop(plugins->late);
    struct err err = {""};
    int rc;
    if (plugins->is_late) {
        rc = err_set(&err, -ETIMEDOUT, "no answer to -classad within %llu ms",
                     (unsigned long long)plugins->answer_ms);
    } else if (how->signal != 0) {
        rc = err_set(&err, -EIO, "run with -classad, it was ended by signal %d", how->signal);
    } else if (how->status != 0) {
        rc = err_set(&err, -EIO, "run with -classad, it ended with status %d", how->status);
    } else {
        rc = take_answer(plugins, plugins->paths.items[plugins->at], &err);
    }
    if (rc != 0) {
        log_unusable(plugins, &err);
    }
    plugins->at++;
    if (!ask_next(plugins) && plugins->ready != NULL) {
        plugins->ready(plugins->arg);
    }
}

/* Asks the next program.  Returns false when none is left. */
static bool ask_next(struct transfer_plugins *plugins)
{
    for (; plugins->at < plugins->paths.count; plugins->at++) {
        const char *const argv[] = {plugins->paths.items[plugins->at], "-classad", NULL};
        const struct os_spawn spec = {.argv = argv,
                                      .stdout_path = plugins->scratch,
                                      .truncate_output = true,
                                      .new_session = true,
                                      .no_new_privs = true};
        struct err err = {""};
        plugins->is_late = false;
        if (os_spawn(plugins->os, &spec, plugin_answered, plugins, &plugins->pid, &err) == 0) {
            loop_timer_set(plugins->late, plugins->answer_ms);
            return true;
        }
        plugins->pid = 0;
        log_unusable(plugins, &err);
    }
    (void)os_remove(plugins->os, plugins->scratch, NULL); /* left: small, and written over */
    return false;
}

struct transfer_plugins *transfer_plugins_create(const struct transfer_plugins_options *options)
{
    struct transfer_plugins *plugins = mem_zalloc(sizeof(*plugins));
    struct os_stat stat;
    const char *curl = options->curl;
    plugins->os = options->os;
    plugins->log = options->log;
    plugins->late = loop_timer_create(options->loop, plugin_is_late, plugins);
    plugins->answer_ms = options->answer_ms > 0 ? options->answer_ms : ANSWER_MS;
    plugins->scratch = mem_strdup(options->scratch);
    plugins->ready = options->ready;
    plugins->arg = options->arg;
    for (size_t i = 0; options->paths != NULL && options->paths[i] != NULL; i++) {
        vec_push(&plugins->paths, mem_strdup(options->paths[i]));
    }
    (void)ask_next(plugins); /* none: it is all known */
    if (curl != NULL && curl[0] == '/' && os_stat(plugins->os, curl, &stat) == 0) {
        for (size_t i = 0; i < ARRAY_COUNT(CURL_METHODS); i++) {
            add_method(plugins, CURL_METHODS[i], curl, true, false);
        }
    }
    return plugins;
}

void transfer_plugins_destroy(struct transfer_plugins *plugins)
{
    if (plugins == NULL) {
        return;
    }
    if (plugins->pid > 0) {
        os_forget(plugins->os, plugins->pid);
        (void)os_kill_group(plugins->os, plugins->pid, SIGKILL); /* gone: fine */
    }
    loop_timer_destroy(plugins->late);
    vec_fini(&plugins->paths, mem_free);
    vec_fini(&plugins->methods, method_destroy);
    mem_free(plugins->scratch);
    mem_free(plugins);
}

bool transfer_plugins_are_known(const struct transfer_plugins *plugins)
{
    return plugins->at == plugins->paths.count;
}

/* If several programs support the method, the first one is taken, and any plug-in before curl. */
bool transfer_plugins_find(const struct transfer_plugins *plugins, const char *url,
                           struct transfer_plugin *ret)
{
    size_t length = strcspn(url, ":");
    for (size_t i = 0; i < length; i++) { /* "token+https": the token concerns only the plug-in */
        if (url[i] == '+') {
            url += i + 1;
            length -= i + 1;
            i = 0;
        }
    }
    bool found = false;
    for (size_t i = 0; i < plugins->methods.count; i++) {
        const struct method *method = plugins->methods.items[i];
        if (strlen(method->name) == length && strncasecmp(method->name, url, length) == 0 &&
            (!found || (ret->is_curl && !method->is_curl))) {
            *ret = (struct transfer_plugin){method->path, method->is_curl, method->takes_several};
            found = true;
        }
    }
    return found;
}

void transfer_plugins_methods(const struct transfer_plugins *plugins, struct strbuf *ret)
{
    for (size_t i = 0; i < plugins->methods.count; i++) {
        const struct method *method = plugins->methods.items[i];
        bool again = false;
        for (size_t k = 0; k < i; k++) {
            const struct method *before = plugins->methods.items[k];
            again = again || text_equal_nocase(before->name, method->name);
        }
        if (!again) {
            strbuf_printf(ret, "%s%s", ret->length > 0 ? "," : "", method->name);
        }
    }
}
