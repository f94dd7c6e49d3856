/* cli/cmd_submit.c - `roost submit`: from a submit file to jobs in the schedd's queue.
 *
 * The jobs of one file are one cluster.  What all of them share travels once (the first job's ad);
 * of each job only what differs.  The command returns after the schedd's commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"
#include "wire/wire.h"

#define SUBMIT_CALL_MS  60000
#define SUBMIT_CALL_ADS 2000 /* jobs in one call */

struct submit {
    struct cli *cli;
    const char *path;
    const char *queue;           /* -queue */
    struct strbuf before, after; /* name=value of the command line; -append */
    bool dry_run, terse;
    char cwd[4096];
    struct submit_place place;
    char user[256];       /* "" when it has no name */
    struct vec ads;       /* one for each job; of a cluster that is made later the first only */
    struct strbuf digest; /* of such a cluster; empty: it is made now */
    int64_t later;        /* jobs of it */
    bool wants_env;       /* getenv */
    bool reserve;
    int64_t cluster;
};

static void destroy_ad(void *ad)
{
    ad_destroy(ad);
}

/* ---- the world */

static int read_file(void *arg, const char *path, char **text, struct err *err)
{
    struct submit *submit = arg;
    size_t length;
    return os_read_file(submit->cli->os, path, SUBMIT_FILE_MAX, text, &length, err);
}

struct matching {
    struct submit *submit;
    const char *directory; /* with the slash at its end; "" for the working directory */
    const char *pattern;   /* of the last component */
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
        os_stat(matching->submit->cli->os, path, &stat) == 0 &&
        (stat.is_dir ? matching->dirs : matching->files)) {
        size_t length = strlen(path);
        (void)snprintf(path + length, sizeof path - length, "%s", stat.is_dir ? "/" : "");
        vec_push(matching->names, mem_strdup(path));
    }
}

/* Patterns ('*', '?') count in the last component of a path. */
static int match(void *arg, const char *pattern, bool files, bool dirs, void *names,
                 struct err *err)
{
    struct submit *submit = arg;
    char directory[4096];
    const char *slash = strrchr(pattern, '/');
    int length = slash != NULL ? (int)(slash - pattern) + 1 : 0;
    (void)snprintf(directory, sizeof directory, "%.*s", length, pattern);
    struct matching matching = {.submit = submit,
                                .directory = directory,
                                .pattern = pattern + length,
                                .files = files,
                                .dirs = dirs,
                                .names = names};
    return os_list(submit->cli->os, length > 0 ? directory : ".", match_one, &matching, err);
}

static int look(void *arg, const char *path, bool executable, struct err *err)
{
    (void)arg;
    if (access(path, executable ? F_OK : R_OK) != 0) {
        return err_set(err, -errno, "%s: %s", path, err_code_text(-errno));
    }
    return 0;
}

/* ---- reading */

static int one_job(struct submit *submit, struct submit_file *file, struct err *err)
{
    struct ad *ad;
    int rc = submit_job_make(file, submit->path, &submit->place, &ad, err);
    if (rc == 0) {
        vec_push(&submit->ads, ad);
        submit->reserve = submit->reserve || submit_file_uses_cluster(file);
    }
    return rc;
}

static const char *environment(void *arg, const char *name)
{
    struct submit *submit = arg;
    return os_getenv(submit->cli->os, name);
}

static uint64_t random_number(void *arg)
{
    struct submit *submit = arg;
    return rng_next(loop_rng(submit->cli->loop));
}

static void warn(void *arg, const char *text)
{
    (void)arg;
    (void)fprintf(stderr, "roost submit: warning: %s\n", text);
}

/* max_materialize or max_idle: the schedd makes the jobs one by one. */
static bool is_made_later(const struct submit *submit, const struct submit_file *file)
{
    return !submit->dry_run && submit->ads.count == 0 &&
           (submit_file_line(file, "max_materialize") != 0 ||
            submit_file_line(file, "max_idle") != 0 ||
            submit_file_line(file, "materialize_max_idle") != 0);
}

/* Its first jobs are made here as well, to be seen at fault where the owner looks. */
#define LATER_CHECKED 10000

