/* tests/unit/rsyscall/test_hostile.c - a client that is an enemy, beside one that is not.
 *
 * Thousands of messages from a seed: right ones about names that lead out, wrong ones that were
 * right before some of their bits were turned, and rubbish.  The server cuts the connection where
 * it must; the enemy comes back.  All the while another job is served.  Afterwards nothing outside
 * is changed or was read, and the server holds no more than it may.
 *
 * TIMEOUT: 240
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/rsyscall/rsys_rig.h"

#include <sys/resource.h>

#include "base/random.h"

#define MESSAGES 60000
#define SECRET   "the secret that nobody reads"

static const char *const NAMES[] = {"a",       "b",          "d",    "d/a",    "d/b",         "out",
                                    "abs",     "out/secret", "loop", "loop/x", "d/up/secret", "",
                                    "d/d/d/d", "abs/secret", "up",   "a/b/c"};

static const uint32_t OPENS[] = {RSYS_OPEN_READ,
                                 RSYS_OPEN_READ | RSYS_OPEN_WRITE,
                                 RSYS_OPEN_READ | RSYS_OPEN_WRITE | RSYS_OPEN_CREATE,
                                 RSYS_OPEN_WRITE | RSYS_OPEN_CREATE | RSYS_OPEN_TRUNC,
                                 RSYS_OPEN_WRITE | RSYS_OPEN_APPEND,
                                 RSYS_OPEN_READ | RSYS_OPEN_DIRECTORY,
                                 RSYS_OPEN_PATH | RSYS_OPEN_DIRECTORY,
                                 RSYS_OPEN_PATH,
                                 RSYS_OPEN_WRITE | RSYS_OPEN_TMPFILE};

static uint64_t draw(struct rng *rng, uint64_t below)
{
    return rng_below(rng, below);
}

static uint64_t wild_number(struct rng *rng)
{
    static const uint64_t WILD[] = {0,          1,          4096,       1ULL << 20,
                                    1ULL << 31, 1ULL << 32, 1ULL << 62, INT64_MAX};
    return draw(rng, 2) == 0 ? WILD[draw(rng, 8)] : draw(rng, 10000);
}

static struct rsys_at wild_at(struct rng *rng, const uint64_t *handles, size_t count)
{
    uint64_t handle = draw(rng, 3) == 0 ? 0 : handles[draw(rng, count)];
    return (struct rsys_at){draw(rng, 20) == 0 ? wild_number(rng) : handle,
                            TEXT(NAMES[draw(rng, sizeof(NAMES) / sizeof(NAMES[0]))])};
}

struct enemy {
    struct rig rig;
    struct rng *rng;
    uint64_t handles[64];
    uint8_t data[3000];
    unsigned cuts;
    bool garbled; /* what was sent last may be a message of which the end never comes */
};

static struct rsys_request wild_request(struct enemy *enemy)
{
    struct rng *rng = enemy->rng;
    struct rsys_request request = {
        .op = (uint16_t)(RSYS_PING + draw(rng, RSYS_OP_END - RSYS_PING)),
        .flags = (uint32_t)draw(rng, 2),
        .at = wild_at(rng, enemy->handles, 64),
        .to = wild_at(rng, enemy->handles, 64),
        .text = TEXT(NAMES[draw(rng, 8)]),
        .how = draw(rng, 8) == 0 ? (uint32_t)wild_number(rng) : (uint32_t)draw(rng, 256),
        .mode = (uint32_t)(draw(rng, 4) == 0 ? wild_number(rng) : 0600 | draw(rng, 01000)),
        .offset = wild_number(rng) & INT64_MAX,
        .offset_to = wild_number(rng) & INT64_MAX,
        .length = wild_number(rng) & INT64_MAX,
        .owner = draw(rng, 4),
        .wait_ms = (uint32_t)draw(rng, 50),
        .attr = {.mode = (uint32_t)draw(rng, 01000) | 0600,
                 .uid = (uint32_t)draw(rng, 3),
                 .gid = (uint32_t)draw(rng, 3),
                 .size = draw(rng, 100000)},
        .lock = {.type = (uint32_t)draw(rng, 3), .start = draw(rng, 50), .length = draw(rng, 50)},
        .slot_of = (uint16_t)draw(rng, 64),
        .extent_count = 1,
        .extents = {{draw(rng, 1 << 20), (uint32_t)draw(rng, sizeof(enemy->data))}},
        .data = enemy->data,
    };
    if (request.op == RSYS_BYE && draw(rng, 50) != 0) {
        request.op = RSYS_OPEN;
    }
    if (request.op == RSYS_OPEN && draw(rng, 4) != 0) {
        request.how = OPENS[draw(rng, sizeof(OPENS) / sizeof(OPENS[0]))];
        request.mode &= 0777;
    }
    if (request.op == RSYS_FALLOCATE) {
        request.length %= 1 << 20; /* the disk is ours */
        request.offset %= 1 << 20;
    }
    request.data_length = request.extents[0].length;
    return request;
}

