/* tests/unit/rsyscall/test_view.c - what a job cannot reach, whatever it asks for.
 *
 * TIMEOUT: 180
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/rsyscall/rsys_rig.h"

#include <pthread.h>
#include <time.h>

static void put_outside(struct rig *rig)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/secret", rig->outside);
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    assert_int_equal(write(fd, "secret", 6), 6);
    assert_int_equal(close(fd), 0);
}

static void links_lead_nowhere(void **state)
{
    struct rig *rig = *state;
    put_outside(rig);
    assert_int_equal(symlink(rig->outside, rig_path(rig, "out")), 0);
    assert_int_equal(symlink("../outside", rig_path(rig, "out2")), 0);
    assert_int_equal(symlink("../outside/secret", rig_path(rig, "out3")), 0);
    rig_open(rig, NULL);
    assert_int_equal(rig_stat(rig, "out/secret", NULL), -ELOOP);
    assert_int_equal(rig_open_file(rig, "out/secret", RSYS_OPEN_READ), -ELOOP);
    assert_int_equal(rig_open_file(rig, "out2/secret", RSYS_OPEN_READ), -ELOOP);
    assert_int_equal(rig_open_file(rig, "out3", RSYS_OPEN_READ), -ELOOP);
    assert_int_equal(rig_open_file(rig, "out3", RSYS_OPEN_WRITE | RSYS_OPEN_TRUNC), -ELOOP);
    assert_int_equal(rig_open_file(rig, "out/new", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE), -ELOOP);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_UNLINK,
                                                           .at = AT(0, "out/secret")}),
                     -ELOOP);
    struct rsys_request set = {.op = RSYS_SETATTR, .at = AT(0, "out3"), .how = RSYS_SET_SIZE};
    assert_int_equal(rig_ask(rig, &set)->status, -EINVAL);
    set.how = RSYS_SET_MODE;
    assert_int_equal(rig_ask(rig, &set)->status, -EOPNOTSUPP);
    /* A handle of the link itself is no way either. */
    uint64_t link = (uint64_t)rig_open_file(rig, "out3", RSYS_OPEN_PATH);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(link, ""), .how = RSYS_OPEN_READ};
    assert_int_equal(rig_ask(rig, &open)->status, -ELOOP);
    link = (uint64_t)rig_open_file(rig, "out", RSYS_OPEN_PATH);
    open.at = AT(link, "secret");
    assert_int_equal(rig_ask(rig, &open)->status, -ENOTDIR);
    struct stat about;
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/secret", rig->outside);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 6);
    assert_int_equal(about.st_mode, S_IFREG | 0644);
}

/* A directory and a link to outside take turns under one name. */
struct swapper {
    char a[128], b[128], name[128];
    bool stop;
};

static void *swap(void *arg)
{
    struct swapper *swapper = arg;
    while (!__atomic_load_n(&swapper->stop, __ATOMIC_RELAXED)) {
        (void)rename(swapper->name, swapper->a);
        (void)rename(swapper->b, swapper->name);
        (void)rename(swapper->name, swapper->b);
        (void)rename(swapper->a, swapper->name);
    }
    return NULL;
}

