/* tests/unit/base/test_slices.c - who gets the next slice, and what the loop does between two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/slices.h"

#include "base/loop_run.h"
#include "base/mem.h"
#include "tests/support/unit.h"

struct world {
    struct loop *loop;
    struct slices *slices;
    char trace[256]; /* a letter for each slice; '.' for each turn of the loop between */
    size_t length;
    size_t wanted; /* slices in all, before the loop is left */
    bool done;
};

struct one {
    struct world *world;
    struct slice_work *work;
    char letter;
    int left;         /* slices that it needs */
    struct one *ends; /* this one is destroyed in the slice */
};

static void put(struct world *world, char letter)
{
    assert_true(world->length + 1 < sizeof(world->trace));
    world->trace[world->length++] = letter;
}

static void end(struct one *one)
{
    slice_work_destroy(one->work);
    one->work = NULL;
}

static void slice(void *arg)
{
    struct one *one = arg;
    struct world *world = one->world;
    put(world, one->letter);
    if (one->ends != NULL) {
        end(one->ends);
        one->ends = NULL;
    }
    if (--one->left > 0 && one->work != NULL) {
        slice_work_want(one->work);
    }
    world->done = --world->wanted == 0;
}

static int set_up(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    assert_int_equal(loop_create(&world->loop, NULL), 0);
    world->slices = slices_create(world->loop);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    slices_destroy(world->slices);
    loop_destroy(world->loop);
    mem_free(world);
    return 0;
}

static void begin(struct world *world, const char *caller, char letter, int left, struct one *one)
{
    *one = (struct one){.world = world, .letter = letter, .left = left};
    one->work = slice_work_create(world->slices, caller, slice, one);
    slice_work_want(one->work);
    world->wanted += (size_t)left;
}

static void callers_take_turns_however_much_each_of_them_asks_for(void **state)
{
    struct world *world = *state;
    struct one heavy[3], light;
    for (int i = 0; i < 3; i++) {
        begin(world, "mallory@pool", (char)('1' + i), 4, &heavy[i]);
    }
    begin(world, "alice@pool", 'a', 4, &light);
    loop_run_until(world->loop, &world->done);
    assert_string_equal(world->trace, "1a2a3a1a23123123");
    for (int i = 0; i < 3; i++) {
        end(&heavy[i]);
    }
    end(&light);
}

/* ---- places */

struct guest {
    struct world *world;
    struct slice_work *work;
    char letter;
};

static void come_in(void *arg)
{
    struct guest *guest = arg;
    struct world *world = guest->world;
    bool inside = slice_work_enter(guest->work, 2);
    put(world, inside ? guest->letter : '-');
    world->done = --world->wanted == 0;
}

static void comes(struct world *world, const char *caller, char letter, struct guest *guest)
{
    *guest = (struct guest){.world = world, .letter = letter};
    guest->work = slice_work_create(world->slices, caller, come_in, guest);
    slice_work_want(guest->work);
    world->wanted++;
}

static void follows(struct world *world, const char *trace)
{
    world->wanted = 1;
    world->done = false;
    loop_run_until(world->loop, &world->done);
    assert_string_equal(world->trace, trace);
}

static void of_one_caller_only_so_many_hold_something_and_the_next_one_follows(void **state)
{
    struct world *world = *state;
    struct guest many[5], other;
    for (int i = 0; i < 5; i++) {
        comes(world, "mallory@pool", (char)('1' + i), &many[i]);
    }
    comes(world, "alice@pool", 'a', &other);
    assert_int_equal(slice_caller_works(world->slices, "mallory@pool"), 5);
    assert_int_equal(slice_caller_works(world->slices, "nobody@pool"), 0);
    loop_run_until(world->loop, &world->done);
    assert_string_equal(world->trace, "1a2---");
    slice_work_leave(many[3].work); /* it waits outside: nobody follows */
    slice_work_destroy(many[2].work);
    slice_work_leave(many[0].work);
    follows(world, "1a2---4");
    slice_work_destroy(many[1].work);
    follows(world, "1a2---45");
    slice_work_destroy(many[0].work);
    slice_work_destroy(many[3].work);
    slice_work_destroy(many[4].work);
    slice_work_destroy(other.work);
}

struct ticker {
    struct world *world;
    struct loop_timer *timer;
};

static void tick(void *arg)
{
    struct ticker *ticker = arg;
    put(ticker->world, '.');
    loop_timer_set(ticker->timer, 0);
}

static void the_loop_turns_after_each_slice(void **state)
{
    struct world *world = *state;
    struct ticker ticker = {.world = world};
    struct one first, second;
    ticker.timer = loop_timer_create(world->loop, tick, &ticker);
    begin(world, "mallory@pool", 'm', 5, &first);
    begin(world, "alice@pool", 'a', 5, &second);
    loop_timer_set(ticker.timer, 0);
    loop_run_until(world->loop, &world->done);
    size_t slices = 0;
    for (size_t i = 0; i < world->length; i++) {
        bool is_slice = world->trace[i] != '.';
        slices += is_slice ? 1 : 0;
        assert_false(is_slice && i > 0 && world->trace[i - 1] != '.');
    }
    assert_int_equal(slices, 10);
    loop_timer_destroy(ticker.timer);
    end(&first);
    end(&second);
}

static void asking_twice_is_asking_once(void **state)
{
    struct world *world = *state;
    struct one first, second;
    begin(world, "alice@pool", 'a', 1, &first);
    begin(world, "alice@pool", 'b', 1, &second);
    slice_work_want(first.work);
    assert_true(slice_work_waits(first.work));
    loop_run_until(world->loop, &world->done);
    assert_string_equal(world->trace, "ab");
    assert_false(slice_work_waits(first.work));
    end(&first);
    end(&second);
}

static void a_work_may_end_itself_and_others_in_its_slice(void **state)
{
    struct world *world = *state;
    struct one first, second, third;
    begin(world, "alice@pool", 'a', 1, &first);
    begin(world, "bob@pool", 'b', 1, &second);
    begin(world, "carol@pool", 'c', 1, &third);
    first.ends = &first;
    world->wanted--; /* bob's never comes */
    second.ends = NULL;
    slice_work_stop(second.work);
    assert_false(slice_work_waits(second.work));
    loop_run_until(world->loop, &world->done);
    assert_string_equal(world->trace, "ac");
    end(&second);
    end(&third);
    slice_work_destroy(NULL);
    slices_destroy(NULL);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(callers_take_turns_however_much_each_of_them_asks_for),
        CASE(of_one_caller_only_so_many_hold_something_and_the_next_one_follows),
        CASE(the_loop_turns_after_each_slice),
        CASE(asking_twice_is_asking_once),
        CASE(a_work_may_end_itself_and_others_in_its_slice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
