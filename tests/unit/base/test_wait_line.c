/* tests/unit/base/test_wait_line.c - the line of connections that wait for their turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/wait_line.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/stream/stream.h"
#include "base/stream/stream_event.h"
#include "tests/support/unit.h"

enum { MANY = 100 };

struct place { /* one connection: in the line, and its peer's end */
    int here, peer;
};

static void place_open(struct place *place)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    *place = (struct place){.here = fds[0], .peer = fds[1]};
}

/* Adds a connection whose peer has sent a byte, or nothing. */
static void place_take(struct place *place, struct wait_line *line, bool speaks, uint64_t now_ms)
{
    place_open(place);
    if (speaks) {
        assert_int_equal(send(place->peer, "R", 1, 0), 1);
    }
    wait_line_add(line, place->here, now_ms);
}

static bool peer_is_cut(const struct place *place)
{
    char byte;
    ssize_t got = recv(place->peer, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno == ECONNRESET);
}

static bool is_readable(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    return poll(&look, 1, 0) == 1;
}

/* Returns how often the peer was told to wait since the last call. */
static unsigned words_of(const struct place *place)
{
    char text[1000] = "";
    size_t length = strlen(STREAM_WAIT_WORD);
    ssize_t got = recv(place->peer, text, sizeof(text) - 1, MSG_DONTWAIT);
    unsigned count = 0;
    for (const char *at = text; got > 0 && strncmp(at, STREAM_WAIT_WORD, length) == 0;
         at += length) {
        count++;
    }
    return count;
}

static void the_oldest_goes_first_and_each_fourth_time_the_newest(void **state)
{
    (void)state;
    struct wait_line *line = wait_line_create(MANY);
    struct place places[MANY];
    size_t oldest = 0, newest = MANY - 1;
    for (size_t i = 0; i < MANY; i++) {
        place_take(&places[i], line, true, i);
    }
    assert_int_equal(wait_line_count(line), MANY);
    for (size_t i = 1; i <= MANY; i++) {
        size_t expected = i % WAIT_LINE_NEWEST_PART == 0 ? newest-- : oldest++;
        assert_int_equal(wait_line_next(line), places[expected].here);
        close(places[expected].here);
        close(places[expected].peer);
    }
    assert_int_equal(wait_line_next(line), -1);
    assert_int_equal(wait_line_dropped(line), 0);
    wait_line_destroy(line);
}

static void who_has_said_nothing_is_passed_over_until_it_speaks(void **state)
{
    (void)state;
    struct wait_line *line = wait_line_create(MANY);
    struct place places[MANY];
    for (size_t i = 0; i < MANY; i++) {
        place_take(&places[i], line, i == 1 || i == 70, 0);
    }
    assert_int_equal(wait_line_next(line), places[1].here);
    assert_int_equal(wait_line_next(line), places[70].here);
    assert_int_equal(wait_line_next(line), -1);
    assert_int_equal(send(places[5].peer, "R", 1, 0), 1);
    assert_int_equal(wait_line_next(line), -1);
    assert_true(is_readable(wait_line_silent_fd(line)));
    wait_line_hear(line);
    assert_false(is_readable(wait_line_silent_fd(line)));
    assert_int_equal(wait_line_next(line), places[5].here);
    assert_int_equal(wait_line_next(line), -1);
    assert_int_equal(wait_line_count(line), MANY - 3);
    assert_int_equal(wait_line_dropped(line), 0);
    wait_line_tell(line, STREAM_HANDSHAKE_MS);
    assert_int_equal(wait_line_count(line), 0);
    assert_int_equal(wait_line_dropped(line), MANY - 3);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(peer_is_cut(&places[i]), i != 1 && i != 70 && i != 5);
        close(places[i].peer);
    }
    close(places[1].here);
    close(places[70].here);
    close(places[5].here);
    wait_line_destroy(line);
}

static void a_silent_connection_whose_peer_goes_is_closed_at_once(void **state)
{
    (void)state;
    struct wait_line *line = wait_line_create(MANY);
    struct place places[MANY];
    for (size_t i = 0; i < MANY; i++) {
        place_take(&places[i], line, false, 0);
    }
    assert_int_equal(wait_line_next(line), -1);
    close(places[3].peer);
    assert_true(is_readable(wait_line_silent_fd(line)));
    wait_line_hear(line);
    assert_false(is_readable(wait_line_silent_fd(line)));
    assert_int_equal(wait_line_count(line), MANY - 1);
    assert_int_equal(wait_line_dropped(line), 1);
    assert_int_equal(wait_line_next(line), -1);
    wait_line_destroy(line);
    for (size_t i = 0; i < MANY; i++) {
        if (i != 3) {
            close(places[i].peer);
        }
    }
}

