/* cli/cmd_advertise.c - `roost advertise`: sends ads to the collector, or takes them back.
 *
 * The collector decides what the caller may advertise: the scopes of the caller's token limit the
 * types of ads, the token's pattern limits their names.  One message has at most MESSAGE_ADS ads
 * and some megabytes.  The answer says how many ads the collector refused, and why it refused the
 * first of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "classad/ad_stream.h"
#include "cli/ads_text_plan.h"
#include "cli/advertise_plan.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "wire/wire.h"

#define MESSAGE_ADS   1000
#define MESSAGE_BYTES ((size_t)4 << 20)
/* Bytes from which on a text is read by two threads. */
#define HALVES_BYTES_MIN ((size_t)1 << 20)
/* Messages that the collector may have at a time: it works while the next one is made. */
#define MESSAGES_AHEAD 3

struct advertise {
    struct advertise_command command;
    const char *path; /* file of ads; NULL or "-": standard input */
    const char *pool;
    char *constraint; /* value of -constraint, with the local time zone filled in; NULL: none */
    struct vec names; /* values of -name; borrowed from argv */
    bool remove;      /* true with -delete or an INVALIDATE command */
    bool offline, absent;
    bool has_command;
    struct ad_pool *second_pool; /* of the ads that a worker thread has read */
};

/* ---- arguments */

static int take_option(struct advertise *how, const struct cli *cli, int *at, struct err *err)
{
    const char *arg = cli->argv[*at];
    const char *next = *at + 1 < cli->argc ? cli->argv[*at + 1] : NULL;
    if (listing_is(arg, "multiple", 1) || listing_is(arg, "tcp", 1) || listing_is(arg, "udp", 1)) {
        return 0; /* as many as there are, over TLS, in any case */
    }
    if (listing_is(arg, "delete", 1)) {
        how->remove = true;
    } else if (listing_is(arg, "offline", 1)) {
        how->offline = true;
    } else if (listing_is(arg, "absent", 1)) {
        how->absent = true;
    } else if (next == NULL) {
        return err_set(err, -EINVAL, "unknown argument '%s'", arg);
    } else if (listing_is(arg, "constraint", 1)) {
        ++*at;
        mem_free(how->constraint);
        how->constraint = NULL;
        return listing_plan_zoned(next, &listing_zone, &how->constraint, err);
    } else if (listing_is(arg, "name", 1)) {
        vec_push(&how->names, cli->argv[++*at]);
    } else if (listing_is(arg, "pool", 1)) {
        how->pool = next;
        ++*at;
    } else {
        return err_set(err, -EINVAL, "unknown argument '%s'", arg);
    }
    return 0;
}

/* Takes an argument that is not an option: a command, a type of ads, or the file.  The first such
 * word is the file when a file of that name exists. */
static int take_word(struct advertise *how, const struct cli *cli, const char *word,
                     struct err *err)
{
    struct os_stat stat;
    if (!how->has_command && how->path == NULL) {
        how->has_command = advertise_plan_command(word, &how->command);
        if (how->has_command) {
            how->remove = how->remove || how->command.invalidate;
            return 0;
        }
        bool is_file = strcmp(word, "-") == 0 || strchr(word, '/') != NULL ||
                       os_stat(cli->os, word, &stat) == 0;
        if (!is_file && ad_name_is_valid(word)) {
            how->has_command = true;
            how->command.type = word;
            return 0;
        }
    }
    if (how->path != NULL) {
        return err_set(err, -EINVAL, "unexpected file '%s'; only one file is allowed", word);
    }
    how->path = word;
    return 0;
}

static int parse_options(struct cli *cli, struct advertise *how)
{
    struct err err;
    for (int i = 1; i < cli->argc; i++) {
        const char *arg = cli->argv[i];
        int rc = arg[0] == '-' && arg[1] != '\0' ? take_option(how, cli, &i, &err)
                                                 : take_word(how, cli, arg, &err);
        if (rc != 0) {
            return cli_usage(cli, "%s", err.text);
        }
    }
    bool chosen = how->names.count > 0 || how->constraint != NULL;
    if (chosen && (!how->remove || how->path != NULL)) {
        return cli_usage(cli,
                         "-name and -constraint can be used only with -delete and without a file");
    }
    if (chosen && how->command.type == NULL) {
        return cli_usage(cli, "-delete needs a type of ads, for example Machine");
    }
    if ((how->offline || how->absent) && !how->remove) {
        return cli_usage(cli, "-offline and -absent can be used only with -delete");
    }
    return CLI_OK;
}

/* ---- reading */

static int read_stdin(struct strbuf *all, struct err *err)
{
    static const size_t BLOCK = 1 << 16;
    char *block = mem_alloc(BLOCK);
    size_t got;
    while (!all->failed && (got = fread(block, 1, BLOCK, stdin)) > 0) {
        strbuf_append(all, block, got);
    }
    mem_free(block);
    return all->failed          ? err_set(err, -E2BIG, "standard input is too long")
           : ferror(stdin) != 0 ? err_set(err, -EIO, "cannot read standard input")
                                : 0;
}

