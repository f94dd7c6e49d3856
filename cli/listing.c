/* cli/listing.c - see listing.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/listing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "classad/ad_time.h"
#include "cli/ads_text_plan.h"
#include "cli/cli.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/print_format_plan.h"
#include "user_maps/user_world.h"
#include "wire/wire.h"

#define LISTING_FORMAT_MAX ((size_t)1 << 20) /* bytes of a -print-format file */

static int32_t local_zone(void *arg, int64_t at_s)
{
    (void)arg;
    time_t at = (time_t)at_s;
    struct tm tm;
    if (localtime_r(&at, &tm) == NULL) {
        return 0;
    }
    const struct ad_calendar local = {.year = tm.tm_year + 1900,
                                      .month = tm.tm_mon + 1,
                                      .day = tm.tm_mday,
                                      .hour = tm.tm_hour,
                                      .minute = tm.tm_min,
                                      .second = tm.tm_sec};
    return (int32_t)(ad_calendar_seconds(&local) - at_s);
}

/* The data for userMap() and userHome().  The configuration is loaded only when an expression needs
 * the data; without a configuration there are no maps. */
static struct user_world *users_of(struct cli *cli)
{
    struct err err;
    if (cli->users == NULL && cli_config(cli, &err) == 0) {
        cli->users = user_world_create(cli->os, cli->config);
    }
    return cli->users;
}

static bool home_of(void *arg, const char *account, char *home, size_t size)
{
    struct user_world *world = users_of(arg);
    return world != NULL && user_world_home(world, account, home, size);
}

static bool names_of(void *arg, const char *map, const char *user, struct strbuf *out,
                     uint32_t *steps)
{
    struct user_world *world = users_of(arg);
    return world != NULL && user_world_map(world, map, user, out, steps);
}

const struct ad_context listing_zone = {.zone_offset_s = local_zone};

struct ad_context listing_context(struct cli *cli)
{
    struct tm now;
    time_t at = (time_t)loop_wall_s(cli->loop);
    if (cli->random_state == 0) {
        cli->random_state = rng_next(loop_rng(cli->loop)) | 1;
    }
    return (struct ad_context){.now_s = loop_wall_s(cli->loop),
                               .random_state = &cli->random_state,
                               .zone_offset_s = local_zone,
                               .zone_name = localtime_r(&at, &now) != NULL ? now.tm_zone : NULL,
                               .user_home = home_of,
                               .user_map = names_of,
                               .arg = cli};
}

struct terminal listing_terminal(struct cli *cli, bool wide)
{
    struct terminal terminal = {0};
    struct winsize size = {0};
    const char *term = os_getenv(cli->os, "TERM"), *none = os_getenv(cli->os, "NO_COLOR");
    if (isatty(STDOUT_FILENO) == 0) {
        return terminal;
    }
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    terminal.colour = term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0 &&
                      (none == NULL || none[0] == '\0');
    terminal.columns = wide ? 0 : known ? size.ws_col : 80;
    terminal.rows = known && size.ws_row > 0 ? size.ws_row : 24;
    return terminal;
}

/* Makes the arguments of a query, owned by the caller. */
static struct ad *query_args(const char *type, const struct listing *listing, const struct ad *more)
{
    struct ad *args = more != NULL ? ad_copy(more) : ad_create();
    /* with a target of our own whoever is asked cannot judge */
    char *constraint = listing->target == NULL ? listing_plan_constraint(listing) : NULL;
    ad_set_string(args, "Type", type);
    if (constraint != NULL) {
        ad_set_string(args, "Constraint", constraint);
    }
    if (listing->limit > 0 && listing->target == NULL) {
        ad_set_int(args, "Limit", listing->limit);
    }
    mem_free(constraint);
    return args;
}

int listing_query(struct cli *cli, struct wire *wire, const char *relay_to, const char *type,
                  const struct listing *listing, const char *const *projection,
                  const struct ad *more, struct cli_reply *reply, struct err *err)
{
    struct ad *args = query_args(type, listing, more);
    if (projection != NULL && listing->style == LISTING_TABLE) {
        size_t count = 0;
        while (projection[count] != NULL) {
            count++;
        }
        ad_set_strings(args, "Projection", projection, count);
    }
    const struct wire_body body = {.args = args};
    int rc = cli_call(cli, wire, relay_to, VERB_QUERY, &body, 0, reply, err);
    ad_destroy(args);
    return rc;
}

int listing_query_each(struct cli *cli, struct wire *wire, const char *type,
                       const struct listing *listing, const struct ad *more, cli_ads_f each,
                       void *arg, struct ad **args, struct err *err)
{
    struct ad *asked = query_args(type, listing, more);
    struct cli_reply reply;
    const struct wire_body body = {.args = asked};
    int rc = cli_call_each(cli, wire, VERB_QUERY, &body, each, arg, &reply, err);
    if (rc == 0 && args != NULL) {
        *args = reply.args;
        reply.args = NULL;
    }
    cli_reply_fini(&reply);
    ad_destroy(asked);
    return rc;
}

/* Writes to the descriptor itself, without the buffer of stdio, because a large text gains nothing
 * by another copy. */