static int read_later(struct submit *submit, struct submit_file *file, struct err *err)
{
    submit->later = submit_file_jobs(file);
    if (submit->later == 0) {
        return 0;
    }
    submit->wants_env =
        submit_file_line(file, "getenv") != 0 || submit_file_line(file, "get_env") != 0;
    strbuf_clear(&submit->digest);
    submit_file_digest(file, &submit->digest);
    int rc = 0;
    for (int64_t i = 0; i < submit->later && i < LATER_CHECKED && rc == 0; i++) {
        submit_file_select(file, i, i);
        rc = one_job(submit, file, err);
        if (i > 0 && rc == 0) {
            ad_destroy(submit->ads.items[1]);
            vec_remove_at(&submit->ads, 1);
        }
    }
    rc = rc != 0 ? rc : submit_file_read(file, err);
    if (rc > 0 || (rc == 0 && submit->digest.failed)) {
        rc = err_set(err, -EINVAL, "%s: with max_materialize or max_idle %s", submit->path,
                     rc > 0 ? "there can be one queue statement only"
                            : "the items of the queue statement must be less than 15 MiB");
    }
    return rc;
}

static int read_all(struct submit *submit, const char *text, struct err *err)
{
    const struct submit_world world = {.read = read_file,
                                       .match = match,
                                       .env = environment,
                                       .random = random_number,
                                       .warn = warn,
                                       .cwd = submit->cwd,
                                       .arg = submit};
    const struct submit_source source = {.name = submit->path,
                                         .text = text,
                                         .first = strbuf_text(&submit->before),
                                         .append = strbuf_text(&submit->after),
                                         .queue = submit->queue};
    struct submit_file *file = submit_file_open(&source, &world);
    int rc;
    vec_fini(&submit->ads, destroy_ad);
    submit->ads = (struct vec){0};
    if (submit->cluster > 0) {
        submit_file_set_cluster(file, submit->cluster);
    }
    while ((rc = submit_file_read(file, err)) > 0) {
        if (is_made_later(submit, file)) {
            rc = read_later(submit, file, err);
            break;
        }
        for (int64_t i = 0; rc > 0 && i < submit_file_jobs(file); i++) {
            submit_file_select(file, i, (int64_t)submit->ads.count);
            int made = one_job(submit, file, err);
            rc = made != 0 ? made : rc;
        }
        if (rc < 0) {
            break;
        }
    }
    if (rc == 0 && submit_file_queue_count(file) == 0 && !submit->dry_run) {
        rc = err_set(err, -EINVAL, "%s: there is no queue statement: no job is made", submit->path);
    }
    submit_file_close(file);
    return rc;
}

static int read_stdin(struct strbuf *text, struct err *err)
{
    char buffer[65536];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, stdin)) > 0) {
        strbuf_append(text, buffer, got);
    }
    return text->failed ? err_set(err, -E2BIG, "standard input is too long") : 0;
}

static int load_text(struct submit *submit, struct strbuf *text, struct err *err)
{
    strbuf_init(text, SUBMIT_FILE_MAX);
    strbuf_puts(text, "");
    if (strcmp(submit->path, "-") == 0) {
        return read_stdin(text, err);
    }
    char *file;
    int rc = read_file(submit, submit->path, &file, err);
    if (rc == 0) {
        strbuf_puts(text, file);
        mem_free(file);
    }
    return rc;
}

/* ---- sending */

static int reserve(struct submit *submit, struct err *err)
{
    struct ad *args = ad_create();
    struct cli_reply reply;
    ad_set_bool(args, "Reserve", true);
    const struct wire_body body = {.args = args};
    int rc = cli_schedd(submit->cli, err);
    rc = rc != 0 ? rc
                 : cli_call(submit->cli, submit->cli->schedd, NULL, VERB_SUBMIT, &body,
                            SUBMIT_CALL_MS, &reply, err);
    if (rc == 0 && reply.args != NULL) {
        submit->cluster = ad_int_or(reply.args, "ClusterId", 0);
    }
    if (submit->cli->schedd != NULL) {
        cli_reply_fini(&reply);
    }
    ad_destroy(args);
    return rc;
}

