/* tests/unit/shadow/test_shadow_checkpoints.c - checkpoints of a run: what is kept, offered, given
 * up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/shadow_bed.h"

#include "base/os/os_below.h"

#define IMAGE "an image"
#define FILES "an archive"

static int send_piece(struct world *world, const struct starter *starter, int64_t sequence,
                      const char *name, int64_t offset, size_t size, const char *text)
{
    char args[256];
    (void)snprintf(args, sizeof(args),
                   "[CkptSequence = %lld; Name = \"%s\"; Offset = %lld; Size = %zu]",
                   (long long)sequence, name, (long long)offset, size);
    return call(world, starter->wire, VERB_CKPT_PUT, args, NULL, text);
}

/* Bytes of it that are there. */
static int64_t has(struct world *world, const struct starter *starter, int64_t sequence,
                   const char *name)
{
    char args[256];
    struct answer answer;
    (void)snprintf(args, sizeof(args), "[CkptSequence = %lld; Name = \"%s\"; Offset = -1]",
                   (long long)sequence, name);
    begin(starter->wire, VERB_CKPT_PUT, args, NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_int_equal(answer.status, 0);
    int64_t have = ad_int_or(answer.args, "Have", -1);
    answer_fini(&answer);
    return have;
}

static int finish_as(struct world *world, const struct starter *starter, int64_t sequence,
                     const char *image, size_t image_bytes, const char *files)
{
    char args[512], image_sum[DIGEST_HEX_SIZE], files_sum[DIGEST_HEX_SIZE];
    hash(image, strlen(image), image_sum);
    hash(files, strlen(files), files_sum);
    (void)snprintf(args, sizeof(args),
                   "[CkptSequence = %lld; CkptImageStored = %zu; CkptFilesStored = %zu; "
                   "ImageChecksum = \"%s\"; FilesChecksum = \"%s\"]",
                   (long long)sequence, image_bytes, strlen(files), image_sum, files_sum);
    return call(world, starter->wire, VERB_CKPT_DONE, args, NULL, NULL);
}

static int finish(struct world *world, const struct starter *starter, int64_t sequence,
                  const char *image)
{
    return finish_as(world, starter, sequence, image, strlen(image), FILES);
}

static int take(struct world *world, const struct starter *starter, int64_t sequence)
{
    int status = send_piece(world, starter, sequence, "image", 0, strlen(IMAGE), IMAGE);
    assert_int_equal(status, 0);
    status = send_piece(world, starter, sequence, "files", 0, strlen(FILES), FILES);
    assert_int_equal(status, 0);
    return finish(world, starter, sequence, IMAGE);
}

/* "3;2;": what is offered. */
static void offers(struct world *world, const struct starter *starter, const char *expected)
{
    struct answer answer;
    struct strbuf said;
    strbuf_init(&said, 0);
    begin(starter->wire, VERB_CKPT_LOOK, "[]", NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_int_equal(answer.status, 0);
    for (size_t i = 0; i < answer.ads.count; i++) {
        strbuf_printf(&said, "%lld;", (long long)ad_int_or(answer.ads.items[i], "CkptSequence", 0));
    }
    assert_string_equal(strbuf_text(&said), expected);
    strbuf_fini(&said);
    answer_fini(&answer);
}

static bool is_kept(struct world *world, const char *name)
{
    char path[200];
    struct os_stat stat;
    (void)snprintf(path, sizeof(path), "%s/owner/%s/ckpt/1.0/%s", world->dir, world->me, name);
    return os_stat(world->os, path, &stat) == 0;
}

static void begin_run(struct world *world, const char *job, struct starter *starter)
{
    job_run(world, "", job);
    dial(world, "1.0", 3, NONCE, starter);
}

static void one_is_offered_when_it_is_whole_and_the_schedd_has_it(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    begin_run(world, "", &starter);
    assert_int_equal(send_piece(world, &starter, 1, "image", 0, 8, "an i"), 0);
    assert_int_equal(has(world, &starter, 1, "image"), 4);
    assert_int_equal(send_piece(world, &starter, 1, "image", 2, 8, " image"), -ESTALE);
    assert_int_equal(send_piece(world, &starter, 1, "image", 4, 8, "mages"), -EINVAL);
    assert_int_equal(send_piece(world, &starter, 1, "image", 4, 8, "mage"), 0);
    assert_int_equal(send_piece(world, &starter, 1, "files", 0, strlen(FILES), FILES), 0);
    offers(world, &starter, "");
    strbuf_clear(&world->reports);
    assert_int_equal(finish(world, &starter, 1, IMAGE), 0);
    reports_are(world, "JOB_STATUS Checkpointed;");
    offers(world, &starter, "1;");
    begin(starter.wire, VERB_CKPT_GET, "[CkptSequence = 1; Name = \"image\"; Offset = 3]", NULL,
          NULL, &answer);
    wait_for(world, &answer.over);
    assert_string_equal(strbuf_text(&answer.bytes), "image");
    answer_fini(&answer);
    assert_int_equal(finish(world, &starter, 1, IMAGE), 0); /* asked twice */
    wire_close(starter.wire);
}

static void one_that_the_schedd_has_is_not_replaced(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_run(world, "", &starter);
    assert_int_equal(take(world, &starter, 1), 0);
    assert_int_equal(send_piece(world, &starter, 1, "image", 0, 5, "other"), 0);
    assert_int_equal(send_piece(world, &starter, 1, "files", 0, strlen(FILES), FILES), 0);
    strbuf_clear(&world->reports);
    assert_int_equal(finish(world, &starter, 1, "other"), -EEXIST);
    reports_are(world, "");
    assert_int_equal(finish(world, &starter, 1, IMAGE), 0); /* it is still that one */
    offers(world, &starter, "1;");
    wire_close(starter.wire);
}

static void what_came_damaged_is_to_come_again(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_run(world, "", &starter);
    assert_int_equal(send_piece(world, &starter, 1, "image", 0, 8, "an imagf"), 0);
    assert_int_equal(send_piece(world, &starter, 1, "files", 0, strlen(FILES), FILES), 0);
    assert_int_equal(finish(world, &starter, 1, IMAGE), -EAGAIN);
    assert_int_equal(has(world, &starter, 1, "image"), 0);
    assert_int_equal(has(world, &starter, 1, "files"), strlen(FILES));
    offers(world, &starter, "");
    assert_int_equal(send_piece(world, &starter, 1, "image", 0, strlen(IMAGE), IMAGE), 0);
    assert_int_equal(finish(world, &starter, 1, IMAGE), 0);
    offers(world, &starter, "1;");
    /* Nor is it kept when it is not as long as its manifest says: who gets it goes by that. */
    assert_int_equal(send_piece(world, &starter, 2, "image", 0, strlen(IMAGE), IMAGE), 0);
    assert_int_equal(send_piece(world, &starter, 2, "files", 0, strlen(FILES), FILES), 0);
    assert_int_equal(finish_as(world, &starter, 2, IMAGE, strlen(IMAGE) + 1, FILES), -EAGAIN);
    assert_int_equal(has(world, &starter, 2, "image"), 0);
    offers(world, &starter, "1;");
    wire_close(starter.wire);
}

static void one_that_the_schedd_does_not_take_is_not_kept(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_run(world, "", &starter);
    assert_int_equal(take(world, &starter, 1), 0);
    world->status[VERB_JOB_STATUS] = -ESTALE;
    assert_int_equal(take(world, &starter, 2), -ESTALE);
    offers(world, &starter, "1;");
    assert_true(is_kept(world, "1"));
    assert_false(is_kept(world, "2"));
    wire_close(starter.wire);
}

static void two_are_kept_the_latest_first(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_run(world, "", &starter);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(take(world, &starter, i), 0);
    }
    offers(world, &starter, "3;2;");
    assert_false(is_kept(world, "1"));
    assert_int_equal(send_piece(world, &starter, 1, "image", 0, 1, "x"), -ENOENT);
    wire_close(starter.wire);
}

static int refuse(struct world *world, const struct starter *starter, int64_t sequence,
                  bool damaged)
{
    char args[200];
    (void)snprintf(args, sizeof(args),
                   "[CkptSequence = %lld; Reason = \"it cannot\"; Damaged = %s]",
                   (long long)sequence, damaged ? "true" : "false");
    return call(world, starter->wire, VERB_CKPT_REFUSED, args, NULL, NULL);
}

static void one_that_cannot_be_resumed_three_times_is_given_up(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_run(world, "", &starter);
    assert_int_equal(take(world, &starter, 1), 0);
    assert_int_equal(take(world, &starter, 2), 0);
    strbuf_clear(&world->reports);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(refuse(world, &starter, 2, false), 0);
        reports_are(world, "JOB_STATUS CheckpointRefused;");
        offers(world, &starter, "2;1;");
    }
    assert_int_equal(refuse(world, &starter, 2, false), 0);
    offers(world, &starter, "1;");
    assert_false(is_kept(world, "2"));
    wire_close(starter.wire);
}

