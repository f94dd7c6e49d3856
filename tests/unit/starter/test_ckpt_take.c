/* What a starter tells of a checkpoint that was made: from what the dump said, and from the files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/loop_rig.h"

#include <errno.h>
#include <unistd.h>

#include "classad/ad.h"
#include "starter/ckpt/ckpt_take.h"
#include "starter/starter.h"
#include "wire/checkpoint_attrs.h"

#define WHOLE "CkptImageId = \"b\"\nCkptFeatures = \"sse2\"\nCkptImageSize = 4096\n"

struct bed {
    char dir[FAST_DIR_SIZE], sandbox[8];
    struct loop *loop;
    struct os *os;
    struct starter starter;
};

static void write_file(struct bed *bed, const char *name, const char *text)
{
    loop_rig_write(bed->os, bed->dir, name, text, 0600);
}

static int set_up(void **state)
{
    struct bed *bed = mem_zalloc(sizeof *bed);
    struct starter *starter = &bed->starter;
    loop_rig_open(&bed->loop, &bed->os, bed->dir);
    starter->env.loop = bed->loop;
    starter->env.os = bed->os;
    starter->run.directory = bed->dir;
    starter->run.sandbox = bed->sandbox;
    starter->run.record = ad_create();
    starter->run.ckpt.kept.sequence = 4;
    starter->run.ckpt.in_hand.number = 5;
    (void)snprintf(starter->run.ckpt.kept.id, sizeof starter->run.ckpt.kept.id, "a");
    (void)snprintf(starter->run.ckpt.in_hand.files[0], sizeof starter->run.ckpt.in_hand.files[0],
                   "image");
    (void)snprintf(starter->run.ckpt.in_hand.files[1], sizeof starter->run.ckpt.in_hand.files[1],
                   "files");
    write_file(bed, "image", "an image");
    write_file(bed, "files", "the files");
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    ad_destroy(bed->starter.run.ckpt.in_hand.manifest);
    ad_destroy(bed->starter.run.record);
    loop_rig_close(bed->loop, bed->os, bed->dir);
    mem_free(bed);
    return 0;
}

/* 0, or why it is no checkpoint. */
static int told(struct bed *bed, const char *report)
{
    struct err err = {.text = ""};
    ad_destroy(bed->starter.run.ckpt.in_hand.manifest);
    bed->starter.run.ckpt.in_hand.manifest = NULL;
    int rc = ckpt_take_manifest(&bed->starter, report, &err);
    assert_true(rc == 0 || err.text[0] != '\0');
    assert_true((rc == 0) == (bed->starter.run.ckpt.in_hand.manifest != NULL));
    return rc;
}

static int64_t says(const struct bed *bed, const char *name)
{
    return ad_int_or(bed->starter.run.ckpt.in_hand.manifest, name, -1);
}

static void a_whole_one_builds_upon_nothing(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(told(bed, WHOLE), 0);
    assert_false(bed->starter.run.ckpt.in_hand.is_delta);
    assert_string_equal(bed->starter.run.ckpt.in_hand.id, "b");
    assert_int_equal(says(bed, CKPT_SEQUENCE), 5);
    assert_int_equal(says(bed, CKPT_BASE), -1);
    assert_int_equal(says(bed, CKPT_IMAGE_BYTES), 4096);
    assert_int_equal(says(bed, CKPT_IMAGE_STORED), 8);
    assert_int_equal(says(bed, CKPT_FILES_STORED), 9);
    assert_int_equal(says(bed, CKPT_FILES_BYTES), 9); /* not said: as they lie here */
    assert_int_equal(says(bed, CKPT_SENT_BYTES), 17);
}

static void what_changed_builds_upon_the_one_that_the_shadow_has(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(told(bed, WHOLE "CkptBaseId = \"a\"\n"), 0);
    assert_true(bed->starter.run.ckpt.in_hand.is_delta);
    assert_int_equal(says(bed, CKPT_BASE), 4);
    assert_int_equal(told(bed, WHOLE "CkptBaseId = \"c\"\n"), -ENODATA);
    bed->starter.run.ckpt.kept.id[0] = '\0'; /* it is not known any more which one it has */
    assert_int_equal(told(bed, WHOLE "CkptBaseId = \"a\"\n"), -ENODATA);
}

static void files_that_changed_build_upon_it_too(void **state)
{
    struct bed *bed = *state;
    bed->starter.run.ckpt.in_hand.is_changes = true;
    assert_int_equal(told(bed, WHOLE), 0);
    assert_false(bed->starter.run.ckpt.in_hand.is_delta);
    assert_int_equal(says(bed, CKPT_BASE), 4);
}

static void what_was_not_said_to_its_end_is_no_checkpoint(void **state)
{
    struct bed *bed = *state;
    static const char *const HALVES[] = {"", "CkptImageSize = 4096\n", "CkptImageId = \"b\"\n",
                                         "CkptFeatures = \"sse2\"\n"};
    for (size_t i = 0; i < sizeof HALVES / sizeof HALVES[0]; i++) {
        assert_int_equal(told(bed, HALVES[i]), -EIO);
    }
    assert_int_not_equal(told(bed, WHOLE "CkptStoodStill = "), 0);
    (void)snprintf(bed->starter.run.ckpt.in_hand.files[1],
                   sizeof bed->starter.run.ckpt.in_hand.files[1], "other");
    assert_int_equal(told(bed, WHOLE), -EIO);
}

static bool reads(struct bed *bed, const char *text)
{
    char *said = ckpt_take_report(&bed->starter);
    bool same = strcmp(said, text) == 0;
    mem_free(said);
    return same;
}

static void a_report_that_is_not_the_accounts_own_is_not_read(void **state)
{
    struct bed *bed = *state;
    char path[FAST_DIR_SIZE + 64];
    bed->starter.run.account.change_user = true;
    bed->starter.run.account.uid = os_uid(bed->os);
    (void)snprintf(path, sizeof path, "%s/" STARTER_CKPT_DIRECTORY, bed->dir);
    assert_true(reads(bed, ""));
    assert_int_equal(os_mkdirs(bed->os, path, 0700, NULL), 0);
    write_file(bed, STARTER_CKPT_DIRECTORY "/report", WHOLE);
    assert_true(reads(bed, WHOLE));
    bed->starter.run.account.uid++; /* a second name of somebody else's file */
    assert_true(reads(bed, ""));
    bed->starter.run.account.uid--;
    write_file(bed, "secret", "secret");
    (void)snprintf(path, sizeof path, "%s/" STARTER_CKPT_DIRECTORY "/report", bed->dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("../secret", path), 0);
    assert_true(reads(bed, ""));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_whole_one_builds_upon_nothing),
        CASE(what_changed_builds_upon_the_one_that_the_shadow_has),
        CASE(files_that_changed_build_upon_it_too),
        CASE(what_was_not_said_to_its_end_is_no_checkpoint),
        CASE(a_report_that_is_not_the_accounts_own_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