static void a_name_that_becomes_a_link_meanwhile_leads_nowhere(void **state)
{
    struct rig *rig = *state;
    struct swapper swapper;
    pthread_t thread;
    put_outside(rig);
    (void)snprintf(swapper.name, sizeof(swapper.name), "%s/d", rig->root);
    (void)snprintf(swapper.a, sizeof(swapper.a), "%s/a", rig->root);
    (void)snprintf(swapper.b, sizeof(swapper.b), "%s/b", rig->root);
    swapper.stop = false;
    assert_int_equal(mkdir(swapper.name, 0755), 0);
    rig_put_file(rig, "d/secret", "inside");
    assert_int_equal(symlink(rig->outside, swapper.b), 0);
    rig_open(rig, NULL);
    assert_int_equal(pthread_create(&thread, NULL, swap, &swapper), 0);
    int inside = 0, refused = 0;
    for (int i = 0; i < 3000 || ((inside == 0 || refused == 0) && i < 200000); i++) {
        int64_t handle =
            rig_open_file(rig, "d/secret",
                          i % 2 == 0 ? RSYS_OPEN_READ : RSYS_OPEN_READ | RSYS_OPEN_WRITE);
        if (handle < 0) {
            refused++;
            continue;
        }
        inside++;
        struct rsys_request read = {.op = RSYS_READ, .at.handle = (uint64_t)handle, .length = 6};
        assert_memory_equal(rig_ask(rig, &read)->data, "inside", 6);
        struct rsys_request close = {.op = RSYS_CLOSE, .at.handle = (uint64_t)handle};
        assert_int_equal(rig_ask(rig, &close)->status, 0);
    }
    __atomic_store_n(&swapper.stop, true, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(inside > 0 && refused > 0);
}

static struct rsys_offer offer_of_all(struct rsys_offer_root *root)
{
    *root = (struct rsys_offer_root){.view = "/", .directory = "/"};
    return (struct rsys_offer){.roots = root, .root_count = 1, .limits = RSYS_LIMITS_DEFAULT};
}

static void views_of_the_kernel_are_not_entered(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer_root root;
    struct rsys_offer offer = offer_of_all(&root);
    char mem[64];
    rig_open(rig, &offer);
    (void)snprintf(mem, sizeof(mem), "proc/%d/mem", (int)getpid());
    assert_int_equal(rig_open_file(rig, mem, RSYS_OPEN_READ | RSYS_OPEN_WRITE), -EXDEV);
    assert_int_equal(rig_open_file(rig, "proc", RSYS_OPEN_PATH | RSYS_OPEN_DIRECTORY), -EXDEV);
    assert_int_equal(rig_stat(rig, "proc/self/cmdline", NULL), -EXDEV);
    assert_int_equal(rig_stat(rig, "proc/cmdline", NULL), -EXDEV);
    assert_int_equal(rig_stat(rig, "sys/kernel", NULL), -EXDEV);
    assert_int_equal(rig_open_file(rig, "sys/power/state", RSYS_OPEN_WRITE), -EXDEV);
    struct rsys_request mkdir = {.op = RSYS_MKDIR, .at = AT(0, "sys/kernel/x"), .mode = 0755};
    assert_int_equal(rig_ask(rig, &mkdir)->status, -EXDEV);
    (void)snprintf(mem, sizeof(mem), "proc/%d/cwd/x", (int)getpid());
    int magic = rig_stat(rig, mem, NULL);
    assert_true(magic == -ELOOP || magic == -EXDEV);
    assert_int_equal(rig_open_file(rig, "dev/null", RSYS_OPEN_WRITE), -ENXIO);
    assert_int_equal(rig_stat(rig, "etc/passwd", NULL), 0);
    struct rsys_offer_root proc = {.view = "/", .directory = "/proc"};
    struct rsys_job *job;
    offer.roots = &proc;
    struct rig second;
    assert_int_equal(rsys_job_open(rig->server, "proc", &offer, &job), 0);
    rig_second(rig, &second);
    assert_int_equal(rig_hello(&second, "proc", false), -EXDEV);
    rig_second_fini(&second);
}

static void who_is_to_stay_on_a_file_system_stays(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer_root root;
    struct rsys_offer offer = offer_of_all(&root);
    offer.stay_on_device = true;
    struct stat here, there;
    assert_int_equal(stat("/", &here), 0);
    assert_int_equal(stat("/dev/shm", &there), 0);
    if (here.st_dev == there.st_dev) {
        skip();
    }
    rig_open(rig, &offer);
    assert_int_equal(rig_stat(rig, "dev/shm", NULL), -EXDEV);
    assert_int_equal(rig_stat(rig, "etc/passwd", NULL), 0);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* root: rw/, keep/ro/sub/f (keep/ro is read-only), hid/in (hid is hidden), later (hidden, not
 * there). */
static void open_parts(struct rig *rig)
{
    char ro[128], hidden[128], later[128];
    (void)snprintf(ro, sizeof(ro), "%s/keep/ro/", rig->root);
    (void)snprintf(hidden, sizeof(hidden), "%s/hid", rig->root);
    (void)snprintf(later, sizeof(later), "%s/later", rig->root);
    assert_int_equal(mkdir(rig_path(rig, "rw"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "keep"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "keep/ro"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "keep/ro/sub"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "keep/rob"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "hid"), 0755), 0);
    rig_put_file(rig, "keep/ro/sub/f", "text");
    rig_put_file(rig, "hid/in", "text");
    const struct rsys_offer_part parts[] = {{.path = ro},
                                            {.path = hidden, .hidden = true},
                                            {.path = later, .hidden = true}};
    struct rsys_offer offer = {.parts = parts, .part_count = 3, .limits = RSYS_LIMITS_DEFAULT};
    rig_open(rig, &offer);
}

static int rename_status(struct rig *rig, const char *from, const char *to, uint32_t how)
{
    return rig_status(rig, (struct rsys_request){
                               .op = RSYS_RENAME, .at = AT(0, from), .to = AT(0, to), .how = how});
}

static void a_read_only_part_is_read_only(void **state)
{
    struct rig *rig = *state;
    const uint32_t create = RSYS_OPEN_WRITE | RSYS_OPEN_CREATE;
    open_parts(rig);
    int64_t handle = rig_open_file(rig, "keep/ro/sub/f", RSYS_OPEN_READ);
    assert_true(handle > 0);
    assert_int_equal(rig_open_file(rig, "keep/ro/sub/f", RSYS_OPEN_WRITE), -EROFS);
    assert_int_equal(rig_open_file(rig, "keep/ro/sub/f", RSYS_OPEN_READ | RSYS_OPEN_TRUNC), -EROFS);
    assert_int_equal(rig_open_file(rig, "keep/ro/sub/f", create), -EROFS);
    assert_true(rig_open_file(rig, "keep/ro/sub/f", RSYS_OPEN_READ | RSYS_OPEN_CREATE) > 0);
    assert_int_equal(rig_open_file(rig, "keep/ro/new", create), -EROFS);
    assert_int_equal(rig_open_file(rig, "keep/ro/sub/new", create), -EROFS);
    assert_int_equal(rig_open_file(rig, "keep/ro/sub", RSYS_OPEN_TMPFILE | RSYS_OPEN_WRITE),
                     -EROFS);
    static const uint16_t MAKES[] = {RSYS_MKDIR, RSYS_MKNOD, RSYS_SYMLINK};
    for (size_t i = 0; i < 3; i++) {
        struct rsys_request make = {.op = MAKES[i], .at = AT(0, "keep/ro/x"), .text = TEXT("y")};
        assert_int_equal(rig_ask(rig, &make)->status, -EROFS);
    }
    struct rsys_request set = {.op = RSYS_SETATTR, .at = AT(0, "keep/ro/sub/f")};
    set.how = RSYS_SET_SIZE;
    assert_int_equal(rig_ask(rig, &set)->status, -EROFS);
    set.at = AT((uint64_t)handle, ""); /* by the handle, too */
    assert_int_equal(rig_ask(rig, &set)->status, -EROFS);
    set.at = AT(0, "keep/ro");
    set.how = RSYS_SET_MTIME_NOW;
    assert_int_equal(rig_ask(rig, &set)->status, -EROFS);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_UNLINK,
                                                           .at = AT(0, "keep/ro/sub/f")}),
                     -EROFS);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_RMDIR,
                                                           .at = AT(0, "keep/ro/sub")}),
                     -EROFS);
    struct rsys_request access = {.op = RSYS_ACCESS, .at = AT(0, "keep/ro"), .how = W_OK};
    assert_int_equal(rig_ask(rig, &access)->status, -EROFS);
    access.how = R_OK;
    assert_int_equal(rig_ask(rig, &access)->status, 0);
    assert_true(rig_open_file(rig, "keep/rob/new", create) > 0); /* no part of it */
}