static void a_damaged_one_is_given_up_at_once(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_run(world, "", &starter);
    assert_int_equal(take(world, &starter, 1), 0);
    assert_int_equal(take(world, &starter, 2), 0);
    assert_int_equal(refuse(world, &starter, 2, true), 0);
    offers(world, &starter, "1;");
    assert_int_equal(refuse(world, &starter, 1, true), 0);
    offers(world, &starter, "");
    assert_int_equal(refuse(world, &starter, 1, true), -ENOENT);
    wire_close(starter.wire);
}

static void only_what_is_a_checkpoints_is_written_and_read(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_run(world, "", &starter);
    assert_int_equal(send_piece(world, &starter, 1, "../x", 0, 1, "x"), -EINVAL);
    assert_int_equal(send_piece(world, &starter, 1, "manifest", 0, 1, "x"), -EINVAL);
    assert_int_equal(send_piece(world, &starter, 0, "image", 0, 1, "x"), -EINVAL);
    assert_int_equal(send_piece(world, &starter, 1, "image", -2, 1, "x"), -EINVAL);
    assert_int_equal(call(world, starter.wire, VERB_CKPT_GET,
                          "[CkptSequence = 1; Name = \"image\"; Offset = 0]", NULL, NULL),
                     -ENOENT);
    assert_int_equal(take(world, &starter, 1), 0);
    assert_int_equal(call(world, starter.wire, VERB_CKPT_GET,
                          "[CkptSequence = 1; Name = \"manifest\"; Offset = 0]", NULL, NULL),
                     -EINVAL);
    wire_close(starter.wire);
}

