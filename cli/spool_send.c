/* cli/spool_send.c - see spool_send.h.
 *
 * Sending and fetching need only the jobs' ads (submit/spool_plan.h), so another process can
 * continue later what was interrupted.  The shadow says how much of a file it has: it answers a
 * piece that does not fit with the offset of the piece that would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/spool_send.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/access.h"
#include "cli/cli.h"
#include "submit/spool_plan.h"
#include "wire/wire.h"

#define PIECE        ((size_t)512 << 10)
#define DEPTH_MAX    32
#define RETRY_MS     500
#define PATIENCE_MS  60000 /* longest time without progress before giving up */
#define JOBS_AT_ONCE 1000

const char *const spool_projection[] = {
    "ClusterId",
    "ProcId",
    "JobStatus",
    "Iwd",
    "Cmd",
    "In",
    "UserLog",
    "TransferInput",
    "HoldReasonCode",
    "SUBMIT_Iwd",
    "SUBMIT_Cmd",
    "SUBMIT_In",
    "SUBMIT_Out",
    "SUBMIT_Err",
    "SUBMIT_UserLog",
    "SUBMIT_TransferInput",
    "SUBMIT_TransferOutputRemaps",
    "Owner",
    NULL,
};

struct spool {
    struct cli *cli;
    struct wire *wire;
    char id[32];         /* id of the cluster */
    struct strmap *sent; /* names of files that the shadow has already */
    bool again;          /* an earlier try may have sent some of the files */
    size_t files;
    uint64_t moved_ms; /* loop time of the last progress */
    char *buffer;
};

static void note_progress(struct spool *spool)
{
    spool->moved_ms = loop_now_ms(spool->cli->loop);
}

/* Sends one request to the shadow and waits for the answer; releases args. */
static int ask_shadow(struct spool *spool, enum wire_verb verb, struct ad *args, const void *blob,
                      size_t length, struct cli_reply *reply, struct err *err)
{
    const struct wire_body body = {.args = args, .blob = blob, .blob_length = length};
    if (!ad_has(args, "Id") && verb != VERB_SPOOL_END) {
        ad_set_string(args, "Id", spool->id);
    }
    int rc = cli_call(spool->cli, spool->wire, NULL, verb, &body, 0, reply, err);
    if (rc == 0) {
        note_progress(spool);
    }
    ad_destroy(args);
    return rc;
}

/* Continues with the rights of the jobs' owner.  The owner's job ads say which files of this
 * machine are read and written, so root's or an administrator's rights must not be used for them:
 * root becomes the owner, anybody else is refused. */
static int be_the_owner(struct cli *cli, const struct ad *answer, struct err *err)
{
    const char *account = ad_string_or(answer, "Account", NULL);
    uid_t uid = 0;
    gid_t gid = 0;
    if (account == NULL) {
        return ad_bool_or(answer, "IsOwner", false)
                   ? 0
                   : err_set(err, -EPERM,
                             "these jobs belong to another user; only their owner may access their "
                             "files");
    }
    int rc = os_user_find(cli->os, account, &uid, &gid, err);
    rc = rc == 0 && uid == 0 ? err_set(err, -EPERM, "root cannot own jobs") : rc;
    if (rc != 0 || os_uid(cli->os) == uid) {
        return rc;
    }
    return os_uid(cli->os) == 0
               ? os_become(cli->os, uid, gid, err)
               : err_set(err, -EINVAL,
                         "these jobs belong to several users; as root, name one owner at a time");
}

static int dial_shadow(struct spool *spool, const char *purpose, const char *const *ids,
                       size_t count, struct err *err)
{
    struct ad *args = ad_create(), *answer = NULL;
    ad_set_string(args, "Purpose", purpose);
    ad_set_strings(args, "Ids", ids, count);
    int rc = access_dial(spool->cli, args, &spool->wire, &answer, err);
    rc = rc != 0 ? rc : be_the_owner(spool->cli, answer, err);
    ad_destroy(answer);
    ad_destroy(args);
    return rc;
}