static void nothing_crosses_the_edge_of_a_part(void **state)
{
    struct rig *rig = *state;
    open_parts(rig);
    rig_put_file(rig, "rw/f", "mine");
    assert_int_equal(rename_status(rig, "keep/ro/sub/f", "rw/g", 0), -EROFS);
    assert_int_equal(rename_status(rig, "rw/f", "keep/ro/f", 0), -EROFS);
    assert_int_equal(rename_status(rig, "keep/ro", "rw/ro", 0), -EROFS);
    assert_int_equal(rename_status(rig, "keep", "kept", 0), -EBUSY); /* what is above it */
    assert_int_equal(rename_status(rig, "rw", "keep", RSYS_RENAME_EXCHANGE), -EBUSY);
    struct rsys_request link = {.op = RSYS_LINK, .at = AT(0, "keep/ro/sub/f"), .to = AT(0, "rw/g")};
    assert_int_equal(rig_ask(rig, &link)->status, -EROFS); /* it could be written by that name */
    uint64_t handle = (uint64_t)rig_open_file(rig, "keep/ro/sub/f", RSYS_OPEN_PATH);
    link.at = AT(handle, "");
    assert_int_equal(rig_ask(rig, &link)->status, -EROFS);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(handle, ""), .how = RSYS_OPEN_WRITE};
    assert_int_equal(rig_ask(rig, &open)->status, -EROFS);
    uint64_t directory =
        (uint64_t)rig_open_file(rig, "keep/ro/sub", RSYS_OPEN_PATH | RSYS_OPEN_DIRECTORY);
    open.at = AT(directory, "f");
    assert_int_equal(rig_ask(rig, &open)->status, -EROFS);
    open.at = AT(directory, "g");
    open.how = RSYS_OPEN_WRITE | RSYS_OPEN_CREATE;
    assert_int_equal(rig_ask(rig, &open)->status, -EROFS);
}

