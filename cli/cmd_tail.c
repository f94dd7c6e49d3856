/* cli/cmd_tail.c - `roost tail`: shows files of a running job, like condor_tail.
 *
 * One request for each file is at the starter at a time, and the starter answers when the file has
 * more; so following a file costs nothing while nothing happens.  After a lost connection, each
 * file continues where its output ended.  Following ends when the job ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/access.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "wire/wire.h"

#define TAIL_BYTES  1024 /* shown of each file at first, like condor_tail */
#define WAIT_MS     15000
#define RETRY_MS    300
#define PATIENCE_MS 60000 /* longest wait for a starter that is not connected */
#define NOT_YET_MS  1000  /* pause between tries while the job does not run yet */
#define TAIL_FILES  64

struct tail;

enum tail_stream { /* the stream of the job that is shown before the named files */
                   TAIL_STDOUT,
                   TAIL_NO_STREAM, /* -no-stdout */
                   TAIL_STDERR,    /* -stderr, with or without -no-stdout */
};

struct tailed {
    struct tail *tail;
    const char *name; /* file name, borrowed; NULL: standard output or error */
    int stream;
    int64_t offset; /* where to read next; negative: so far from the end, which is not known yet */
    bool asked, over, seen;
};

struct tail {
    struct cli *cli;
    char job_id[64];
    bool follow, auto_retry, is_debug;
    enum tail_stream stream;
    int64_t max_bytes;
    struct vec names; /* file names of the command line; borrowed */
    struct tailed files[TAIL_FILES];
    size_t count;
    const struct tailed *shown; /* the file whose bytes were written last */
    struct wire *wire;
    bool wake;
    int failed; /* negative errno of a failed request; passing errors are tried again */
    char why[ERR_TEXT_MAX];
    int status;
};

/* ---- answers */

static const char *file_title(const struct tailed *file)
{
    return file->name != NULL ? file->name : file->stream == 2 ? "stderr" : "stdout";
}

static void show_data(struct tailed *file, const void *data, size_t length)
{
    struct tail *tail = file->tail;
    if (length == 0) {
        return;
    }
    if (tail->count > 1 && tail->shown != file) {
        (void)printf("%s==> %s <==\n", tail->shown != NULL ? "\n" : "", file_title(file));
    }
    tail->shown = file;
    (void)fwrite(data, 1, length, stdout); /* a failure is seen at the flush */
    if (fflush(stdout) != 0) {
        tail->failed = -EIO;
        (void)snprintf(tail->why, sizeof tail->why, "cannot write to standard output");
    }
}

static void take_answer(void *arg, struct wire_reply *reply)
{
    struct tailed *file = arg;
    struct tail *tail = file->tail;
    file->asked = false;
    tail->wake = true;
    if (reply->status != 0) {
        if (tail->failed == 0) {
            tail->failed = reply->status;
            (void)snprintf(tail->why, sizeof tail->why, "%s", reply->text);
        }
        return;
    }
    const struct ad *args = reply->args;
    bool exists = args == NULL || ad_bool_or(args, "Exists", true);
    bool ended = args != NULL && ad_bool_or(args, "Ended", false);
    if (exists && args != NULL) {
        if (ad_bool_or(args, "Truncated", false)) {
            (void)fprintf(stderr, "roost tail: %s became shorter\n", file_title(file));
        }
        file->seen = true;
        file->offset = ad_int_or(args, "Offset", 0) + (int64_t)reply->blob_length;
        show_data(file, reply->blob, reply->blob_length);
    }
    bool all = args != NULL && file->offset >= ad_int_or(args, "Size", 0);
    file->over = ended || (!tail->follow && (!exists || all));
    if (file->over && !file->seen) {
        (void)cli_fail(tail->cli, "job %s has no file '%s'", tail->job_id, file_title(file));
        tail->status = CLI_FAILED;
    }
}