static void the_next_shadow_offers_what_the_schedd_knows_of(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_run(world, "", &starter);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(take(world, &starter, i), 0);
    }
    assert_int_equal(send_piece(world, &starter, 3, "image", 0, 8, "an i"), 0);
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3");
    restart(world);
    wait_for(world, &starter.closed);
    begin_run(world, "CkptSequence = 1", &starter);
    offers(world, &starter, "1;");
    assert_int_equal(has(world, &starter, 3, "image"), 4); /* it is gone on with */
    assert_int_equal(take(world, &starter, 2), 0);         /* in the place of the one of before */
    offers(world, &starter, "2;1;");
    wire_close(starter.wire);
}

struct look {
    struct world *world;
    struct loop_timer *timer;
    const char *name; /* below the test's directory */
    bool there, over;
};

static void look_again(void *arg)
{
    struct look *look = arg;
    char path[200];
    struct os_stat stat;
    (void)snprintf(path, sizeof(path), "%s/%s", look->world->dir, look->name);
    look->over = (os_stat(look->world->os, path, &stat) == 0) == look->there;
    loop_timer_set(look->timer, 5);
}

static void wait_until(struct world *world, const char *name, bool there)
{
    struct look look = {.world = world, .name = name, .there = there};
    look.timer = loop_timer_create(world->loop, look_again, &look);
    look_again(&look);
    if (!look.over) {
        wait_for(world, &look.over);
    }
    loop_timer_destroy(look.timer);
}

/* On a lane, or, if that was stopped before, by the shadow that comes next. */
static void wait_until_removed(struct world *world)
{
    char name[120];
    (void)snprintf(name, sizeof(name), "owner/%s/ckpt/1.0", world->me);
    wait_until(world, name, false);
}