/* Bytes of a message in a free slot; some of them turned. */
static void send_one(struct enemy *enemy)
{
    struct rig *rig = &enemy->rig;
    struct rng *rng = enemy->rng;
    unsigned char bytes[RSYS_FIELDS_MAX + sizeof(enemy->data)];
    struct rsys_request request = wild_request(enemy);
    uint16_t slot = (uint16_t)draw(rng, 64);
    if (rig->slots[slot].seq > 0 && !rig->slots[slot].answered && draw(rng, 400) != 0) {
        RIG_AWAIT(rig, rig->slots[slot].answered || rig->closed); /* seldom not */
        return;
    }
    request.slot = slot;
    request.seq = rig->slots[slot].seq + 1;
    int fields = rsys_encode_request(&request, bytes, RSYS_FIELDS_MAX);
    if (fields < 0) {
        return;
    }
    size_t length = (size_t)rsys_frame_length(bytes, (size_t)fields);
    memcpy(bytes + fields, request.data, length - (size_t)fields);
    switch (draw(rng, 5)) {
    case 0: /* anywhere behind the header */
        for (uint64_t i = draw(rng, 4); i > 0 && length > RSYS_HEADER_SIZE; i--) {
            bytes[RSYS_HEADER_SIZE + draw(rng, length - RSYS_HEADER_SIZE)] ^=
                (unsigned char)(1U << draw(rng, 8));
        }
        break;
    case 1:
        if (draw(rng, 20) == 0) { /* anywhere */
            bytes[draw(rng, length)] ^= (unsigned char)(1U << draw(rng, 8));
            enemy->garbled = true;
        }
        break;
    case 2: { /* a path with dots */
        char *name = memmem(bytes, (size_t)fields, "d/d", 3);
        if (name != NULL) {
            memcpy(name, "../", 3);
        }
        break;
    }
    default:
        break;
    }
    rig->slots[slot].seq = request.seq;
    rig->slots[slot].answered = false;
    int code = stream_write(rig->client, bytes, length);
    assert_true(code == 0 || code == -EPIPE); /* cut already */
}

static void come_back(struct enemy *enemy)
{
    struct rig *rig = &enemy->rig;
    enemy->cuts++;
    enemy->garbled = false;
    rig_dial(rig);
    bool resume = draw(enemy->rng, 2) == 0;
    int code = rig_hello(rig, TICKET, resume);
    if (code == -ESTALE) {
        resume = false;
        code = rig_hello(rig, TICKET, false);
    }
    assert_int_equal(code, 0);
    for (size_t i = 0; i < RSYS_SLOTS_MAX && !resume; i++) {
        rig->slots[i].seq = 0;
    }
    if (resume) {
        /* What it does not know the number of any more is of no use to it: a new session. */
        for (size_t i = 0; i < RSYS_SLOTS_MAX; i++) {
            if (rig->slots[i].seq > 0 && !rig->slots[i].answered) {
                rig_dial(rig);
                assert_int_equal(rig_hello(rig, TICKET, false), 0);
                for (size_t k = 0; k < RSYS_SLOTS_MAX; k++) {
                    rig->slots[k].seq = 0;
                }
                break;
            }
        }
    }
}

/* What was answered: no secret; new handles are kept. */
static void look_at_answers(struct enemy *enemy)
{
    for (size_t i = 0; i < 64; i++) {
        struct rig_slot *slot = &enemy->rig.slots[i];
        if (slot->seq == 0 || !slot->answered) {
            continue;
        }
        const struct rsys_reply *reply = &slot->reply;
        if (reply->op == RSYS_OPEN && reply->status == 0) {
            enemy->handles[draw(enemy->rng, 64)] = reply->handle;
        }
        assert_true(reply->data_length == 0 ||
                    memmem(reply->data, reply->data_length, SECRET, strlen(SECRET)) == NULL);
    }
}