static void of_a_few_nobody_is_passed_over(void **state)
{
    (void)state;
    struct wait_line *line = wait_line_create(MANY);
    struct place place;
    place_take(&place, line, false, 0);
    assert_int_equal(wait_line_next(line), place.here);
    close(place.here);
    close(place.peer);
    wait_line_destroy(line);
}

static void whose_peer_has_gone_costs_no_turn(void **state)
{
    (void)state;
    struct wait_line *line = wait_line_create(MANY);
    struct place places[MANY];
    for (size_t i = 0; i < MANY; i++) {
        place_take(&places[i], line, true, 0);
        if (i < 2) {
            close(places[i].peer);
        }
    }
    assert_int_equal(wait_line_next(line), places[2].here);
    assert_int_equal(wait_line_dropped(line), 2);
    assert_int_equal(wait_line_count(line), MANY - 3);
    close(places[2].here);
    wait_line_destroy(line); /* closes the others */
    assert_true(peer_is_cut(&places[3]));
    for (size_t i = 2; i < MANY; i++) {
        close(places[i].peer);
    }
}

static void who_waits_is_told_so_again_and_again(void **state)
{
    (void)state;
    struct wait_line *line = wait_line_create(MANY);
    struct place old, young;
    place_take(&old, line, true, 1000);
    place_take(&young, line, true, 2000);
    wait_line_tell(line, 1000 + WAIT_LINE_WORD_MS - 1);
    assert_int_equal(words_of(&old), 0);
    wait_line_tell(line, 1000 + WAIT_LINE_WORD_MS);
    assert_int_equal(words_of(&old), 1);
    assert_int_equal(words_of(&young), 0);
    wait_line_tell(line, 1000 + 2 * WAIT_LINE_WORD_MS - 1);
    assert_int_equal(words_of(&old), 0);
    assert_int_equal(words_of(&young), 1);
    wait_line_tell(line, 1000 + 2 * WAIT_LINE_WORD_MS);
    assert_int_equal(words_of(&old), 1);
    wait_line_destroy(line);
    close(old.peer);
    close(young.peer);
}

static void in_a_full_line_the_silent_make_room(void **state)
{
    (void)state;
    struct wait_line *line = wait_line_create(MANY);
    struct place places[MANY];
    for (size_t i = 0; i < MANY; i++) {
        assert_false(wait_line_is_full(line));
        place_take(&places[i], line, i > 0, 0);
    }
    assert_true(wait_line_is_full(line));
    assert_false(wait_line_make_room(line, 5000)); /* nobody knows yet that one is silent */
    assert_int_equal(wait_line_next(line), places[1].here);
    struct place next;
    place_take(&next, line, true, 0);
    assert_false(wait_line_make_room(line, 999));
    assert_true(wait_line_make_room(line, 1000));
    assert_true(peer_is_cut(&places[0]));
    assert_int_equal(wait_line_count(line), MANY - 1);
    close(places[1].here);
    wait_line_destroy(line);
    close(next.peer);
    for (size_t i = 0; i < MANY; i++) {
        close(places[i].peer);
    }
}

static void some_descriptors_are_left_for_other_things(void **state)
{
    (void)state;
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = before;
    low.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    struct wait_line *line = wait_line_create(MANY);
    struct place places[32];
    size_t count = 0;
    while (!wait_line_is_full(line)) {
        assert_true(count < 32);
        place_take(&places[count++], line, true, 0);
    }
    int spare = dup(0);
    assert_in_range(spare, 64 - 64 / 8, 64 - 1);
    close(spare);
    wait_line_destroy(line);
    for (size_t i = 0; i < count; i++) {
        close(places[i].peer);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_goes_first_and_each_fourth_time_the_newest),
        cmocka_unit_test(who_has_said_nothing_is_passed_over_until_it_speaks),
        cmocka_unit_test(a_silent_connection_whose_peer_goes_is_closed_at_once),
        cmocka_unit_test(of_a_few_nobody_is_passed_over),
        cmocka_unit_test(whose_peer_has_gone_costs_no_turn),
        cmocka_unit_test(who_waits_is_told_so_again_and_again),
        cmocka_unit_test(in_a_full_line_the_silent_make_room),
        cmocka_unit_test(some_descriptors_are_left_for_other_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
