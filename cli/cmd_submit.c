/* cli/cmd_submit.c - `roost submit`: from a submit file to jobs in the schedd's queue.
 *
 * The jobs of one file are one cluster.  What all of them share is sent once, with the first job's
 * ad; for each other job only what differs is sent.  The command returns after the schedd has made
 * the jobs durable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/act_plan.h"
#include "cli/cli.h"
#include "cli/spool_send.h"
#include "cli/submit_host.h"
#include "submit/submit_command.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"
#include "wire/wire.h"

#define SUBMIT_CALL_MS 60000
/* Most jobs in one request (not above WIRE_ADS_MAX), and most bytes of their ads if they are more
 * than one: the schedd's loop decodes a request in one go. */
#define SUBMIT_CALL_ADS   4000
#define SUBMIT_CALL_BYTES ((size_t)4 << 20)

/* The submit description file, and what the command line adds to it. */
struct description {
    const char *path;            /* "-": standard input */
    bool is_absent;              /* no file was given: an interactive job needs none */
    const char *queue;           /* value of -queue; NULL: none */
    struct strbuf before, after; /* name=value words of the command line; values of -append */
    unsigned queue_line;         /* line number of the last queue statement */
};

/* A cluster whose jobs the schedd makes one by one: max_materialize or max_idle. */
struct later {
    bool is_asked;
    /* when is_asked: the submit file's text for the schedd, which makes the jobs; else empty */
    struct strbuf digest;
    int64_t limit;  /* value of max_materialize; -1: none */
    bool wants_env; /* the submit file has getenv */
};

struct submit {
    struct cli *cli;
    struct description description;
    const char *out; /* file of -dry-run; NULL: standard output */
    bool dry_run, terse, spool, interactive;
    bool reserve;   /* the number of the cluster is needed before the jobs are made */
    int64_t resume; /* cluster whose input is spooled again after an interruption; 0: none */
    struct submit_host host;
    /* struct ad: the first job's whole ad, then for each other job what differs; of a cluster whose
     * jobs are made later only the first */
    struct vec ads;
    struct submit_common common; /* of the jobs of the present queue statement */
    struct later later;
    int64_t cluster;
};

/* ---- reading */

static int one_job(struct submit *submit, struct submit_file *file, int64_t proc, struct err *err)
{
    struct ad *ad;
    const struct ad *first = submit->ads.count > 0 ? submit->ads.items[0] : NULL;
    int rc = submit_job_make(file, submit->description.path, &submit->host.place, proc, first,
                             &submit->common, &ad, err);
    if (rc == 0) {
        vec_push(&submit->ads, ad);
        submit->reserve = submit->reserve || submit_file_uses_cluster(file);
    }
    return rc;
}

/* With max_materialize, so many first jobs are made here too, so that the owner sees errors at
 * once. */
#define LATER_CHECKED 10000

/* Reads a file with max_materialize or max_idle, whose jobs the schedd makes one after another. */
static int read_later(struct submit *submit, struct submit_file *file, struct err *err)
{
    int64_t count = submit_file_jobs(file);
    int64_t checked = submit->dry_run ? 1 : LATER_CHECKED;
    int rc = 0;
    submit->later.wants_env =
        submit_file_line(file, "getenv") != 0 || submit_file_line(file, "get_env") != 0;
    strbuf_clear(&submit->later.digest);
    submit_file_digest(file, &submit->later.digest);
    for (int64_t i = 0; i < count && i < checked && rc == 0; i++) {
        submit_file_select(file, i, i);
        rc = one_job(submit, file, i, err);
        if (i > 0 && rc == 0) {
            ad_destroy(submit->ads.items[1]);
            vec_remove_at(&submit->ads, 1);
        }
    }
    return rc == 0 && submit->later.digest.failed
               ? err_set(err, -EINVAL,
                         "%s: with max_materialize or max_idle the items of the queue statement "
                         "must be smaller than 15 MiB",
                         submit->description.path)
               : rc;
}

