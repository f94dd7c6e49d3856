/* tests/unit/ckpt/test_follow_socket.c - a follower is asked for images: what each side believes.
 *
 * A thread is the other side; each line waits for the one before it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/follow/follow_socket_linux.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "tests/support/unit.h"

struct side {
    char folder[64], path[80];
    int listener;
    const char *says; /* one who is no roost-ckpt */
    struct follow_order order;
    struct err err;
    int rc, still_rc;
    unsigned stills;
};

static int make_side(void **state)
{
    struct side *side = calloc(1, sizeof *side);
    (void)snprintf(side->folder, sizeof side->folder, "/tmp/follow.XXXXXX");
    if (mkdtemp(side->folder) == NULL) {
        return -1;
    }
    (void)snprintf(side->path, sizeof side->path, "%s/at", side->folder);
    side->listener = follow_listen(side->path, NULL);
    *state = side;
    return side->listener < 0 ? -1 : 0;
}

static int remove_side(void **state)
{
    struct side *side = *state;
    (void)close(side->listener);
    (void)unlink(side->path);
    int rc = rmdir(side->folder);
    free(side);
    return rc;
}

static int stand_still(void *arg, struct err *err)
{
    struct side *side = arg;
    side->stills++;
    return side->still_rc != 0 ? err_set(err, side->still_rc, "tar exited with 2") : 0;
}

static void *ask(void *arg)
{
    struct side *side = arg;
    struct dump_result result = {.image_bytes = 0};
    const struct follow_order order = {.kill = true, .name = "image.7", .base_id = 0xabc};
    const struct dump_options options = {.while_still = stand_still, .still_arg = side};
    side->rc = follow_ask(side->path, &order, &options, &result, &side->err);
    if (side->rc == 0) {
        assert_true(result.is_delta);
        assert_int_equal(result.image_bytes, 4096);
        assert_int_equal(result.frozen_ns, 17);
    }
    return NULL;
}

static void one_image_is_asked_for_and_made(void **state)
{
    struct side *side = *state;
    struct follow_order order;
    pthread_t thread;
    const struct dump_result result = {.image_bytes = 4096, .frozen_ns = 17, .is_delta = true};
    assert_int_equal(pthread_create(&thread, NULL, ask, side), 0);
    int fd = follow_accept(side->listener, &order);
    assert_true(fd >= 0);
    assert_true(order.kill);
    assert_string_equal(order.name, "image.7");
    assert_int_equal(order.base_id, 0xabc);
    assert_int_equal(follow_tell_still(&fd, NULL), 0);
    assert_int_equal(follow_tell_still(&fd, NULL), 0); /* it was tried again */
    follow_answer(fd, 0, &result, NULL);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(side->rc, 0);
    assert_int_equal(side->stills, 2);
    (void)close(fd);
}

static void what_fails_beside_the_image_fails_it(void **state)
{
    struct side *side = *state;
    struct follow_order order;
    struct err err = {.text = ""};
    pthread_t thread;
    side->still_rc = -ECANCELED;
    assert_int_equal(pthread_create(&thread, NULL, ask, side), 0);
    int fd = follow_accept(side->listener, &order);
    assert_int_equal(follow_tell_still(&fd, &err), -ECANCELED);
    assert_string_equal(err.text, "tar exited with 2");
    follow_answer(fd, -ECANCELED, NULL, &err);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(side->rc, -ECANCELED);
    assert_string_equal(side->err.text, "tar exited with 2");
    (void)close(fd);
}

static void a_follower_that_goes_is_no_image(void **state)
{
    struct side *side = *state;
    struct follow_order order;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ask, side), 0);
    int fd = follow_accept(side->listener, &order);
    assert_int_equal(follow_tell_still(&fd, NULL), 0);
    (void)close(fd);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(side->rc, -ECONNRESET);
}

static void who_asked_and_has_gone_gets_no_image(void **state)
{
    struct side *side = *state;
    int pair[2];
    (void)side;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    (void)close(pair[1]);
    assert_int_equal(follow_tell_still(&pair[0], NULL), -ECANCELED);
    (void)close(pair[0]);
}

static void without_a_follower_nothing_was_done(void **state)
{
    struct side *side = *state;
    (void)close(side->listener);
    (void)ask(side);
    assert_int_equal(side->rc, -ECONNREFUSED);
    assert_int_equal(side->stills, 0);
    (void)unlink(side->path);
    (void)ask(side);
    assert_int_equal(side->rc, -ECONNREFUSED);
    side->listener = follow_listen(side->path, NULL);
}

static void *say(void *arg)
{
    struct side *side = arg;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", side->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    side->rc = connect(fd, (const struct sockaddr *)&address, sizeof address);
    (void)send(fd, side->says, strlen(side->says), MSG_NOSIGNAL);
    (void)shutdown(fd, SHUT_WR);
    (void)close(fd);
    return NULL;
}

static void an_image_is_made_in_its_own_folder_only(void **state)
{
    static const char *const ORDERS[] = {
        "image ../x 0\n", "image /etc/x 0\n", "image .. 0\n", "image . 0\n", "remove x 0\n",
        "image x\n",      "image x 0 y\n",    "image x 0",    "\n",          ""};
    struct side *side = *state;
    for (size_t i = 0; i < sizeof ORDERS / sizeof ORDERS[0]; i++) {
        struct follow_order order;
        pthread_t thread;
        side->says = ORDERS[i];
        assert_int_equal(pthread_create(&thread, NULL, say, side), 0);
        assert_int_equal(follow_accept(side->listener, &order), -EINVAL);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(side->rc, 0);
    }
}

/* A byte now and then, for as long as anybody listens. */
static void *drip(void *arg)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    struct side *side = arg;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", side->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    side->rc = connect(fd, (const struct sockaddr *)&address, sizeof address);
    while (send(fd, "i", 1, MSG_NOSIGNAL) == 1) {
        (void)nanosleep(&pause, NULL);
        side->stills++;
    }
    (void)close(fd);
    return NULL;
}

static void who_says_it_slowly_is_not_waited_for(void **state)
{
    struct side *side = *state;
    struct follow_order order;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, drip, side), 0);
    assert_int_equal(follow_accept(side->listener, &order), -EINVAL);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_in_range(side->stills, 1, 200); /* of 512 that a line may have */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_image_is_asked_for_and_made, make_side, remove_side),
        cmocka_unit_test_setup_teardown(what_fails_beside_the_image_fails_it, make_side,
                                        remove_side),
        cmocka_unit_test_setup_teardown(a_follower_that_goes_is_no_image, make_side, remove_side),
        cmocka_unit_test_setup_teardown(who_asked_and_has_gone_gets_no_image, make_side,
                                        remove_side),
        cmocka_unit_test_setup_teardown(without_a_follower_nothing_was_done, make_side,
                                        remove_side),
        cmocka_unit_test_setup_teardown(an_image_is_made_in_its_own_folder_only, make_side,
                                        remove_side),
        cmocka_unit_test_setup_teardown(who_says_it_slowly_is_not_waited_for, make_side,
                                        remove_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