static void hang_up(struct spool *spool)
{
    wire_close(spool->wire);
    spool->wire = NULL;
}

/* Turns -EACCES of a local file into -EROFS: a local permission will not change, while -EACCES of a
 * schedd that is starting may pass, and is tried again (goes_on()). */
static int local_error(int rc)
{
    return rc == -EACCES ? -EROFS : rc;
}

/* ---- sending --------------------------------------------------------------------------------- */

static int send_directory(struct spool *spool, const char *name, struct err *err)
{
    struct cli_reply reply;
    struct ad *args = ad_create();
    ad_set_string(args, "Name", name);
    ad_set_bool(args, "IsDirectory", true);
    int rc = ask_shadow(spool, VERB_SPOOL_PUT, args, NULL, 0, &reply, err);
    cli_reply_fini(&reply);
    return rc;
}

/* The file that is being sent. */
struct sending {
    struct os_file *file;
    const char *name;
    int64_t size, offset;
    mode_t mode;
    /* checksum, if the shadow has a part of the file already; else "" */
    char checksum[DIGEST_HEX_SIZE];
};

static struct ad *of_file(const struct sending *sending, int64_t offset)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Name", sending->name);
    ad_set_int(args, "Offset", offset);
    ad_set_int(args, "Size", sending->size);
    ad_set_int(args, "Mode", (int64_t)(sending->mode & 0777));
    if (sending->checksum[0] != '\0') {
        ad_set_string(args, "Checksum", sending->checksum);
    }
    return args;
}

static int read_piece(struct spool *spool, const struct sending *sending, int64_t offset,
                      size_t *length, struct err *err)
{
    int64_t left = sending->size - offset;
    *length = left > (int64_t)PIECE ? PIECE : (size_t)left;
    ssize_t got = os_file_read(sending->file, (uint64_t)offset, spool->buffer, *length);
    return got >= 0 && (size_t)got == *length
               ? 0
               : err_set(err, got < 0 ? (int)got : -EIO,
                         got < 0 ? "cannot read the file"
                                 : "the file became shorter during the transfer");
}

/* Sends the next piece.  If the shadow has more or less of the file than expected, moves the offset
 * to where the shadow continues. */
static int send_piece(struct spool *spool, struct sending *sending, struct err *err)
{
    struct cli_reply reply;
    size_t length;
    int rc = read_piece(spool, sending, sending->offset, &length, err);
    if (rc != 0) {
        return rc;
    }
    rc = ask_shadow(spool, VERB_SPOOL_PUT, of_file(sending, sending->offset), spool->buffer, length,
                    &reply, err);
    int64_t have = reply.args != NULL ? ad_int_or(reply.args, "Have", -1) : -1;
    if (rc == 0) {
        sending->offset += (int64_t)length;
    } else if ((rc == -ESTALE || rc == -EILSEQ) && have >= 0) {
        sending->offset = rc == -ESTALE && have < sending->size ? have : 0;
        sending->checksum[0] = '\0'; /* from its beginning it needs none */
        rc = 0;
    }
    cli_reply_fini(&reply);
    return rc;
}

/* After a lost connection: asks how much of this same file, known by its checksum, the shadow
 * has. */
static int find_out(struct spool *spool, struct sending *sending, struct err *err)
{
    struct digest *digest = digest_create();
    struct cli_reply reply;
    size_t length = 0;
    int rc = 0;
    for (int64_t at = 0; rc == 0 && at < sending->size; at += (int64_t)length) {
        rc = read_piece(spool, sending, at, &length, err);
        if (rc == 0) {
            digest_update(digest, spool->buffer, length);
        }
    }
    digest_hex(digest, sending->checksum);
    digest_destroy(digest);
    if (rc != 0) {
        return rc;
    }
    rc = ask_shadow(spool, VERB_SPOOL_PUT, of_file(sending, -1), NULL, 0, &reply, err);
    sending->offset = reply.args != NULL ? ad_int_or(reply.args, "Have", 0) : 0;
    cli_reply_fini(&reply);
    return rc;
}

