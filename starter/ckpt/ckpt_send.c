/* starter/ckpt/ckpt_send.c - sends a checkpoint to the shadow: see checkpoint.c.
 *
 * Several pieces are on their way at once; they are answered in order.  After a lost connection the
 * shadow says how much it has of the file in hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/ckpt/ckpt_send.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/file_digest.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "classad/ad.h"
#include "starter/ckpt/checkpoint.h"
#include "starter/ckpt/checkpoint_plan.h"
#include "starter/starter.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define PUTS_MAX    4
#define RESENDS_MAX 3

static const char *name_of(const struct starter_ckpt *ckpt)
{
    return ckpt->send.file_at == 1
               ? (ckpt->in_hand.is_changes ? CKPT_NAME_CHANGES : CKPT_NAME_FILES)
           : ckpt->in_hand.is_delta ? CKPT_NAME_DELTA
                                    : CKPT_NAME_IMAGE;
}

static bool is_connected(const struct starter *starter)
{
    return starter->shadow != NULL && wire_is_ready(starter->shadow);
}

static void begin_file(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    os_file_close(ckpt->send.file);
    digest_destroy(ckpt->send.digest);
    ckpt->send.file = NULL;
    ckpt->send.digest = digest_create();
    ckpt->send.offset = 0;
    ckpt->send.is_asked = false;
}

void ckpt_send_begin(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    ckpt->step = CKPT_SENDING;
    ckpt->send.file_at = 0;
    ckpt->send.puts = 0;
    ckpt->send.status = 0;
    begin_file(starter);
    ckpt_send_next(starter);
}

static void done_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (ckpt->step != CKPT_TELLING || reply->status == -ECONNRESET) {
        return; /* a cut: checkpoint_cut() */
    }
    if (reply->status == 0) {
        checkpoint_committed(starter);
    } else if (reply->status == -EAGAIN && ++ckpt->send.resends < RESENDS_MAX) {
        ckpt_send_begin(starter);
    } else if (reply->status == -ETIMEDOUT) {
        ckpt->step = CKPT_SENDING;
        ckpt_send_next(starter);
    } else {
        checkpoint_abandon(starter, reply->status, reply->text);
    }
}

static void tell_done(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    ckpt->in_hand.took_ms = loop_now_ms(starter->env.loop) - ckpt->in_hand.began_ms;
    ad_set_real(ckpt->in_hand.manifest, CKPT_SECONDS, (double)ckpt->in_hand.took_ms / 1000);
    const struct wire_body body = {.args = ckpt->in_hand.manifest};
    ckpt->step = CKPT_TELLING;
    if (wire_call(starter->shadow, VERB_CKPT_DONE, &body, 0, done_answered, starter) < 0) {
        ckpt->step = CKPT_SENDING; /* the connection is going: again on the next */
    }
}

static void put_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (ckpt->step != CKPT_SENDING || reply->status == -ECONNRESET) {
        return;
    }
    ckpt->send.puts -= ckpt->send.puts > 0 ? 1 : 0;
    if (ckpt->send.status == 0 && reply->status != 0) {
        ckpt->send.status = reply->status;
        (void)snprintf(ckpt->send.why, sizeof(ckpt->send.why), "%s", reply->text); /* cut if long */
    }
    if (ckpt->send.status != 0 && ckpt->send.puts > 0) {
        return; /* the others are answered first */
    }
    int status = ckpt->send.status;
    ckpt->send.status = 0;
    if (status == -ESTALE && ++ckpt->send.resends < RESENDS_MAX) {
        begin_file(starter);
    } else if (status != 0) {
        checkpoint_abandon(starter, status, ckpt->send.why);
        return;
    }
    ckpt_send_next(starter);
}

/* Skips the bytes that the shadow already has, but adds them to the checksum. */
static int skip_known(struct starter *starter, uint64_t have)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    int rc = file_digest_add(ckpt->send.digest, ckpt->send.file, &ckpt->send.offset, have);
    return rc == 0 && ckpt->send.offset < have ? -EIO : rc;
}

static int open_file(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (ckpt->send.file != NULL) {
        return 0;
    }
    int rc =
        os_below_open(starter->env.os, starter->run.directory,
                      ckpt->in_hand.files[ckpt->send.file_at], OS_READ, 0, &ckpt->send.file, NULL);
    return rc == 0 &&
                   os_file_size(ckpt->send.file) != (int64_t)ckpt->in_hand.sizes[ckpt->send.file_at]
               ? -EIO
               : rc;
}