static int send_part(struct submit *submit, const struct ad *args, size_t from, size_t count,
                     int64_t *last, struct err *err)
{
    struct ad **own = mem_alloc((count + 1) * sizeof *own);
    struct cli_reply reply;
    for (size_t i = 0; i < count; i++) {
        own[i] = submit_job_difference(submit->ads.items[from + i], submit->ads.items[0]);
    }
    const struct wire_body body = {.args = args,
                                   .ads = (const struct ad *const *)own,
                                   .ad_count = count};
    int rc = cli_call(submit->cli, submit->cli->schedd, NULL, VERB_SUBMIT, &body, SUBMIT_CALL_MS,
                      &reply, err);
    if (rc == 0 && reply.args != NULL) {
        submit->cluster = ad_int_or(reply.args, "ClusterId", 0);
        *last = ad_int_or(reply.args, "LastProcId", 0);
    }
    if (rc == -ECONNRESET || rc == -ETIMEDOUT) {
        char why[ERR_TEXT_MAX];
        (void)snprintf(why, sizeof why, "%s", err->text);
        rc = err_set(err, rc,
                     "%s; the jobs may be in the queue all the same: look with `roost q` before "
                     "you submit again",
                     why);
    }
    cli_reply_fini(&reply);
    for (size_t i = 0; i < count; i++) {
        ad_destroy(own[i]);
    }
    mem_free(own);
    return rc;
}

static int say(const struct submit *submit, int64_t last)
{
    if (submit->terse) {
        (void)printf("%lld.0 - %lld.%lld\n", (long long)submit->cluster, (long long)submit->cluster,
                     (long long)last);
    } else {
        (void)printf("Submitting job(s)");
        for (size_t i = 0; i <= (size_t)last && i < 100; i++) {
            (void)putchar('.');
        }
        (void)printf("\n%lld job(s) submitted to cluster %lld.\n", (long long)last + 1,
                     (long long)submit->cluster);
    }
    return 0;
}

#define DIGEST_PART ((size_t)900 << 10) /* bytes of one string */

/* Where the file was submitted, for the values that depend on it. */
static struct ad *digest_place(struct submit *submit)
{
    const struct submit_place *place = &submit->place;
    struct ad *ad = ad_create();
    ad_set_string(ad, "Cwd", place->cwd);
    ad_set_string(ad, "File", place->file);
    ad_set_string(ad, "Arch", place->arch);
    ad_set_string(ad, "OpSys", place->opsys);
    if (place->user != NULL) {
        ad_set_string(ad, "User", place->user);
    }
    if (submit->wants_env || strstr(strbuf_text(&submit->digest), "$ENV(") != NULL) {
        size_t count = 0;
        while (place->env[count] != NULL) {
            count++;
        }
        ad_set_strings(ad, "Env", (const char *const *)place->env, count);
    }
    return ad;
}

/* The cluster's ad and the digest: the schedd makes the jobs. */
static int send_digest(struct submit *submit, int64_t *last, struct err *err)
{
    struct vec parts = {0};
    struct cli_reply reply;
    struct ad *args = ad_copy(submit->ads.items[0]), *place = digest_place(submit);
    const char *text = strbuf_text(&submit->digest);
    for (size_t at = 0; at < submit->digest.length; at += DIGEST_PART) {
        size_t left = submit->digest.length - at;
        char *piece = mem_strndup(text + at, left < DIGEST_PART ? left : DIGEST_PART);
        struct ad *part = ad_create();
        ad_set_string(part, "Text", piece);
        vec_push(&parts, part);
        mem_free(piece);
    }
    ad_set_bool(args, "Digest", true);
    ad_set_ad(args, "DigestPlace", place);
    if (submit->cluster > 0) {
        ad_set_int(args, "ReservedClusterId", submit->cluster);
    }
    const struct wire_body body = {.args = args,
                                   .ads = (const struct ad *const *)parts.items,
                                   .ad_count = parts.count};
    int rc = cli_call(submit->cli, submit->cli->schedd, NULL, VERB_SUBMIT, &body, SUBMIT_CALL_MS,
                      &reply, err);
    if (rc == 0 && reply.args != NULL) {
        submit->cluster = ad_int_or(reply.args, "ClusterId", 0);
        *last = ad_int_or(reply.args, "LastProcId", 0);
    }
    cli_reply_fini(&reply);
    vec_fini(&parts, destroy_ad);
    ad_destroy(args);
    return rc;
}

static int send_all(struct submit *submit, struct err *err)
{
    int64_t last = 0;
    int rc = cli_schedd(submit->cli, err);
    if (rc == 0 && submit->digest.length > 0) {
        rc = send_digest(submit, &last, err);
        return rc != 0 ? rc : say(submit, last);
    }
    for (size_t at = 0; at < submit->ads.count && rc == 0; at += SUBMIT_CALL_ADS) {
        size_t count =
            submit->ads.count - at < SUBMIT_CALL_ADS ? submit->ads.count - at : SUBMIT_CALL_ADS;
        struct ad *args = at == 0 ? ad_copy(submit->ads.items[0]) : ad_create();
        if (at > 0) {
            ad_set_int(args, "ClusterId", submit->cluster);
        } else if (submit->cluster > 0) {
            ad_set_int(args, "ReservedClusterId", submit->cluster);
        }
        rc = send_part(submit, args, at, count, &last, err);
        if (rc != 0 && at > 0) {
            rc = err_prefix(err, rc, "%zu of %zu jobs are submitted, as cluster %lld; then", at,
                            submit->ads.count, (long long)submit->cluster);
        }
        ad_destroy(args);
    }
    return rc != 0 ? rc : say(submit, last);
}