/* A shadow with that in its configuration. */
static void configure_line(struct world *world, const char *line)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
                   "LOCAL_DIR = \"%s\"\nLOG = \"%s/log\"\nSPOOL = \"%s\"\nUID_DOMAIN = \"pool\"\n"
                   "%s\n",
                   world->dir, world->dir, world->dir, line);
    put(world, "roost.conf", text);
    restart(world);
}

static void those_of_a_job_that_leaves_are_removed_and_nothing_else(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char path[200];
    struct os_stat stat;
    configure_line(world, "SHADOW_LANES = 1"); /* what is asked first is done first */
    begin_run(world, "", &starter);
    assert_int_equal(take(world, &starter, 1), 0);
    (void)snprintf(path, sizeof(path), "%s/owner/%s/ckpt/../x", world->dir, world->me);
    assert_int_equal(os_mkdirs(world->os, path, 0700, NULL), 0);
    assert_int_equal(call(world, world->shadow, VERB_JOB_STOP, "[Checkpoints = \"../x,.,1.0\"]",
                          NULL, NULL),
                     0);
    assert_int_equal(call(world, starter.wire, VERB_CKPT_LOOK, "[]", NULL, NULL), -ESTALE);
    wait_until_removed(world);
    assert_int_equal(os_stat(world->os, path, &stat), 0);
    wire_close(starter.wire);
}

/* A schedd that was started again knows of no checkpoint before it is told of the first. */
static void of_those_that_the_schedd_does_not_know_the_ones_of_runs_stay(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char path[200];
    struct os_stat stat;
    configure_line(world, "SHADOW_LANES = 1");
    begin_run(world, "", &starter);
    assert_int_equal(take(world, &starter, 1), 0);
    (void)snprintf(path, sizeof(path), "%s/owner/%s/ckpt/2.0/1", world->dir, world->me);
    assert_int_equal(os_mkdirs(world->os, path, 0700, NULL), 0);
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3");
    world->checkpoints = "3.0";
    world->greeted = false;
    wire_close(world->shadow);
    world->shadow = NULL;
    wait_for(world, &world->greeted);
    offers(world, &starter, "1;"); /* on the same lane */
    assert_int_equal(os_stat(world->os, path, &stat), -ENOENT);
    assert_true(is_kept(world, "1/image"));
    wire_close(starter.wire);
}

static void the_schedd_is_told_of_no_other_one_that_is_not_there(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char path[200];
    begin_run(world, "", &starter);
    assert_int_equal(take(world, &starter, 1), 0);
    assert_int_equal(world->previous, 0);
    assert_int_equal(take(world, &starter, 2), 0);
    assert_int_equal(world->previous, 1);
    (void)snprintf(path, sizeof(path), "%s/owner/%s/ckpt/1.0/2", world->dir, world->me);
    assert_int_equal(os_remove_tree(world->os, path, NULL), 0);
    assert_int_equal(take(world, &starter, 3), 0);
    assert_int_equal(world->previous, 0);
    wire_close(starter.wire);
}

/* Of a run that ended before the schedd knew of it: the same sequence, another moment. */
static void what_comes_again_with_other_files_takes_the_place_of_the_one_of_before(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    begin_run(world, "", &starter);
    assert_int_equal(take(world, &starter, 1), 0);
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3");
    restart(world);
    wait_for(world, &starter.closed);
    begin_run(world, "", &starter);
    assert_int_equal(send_piece(world, &starter, 1, "image", 0, strlen(IMAGE), IMAGE), 0);
    assert_int_equal(send_piece(world, &starter, 1, "files", 0, 6, "others"), 0);
    assert_int_equal(finish_as(world, &starter, 1, IMAGE, strlen(IMAGE), "others"), 0);
    begin(starter.wire, VERB_CKPT_GET, "[CkptSequence = 1; Name = \"files\"; Offset = 0]", NULL,
          NULL, &answer);
    wait_for(world, &answer.over);
    assert_string_equal(strbuf_text(&answer.bytes), "others");
    answer_fini(&answer);
    wire_close(starter.wire);
}