static void ask_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (ckpt->step != CKPT_SENDING || reply->status == -ECONNRESET) {
        return;
    }
    int64_t have = reply->args != NULL ? ad_int_or(reply->args, "Have", 0) : 0;
    ckpt->send.puts = 0;
    if (reply->status != 0) {
        checkpoint_abandon(starter, reply->status, reply->text);
    } else if (have < 0 || (uint64_t)have > ckpt->in_hand.sizes[ckpt->send.file_at] ||
               open_file(starter) != 0 || skip_known(starter, (uint64_t)have) != 0) {
        checkpoint_abandon(starter, -EIO, "cannot read the files of the checkpoint");
    } else {
        ckpt->send.is_asked = true;
        ckpt_send_next(starter);
    }
}

static struct ad *put_args(const struct starter *starter, int64_t offset)
{
    const struct starter_ckpt *ckpt = &starter->run.ckpt;
    struct ad *args = ad_create();
    ad_set_int(args, CKPT_SEQUENCE, ckpt->in_hand.number);
    ad_set_string(args, "Name", name_of(ckpt));
    if (ckpt->send.file_at == 1 ? ckpt->in_hand.is_changes : ckpt->in_hand.is_delta) {
        ad_set_int(args, CKPT_BASE, ckpt->kept.sequence);
    }
    ad_set_int(args, "Offset", offset);
    ad_set_int(args, "Size", (int64_t)ckpt->in_hand.sizes[ckpt->send.file_at]);
    return args;
}

static void ask_offset(struct starter *starter)
{
    struct ad *args = put_args(starter, -1);
    const struct wire_body body = {.args = args};
    starter->run.ckpt.send.puts =
        wire_call(starter->shadow, VERB_CKPT_PUT, &body, 0, ask_answered, starter) > 0 ? 1 : 0;
    ad_destroy(args);
}

/* Sends the next piece of the file.  False: not possible now. */
static bool put_piece(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    uint64_t left = ckpt->in_hand.sizes[ckpt->send.file_at] - ckpt->send.offset;
    size_t wanted = left < STARTER_PIECE_BYTES ? (size_t)left : STARTER_PIECE_BYTES;
    char *buffer = mem_alloc(wanted + 1);
    ssize_t got = os_file_read(ckpt->send.file, ckpt->send.offset, buffer, wanted);
    bool sent = false;
    if (got == (ssize_t)wanted) {
        struct ad *args = put_args(starter, (int64_t)ckpt->send.offset);
        const struct wire_body body = {.args = args, .blob = buffer, .blob_length = wanted};
        sent = wire_call(starter->shadow, VERB_CKPT_PUT, &body, 0, put_answered, starter) > 0;
        ad_destroy(args);
    }
    if (sent) {
        digest_update(ckpt->send.digest, buffer, wanted);
        ckpt->send.offset += wanted;
        ckpt->send.sent += wanted;
        ckpt->send.puts++;
    }
    mem_free(buffer);
    if (got != (ssize_t)wanted) {
        checkpoint_abandon(starter, -EIO, "cannot read the files of the checkpoint");
    }
    return sent;
}

void ckpt_send_next(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    int64_t rate = config_bytes(starter->env.config, "CHECKPOINT_TRANSFER_RATE");
    while (ckpt->step == CKPT_SENDING && is_connected(starter)) {
        if (ckpt->send.file_at == 2) {
            tell_done(starter);
            return;
        }
        if (!ckpt->send.is_asked) {
            if (ckpt->send.puts == 0) {
                ask_offset(starter);
            }
            return;
        }
        if (ckpt->send.offset == ckpt->in_hand.sizes[ckpt->send.file_at]) {
            if (ckpt->send.puts > 0) {
                return; /* its answers first: it may be asked for again */
            }
            char hex[DIGEST_HEX_SIZE];
            digest_hex(ckpt->send.digest, hex);
            ad_set_string(ckpt->in_hand.manifest,
                          ckpt->send.file_at == 1
                              ? (ckpt->in_hand.is_changes ? CKPT_CHANGES_SUM : CKPT_FILES_SUM)
                          : ckpt->in_hand.is_delta ? CKPT_DELTA_SUM
                                                   : CKPT_IMAGE_SUM,
                          hex);
            ckpt->send.file_at++;
            begin_file(starter);
            continue;
        }
        uint64_t wait_ms =
            checkpoint_plan_wait_ms(rate, ckpt->send.sent,
                                    loop_now_ms(starter->env.loop) - ckpt->in_hand.sending_ms);
        if (wait_ms > 0) {
            loop_timer_set(starter->timers[TIMER_CKPT], wait_ms);
            return;
        }
        if (ckpt->send.puts >= PUTS_MAX || !put_piece(starter)) {
            return;
        }
    }
}

void checkpoint_cut(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (ckpt->step == CKPT_SENDING || ckpt->step == CKPT_TELLING) {
        ckpt->step = CKPT_SENDING;
        ckpt->send.puts = 0;
        ckpt->send.status = 0;
        if (ckpt->send.file_at < 2) {
            begin_file(starter);
        }
        ckpt_send_next(starter);
    }
}