/* The second half of a long text, which a worker thread reads. */
struct half {
    const char *text;
    size_t length;
    struct ad_pool *pool;
    struct vec ads;
    bool is_over;
};

static int read_half(void *arg)
{
    struct half *half = arg;
    return ads_text_read(half->text, half->length, half->pool, &half->ads, NULL);
}

static void half_read(void *arg, int result)
{
    struct half *half = arg;
    if (result != 0) {
        vec_fini(&half->ads, ad_destroy_item);
    }
    half->is_over = true;
}

/* Returns where an ad begins near the middle of a text; 0: not known, or not worth it. */
static size_t middle_of(const char *text, size_t length)
{
    if (length < HALVES_BYTES_MIN || ad_form_guess(text, length) != AD_FORM_LONG) {
        return 0;
    }
    const char *empty = memmem(text + length / 2, length - length / 2, "\n\n", 2);
    return empty != NULL ? (size_t)(empty - text) + 2 : 0;
}

/* Reads the ads of a text, the halves of a long one at the same time. */
static int read_text(struct cli *cli, struct advertise *how, const char *text, size_t length,
                     struct vec *ads, struct err *err)
{
    size_t middle = middle_of(text, length);
    if (middle > 0) {
        struct half half = {.text = text + middle, .length = length - middle};
        struct loop_lane *lane = loop_lane_create(cli->loop);
        half.pool = how->second_pool = ad_pool_create();
        loop_lane_run(lane, read_half, half_read, &half);
        bool is_read = ads_text_read(text, middle, cli->pool, ads, NULL) == 0;
        loop_run_until(cli->loop, &half.is_over);
        loop_lane_destroy(lane);
        is_read = is_read && half.ads.count > 0;
        for (size_t i = 0; is_read && i < half.ads.count; i++) {
            vec_push(ads, half.ads.items[i]);
        }
        vec_fini(&half.ads, is_read ? NULL : ad_destroy_item);
        if (is_read) {
            return 0;
        }
        vec_fini(ads, ad_destroy_item); /* again, for the number and place of the bad ad */
    }
    return ads_text_read(text, length, cli->pool, ads, err);
}

static int read_ads(struct cli *cli, struct advertise *how, struct vec *ads, struct err *err)
{
    const char *path = how->path != NULL ? how->path : "-";
    bool is_stdin = strcmp(path, "-") == 0;
    int rc;
    cli->pool = cli->pool != NULL ? cli->pool : ad_pool_create(); /* as replies are, too */
    if (is_stdin) {
        struct strbuf all;
        strbuf_init(&all, ADS_TEXT_BYTES_MAX);
        rc = read_stdin(&all, err);
        rc = rc != 0 ? rc : read_text(cli, how, strbuf_text(&all), all.length, ads, err);
        strbuf_fini(&all);
    } else {
        char *text;
        size_t length;
        rc = os_read_file(cli->os, path, ADS_TEXT_BYTES_MAX, &text, &length, err);
        if (rc != 0) {
            return rc; /* names the file */
        }
        rc = read_text(cli, how, text, length, ads, err);
        mem_free(text);
    }
    if (rc == 0 && ads->count == 0) {
        rc = err_set(err, -EINVAL, "the file contains no ad");
    }
    return rc != 0 ? err_prefix(err, rc, "%s", is_stdin ? "standard input" : path) : 0;
}

/* ---- sending */

static int connect_collector(struct cli *cli, const struct advertise *how, struct err *err)
{
    return how->pool != NULL ? cli_collector_at(cli, how->pool, err) : cli_collector(cli, err);
}

/* Returns how many ads, beginning with the one at index `at`, are sent in one message. */
static size_t message_of(const struct vec *ads, size_t at)
{
    size_t bytes = 0, count = 0;
    while (at + count < ads->count && count < MESSAGE_ADS) {
        bytes += ad_encoded_bytes(ads->items[at + count]);
        if (count > 0 && bytes > MESSAGE_BYTES) {
            break;
        }
        count++;
    }
    return count;
}

/* What the collector has said of the messages so far. */
struct outcome {
    int64_t rejected;
    struct err why; /* why it refused the first one */
};

static int take_answer(struct cli *cli, struct cli_sent *sent, struct outcome *outcome,
                       struct err *err)
{
    int rc = cli_wait_reply(cli, sent, err);
    const struct ad *args = sent->reply.args;
    if (rc == 0 && args != NULL && ad_int_or(args, "Rejected", 0) > 0) {
        if (outcome->rejected == 0) {
            (void)err_set(&outcome->why, -EACCES, "%s", ad_string_or(args, "ErrorString", "?"));
        }
        outcome->rejected += ad_int_or(args, "Rejected", 0);
    }
    cli_reply_fini(&sent->reply);
    return rc;
}