static void what_would_be_more_than_the_owner_may_have_is_refused(void **state)
{
    struct world *world = *state;
    struct starter starter;
    configure_line(world, "CHECKPOINT_QUOTA_PER_OWNER = \"1 MiB\"");
    begin_run(world, "", &starter);
    assert_int_equal(send_piece(world, &starter, 1, "image", 0, (size_t)2 << 20, "x"), -EDQUOT);
    assert_int_equal(send_piece(world, &starter, 1, "image", 0, (size_t)512 << 10, "x"), 0);
    assert_true(is_kept(world, "1.3.part"));
    assert_int_equal(send_piece(world, &starter, 1, "files", 0, (size_t)2 << 20, "x"), -EDQUOT);
    assert_false(is_kept(world, "1.3.part")); /* nor is what came of it before */
    wire_close(starter.wire);
}

static void half_ones_that_nobody_goes_on_with_are_removed(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_run(world, "", &starter);
    assert_int_equal(take(world, &starter, 1), 0);
    assert_int_equal(send_piece(world, &starter, 2, "image", 0, 8, "an i"), 0);
    assert_true(is_kept(world, "2.3.part"));
    assert_int_equal(send_piece(world, &starter, 3, "image", 0, 8, "an i"), 0);
    assert_false(is_kept(world, "2.3.part"));
    assert_true(is_kept(world, "3.3.part"));
    offers(world, &starter, "1;");
    wire_close(starter.wire);
}

static void one_that_cannot_be_looked_at_now_is_not_lost(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char path[200];
    begin_run(world, "", &starter);
    assert_int_equal(take(world, &starter, 1), 0);
    (void)snprintf(path, sizeof(path), "%s/owner/%s/ckpt/1.0/1", world->dir, world->me);
    assert_int_equal(os_below_remove(world->os, path, "manifest", NULL), 0);
    assert_int_equal(os_below_link(world->os, path, "manifest", "manifest", NULL), 0); /* ELOOP */
    assert_int_equal(call(world, starter.wire, VERB_CKPT_LOOK, "[]", NULL, NULL), -EAGAIN);
    assert_int_equal(os_below_remove(world->os, path, "manifest", NULL), 0);
    offers(world, &starter, ""); /* it is gone */
    wire_close(starter.wire);
}

/* A file server that is away says so, as a disk that is broken does. */
static void where_the_disk_has_an_error_no_job_begins_anew(void **state)
{
    struct world *world = *state;
    struct starter starter;
    char path[200];
    begin_run(world, "", &starter);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(take(world, &starter, i), 0);
    }
    for (int i = 2; i >= 1; i--) {
        (void)snprintf(path, sizeof(path), "%s/owner/%s/ckpt/1.0/%d", world->dir, world->me, i);
        assert_int_equal(os_below_remove(world->os, path, "manifest", NULL), 0);
        assert_int_equal(os_below_link(world->os, path, "manifest", "/proc/self/mem", NULL), 0);
        if (i == 2) {
            offers(world, &starter, "1;");
        }
    }
    assert_int_equal(call(world, starter.wire, VERB_CKPT_LOOK, "[]", NULL, NULL), -EAGAIN);
    wire_close(starter.wire);
}

static void a_run_that_begins_anew_keeps_its_own(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_run(world, "", &starter); /* before the shadow is told that those of before are to go */
    assert_int_equal(call(world, world->shadow, VERB_JOB_STOP, "[Checkpoints = \"1.0\"]", NULL,
                          NULL),
                     0);
    assert_int_equal(take(world, &starter, 1), 0);
    offers(world, &starter, "1;");
    wire_close(starter.wire);
}

/* ---- what changed only ----------------------------------------------------------------------- */

/* In the place of roost-ckpt: what it makes is the one behind the other. */
#define MERGER                                                            \
    "#!/bin/sh\n"                                                         \
    "[ \"$1\" = merge ] || [ \"$1\" = join ] || exit 2\n"                 \
    "[ \"$2\" = --max ] || exit 2\n"                                      \
    "echo \"$1 $3\" >\"$(dirname \"$0\")/allowed\"\n"                     \
    "if grep -q bad \"$5\"; then\n"                                       \
    "    echo half >\"$6\"\n"                                             \
    "    echo 'roost-ckpt: it is damaged'\n"                              \
    "    exit 1\n"                                                        \
    "fi\n"                                                                \
    "if grep -q slow \"$5\"; then\n"                                      \
    "    : >\"$0.begun\"\n"                                               \
    "    for i in $(seq 1000); do [ -e \"$0.go\" ] || sleep 0.01; done\n" \
    "fi\n"                                                                \
    "cat \"$4\" \"$5\" >\"$6\"\n"                                         \
    "echo 'CkptImageSize = 4711'\n"                                       \
    "echo 'CkptFilesSize = 815'\n"