static void ask_for_data(struct tailed *file)
{
    struct tail *tail = file->tail;
    struct ad *args = ad_create();
    if (file->name != NULL) {
        ad_set_string(args, "Name", file->name);
    } else {
        ad_set_int(args, "Stream", file->stream);
    }
    ad_set_int(args, "Offset", file->offset);
    ad_set_int(args, "WaitMs", tail->follow ? WAIT_MS : 0);
    const struct wire_body body = {.args = args};
    int64_t rc = wire_call(tail->wire, VERB_FILE_PEEK, &body, 0, take_answer, file);
    file->asked = rc >= 0;
    if (rc < 0) {
        tail->failed = (int)rc;
    }
    ad_destroy(args);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static bool is_over(const struct tail *tail)
{
    for (size_t i = 0; i < tail->count; i++) {
        if (!tail->files[i].over) {
            return false;
        }
    }
    return true;
}

/* Connects to the shadow.  With -auto-retry, waits for a job that does not run yet. */
static int reach_shadow(struct tail *tail, struct err *err)
{
    int rc;
    while ((rc = access_run(tail->cli, "Tail", tail->job_id, &tail->wire, err)) == -ESRCH &&
           tail->auto_retry && !tail->files[0].seen) {
        cli_pause(tail->cli, NOT_YET_MS);
    }
    return rc;
}

static int look_once(struct tail *tail, struct err *err)
{
    if (tail->wire == NULL) {
        int rc = reach_shadow(tail, err);
        if (rc != 0) {
            return rc;
        }
    }
    tail->failed = 0;
    for (size_t i = 0; i < tail->count && tail->failed == 0; i++) {
        if (!tail->files[i].over && !tail->files[i].asked) {
            ask_for_data(&tail->files[i]);
        }
    }
    tail->wake = tail->failed != 0;
    loop_run_until(tail->cli->loop, &tail->wake);
    return tail->failed == 0 ? 0 : err_set(err, tail->failed, "%s", tail->why);
}

static int follow_files(struct tail *tail)
{
    struct err err;
    uint64_t since_ms = loop_now_ms(tail->cli->loop);
    while (!is_over(tail)) {
        int rc = look_once(tail, &err);
        if (rc == 0) {
            since_ms = loop_now_ms(tail->cli->loop);
            continue;
        }
        bool began = false;
        for (size_t i = 0; i < tail->count; i++) {
            began = began || tail->files[i].seen;
        }
        /* It ran when we began, and does not any more. */
        if (tail->follow && began && (rc == -ESRCH || rc == -ENOENT)) {
            return tail->status;
        }
        bool passing = access_is_passing(rc) || (began && rc == -ECONNREFUSED);
        if (!passing || loop_now_ms(tail->cli->loop) - since_ms > PATIENCE_MS) {
            return cli_fail(tail->cli, "%s", err.text);
        }
        if (tail->is_debug) {
            (void)fprintf(stderr, "roost tail: %s; retrying\n", err.text);
        }
        cli_pause(tail->cli, RETRY_MS);
    }
    return tail->status;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int read_option(struct tail *tail, int *at)
{
    struct cli *cli = tail->cli;
    const char *arg = cli->argv[*at];
    struct err err;
    if (listing_is(arg, "follow", 1)) {
        tail->follow = true;
    } else if (listing_is(arg, "stderr", 1)) {
        tail->stream = TAIL_STDERR;
    } else if (listing_is(arg, "no-stdout", 2)) {
        tail->stream = tail->stream == TAIL_STDERR ? TAIL_STDERR : TAIL_NO_STREAM;
    } else if (listing_is(arg, "auto-retry", 1)) {
        tail->auto_retry = true;
    } else if (listing_is(arg, "debug", 1)) {
        tail->is_debug = true;
    } else if (listing_is(arg, "maxbytes", 1)) {
        if (*at + 1 >= cli->argc) {
            return cli_usage(cli, "-maxbytes needs a number");
        }
        if (text_parse_int64(cli->argv[++*at], &tail->max_bytes, &err) != 0 ||
            tail->max_bytes < 0) {
            return cli_usage(cli, "-maxbytes: '%s' is not a number of bytes", cli->argv[*at]);
        }
    } else {
        return cli_unknown(cli, arg);
    }
    return CLI_OK;
}

static void add_file(struct tail *tail, const char *name, int stream)
{
    tail->files[tail->count++] =
        (struct tailed){.tail = tail, .name = name, .stream = stream, .offset = -tail->max_bytes};
}

static int parse_options(struct tail *tail)
{
    struct cli *cli = tail->cli;
    struct err err;
    for (int i = 1; i < cli->argc; i++) {
        if (cli->argv[i][0] == '-') {
            int status = read_option(tail, &i);
            if (status != CLI_OK) {
                return status;
            }
        } else if (tail->job_id[0] != '\0') {
            vec_push(&tail->names, cli->argv[i]);
        } else if (access_job_id(cli->argv[i], tail->job_id, sizeof tail->job_id, &err) != 0) {
            return cli_usage(cli, "%s", err.text);
        }
    }
    if (tail->job_id[0] == '\0') {
        return cli_usage(cli, "no job named");
    }
    if (tail->names.count > TAIL_FILES - 2) {
        return cli_usage(cli, "more than %d files", TAIL_FILES - 2);
    }
    if (tail->stream == TAIL_STDERR) {
        add_file(tail, NULL, 2);
    } else if (tail->stream == TAIL_STDOUT) {
        add_file(tail, NULL, 1);
    }
    for (size_t i = 0; i < tail->names.count; i++) {
        add_file(tail, tail->names.items[i], 0);
    }
    return tail->count > 0 ? CLI_OK : cli_usage(cli, "-no-stdout needs the name of a file");
}

int cmd_tail(struct cli *cli)
{
    struct tail *tail = mem_zalloc(sizeof *tail);
    tail->cli = cli;
    tail->max_bytes = TAIL_BYTES;
    int status = parse_options(tail);
    status = status == CLI_OK ? follow_files(tail) : status;
    vec_fini(&tail->names, NULL);
    wire_close(tail->wire);
    mem_free(tail); /* the connections end before the loop turns again */
    return status;
}