static void a_part_stays_one_when_the_user_moves_it(void **state)
{
    struct rig *rig = *state;
    char moved[256];
    open_parts(rig);
    assert_int_equal(rig_open_file(rig, "keep/ro/sub/f", RSYS_OPEN_WRITE), -EROFS);
    (void)snprintf(moved, sizeof(moved), "%s/elsewhere", rig->root);
    assert_int_equal(rename(rig_path(rig, "keep"), moved), 0);
    /* Within the second after which it is looked at anew. */
    RIG_POLL(rig, rig_open_file(rig, "elsewhere/ro/sub/f", RSYS_OPEN_WRITE) == -EROFS);
    /* Nor is what the user has put in its place since the job's. */
    assert_int_equal(mkdir(rig_path(rig, "keep"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "keep/ro"), 0755), 0);
    assert_int_equal(rig_open_file(rig, "keep/ro/new", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE), -EROFS);
}

static uint64_t clock_ms(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* At the next request; then they are known for a second. */
static void let_it_look(struct rig *rig)
{
    uint64_t began = clock_ms();
    RIG_POLL(rig, clock_ms() > began + 1010);
    struct rsys_request access = {.op = RSYS_ACCESS, .at = AT(0, "keep"), .how = W_OK};
    assert_int_equal(rig_ask(rig, &access)->status, 0);
}

static int make_link(struct rig *rig, const char *path, const char *text)
{
    return rig_status(rig, (struct rsys_request){.op = RSYS_SYMLINK,
                                                 .at = AT(0, path),
                                                 .text = TEXT(text)});
}

static int remove_name(struct rig *rig, const char *path)
{
    return rig_status(rig, (struct rsys_request){.op = RSYS_UNLINK, .at = AT(0, path)});
}

static int make_folder(struct rig *rig, const char *path)
{
    return rig_status(rig,
                      (struct rsys_request){.op = RSYS_MKDIR, .at = AT(0, path), .mode = 0755});
}

static void open_part(struct rig *rig, const char *path)
{
    const struct rsys_offer_part part = {.path = rig_path(rig, path)};
    struct rsys_offer offer = {.parts = &part, .part_count = 1, .limits = RSYS_LIMITS_DEFAULT};
    rig_open(rig, &offer);
}

/* As editors save, and as what is unpacked anew. */
static void a_file_that_the_user_replaces_is_still_a_part(void **state)
{
    struct rig *rig = *state;
    char from[256];
    assert_int_equal(mkdir(rig_path(rig, "keep"), 0755), 0);
    rig_put_file(rig, "keep/profile", "old");
    open_part(rig, "keep/profile");
    assert_int_equal(rig_open_file(rig, "keep/profile", RSYS_OPEN_WRITE), -EROFS);
    rig_put_file(rig, "edited", "new");
    (void)snprintf(from, sizeof(from), "%s/edited", rig->root);
    assert_int_equal(rename(from, rig_path(rig, "keep/profile")), 0);
    assert_int_equal(rig_open_file(rig, "keep/profile", RSYS_OPEN_WRITE), -EROFS);
    let_it_look(rig);
    assert_int_equal(rig_open_file(rig, "keep/profile", RSYS_OPEN_WRITE), -EROFS);
    /* And where it is moved to then. */
    (void)snprintf(from, sizeof(from), "%s/keep/profile", rig->root);
    assert_int_equal(rename(from, rig_path(rig, "moved")), 0);
    let_it_look(rig);
    assert_int_equal(rig_open_file(rig, "moved", RSYS_OPEN_WRITE), -EROFS);
}

static void a_job_cannot_lead_the_name_of_a_part_elsewhere(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(mkdir(rig_path(rig, "keep"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "x"), 0755), 0);
    open_part(rig, "keep/config/user/service"); /* of which only keep is there */
    assert_int_equal(make_link(rig, "keep/config", "../x"), -EBUSY);
    assert_int_equal(make_folder(rig, "keep/config"), 0);
    assert_int_equal(make_folder(rig, "keep/config"), -EEXIST);
    assert_int_equal(make_link(rig, "keep/config/user", "../../x"), -EBUSY);
    assert_int_equal(make_link(rig, "x/user", "nowhere"), 0);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_LINK,
                                                           .at = AT(0, "x/user"),
                                                           .to = AT(0, "keep/config/user")}),
                     -EBUSY);
    assert_int_equal(make_folder(rig, "keep/config/user"), 0);
    assert_int_equal(make_folder(rig, "keep/config/user/service"), -EROFS);
    assert_int_equal(make_link(rig, "keep/config/user/service", "/"), -EROFS);
    let_it_look(rig);
    assert_int_equal(make_folder(rig, "keep/config/user/service"), -EROFS);
    assert_int_equal(make_folder(rig, "keep/config/user"), -EEXIST);
}