static void configure(struct world *world, const char *knob, const char *name)
{
    char line[256];
    (void)snprintf(line, sizeof(line), "%s = \"%s/%s\"", knob, world->dir, name);
    configure_line(world, line);
}

static int send_delta(struct world *world, const struct starter *starter, int64_t sequence,
                      int64_t base, const char *text)
{
    char args[256];
    (void)
        snprintf(args, sizeof(args),
                 "[CkptSequence = %lld; Name = \"delta\"; CkptBase = %lld; Offset = 0; Size = %zu]",
                 (long long)sequence, (long long)base, strlen(text));
    return call(world, starter->wire, VERB_CKPT_PUT, args, NULL, text);
}

static void begin_finish_delta(const struct starter *starter, int64_t sequence, int64_t base,
                               const char *text, struct answer *answer)
{
    char args[512], sum[DIGEST_HEX_SIZE], files_sum[DIGEST_HEX_SIZE];
    hash(text, strlen(text), sum);
    hash(FILES, strlen(FILES), files_sum);
    (void)
        snprintf(args, sizeof(args),
                 "[CkptSequence = %lld; CkptBase = %lld; CkptImageSize = 9; CkptImageStored = %zu; "
                 "CkptFilesStored = %zu; DeltaChecksum = \"%s\"; FilesChecksum = \"%s\"]",
                 (long long)sequence, (long long)base, strlen(text), strlen(FILES), sum, files_sum);
    begin(starter->wire, VERB_CKPT_DONE, args, NULL, NULL, answer);
}

static int finish_delta(struct world *world, const struct starter *starter, int64_t sequence,
                        int64_t base, const char *text)
{
    struct answer answer;
    begin_finish_delta(starter, sequence, base, text, &answer);
    wait_for(world, &answer.over);
    int status = answer.status;
    answer_fini(&answer);
    return status;
}

static void begin_merging(struct world *world, struct starter *starter)
{
    char path[200];
    put(world, "merger", MERGER);
    (void)snprintf(path, sizeof(path), "%s/merger", world->dir);
    assert_int_equal(os_chmod(world->os, path, 0755, NULL), 0);
    configure(world, "CKPT_PROGRAM", "merger");
    begin_run(world, "", starter);
    assert_int_equal(take(world, starter, 1), 0);
}

struct whole { /* what is kept of the second one */
    const char *name, *text;
    const char *sum_attr, *stored_attr, *plain_attr;
    int64_t plain;
};

static void is_whole(struct world *world, const struct starter *starter, const struct whole *whole)
{
    struct answer answer;
    char args[100], sum[DIGEST_HEX_SIZE];
    (void)snprintf(args, sizeof(args), "[CkptSequence = 2; Name = \"%s\"; Offset = 0]",
                   whole->name);
    begin(starter->wire, VERB_CKPT_GET, args, NULL, NULL, &answer);
    wait_for(world, &answer.over);
    assert_string_equal(strbuf_text(&answer.bytes), whole->text);
    answer_fini(&answer);
    begin(starter->wire, VERB_CKPT_LOOK, "[]", NULL, NULL, &answer);
    wait_for(world, &answer.over);
    const struct ad *manifest = answer.ads.items[0];
    hash(whole->text, strlen(whole->text), sum);
    assert_string_equal(ad_string_or(manifest, whole->sum_attr, ""), sum);
    assert_int_equal(ad_int_or(manifest, whole->stored_attr, 0), strlen(whole->text));
    assert_int_equal(ad_int_or(manifest, whole->plain_attr, 0), whole->plain);
    assert_false(ad_has(manifest, "CkptBase"));
    answer_fini(&answer);
}