static int send_file(struct spool *spool, const char *local, const char *name, struct err *err)
{
    struct sending sending = {.name = name};
    struct os_stat stat;
    int rc = local_error(os_file_open(spool->cli->os, local, OS_READ, 0, &sending.file, err));
    if (rc != 0) {
        return rc;
    }
    bool plain = os_stat(spool->cli->os, local, &stat) == 0 && !stat.is_link;
    sending.mode = plain ? stat.mode : 0755; /* a link's own says nothing */
    sending.size = os_file_size(sending.file);
    rc = spool->again ? find_out(spool, &sending, err) : 0;
    if (rc == 0 && spool->again && sending.size > 0 && sending.offset == sending.size) {
        os_file_close(sending.file);
        return 0; /* it is there */
    }
    do {
        rc = rc != 0 ? rc : send_piece(spool, &sending, err);
    } while (rc == 0 && sending.offset < sending.size);
    os_file_close(sending.file);
    spool->files += rc == 0 ? 1 : 0;
    return rc != 0 ? err_prefix(err, rc, "%s", local) : 0;
}

static void add_name(void *arg, const char *name)
{
    vec_push(arg, mem_strdup(name));
}

static char *join_path(const char *directory, const char *name)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s", directory, name);
    return strbuf_take(&path);
}

static int send_any(struct spool *spool, const char *local, const char *name, int depth,
                    struct err *err);

static int send_tree(struct spool *spool, const char *local, const char *name, int depth,
                     struct err *err)
{
    struct vec names = {0};
    int rc = depth > DEPTH_MAX
                 ? err_set(err, -ELOOP, "%s: directories are nested too deeply", local)
                 : send_directory(spool, name, err);
    rc = rc != 0 ? rc : os_list(spool->cli->os, local, add_name, &names, err);
    for (size_t i = 0; rc == 0 && i < names.count; i++) {
        char *path = join_path(local, names.items[i]), *place = join_path(name, names.items[i]);
        rc = send_any(spool, path, place, depth + 1, err);
        mem_free(path);
        mem_free(place);
    }
    vec_fini(&names, mem_free);
    return rc;
}

/* Sends a file or directory once, although several jobs may name it. */
static int send_any(struct spool *spool, const char *local, const char *name, int depth,
                    struct err *err)
{
    struct os_stat stat;
    if (strmap_get(spool->sent, name) != NULL) {
        return 0;
    }
    int rc = os_stat(spool->cli->os, local, &stat);
    if (rc != 0) {
        return err_set(err, rc, "%s: %s", local, err_code_text(rc));
    }
    rc = stat.is_dir ? send_tree(spool, local, name, depth, err)
                     : send_file(spool, local, name, err);
    if (rc == -EISDIR && stat.is_link) { /* a link to a directory */
        rc = send_tree(spool, local, name, depth, err);
    }
    if (rc == 0) {
        (void)strmap_set(spool->sent, name, spool);
    }
    return rc;
}

static int send_items(struct spool *spool, const struct vec *items, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < items->count && rc == 0; i++) {
        const struct spool_item *item = items->items[i];
        if (item->local != NULL) {
            rc = send_any(spool, item->local, item->name, 0, err);
        } else if (strmap_get(spool->sent, item->name) == NULL) {
            rc = send_directory(spool, item->name, err);
            (void)strmap_set(spool->sent, item->name, spool);
        }
    }
    return rc;
}

static int end_spooling(struct spool *spool, const char *what, const char *const *ids, size_t count,
                        struct err *err)
{
    struct cli_reply reply;
    struct ad *args = ad_create();
    ad_set_strings(args, what, ids, count);
    int rc = ask_shadow(spool, VERB_SPOOL_END, args, NULL, 0, &reply, err);
    cli_reply_fini(&reply);
    return rc;
}