static void a_link_on_the_way_to_a_part_is_not_taken_away(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(mkdir(rig_path(rig, "keep"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "real"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "real/sub"), 0755), 0);
    rig_put_file(rig, "real/sub/f", "text");
    assert_int_equal(symlink("../real", rig_path(rig, "keep/one")), 0);
    assert_int_equal(symlink("one/sub", rig_path(rig, "keep/two")), 0);
    open_part(rig, "keep/two/f");
    assert_int_equal(rig_open_file(rig, "real/sub/f", RSYS_OPEN_WRITE), -EROFS);
    assert_int_equal(remove_name(rig, "keep/two"), -EBUSY);
    assert_int_equal(remove_name(rig, "keep/one"), -EBUSY);
    assert_int_equal(rename_status(rig, "keep/one", "keep/three", 0), -EBUSY);
    /* What the user does is his business; the place stays a part. */
    assert_int_equal(unlink(rig_path(rig, "keep/one")), 0);
    let_it_look(rig);
    assert_int_equal(make_link(rig, "keep/one", "../x"), -EBUSY);
    assert_int_equal(make_folder(rig, "keep/one"), 0);
    assert_int_equal(make_folder(rig, "keep/one/sub"), 0);
    assert_int_equal(rig_open_file(rig, "keep/one/sub/f", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE),
                     -EROFS);
}