static void what_changed_is_made_whole_before_it_is_kept(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_merging(world, &starter);
    assert_int_equal(send_delta(world, &starter, 2, 1, " anew"), 0);
    assert_int_equal(send_piece(world, &starter, 2, "files", 0, strlen(FILES), FILES), 0);
    assert_int_equal(finish_delta(world, &starter, 2, 1, " anew"), 0);
    assert_int_equal(finish_delta(world, &starter, 2, 1, " anew"), 0); /* asked twice */
    offers(world, &starter, "2;1;");
    const struct whole whole = {"image",           IMAGE " anew",   "ImageChecksum",
                                "CkptImageStored", "CkptImageSize", 4711};
    is_whole(world, &starter, &whole);
    file_is(world, "allowed", "merge 1048610\n"); /* ckpt_room_plan.h, of 8 and 9 bytes */
    assert_false(is_kept(world, "2/delta"));
    assert_false(is_kept(world, "2/said"));
    wire_close(starter.wire);
}

/* The image comes whole, of the files what changed.  base: 0: it is not said. */
static int finish_changes(struct world *world, const struct starter *starter, int64_t sequence,
                          int64_t base, const char *text)
{
    char args[512], sum[DIGEST_HEX_SIZE], image_sum[DIGEST_HEX_SIZE];
    hash(text, strlen(text), sum);
    hash(IMAGE, strlen(IMAGE), image_sum);
    (void)snprintf(args, sizeof(args),
                   "[CkptSequence = %lld; CkptBase = %lld; CkptImageStored = %zu; "
                   "CkptFilesStored = %zu; ImageChecksum = \"%s\"; ChangesChecksum = \"%s\"]",
                   (long long)sequence, (long long)base, strlen(IMAGE), strlen(text), image_sum,
                   sum);
    return call(world, starter->wire, VERB_CKPT_DONE, args, NULL, NULL);
}

static void of_files_what_changed_is_made_whole_too(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_merging(world, &starter);
    assert_int_equal(send_piece(world, &starter, 2, "image", 0, strlen(IMAGE), IMAGE), 0);
    assert_int_equal(send_piece(world, &starter, 2, "changes", 0, 5, " more"), 0);
    assert_int_equal(finish_changes(world, &starter, 2, 1, " more"), 0);
    assert_int_equal(finish_changes(world, &starter, 2, 1, " more"), 0); /* asked twice */
    offers(world, &starter, "2;1;");
    const struct whole whole = {"files",           FILES " more",   "FilesChecksum",
                                "CkptFilesStored", "CkptFilesSize", 815};
    is_whole(world, &starter, &whole);
    assert_false(is_kept(world, "2/changes"));
    /* Of what: is not said. */
    assert_int_equal(send_piece(world, &starter, 3, "image", 0, strlen(IMAGE), IMAGE), 0);
    assert_int_equal(send_piece(world, &starter, 3, "changes", 0, 5, " more"), 0);
    assert_int_equal(finish_changes(world, &starter, 3, 0, " more"), -ENODATA);
    offers(world, &starter, "2;1;");
    wire_close(starter.wire);
}

static void what_nothing_whole_comes_of_is_not_kept(void **state)
{
    struct world *world = *state;
    struct starter starter;
    begin_merging(world, &starter);
    assert_int_equal(send_delta(world, &starter, 2, 7, "x"), -ENODATA);
    assert_int_equal(send_delta(world, &starter, 2, 1, "bad"), 0);
    assert_int_equal(send_piece(world, &starter, 2, "files", 0, strlen(FILES), FILES), 0);
    assert_int_equal(finish_delta(world, &starter, 2, 7, "bad"), -ENODATA);
    assert_int_equal(finish_delta(world, &starter, 2, 1, "good"), -EAGAIN); /* not what came */
    assert_int_equal(send_delta(world, &starter, 2, 1, "bad"), 0);
    assert_int_equal(finish_delta(world, &starter, 2, 1, "bad"), -ENODATA);
    offers(world, &starter, "1;");
    assert_int_equal(take(world, &starter, 3), 0); /* a whole one */
    offers(world, &starter, "3;1;");
    wire_close(starter.wire);
}