static int one_statement(struct submit *submit, struct submit_file *file, struct err *err)
{
    int64_t count = submit_file_jobs(file);
    int rc = 0;
    if (submit->ads.count == 0 && count > 0) {
        submit_file_select(file, 0, 0);
        rc = submit_job_is_late(file, &submit->later.is_asked, &submit->later.limit, err);
        rc = rc != 0 ? err_prefix(err, rc, "%s", submit->description.path) : 0;
    }
    if (rc == 0 && submit->later.is_asked) {
        return submit_file_queue_count(file) > 1
                   ? err_set(err, -EINVAL,
                             "%s: Extra data found after queue statement: with max_materialize or "
                             "max_idle there can be one queue statement only",
                             submit->description.path)
                   : read_later(submit, file, err);
    }
    if (rc == 0 && submit_file_queue_count(file) == 2) {
        (void)fprintf(stderr, "WARNING: Use of multiple queue statements in a single submit file "
                              "is deprecated.\n");
    }
    for (int64_t i = 0; rc == 0 && i < count; i++) {
        submit_file_select(file, i, (int64_t)submit->ads.count);
        rc = one_job(submit, file, (int64_t)submit->ads.count, err);
    }
    return rc;
}

/* Warns about settings that nothing read: misspelt commands or forgotten macros. */
static void warn_unused(const struct submit_file *file)
{
    size_t at = 0;
    const char *name, *value;
    unsigned line;
    while (submit_file_unused(file, &at, &name, &value, &line)) {
        const char *nearest = command_nearest(name);
        if (command_find(name) != NULL) {
            continue;
        }
        (void)fprintf(stderr,
                      "WARNING: the line '%s = %s' was unused by condor_submit. Is it a typo?",
                      name, value);
        (void)fprintf(stderr, nearest != NULL ? " Did you mean %s?\n" : "\n", nearest);
    }
}

static int read_all(struct submit *submit, const char *text, bool warns, struct err *err)
{
    const struct submit_source source = {.name = submit->description.path,
                                         .text = text,
                                         .first = strbuf_text(&submit->description.before),
                                         .append = strbuf_text(&submit->description.after),
                                         .queue = submit->description.queue};
    struct submit_file *file = submit_file_open(&source, &submit->host.world);
    int rc;
    vec_fini(&submit->ads, ad_destroy_item);
    submit->ads = (struct vec){0};
    submit->common = (struct submit_common){0};
    if (submit->cluster > 0 || submit->dry_run) {
        submit_file_set_cluster(file, submit->cluster > 0 ? submit->cluster : 1);
    }
    while ((rc = submit_file_read(file, err)) > 0) {
        rc = one_statement(submit, file, err);
        if (rc < 0) {
            break;
        }
    }
    if (rc == 0 && submit_file_queue_count(file) == 0) {
        /* HTCondor's dry run shows the job that a file without a queue statement describes. */
        rc = submit->dry_run ? one_job(submit, file, 0, err)
                             : err_set(err, -EINVAL, "%s: no queue statement, so no job to submit",
                                       submit->description.path);
    }
    submit->description.queue_line = submit_file_queue_line(file);
    if (rc == 0 && warns && submit->ads.count > 0) {
        warn_unused(file);
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
    if (text->failed) {
        return err_set(err, -E2BIG, "standard input is too long");
    }
    strbuf_puts(text, "");
    return submit_host_check_text("standard input", text->data, &text->length, err);
}

static int load_text(struct submit *submit, struct strbuf *text, struct err *err)
{
    strbuf_init(text, SUBMIT_FILE_MAX);
    strbuf_puts(text, submit->description.is_absent && submit->description.queue == NULL ? "queue\n"
                                                                                         : "");
    if (submit->description.is_absent) {
        return 0;
    }
    if (strcmp(submit->description.path, "-") == 0) {
        return read_stdin(text, err);
    }
    char *file;
    int rc = submit->host.world.read(submit->host.world.arg, submit->description.path, &file, err);
    if (rc == 0) {
        strbuf_puts(text, file);
        mem_free(file);
    }
    return rc;
}

/* ---- an interactive job: it only holds the slot for its owner's shell */

/* The program does nothing.  The starter ends the job when its owner's last shell has ended, or
 * when no shell was opened in time (starter/shell.c). */
static const char INTERACTIVE[] =
    "executable = /bin/sh\n"
    "transfer_executable = false\n"
    "arguments = \"-c 'trap ''exit 0'' TERM; sleep 2147483647 & wait'\"\n"
    "description = interactive job\n"
    "My.InteractiveJob = true\n";

static int check_interactive(const struct submit *submit, struct err *err)
{
    if (submit->spool || submit->later.is_asked || submit->ads.count != 1) {
        return err_set(err, -EINVAL,
                       submit->ads.count > 1 || submit->later.is_asked
                           ? "-interactive takes one job, but the queue statement makes more"
                           : "-interactive cannot be combined with -spool or -remote");
    }
    return 0;
}

static int go_there(const struct submit *submit)
{
    char id[64];
    (void)snprintf(id, sizeof id, "%lld.0", (long long)submit->cluster);
    (void)printf("Waiting for job to start...\n");
    (void)fflush(stdout);
    return ssh_when_it_runs(submit->cli, id);
}

/* ---- sending */

static int reserve_cluster(struct submit *submit, struct err *err)
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

/* The attributes of the whole cluster: the first job's ad without what belongs to one job or is set
 * by the schedd.  Owned by the caller. */
static struct ad *cluster_ad(const struct submit *submit)
{
    static const char *const OWN[] = {"ProcId", "JobStatus", "HoldReason", "HoldReasonCode",
                                      "Owner"};
    struct ad *ad = ad_copy(submit->ads.items[0]);
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++) {
        ad_remove(ad, OWN[i]);
    }
    return ad;
}