static long memory_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void put_outside(const struct rig *rig, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/secret", rig->outside);
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    assert_int_equal(write(fd, SECRET, strlen(SECRET)), (ssize_t)strlen(SECRET));
    const struct timespec times[2] = {{1000, 0}, {1000, 0}};
    assert_int_equal(futimens(fd, times), 0);
    assert_int_equal(close(fd), 0);
}

static void an_enemy_reaches_nothing_and_disturbs_nobody(void **state)
{
    struct rig *rig = *state;
    struct enemy *enemy = test_calloc(1, sizeof(*enemy));
    struct rng rng;
    char path[128], directory[128];
    struct rsys_offer_root root = {.view = "/", .directory = rig->root};
    struct rsys_offer offer = {.roots = &root, .root_count = 1, .limits = RSYS_LIMITS_DEFAULT};
    offer.limits.bytes_max = (uint64_t)256 << 20;
    offer.limits.handles = 200;
    rng_seed(&rng, 20261121);
    put_outside(rig, path, sizeof(path));
    assert_int_equal(symlink("../outside", rig_path(rig, "out")), 0);
    assert_int_equal(symlink(rig->outside, rig_path(rig, "abs")), 0);
    assert_int_equal(symlink("loop", rig_path(rig, "loop")), 0);
    assert_int_equal(symlink("..", rig_path(rig, "up")), 0);
    assert_int_equal(mkdir(rig_path(rig, "d"), 0755), 0);
    assert_int_equal(symlink("../../outside", rig_path(rig, "d/up")), 0);
    rig_put_file(rig, "a", "text");

    (void)snprintf(directory, sizeof(directory), "%s/friend", rig->base);
    assert_int_equal(mkdir(directory, 0755), 0);
    enemy->rng = &rng;
    rig_second(rig, &enemy->rig);
    rig_open(rig, &offer);
    memset(enemy->data, 'w', sizeof(enemy->data));
    assert_int_equal(rig_hello(&enemy->rig, TICKET, false), 0);
    /* The friend is another job, in a directory of its own. */
    struct rsys_job *friend;
    root.directory = directory;
    assert_int_equal(rsys_job_open(rig->server, "friend", &offer, &friend), 0);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, "friend", false), 0);
    int64_t own = rig_open_file(rig, "own", RSYS_OPEN_READ | RSYS_OPEN_WRITE | RSYS_OPEN_CREATE);
    assert_true(own > 0);

    long before_kib = memory_kib();
    for (int i = 0; i < MESSAGES; i++) {
        if (enemy->rig.closed || enemy->garbled) {
            come_back(enemy);
        }
        send_one(enemy);
        if (i % 50 == 0) {
            char text[16];
            (void)snprintf(text, sizeof(text), "%09d", i);
            assert_int_equal(rig_write_at(rig, (uint64_t)own, 0, text), 0);
            struct rsys_request read = {.op = RSYS_READ, .at.handle = (uint64_t)own, .length = 9};
            assert_memory_equal(rig_ask(rig, &read)->data, text, 9);
        }
        if (i % 10 == 0) {
            look_at_answers(enemy);
        }
    }
    struct rsys_stats stats = rig_stats(rig);
    assert_true(stats.requests > MESSAGES / 3);
    assert_true(stats.malformed > MESSAGES / 100);
    assert_true(enemy->cuts > 5);
    assert_true(stats.handles <= 200);
    assert_true(stats.queued_peak < offer.limits.queued_max + RSYS_FRAME_MAX);
    assert_true(memory_kib() - before_kib < 128L << 10);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, strlen(SECRET));
    assert_int_equal(about.st_mtim.tv_sec, 1000);
    assert_int_equal(about.st_mode, S_IFREG | 0644);
    assert_int_equal(about.st_nlink, 1);
    assert_int_equal(rmdir(rig->outside), -1); /* not a file more: without that one it is empty */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(rig->outside), 0);
    rig_second_fini(&enemy->rig);
    test_free(enemy);
}

UNIT_TESTS(RIG_UNIT(an_enemy_reaches_nothing_and_disturbs_nobody))