static void a_hidden_name_has_no_attributes_in_its_directory(void **state)
{
    struct rig *rig = *state;
    open_parts(rig);
    uint64_t folder = (uint64_t)rig_open_file(rig, "", RSYS_OPEN_READ | RSYS_OPEN_DIRECTORY);
    struct rsys_request read = {.op = RSYS_READDIR,
                                .at.handle = folder,
                                .length = 65536,
                                .how = RSYS_DIR_PLUS};
    const struct rsys_reply *reply = rig_ask(rig, &read);
    struct rsys_entry entry;
    size_t at = 0, seen = 0;
    assert_int_equal(reply->status, 0);
    while (rsys_entry_next(reply->data, reply->data_length, &at, &entry) == 1) {
        assert_int_equal(entry.has_attr, strcmp(entry.name.data, "hid") != 0);
        seen++;
    }
    assert_int_equal(seen, 3); /* rw, keep, hid */
}

static void a_hidden_part_is_not_there_and_is_not_made(void **state)
{
    struct rig *rig = *state;
    const uint32_t create = RSYS_OPEN_WRITE | RSYS_OPEN_CREATE;
    open_parts(rig);
    assert_int_equal(rig_stat(rig, "hid", NULL), -ENOENT);
    assert_int_equal(rig_stat(rig, "hid/in", NULL), -ENOENT);
    assert_int_equal(rig_open_file(rig, "hid/in", RSYS_OPEN_READ), -ENOENT);
    assert_int_equal(rig_open_file(rig, "hid", RSYS_OPEN_PATH | RSYS_OPEN_DIRECTORY), -ENOENT);
    assert_int_equal(rig_open_file(rig, "hid/new", create), -ENOENT);
    assert_int_equal(rename_status(rig, "hid", "shown", 0), -EACCES);
    assert_int_equal(rename_status(rig, "hid/in", "shown", 0), -ENOENT);
    assert_int_equal(rename_status(rig, "rw", "hid", RSYS_RENAME_EXCHANGE), -EACCES);
    struct rsys_request link = {.op = RSYS_LINK, .at = AT(0, "hid/in"), .to = AT(0, "shown")};
    assert_int_equal(rig_ask(rig, &link)->status, -ENOENT);
    /* A name that is to be hidden once it is there is not made by the job. */
    assert_int_equal(rig_open_file(rig, "later", create), -EACCES);
    struct rsys_request mkdir = {.op = RSYS_MKDIR, .at = AT(0, "later"), .mode = 0755};
    assert_int_equal(rig_ask(rig, &mkdir)->status, -EACCES);
    assert_int_equal(rename_status(rig, "rw", "later", 0), -EACCES);
    rig_put_file(rig, "later", "x");
    assert_int_equal(rig_stat(rig, "later", NULL), -ENOENT);
}

static void a_read_only_root_is_read_only_by_another_root_too(void **state)
{
    struct rig *rig = *state;
    char lib[128];
    (void)snprintf(lib, sizeof(lib), "%s/lib", rig->root);
    assert_int_equal(mkdir(lib, 0755), 0);
    rig_put_file(rig, "lib/f", "text");
    const struct rsys_offer_root roots[] = {{.view = "/", .directory = rig->root},
                                            {.view = "/usr/lib",
                                             .directory = lib,
                                             .readonly = true}};
    struct rsys_offer offer = {.roots = roots, .root_count = 2, .limits = RSYS_LIMITS_DEFAULT};
    rig_open(rig, &offer);
    struct rsys_root root;
    size_t at = 0;
    assert_int_equal(rsys_root_next(rig->hello.data, rig->hello.data_length, &at, &root), 1);
    assert_int_equal(rsys_root_next(rig->hello.data, rig->hello.data_length, &at, &root), 1);
    assert_int_equal(root.number, 1);
    assert_int_equal(root.flags, RSYS_ROOT_READONLY);
    assert_string_equal(root.view.data, "/usr/lib");
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(1, "f"), .how = RSYS_OPEN_READ};
    assert_int_equal(rig_ask(rig, &open)->status, 0);
    open.how = RSYS_OPEN_WRITE;
    assert_int_equal(rig_ask(rig, &open)->status, -EROFS);
    open.at = AT(0, "lib/f");
    assert_int_equal(rig_ask(rig, &open)->status, -EROFS);
    open.at = AT(1, "g");
    open.how = RSYS_OPEN_WRITE | RSYS_OPEN_CREATE;
    assert_int_equal(rig_ask(rig, &open)->status, -EROFS);
    struct rsys_request stat = {.op = RSYS_STAT, .at = AT(2, "x")};
    assert_int_equal(rig_ask(rig, &stat)->status, -EBADF); /* there is no such root */
}