static void print_all(const struct submit *submit)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < submit->ads.count; i++) {
        strbuf_clear(&text);
        ad_print_long(submit->ads.items[i], &text);
        (void)printf("ProcId=%zu\n%s\n", i, strbuf_text(&text));
    }
    strbuf_fini(&text);
}

/* ---- arguments */

static int parse(struct submit *submit)
{
    struct cli *cli = submit->cli;
    for (int i = 1; i < cli->argc; i++) {
        const char *arg = cli->argv[i], *next = i + 1 < cli->argc ? cli->argv[i + 1] : NULL;
        const char *option = arg[0] == '-' && arg[1] == '-' ? arg + 1 : arg;
        if (strcmp(option, "-dry-run") == 0) {
            submit->dry_run = true;
        } else if (strcmp(option, "-terse") == 0) {
            submit->terse = true;
        } else if ((strcmp(option, "-append") == 0 || strcmp(option, "-a") == 0) && next != NULL) {
            strbuf_printf(&submit->after, "%s\n", next);
            i++;
        } else if ((strcmp(option, "-queue") == 0 || strcmp(option, "-q") == 0) && next != NULL) {
            submit->queue = next;
            i++;
        } else if (arg[0] == '-' && arg[1] != '\0') {
            return cli_usage(cli, "'%s' is not understood, or its value is missing", arg);
        } else if (submit->path == NULL && strchr(arg, '=') == NULL) {
            submit->path = arg;
        } else if (strchr(arg, '=') != NULL) {
            strbuf_printf(&submit->before, "%s\n", arg);
        } else {
            return cli_usage(cli, "one submit file at a time: %s, %s", submit->path, arg);
        }
    }
    if (submit->path == NULL) {
        submit->path = "-";
    }
    return 0;
}

static int run(struct submit *submit, struct err *err)
{
    struct os_machine machine;
    struct strbuf text;
    extern char **environ;
    if (getcwd(submit->cwd, sizeof submit->cwd) == NULL) {
        return err_set(err, -errno, "the working directory cannot be found");
    }
    int rc = os_machine(submit->cli->os, &machine, err);
    if (rc != 0) {
        return rc;
    }
    if (os_user_name(submit->cli->os, os_uid(submit->cli->os), submit->user, sizeof submit->user,
                     NULL) != 0) {
        submit->user[0] = '\0';
    }
    submit->place = (struct submit_place){.cwd = submit->cwd,
                                          .user = submit->user[0] != '\0' ? submit->user : NULL,
                                          .file = submit->path,
                                          .arch = machine.arch,
                                          .opsys = machine.opsys,
                                          .env = environ,
                                          .look = look,
                                          .look_arg = submit};
    rc = load_text(submit, &text, err);
    if (rc == 0) {
        rc = read_all(submit, strbuf_text(&text), err);
    }
    if (rc == 0 && submit->reserve && !submit->dry_run) {
        rc = reserve(submit,
                     err); /* $(ClusterId) is used: it must be known before the ads are made */
        rc = rc != 0 ? rc : read_all(submit, strbuf_text(&text), err);
    }
    if (rc == 0 && submit->dry_run) {
        print_all(submit);
    } else if (rc == 0 && submit->ads.count == 0) {
        rc = err_set(err, -EINVAL, "%s: its queue statements make no job", submit->path);
    } else if (rc == 0) {
        rc = send_all(submit, err);
    }
    strbuf_fini(&text);
    return rc;
}

int cmd_submit(struct cli *cli)
{
    struct submit submit = {.cli = cli};
    struct err err;
    strbuf_init(&submit.before, 0);
    strbuf_init(&submit.after, 0);
    strbuf_init(&submit.digest, (size_t)15 << 20);
    int status = parse(&submit);
    if (status == 0 && run(&submit, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    }
    vec_fini(&submit.ads, destroy_ad);
    strbuf_fini(&submit.before);
    strbuf_fini(&submit.after);
    strbuf_fini(&submit.digest);
    return status;
}