/* Sends all messages; MESSAGES_AHEAD of them may be without an answer. */
static int send_messages(struct cli *cli, const struct vec *ads, struct outcome *outcome,
                         struct err *err)
{
    struct cli_sent sent[MESSAGES_AHEAD];
    size_t at = 0, first = 0, next = 0; /* numbers of the messages without an answer */
    int rc = 0;
    while (first < next || (rc == 0 && at < ads->count)) {
        if (rc != 0 || at == ads->count || next - first == MESSAGES_AHEAD) {
            struct err later;
            int answer =
                take_answer(cli, &sent[first++ % MESSAGES_AHEAD], outcome, rc == 0 ? err : &later);
            rc = rc != 0 ? rc : answer;
            continue;
        }
        size_t count = message_of(ads, at);
        const struct wire_body body = {.ads = (const struct ad *const *)ads->items + at,
                                       .ad_count = count};
        rc = cli_send(cli->collector, VERB_UPDATE, &body, &sent[next % MESSAGES_AHEAD], err);
        next += rc == 0 ? 1 : 0;
        at += count;
    }
    return rc;
}

static int send_ads(struct cli *cli, const struct advertise *how, const struct vec *ads)
{
    struct err err;
    struct outcome outcome = {.rejected = 0};
    for (size_t i = 0; i < ads->count; i++) {
        if (advertise_plan_prepare(&how->command, ads->items[i], &err) != 0) {
            return cli_fail(cli, "ad %zu: %s", i + 1, err.text);
        }
    }
    if (connect_collector(cli, how, &err) != 0 || send_messages(cli, ads, &outcome, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    (void)printf("Sent %lld of %zu ad%s to the collector.\n",
                 (long long)ads->count - (long long)outcome.rejected, ads->count,
                 ads->count == 1 ? "" : "s");
    return outcome.rejected == 0
               ? CLI_OK
               : cli_fail(cli, "%lld of %zu ads refused: %s", (long long)outcome.rejected,
                          ads->count, outcome.why.text);
}

/* ---- taking back */

static int invalidate_ads(struct cli *cli, const struct advertise *how, struct ad *args,
                          int64_t *count, struct err *err)
{
    struct cli_reply reply;
    if (how->offline) {
        ad_set_bool(args, "Offline", true);
    }
    if (how->absent) {
        ad_set_bool(args, "Absent", true);
    }
    const struct wire_body body = {.args = args};
    int rc = cli_call(cli, cli->collector, NULL, VERB_INVALIDATE, &body, 0, &reply, err);
    if (rc == 0 && reply.args != NULL) {
        *count += ad_int_or(reply.args, "Count", 0);
    }
    cli_reply_fini(&reply);
    return rc;
}

/* Makes the arguments of an INVALIDATE request from -name and -constraint or, when a file of ads
 * was given, from the ad with this index.  NULL with err set: that ad selects nothing. */
static struct ad *invalidation_args(const struct advertise *how, const struct vec *ads,
                                    size_t index, struct err *err)
{
    if (ads->count > 0) {
        struct ad *args = advertise_plan_invalidation(&how->command, ads->items[index], err);
        if (args == NULL) {
            (void)err_prefix(err, -EINVAL, "ad %zu", index + 1);
        }
        return args;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Type", how->command.type);
    if (how->names.count > 0) {
        ad_set_strings(args, "Names", (const char *const *)how->names.items, how->names.count);
    }
    if (how->constraint != NULL) {
        ad_set_string(args, "Constraint", how->constraint);
    }
    return args;
}

static int remove_ads(struct cli *cli, const struct advertise *how, const struct vec *ads)
{
    struct err err;
    int64_t count = 0;
    if (connect_collector(cli, how, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    for (size_t i = 0; i == 0 || i < ads->count; i++) {
        struct ad *args = invalidation_args(how, ads, i, &err);
        int rc = args != NULL ? invalidate_ads(cli, how, args, &count, &err) : -EINVAL;
        ad_destroy(args);
        if (rc != 0) {
            return cli_fail(cli, "%s", err.text);
        }
    }
    (void)printf("Took back %lld ad%s.\n", (long long)count, count == 1 ? "" : "s");
    return CLI_OK;
}

int cmd_advertise(struct cli *cli)
{
    struct advertise how = {.path = NULL};
    struct vec ads = {0};
    struct err err;
    int code = parse_options(cli, &how);
    bool chosen = how.names.count > 0 || how.constraint != NULL;
    if (code == CLI_OK && !chosen && read_ads(cli, &how, &ads, &err) != 0) {
        code = cli_fail(cli, "%s", err.text);
    }
    if (code == CLI_OK) {
        code = how.remove ? remove_ads(cli, &how, &ads) : send_ads(cli, &how, &ads);
    }
    vec_fini(&ads, ad_destroy_item);
    ad_pool_destroy(how.second_pool);
    vec_fini(&how.names, NULL);
    mem_free(how.constraint);
    return code;
}