/* Finds the files of the jobs that are held until their input has arrived. */
static int find_items(struct spool *spool, struct vec *items, struct err *err)
{
    struct cli_reply reply = {0};
    size_t projected = 0;
    while (spool_projection[projected] != NULL) {
        projected++;
    }
    const char *const ids[] = {spool->id};
    struct ad *args = ad_create();
    ad_set_string(args, "Type", "Job");
    ad_set_strings(args, "Ids", ids, 1);
    ad_set_strings(args, "Projection", spool_projection, projected);
    const struct wire_body body = {.args = args};
    int rc = cli_schedd(spool->cli, err);
    rc = rc != 0
             ? rc
             : cli_call(spool->cli, spool->cli->schedd, NULL, VERB_QUERY, &body, 0, &reply, err);
    size_t waiting = 0;
    for (size_t i = 0; rc == 0 && i < reply.ads.count; i++) {
        if (ad_int_or(reply.ads.items[i], "HoldReasonCode", 0) == SPOOL_HOLD_CODE) {
            rc = spool_plan_items(reply.ads.items[i], items, err);
            waiting++;
        }
    }
    if (rc == 0 && waiting == 0) {
        rc = err_set(err, -ENOENT, "no job of cluster %s waits for input", spool->id);
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
    return rc;
}

static int send_once(struct spool *spool, const struct vec *items, struct err *err)
{
    const char *const ids[] = {spool->id};
    int rc = spool->wire != NULL ? 0 : dial_shadow(spool, "Spool", ids, 1, err);
    rc = rc != 0 ? rc : send_items(spool, items, err);
    return rc != 0 ? rc : end_spooling(spool, "Ids", ids, 1, err);
}

static bool goes_on(const struct spool *spool, int rc)
{
    return (access_is_passing(rc) || rc == -ECONNREFUSED || rc == -EACCES) &&
           loop_now_ms(spool->cli->loop) - spool->moved_ms < PATIENCE_MS;
}

int spool_send(struct cli *cli, int64_t cluster, bool again, struct err *err)
{
    struct spool *spool = mem_zalloc(sizeof *spool);
    struct vec items = {0};
    *spool = (struct spool){.cli = cli,
                            .again = again,
                            .sent = strmap_create(STRMAP_CASE_SENSITIVE),
                            .buffer = mem_alloc(PIECE)};
    (void)snprintf(spool->id, sizeof spool->id, "%" PRId64, cluster);
    note_progress(spool);
    int rc = find_items(spool, &items, err);
    while (rc == 0 && (rc = send_once(spool, &items, err)) != 0 && goes_on(spool, rc)) {
        hang_up(spool);
        cli_pause(cli, RETRY_MS);
        spool->again = true;
        rc = 0;
    }
    hang_up(spool);
    vec_fini(&items, spool_item_destroy);
    strmap_destroy(spool->sent, NULL);
    mem_free(spool->buffer);
    mem_free(spool);
    return rc;
}

/* ---- fetching -------------------------------------------------------------------------------- */

/* Fetches into a temporary file beside the destination, and renames it when it is complete. */
static int fetch_file(struct spool *spool, const char *name, const char *local, mode_t mode,
                      struct err *err)
{
    struct os *os = spool->cli->os;
    struct os_file *file = NULL;
    struct strbuf part;
    int64_t offset = 0, size = 0;
    strbuf_init(&part, 0);
    strbuf_printf(&part, "%s.roost-part", local);
    int rc = local_error(os_file_open(os, strbuf_text(&part), OS_WRITE_TRUNCATE, 0600, &file, err));
    do {
        struct cli_reply reply = {0};
        struct ad *args = ad_create();
        ad_set_string(args, "Name", name);
        ad_set_int(args, "Offset", offset);
        ad_set_int(args, "MaxBytes", (int64_t)PIECE);
        if (rc == 0) {
            rc = ask_shadow(spool, VERB_SPOOL_GET, args, NULL, 0, &reply, err);
        } else {
            ad_destroy(args);
        }
        if (rc == 0) {
            size = reply.args != NULL ? ad_int_or(reply.args, "Size", 0) : 0;
            rc = reply.blob_length > 0
                     ? os_file_write(file, (uint64_t)offset, reply.blob, reply.blob_length)
                     : 0;
            rc = rc != 0 ? err_set(err, rc, "%s: %s", local, err_code_text(rc)) : 0;
            offset += (int64_t)reply.blob_length;
            size = reply.blob_length == 0 ? offset : size;
        }
        cli_reply_fini(&reply);
    } while (rc == 0 && offset < size);
    os_file_close(file);
    rc = rc != 0 ? rc : local_error(os_chmod(os, strbuf_text(&part), mode | 0600, err));
    rc = rc != 0 ? rc : local_error(os_rename(os, strbuf_text(&part), local, false, err));
    if (rc != 0) {
        (void)os_remove(os, strbuf_text(&part), NULL); /* the error is told */
    }
    spool->files += rc == 0 ? 1 : 0;
    strbuf_fini(&part);
    return rc;
}

static int make_way(struct spool *spool, const char *local, struct err *err)
{
    const char *slash = strrchr(local, '/');
    char *parent = mem_strndup(local, slash != NULL && slash > local ? (size_t)(slash - local) : 1);
    int rc = local_error(os_mkdirs(spool->cli->os, parent, 0755, err));
    mem_free(parent);
    return rc;
}

/* Appends the ads of a sandbox directory's entries, fetched page by page. */
static int list_directory(struct spool *spool, const char *name, struct vec *ads, struct err *err)
{
    char *after = mem_strdup("");
    size_t got;
    int rc;
    do {
        struct cli_reply reply;
        struct ad *args = ad_create();
        ad_set_string(args, "Name", name);
        ad_set_string(args, "After", after);
        rc = ask_shadow(spool, VERB_SPOOL_LOOK, args, NULL, 0, &reply, err);
        got = reply.ads.count;
        for (size_t i = 0; i < reply.ads.count; i++) {
            vec_push(ads, reply.ads.items[i]);
        }
        vec_clear(&reply.ads, NULL);
        cli_reply_fini(&reply);
        mem_free(after);
        after =
            mem_strdup(ads->count > 0 ? ad_string_or(ads->items[ads->count - 1], "Name", "") : "");
    } while (rc == 0 && got > 0);
    mem_free(after);
    return rc;
}

/* True for a name that may be used in a local directory.  The shadow's names are not trusted. */
static bool is_plain(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

/* Fetches a directory and all below it; `below` is its path within out/<ProcId>/, "" for that
 * directory itself. */
static int fetch_tree(struct spool *spool, const struct ad *job, const char *name,
                      const char *below, int depth, struct err *err)
{
    struct vec ads = {0};
    int rc = depth > DEPTH_MAX ? err_set(err, -ELOOP, "%s: directories are nested too deeply", name)
                               : list_directory(spool, name, &ads, err);
    for (size_t i = 0; rc == 0 && i < ads.count; i++) {
        const char *entry = ad_string_or(ads.items[i], "Name", "");
        if (!is_plain(entry)) {
            continue;
        }
        char *path = join_path(name, entry);
        char *inner = below[0] != '\0' ? join_path(below, entry) : mem_strdup(entry);
        char *local = spool_plan_destination(job, inner);
        if (ad_bool_or(ads.items[i], "IsDirectory", false)) {
            rc = local != NULL ? local_error(os_mkdirs(spool->cli->os, local, 0755, err)) : 0;
            rc = rc != 0 ? rc : fetch_tree(spool, job, path, inner, depth + 1, err);
        } else if (local != NULL) {
            rc = make_way(spool, local, err);
            rc = rc != 0 ? rc
                         : fetch_file(spool, path, local,
                                      (mode_t)(ad_int_or(ads.items[i], "Mode", 0644) & 0777), err);
        }
        mem_free(path);
        mem_free(inner);
        mem_free(local);
    }
    vec_fini(&ads, ad_destroy_item);
    return rc;
}

static int fetch_log(struct spool *spool, const struct ad *job, struct err *err)
{
    char *local = spool_plan_destination(job, "");
    const char *path = ad_string_or(job, "UserLog", "");
    struct strbuf mark;
    strbuf_init(&mark, 0);
    strbuf_printf(&mark, "/sandbox/%s/", spool->id);
    const char *name = strstr(path, strbuf_text(&mark));
    int rc = 0;
    if (local != NULL && name != NULL && strmap_get(spool->sent, local) == NULL) {
        (void)strmap_set(spool->sent, local, spool); /* jobs share it */
        rc = make_way(spool, local, err);
        rc = rc != 0 ? rc : fetch_file(spool, name + mark.length, local, 0644, err);
        rc = rc == -ENOENT ? 0 : rc; /* nothing was written yet */
    }
    strbuf_fini(&mark);
    mem_free(local);
    return rc;
}

static int fetch_job(struct spool *spool, const struct ad *job, struct err *err)
{
    char name[64];
    (void)snprintf(spool->id, sizeof spool->id, "%" PRId64, ad_int_or(job, "ClusterId", 0));
    (void)snprintf(name, sizeof name, "out/%" PRId64, ad_int_or(job, "ProcId", 0));
    int rc = fetch_log(spool, job, err);
    if (rc == 0 && ad_int_or(job, "JobStatus", 0) == 4) {
        rc = fetch_tree(spool, job, name, "", 0, err);
    }
    return rc;
}

/* Reports all completed jobs whose output has arrived in one request; they leave the queue. */
static int report_fetched(struct spool *spool, const struct ad *const *jobs, size_t count,
                          struct err *err)
{
    struct vec ids = {0};
    for (size_t i = 0; i < count; i++) {
        if (ad_int_or(jobs[i], "JobStatus", 0) == 4) {
            struct strbuf id;
            strbuf_init(&id, 0);
            strbuf_printf(&id, "%" PRId64 ".%" PRId64, ad_int_or(jobs[i], "ClusterId", 0),
                          ad_int_or(jobs[i], "ProcId", 0));
            vec_push(&ids, strbuf_take(&id));
        }
    }
    int rc = ids.count > 0
                 ? end_spooling(spool, "JobIds", (const char *const *)ids.items, ids.count, err)
                 : 0;
    vec_fini(&ids, mem_free);
    return rc;
}

static int fetch_once(struct spool *spool, const struct ad *const *jobs, size_t count, size_t *at,
                      struct err *err)
{
    struct vec ids = {0};
    for (size_t i = 0; i < count; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "%" PRId64, ad_int_or(jobs[i], "ClusterId", 0));
        if (ids.count == 0 || strcmp(ids.items[ids.count - 1], id) != 0) {
            vec_push(&ids, mem_strdup(id));
        }
    }
    int rc = spool->wire != NULL
                 ? 0
                 : dial_shadow(spool, "Fetch", (const char *const *)ids.items, ids.count, err);
    vec_fini(&ids, mem_free);
    for (; rc == 0 && *at < count; ++*at) {
        rc = fetch_job(spool, jobs[*at], err);
        if (rc != 0) {
            break;
        }
    }
    return rc != 0 ? rc : report_fetched(spool, jobs, count, err);
}

int spool_fetch(struct cli *cli, const struct ad *const *jobs, size_t count, size_t *files,
                struct err *err)
{
    struct spool *spool = mem_zalloc(sizeof *spool);
    int rc = 0;
    *spool = (struct spool){.cli = cli, .sent = strmap_create(STRMAP_CASE_SENSITIVE)};
    note_progress(spool);
    for (size_t from = 0; rc == 0 && from < count; from += JOBS_AT_ONCE) {
        size_t some = count - from < JOBS_AT_ONCE ? count - from : JOBS_AT_ONCE, at = 0;
        while ((rc = fetch_once(spool, jobs + from, some, &at, err)) != 0 && goes_on(spool, rc)) {
            hang_up(spool);
            cli_pause(cli, RETRY_MS);
        }
        hang_up(spool); /* the next ones are of other clusters */
    }
    *files = spool->files;
    strmap_destroy(spool->sent, NULL);
    mem_free(spool);
    return rc;
}