static void a_root_may_be_read_only_by_itself(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "text");
    const struct rsys_offer_root root = {.view = "/", .directory = rig->root, .readonly = true};
    struct rsys_offer offer = {.roots = &root, .root_count = 1, .limits = RSYS_LIMITS_DEFAULT};
    rig_open(rig, &offer);
    assert_true(rig_open_file(rig, "f", RSYS_OPEN_READ) > 0);
    assert_int_equal(rig_open_file(rig, "f", RSYS_OPEN_WRITE), -EROFS);
    assert_int_equal(rename_status(rig, "f", "g", 0), -EROFS);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_UNLINK, .at = AT(0, "f")}),
                     -EROFS);
}

/* What may be offered is at or below root/place, which is a link to root/in. */
static int offered(struct rig *rig, const char *directory)
{
    char place[128];
    (void)snprintf(place, sizeof(place), "%s/place", rig->root);
    const struct rsys_offer_root root = {.view = "/", .directory = directory};
    const char *const within[] = {"/nowhere", place};
    struct rsys_offer offer = {.roots = &root,
                               .root_count = 1,
                               .within = within,
                               .within_count = 2,
                               .limits = RSYS_LIMITS_DEFAULT};
    assert_int_equal(rsys_job_open(rig->server, TICKET, &offer, &rig->job), 0);
    rig_dial(rig);
    int status = rig_hello(rig, TICKET, false);
    rig_cut(rig);
    rsys_job_close(rig->job);
    rig->job = NULL;
    return status;
}

static void a_root_is_offered_by_where_it_is_not_by_its_name(void **state)
{
    struct rig *rig = *state;
    char in[128], sub[128], beside[128], way_out[128];
    (void)snprintf(in, sizeof(in), "%s/in", rig->root);
    (void)snprintf(sub, sizeof(sub), "%s/in/sub", rig->root);
    (void)snprintf(beside, sizeof(beside), "%s/inside", rig->root);
    (void)snprintf(way_out, sizeof(way_out), "%s/in/out", rig->root);
    assert_int_equal(mkdir(in, 0755), 0);
    assert_int_equal(mkdir(sub, 0755), 0);
    assert_int_equal(mkdir(beside, 0755), 0);
    assert_int_equal(symlink(rig->outside, way_out), 0);
    assert_int_equal(symlink(in, rig_path(rig, "place")), 0);
    assert_int_equal(offered(rig, in), 0);
    assert_int_equal(offered(rig, sub), 0);
    assert_int_equal(offered(rig, rig_path(rig, "place/sub")), 0);
    assert_int_equal(offered(rig, beside), -EXDEV);
    assert_int_equal(offered(rig, rig->root), -EXDEV);
    assert_int_equal(offered(rig, way_out), -EXDEV);
}

UNIT_TESTS(RIG_UNIT(a_root_is_offered_by_where_it_is_not_by_its_name), RIG_UNIT(links_lead_nowhere),
           RIG_UNIT(a_name_that_becomes_a_link_meanwhile_leads_nowhere),
           RIG_UNIT(views_of_the_kernel_are_not_entered),
           RIG_UNIT(who_is_to_stay_on_a_file_system_stays), RIG_UNIT(a_read_only_part_is_read_only),
           RIG_UNIT(nothing_crosses_the_edge_of_a_part),
           RIG_UNIT(a_part_stays_one_when_the_user_moves_it),
           RIG_UNIT(a_file_that_the_user_replaces_is_still_a_part),
           RIG_UNIT(a_job_cannot_lead_the_name_of_a_part_elsewhere),
           RIG_UNIT(a_link_on_the_way_to_a_part_is_not_taken_away),
           RIG_UNIT(a_hidden_name_has_no_attributes_in_its_directory),
           RIG_UNIT(a_hidden_part_is_not_there_and_is_not_made),
           RIG_UNIT(a_read_only_root_is_read_only_by_another_root_too),
           RIG_UNIT(a_root_may_be_read_only_by_itself))
