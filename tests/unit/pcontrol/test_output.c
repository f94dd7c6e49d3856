/* tests/unit/pcontrol/test_output.c - the output of a job while a lane writes to its file.
 *
 * What a lane does is told by a callback of the loop, so an output that is used before the loop
 * goes on is always one whose lane is at work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/output.h"

#include <unistd.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "tests/support/unit.h"

#define TEXT        "written by a lane\n"
#define DEADLINE_MS 20000
#define BYTES       (sizeof(TEXT) - 1)

struct fixture {
    struct loop *loop;
    struct os *os;
    struct output_house *house;
    struct output *output;
    char path[64];
    struct loop_timer *deadline;
    size_t wanted, done; /* bytes: when so many are done, the output is finished */
    bool gives_up;
    size_t done_at_give_up;
};

static void deadline_is_over(void *arg)
{
    struct fixture *f = arg;
    loop_stop(f->loop, 1);
}

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    assert_int_equal(loop_create(&f->loop, NULL), 0);
    assert_int_equal(os_create(f->loop, &f->os, NULL), 0);
    f->house = output_house_create(f->loop, f->os, 100, 1000);
    (void)snprintf(f->path, sizeof(f->path), "/tmp/roost-output-%d", (int)getpid());
    f->deadline = loop_timer_create(f->loop, deadline_is_over, f);
    loop_timer_set(f->deadline, DEADLINE_MS);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    output_destroy(f->output);
    output_house_destroy(f->house);
    loop_timer_destroy(f->deadline);
    os_destroy(f->os);
    loop_destroy(f->loop);
    (void)unlink(f->path);
    mem_free(f);
    return 0;
}

/* The first time, the file is open, and the lane has just been given the bytes. */
static void changed(void *arg)
{
    struct fixture *f = arg;
    if (f->gives_up) {
        f->gives_up = false;
        output_give_up(f->output);
        f->done_at_give_up = output_take_done(f->output);
        output_finish(f->output);
        return;
    }
    f->done += output_take_done(f->output);
    if (output_is_complete(f->output)) {
        loop_stop(f->loop, 0);
    } else if (f->wanted == f->done && f->done == BYTES) {
        f->wanted += BYTES;
        output_add(f->output, TEXT, BYTES);
    } else if (f->wanted == f->done && f->done > 0) {
        f->wanted = 0;
        output_finish(f->output);
    }
}

static void begin(struct fixture *f)
{
    f->output = output_create(f->house, f->path, 1, changed, f);
    output_add(f->output, TEXT, BYTES);
}

static void bytes_are_dealt_with_when_they_are_in_the_file(void **state)
{
    struct fixture *f = *state;
    static const char EARLIER[] = "a file of an earlier run, which is longer than what comes now";
    char *data = NULL;
    size_t length = 0;
    assert_int_equal(os_write_file(f->os, f->path, EARLIER, sizeof(EARLIER), 0600, false, NULL), 0);
    f->wanted = BYTES;
    begin(f);
    assert_int_equal(output_take_done(f->output), 0);
    assert_int_equal(loop_run(f->loop), 0);
    assert_int_equal(f->done, 2 * BYTES);
    assert_int_equal(os_read_file(f->os, f->path, 1000, &data, &length, NULL), 0);
    assert_int_equal(length, 2 * BYTES);
    assert_memory_equal(data, TEXT TEXT, 2 * BYTES);
    mem_free(data);
}

static void what_a_lane_writes_is_its_own_until_it_has_written_it(void **state)
{
    struct fixture *f = *state;
    f->gives_up = true;
    f->done_at_give_up = 1;
    begin(f);
    assert_int_equal(loop_run(f->loop), 0);
    assert_int_equal(f->done_at_give_up, 0);
    assert_int_equal(f->done, BYTES);
}

static void an_output_is_destroyed_while_a_lane_opens_its_file(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 100; i++) {
        begin(f);
        output_destroy(f->output);
        f->output = NULL;
    }
    begin(f);
    output_finish(f->output);
    assert_int_equal(loop_run(f->loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_are_dealt_with_when_they_are_in_the_file, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_a_lane_writes_is_its_own_until_it_has_written_it,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(an_output_is_destroyed_while_a_lane_opens_its_file, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