static void what_becomes_whole_after_its_run_was_stopped_is_not_told_to_the_schedd(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct answer answer;
    begin_merging(world, &starter);
    assert_int_equal(send_delta(world, &starter, 2, 1, "slow"), 0);
    assert_int_equal(send_piece(world, &starter, 2, "files", 0, strlen(FILES), FILES), 0);
    strbuf_clear(&world->reports);
    begin_finish_delta(&starter, 2, 1, "slow", &answer);
    wait_until(world, "merger.begun", true);
    assert_int_equal(call(world, world->shadow, VERB_JOB_STOP, "[JobId = \"1.0\"; ClaimEpoch = 3]",
                          NULL, NULL),
                     0);
    put(world, "merger.go", "");
    wait_for(world, &answer.over);
    assert_int_not_equal(answer.status, 0);
    answer_fini(&answer);
    reports_are(world, "");
    wire_close(starter.wire);
}

/* ---- elsewhere ------------------------------------------------------------------------------- */

static void they_are_kept_where_the_site_says_and_removed_there(void **state)
{
    struct world *world = *state;
    struct starter starter;
    struct os_stat stat;
    char far[200], away[200], image[300];
    (void)snprintf(far, sizeof(far), "%s/far", world->dir);
    (void)snprintf(away, sizeof(away), "%s/away", world->dir);
    (void)snprintf(image, sizeof(image), "%s/1.0/1/image", far);
    configure(world, "CHECKPOINT_DESTINATION", "far");
    begin_run(world, "", &starter);
    /* Not mounted: nothing is written in its place. */
    assert_int_equal(send_piece(world, &starter, 1, "image", 0, strlen(IMAGE), IMAGE), -ENOTDIR);
    assert_int_equal(os_mkdirs(world->os, far, 0700, NULL), 0);
    assert_int_equal(take(world, &starter, 1), 0);
    assert_int_equal(os_stat(world->os, image, &stat), 0);
    offers(world, &starter, "1;");
    assert_int_equal(os_rename(world->os, far, away, false, NULL), 0);
    assert_int_equal(call(world, starter.wire, VERB_CKPT_LOOK, "[]", NULL, NULL), -EAGAIN);
    assert_int_equal(call(world, starter.wire, VERB_CKPT_GET,
                          "[CkptSequence = 1; Name = \"image\"; Offset = 0]", NULL, NULL),
                     -EAGAIN);
    assert_int_equal(os_rename(world->os, away, far, false, NULL), 0);
    offers(world, &starter, "1;");
    assert_int_equal(call(world, world->shadow, VERB_JOB_STOP, "[Checkpoints = \"1.0\"]", NULL,
                          NULL),
                     0);
    wait_until_removed(world);
    (void)snprintf(image, sizeof(image), "%s/1.0", far);
    assert_int_equal(os_stat(world->os, image, &stat), -ENOENT);
    wire_close(starter.wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_is_offered_when_it_is_whole_and_the_schedd_has_it),
        CASE(one_that_the_schedd_has_is_not_replaced),
        CASE(what_came_damaged_is_to_come_again),
        CASE(one_that_the_schedd_does_not_take_is_not_kept),
        CASE(two_are_kept_the_latest_first),
        CASE(one_that_cannot_be_resumed_three_times_is_given_up),
        CASE(a_damaged_one_is_given_up_at_once),
        CASE(only_what_is_a_checkpoints_is_written_and_read),
        CASE(the_next_shadow_offers_what_the_schedd_knows_of),
        CASE(those_of_a_job_that_leaves_are_removed_and_nothing_else),
        CASE(of_those_that_the_schedd_does_not_know_the_ones_of_runs_stay),
        CASE(the_schedd_is_told_of_no_other_one_that_is_not_there),
        CASE(what_comes_again_with_other_files_takes_the_place_of_the_one_of_before),
        CASE(what_becomes_whole_after_its_run_was_stopped_is_not_told_to_the_schedd),
        CASE(what_changed_is_made_whole_before_it_is_kept),
        CASE(of_files_what_changed_is_made_whole_too),
        CASE(what_nothing_whole_comes_of_is_not_kept),
        CASE(they_are_kept_where_the_site_says_and_removed_there),
        CASE(what_would_be_more_than_the_owner_may_have_is_refused),
        CASE(half_ones_that_nobody_goes_on_with_are_removed),
        CASE(one_that_cannot_be_looked_at_now_is_not_lost),
        CASE(where_the_disk_has_an_error_no_job_begins_anew),
        CASE(a_run_that_begins_anew_keeps_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