static struct ad *own_ad(const struct submit *submit, size_t index)
{
    struct ad *ad = index > 0 ? ad_copy(submit->ads.items[index]) : ad_create();
    bool held = ad_int_or(submit->ads.items[index], "JobStatus", 1) == 5;
    ad_remove(ad, "ProcId");
    ad_remove(ad, "JobStatus");
    if (held) {
        ad_set_int(ad, "JobStatus", 5);
    }
    return ad;
}

/* Returns how many jobs, beginning with the one at index `at`, are sent in one request. */
static size_t part_of(const struct submit *submit, size_t at)
{
    size_t bytes = 0, count = 0;
    while (at + count < submit->ads.count && count < SUBMIT_CALL_ADS) {
        /* What the first job has is in the cluster's ad. */
        bytes += at + count > 0 ? ad_encoded_bytes(submit->ads.items[at + count]) : 0;
        if (count > 0 && bytes > SUBMIT_CALL_BYTES) {
            break;
        }
        count++;
    }
    return count;
}

static int send_part(struct submit *submit, const struct ad *args, size_t from, size_t count,
                     int64_t *last, struct err *err)
{
    struct ad **own = mem_alloc((count + 1) * sizeof *own);
    struct cli_reply reply;
    for (size_t i = 0; i < count; i++) {
        own[i] = own_ad(submit, from + i);
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
    if (rc == -E2BIG || rc == -EINVAL) {
        rc = err_prefix(err, rc, "%s", submit->description.path);
    }
    if (rc == -ECONNRESET || rc == -ETIMEDOUT) {
        char why[ERR_TEXT_MAX];
        (void)snprintf(why, sizeof why, "%s", err->text);
        rc = err_set(
            err, rc,
            "%s; the jobs may have been submitted: check with `roost q` before you submit again",
            why);
    }
    cli_reply_fini(&reply);
    for (size_t i = 0; i < count; i++) {
        ad_destroy(own[i]);
    }
    mem_free(own);
    return rc;
}

static int print_submitted(const struct submit *submit, int64_t last)
{
    struct cli *cli = submit->cli;
    struct strbuf out;
    if (!submit->terse && os_uid(cli->os) == 0 && cli_schedd_is_local(cli)) {
        (void)fprintf(stderr,
                      "NOTE: jobs never run as root; these jobs run under the account %s "
                      "(SUBMIT_ROOT_AS), which must be able to read and write their files\n",
                      submit->host.user);
    }
    strbuf_init(&out, 0);
    act_plan_submitted(last + 1, submit->cluster, submit->terse, &out);
    (void)fputs(strbuf_text(&out), stdout);
    strbuf_fini(&out);
    return 0;
}

#define DIGEST_PART ((size_t)900 << 10) /* bytes of one string */

/* The place of submission, for values of the submit file that depend on it: directory, platform,
 * user, environment.  Owned by the caller. */
static struct ad *digest_place(struct submit *submit)
{
    const struct submit_place *place = &submit->host.place;
    struct ad *ad = ad_create();
    ad_set_string(ad, "Cwd", place->cwd);
    ad_set_string(ad, "File", place->file);
    ad_set_string(ad, "Arch", place->arch);
    ad_set_string(ad, "OpSys", place->opsys);
    if (place->user != NULL) {
        ad_set_string(ad, "User", place->user);
    }
    ad_set_string(ad, "FileSystemDomain", place->filesystem_domain);
    for (size_t i = 0; i < SUBMIT_SITE_COUNT; i++) {
        const char *value = place->site(place->arg, submit_site_knobs[i]);
        if (value != NULL) {
            ad_set_string(ad, submit_site_knobs[i], value);
        }
    }
    if (submit->later.wants_env || strstr(strbuf_text(&submit->later.digest), "$ENV(") != NULL) {
        size_t count = 0;
        while (place->env[count] != NULL) {
            count++;
        }
        ad_set_strings(ad, "Env", (const char *const *)place->env, count);
    }
    return ad;
}

/* Sends the cluster's ad and the submit file's text; the schedd makes the jobs. */
static int send_digest(struct submit *submit, int64_t *last, struct err *err)
{
    struct vec parts = {0};
    struct cli_reply reply;
    struct ad *args = cluster_ad(submit), *place = digest_place(submit);
    const char *text = strbuf_text(&submit->later.digest);
    for (size_t at = 0; at < submit->later.digest.length; at += DIGEST_PART) {
        size_t left = submit->later.digest.length - at;
        char *piece = mem_strndup(text + at, left < DIGEST_PART ? left : DIGEST_PART);
        struct ad *part = ad_create();
        ad_set_string(part, "Text", piece);
        vec_push(&parts, part);
        mem_free(piece);
    }
    if (submit->later.limit >= 0) {
        ad_set_int(args, "JobMaterializeLimit", submit->later.limit);
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
    vec_fini(&parts, ad_destroy_item);
    ad_destroy(args);
    return rc;
}

/* Sends the input files of the cluster, which is in the queue, held until they have arrived. */
static int spool_input(struct submit *submit, struct err *err)
{
    int rc = spool_send(submit->cli, submit->cluster, submit->resume > 0, err);
    if (rc != 0) {
        char why[ERR_TEXT_MAX];
        (void)snprintf(why, sizeof why, "%s", err->text);
        rc = err_set(err, rc,
                     "the input of cluster %lld was not spooled: %.300s; `roost submit -resume "
                     "%lld` continues, `roost rm %lld` removes the cluster",
                     (long long)submit->cluster, why, (long long)submit->cluster,
                     (long long)submit->cluster);
    }
    return rc;
}

static int send_all(struct submit *submit, struct err *err)
{
    int64_t last = 0;
    int rc = cli_schedd(submit->cli, err);
    if (rc == 0 && submit->later.is_asked && submit->spool) {
        return err_set(err, -EINVAL, "jobs with max_materialize or max_idle cannot be spooled");
    }
    if (rc == 0 && submit->later.is_asked) {
        rc = send_digest(submit, &last, err);
        return rc != 0 ? rc : print_submitted(submit, last);
    }
    for (size_t at = 0, count; at < submit->ads.count && rc == 0; at += count) {
        count = part_of(submit, at);
        struct ad *args = at == 0 ? cluster_ad(submit) : ad_create();
        if (at > 0) {
            ad_set_int(args, "ClusterId", submit->cluster);
        } else if (submit->cluster > 0) {
            ad_set_int(args, "ReservedClusterId", submit->cluster);
        }
        if (at == 0 && submit->ads.count > count) { /* so that limits refuse all of them or none */
            ad_set_int(args, "TotalSubmitProcs", (int64_t)submit->ads.count);
        }
        if (at == 0 && submit->spool) {
            ad_set_bool(args, "Spool", true);
        }
        rc = send_part(submit, args, at, count, &last, err);
        if (rc != 0 && at > 0) {
            rc = err_prefix(err, rc, "%zu of %zu jobs were submitted, as cluster %lld; then", at,
                            submit->ads.count, (long long)submit->cluster);
        }
        ad_destroy(args);
    }
    if (rc == 0) {
        (void)print_submitted(submit, last);
        (void)fflush(stdout); /* known, whatever becomes of its files */
    }
    return rc == 0 && submit->spool ? spool_input(submit, err) : rc;
}

/* Prints an ad as Name=expression lines, like condor_submit -dry-run. */
static void print_ad(const struct ad *ad, FILE *out, const char *before, bool is_late)
{
    size_t at = 0;
    const char *name;
    const struct ad_expr *expr;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, before);
    while (ad_next(ad, &at, &name, &expr)) {
        if (!is_late || (strcmp(name, "ProcId") != 0 && strcmp(name, "JobStatus") != 0)) {
            strbuf_printf(&text, "%s=", name);
            ad_expr_print(expr, AD_OLD, &text);
            strbuf_putc(&text, '\n');
        }
    }
    (void)fputs(strbuf_text(&text), out);
    strbuf_fini(&text);
}

/* Prints the first job with the cluster's attributes, then for each other job what differs.  Of a
 * cluster whose jobs are made later, prints only the cluster. */
static int print_all(const struct submit *submit, struct err *err)
{
    FILE *out = submit->out != NULL ? fopen(submit->out, "w") : stdout;
    if (out == NULL) {
        return err_set(err, -errno, "%s: %s", submit->out, strerror(errno));
    }
    for (size_t i = 0; i < submit->ads.count; i++) {
        print_ad(submit->ads.items[i], out, i == 0 ? "ClusterId=1\n" : "\n",
                 submit->later.is_asked);
    }
    if (submit->out != NULL && fclose(out) != 0) {
        return err_set(err, -errno, "%s: %s", submit->out, strerror(errno));
    }
    return 0;
}

/* ---- arguments */

static int parse_options(struct submit *submit)
{
    struct cli *cli = submit->cli;
    struct err err;
    for (int i = 1; i < cli->argc; i++) {
        const char *arg = cli->argv[i], *next = i + 1 < cli->argc ? cli->argv[i + 1] : NULL;
        const char *option = arg[0] == '-' && arg[1] == '-' ? arg + 1 : arg;
        if (strcmp(arg, "--dry-run") == 0) {
            submit->dry_run = true;
        } else if (strcmp(arg, "-dry-run") == 0 && next != NULL) {
            submit->dry_run = true; /* HTCondor's, with the file for the ads */
            submit->out = strcmp(next, "-") == 0 ? NULL : next;
            i++;
        } else if ((strcmp(option, "-batch-name") == 0) && next != NULL) {
            strbuf_printf(&submit->description.after, "batch_name = %s\n", next);
            i++;
        } else if (strcmp(option, "-spool") == 0) {
            submit->spool = true;
        } else if ((strcmp(option, "-remote") == 0 || strcmp(option, "-r") == 0) && next != NULL) {
            cli->remote_schedd = next;
            submit->spool = true;
            i++;
        } else if (strcmp(option, "-resume") == 0 && next != NULL) {
            if (text_parse_int64(next, &submit->resume, &err) != 0 || submit->resume < 1) {
                return cli_usage(cli, "-resume: '%s' is not a cluster number", next);
            }
            i++;
        } else if (strcmp(option, "-interactive") == 0 || strcmp(option, "-i") == 0) {
            submit->interactive = true;
        } else if (strcmp(option, "-terse") == 0) {
            submit->terse = true;
        } else if ((strcmp(option, "-append") == 0 || strcmp(option, "-a") == 0) && next != NULL) {
            strbuf_printf(&submit->description.after, "%s\n", next);
            i++;
        } else if ((strcmp(option, "-queue") == 0 || strcmp(option, "-q") == 0) && next != NULL) {
            submit->description.queue = next;
            i++;
        } else if (arg[0] == '-' && arg[1] != '\0') {
            bool needs_value =
                next == NULL &&
                (strcmp(option, "-dry-run") == 0 || strcmp(option, "-batch-name") == 0 ||
                 strcmp(option, "-remote") == 0 || strcmp(option, "-r") == 0 ||
                 strcmp(option, "-resume") == 0 || strcmp(option, "-append") == 0 ||
                 strcmp(option, "-a") == 0 || strcmp(option, "-queue") == 0 ||
                 strcmp(option, "-q") == 0);
            return needs_value ? cli_usage(cli, "%s needs a value", arg) : cli_unknown(cli, arg);
        } else if (submit->description.path == NULL && strchr(arg, '=') == NULL) {
            submit->description.path = arg;
        } else if (strchr(arg, '=') != NULL) {
            strbuf_printf(&submit->description.before, "%s\n", arg);
        } else {
            return cli_usage(cli, "only one submit file at a time: %s, %s",
                             submit->description.path, arg);
        }
    }
    submit->description.is_absent = submit->description.path == NULL && submit->interactive;
    if (submit->description.path == NULL) {
        submit->description.path = "-";
    }
    strbuf_puts(&submit->description.after, submit->interactive ? INTERACTIVE : "");
    return 0;
}

static int run_submit(struct submit *submit, struct err *err)
{
    struct strbuf text;
    int rc = submit_host_init(&submit->host, submit->cli, submit->description.path,
                              !submit->dry_run, err);
    submit->host.is_spooled = submit->spool;
    if (rc != 0) {
        submit_host_fini(&submit->host);
        return rc;
    }
    submit->host.place.obeyed_only = !submit->dry_run;
    rc = load_text(submit, &text, err);
    rc = rc != 0 ? rc : read_all(submit, strbuf_text(&text), true, err);
    if (rc == 0 && submit->reserve && !submit->dry_run) {
        rc = reserve_cluster(submit, err); /* $(ClusterId) is used: it must be known before */
        rc = rc != 0 ? rc : read_all(submit, strbuf_text(&text), false, err);
    }
    rc = rc == 0 && submit->interactive ? check_interactive(submit, err) : rc;
    if (rc == 0 && submit->dry_run) {
        rc = print_all(submit, err);
    } else if (rc == 0 && submit->ads.count == 0) {
        rc = err_set(err, -EINVAL, "%s:%u: the queue statement makes no job",
                     submit->description.path, submit->description.queue_line);
    } else if (rc == 0) {
        rc = send_all(submit, err);
    }
    strbuf_fini(&text);
    submit_host_fini(&submit->host);
    return rc;
}

int cmd_submit(struct cli *cli)
{
    struct submit submit = {.cli = cli};
    struct err err;
    strbuf_init(&submit.description.before, 0);
    strbuf_init(&submit.description.after, 0);
    strbuf_init(&submit.later.digest, (size_t)15 << 20);
    int status = parse_options(&submit);
    if (status == 0 && submit.resume > 0) {
        submit.cluster = submit.resume;
        status = spool_input(&submit, &err) != 0 ? cli_fail(cli, "%s", err.text) : CLI_OK;
    } else if (status == 0 && run_submit(&submit, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (status == 0 && submit.interactive && !submit.dry_run) {
        status = go_there(&submit);
    }
    vec_fini(&submit.ads, ad_destroy_item);
    strbuf_fini(&submit.description.before);
    strbuf_fini(&submit.description.after);
    strbuf_fini(&submit.later.digest);
    return status;
}