static int write_all(const struct cli *cli, struct strbuf *out)
{
    const char *at = strbuf_text(out);
    size_t left = out->length;
    int rc = out->failed ? -E2BIG : fflush(stdout) != 0 ? -errno : 0;
    while (rc == 0 && left > 0) {
        ssize_t done = write(STDOUT_FILENO, at, left);
        if (done < 0 && errno != EINTR && errno != EAGAIN) {
            rc = -errno;
        } else if (done > 0) {
            at += done;
            left -= (size_t)done;
        }
    }
    if (rc == -E2BIG) {
        return cli_fail(cli,
                        "the listing is too long; limit the listing with -limit or -constraint");
    }
    if (rc == -EPIPE) {
        return CLI_FAILED; /* who reads has enough: `roost q | head` */
    }
    return rc != 0 ? cli_fail(cli, "cannot write to standard output: %s", err_code_text(rc))
                   : CLI_OK;
}

int listing_write(const struct cli *cli, struct strbuf *out)
{
    int status = write_all(cli, out);
    strbuf_fini(out);
    return status;
}

void listing_write_some(void *arg, struct strbuf *out)
{
    struct listing_output *output = arg;
    if (output->status == CLI_OK) {
        output->status = write_all(output->cli, out);
    }
    if (!out->failed) {
        strbuf_clear(out);
    }
}

int listing_show(struct cli *cli, const struct listing *listing, const struct ad *const *ads,
                 size_t count)
{
    struct strbuf out;
    struct listing_output output = {cli, CLI_OK};
    struct listing_print print;
    const struct ad_context context = listing_context(cli);
    strbuf_init(&out, LISTING_TEXT_MAX);
    listing_plan_begin(&print, listing, ads, count, &context);
    while (listing_plan_more(&print, &out)) {
        listing_write_some(&output, &out);
    }
    listing_plan_end(&print);
    if (output.status == CLI_OK) {
        return listing_write(cli, &out);
    }
    strbuf_fini(&out);
    return output.status;
}

int listing_select(struct cli *cli, const struct listing *listing, const struct ad **ads,
                   size_t *count, struct err *err)
{
    struct ad_expr *expr = NULL;
    const struct ad_context context = listing_context(cli);
    char *text = listing_plan_constraint(listing);
    size_t kept = 0;
    int rc = text != NULL ? ad_expr_parse(text, strlen(text), AD_OLD, &expr, err) : 0;
    for (size_t i = 0; rc == 0 && i < *count; i++) {
        bool full = listing->limit > 0 && (int64_t)kept >= listing->limit;
        if (!full &&
            (expr == NULL || ad_eval_bool(expr, ads[i], listing->target, &context) == AD_TRUE)) {
            const struct ad *one = ads[i];
            ads[i] = ads[kept]; /* none is lost */
            ads[kept++] = one;
        }
    }
    if (rc == 0) {
        *count = kept;
    }
    ad_expr_destroy(expr);
    mem_free(text);
    return rc;
}

int listing_jobs(struct listing *listing, char *const *words, size_t count, struct err *err)
{
    struct strbuf text;
    int rc = 0;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < count && rc == 0; i++) {
        strbuf_puts(&text, i > 0 ? " || " : "");
        rc = jobs_plan_select(words[i], &text, err);
    }
    if (rc == 0 && count > 0) {
        listing_also(listing, strbuf_text(&text));
    }
    strbuf_fini(&text);
    return rc;
}

int listing_read_file(struct cli *cli, const char *path, struct vec *ads, struct err *err)
{
    char *text;
    size_t length;
    bool stdin_too = strcmp(path, "-") == 0;
    int rc = os_read_file(cli->os, stdin_too ? "/dev/stdin" : path, ADS_TEXT_BYTES_MAX, &text,
                          &length, err);
    if (rc != 0) {
        return rc;
    }
    cli->pool = cli->pool != NULL ? cli->pool : ad_pool_create();
    rc = ads_text_read(text, length, cli->pool, ads, err);
    mem_free(text);
    return rc != 0 ? err_prefix(err, rc, "%s", path) : 0;
}

int listing_print_format(struct cli *cli, struct listing *listing, int *at, struct err *err)
{
    char *text;
    size_t length;
    if (!listing_is(cli->argv[*at], "print-format", 2)) {
        return 0;
    }
    if (*at + 1 >= cli->argc) {
        return err_set(err, -EINVAL, "%s needs a file", cli->argv[*at]);
    }
    const char *path = cli->argv[++*at];
    int rc = os_read_file(cli->os, path, LISTING_FORMAT_MAX, &text, &length, err);
    if (rc != 0) {
        return rc;
    }
    print_format_destroy(listing->custom);
    listing->custom = NULL;
    rc = print_format_read(text, length, &listing_zone, &listing->custom, err);
    mem_free(text);
    if (rc != 0) {
        return err_prefix(err, rc, "%s", path);
    }
    const char *where = print_format_constraint(listing->custom);
    listing->style = LISTING_CUSTOM;
    if (where == NULL) {
        return 1;
    }
    char *zoned;
    rc = listing_plan_zoned(where, &listing_zone, &zoned, err);
    if (rc == 0) {
        listing_also(listing, zoned);
        mem_free(zoned);
    }
    return rc != 0 ? rc : 1;
}
