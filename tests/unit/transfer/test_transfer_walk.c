/* tests/unit/transfer/test_transfer_walk.c - what is in a directory, on a real file system.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "tests/support/fast_dir.h"
#include "transfer/transfer_names.h"
#include "transfer/transfer_walk.h"

struct fixture {
    struct os *os;
    char top[FAST_DIR_SIZE];
    char path[8][512];
    unsigned next;
};

static const char *at(struct fixture *f, const char *name)
{
    char *path = f->path[f->next++ % 8];
    (void)snprintf(path, sizeof(f->path[0]), "%s/%s", f->top, name);
    return path;
}

static void put(struct fixture *f, const char *name, const char *text)
{
    assert_int_equal(os_write_file(f->os, at(f, name), text, strlen(text), 0640, false, NULL), 0);
}

static void make(struct fixture *f, const char *name)
{
    assert_int_equal(os_mkdirs(f->os, at(f, name), 0750, NULL), 0);
}

static void link_to(struct fixture *f, const char *name, const char *target)
{
    assert_int_equal(symlink(target, at(f, name)), 0);
}

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    assert_int_equal(os_create(NULL, &f->os, NULL), 0);
    assert_true(fast_dir_make(f->top));
    make(f, "root/d/sub/empty");
    make(f, "out");
    put(f, "out/secret", "outside");
    put(f, "root/top", "12345");
    put(f, "root/d/a", "abc");
    put(f, "root/d/sub/b", "");
    assert_int_equal(chmod(at(f, "root/d/a"), 0755), 0);
    link_to(f, "root/d/inner", "sub/b");
    link_to(f, "root/d/sub/up", "../a");
    link_to(f, "root/d/beside", "../top");
    link_to(f, "root/d/beyond", "../../out/secret");
    link_to(f, "root/d/directory", "../../out");
    assert_int_equal(mkfifo(at(f, "root/d/pipe"), 0600), 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(os_remove_tree(f->os, f->top, NULL), 0);
    os_destroy(f->os);
    mem_free(f);
    return 0;
}

/* "F a 3 755;..." */
static void walk_is(struct fixture *f, enum transfer_links links, const char *name,
                    size_t left_out_expected, const char *expected)
{
    struct vec entries = {0};
    struct strbuf text;
    size_t left_out = 0;
    struct err err = {{0}};
    strbuf_init(&text, 0);
    assert_int_equal(transfer_walk(f->os, at(f, "root"), "d", name, links, &entries, &left_out,
                                   &err),
                     0);
    for (size_t i = 0; i < entries.count; i++) {
        const struct transfer_entry *entry = entries.items[i];
        if (entry->type == TRANSFER_FILE) {
            strbuf_printf(&text, "F %s %lld;", entry->name, (long long)entry->size_bytes);
        } else {
            strbuf_printf(&text, "%s %s%s%s;", entry->type == TRANSFER_LINK ? "L" : "D",
                          entry->name, entry->target != NULL ? ">" : "",
                          entry->target != NULL ? entry->target : "");
        }
        assert_int_equal(entry->path[0] == '/', links == TRANSFER_LINKS_FOLLOWED);
        if (strcmp(transfer_last_name(entry->name), "a") == 0) {
            assert_int_equal(entry->mode, 0755);
        }
    }
    assert_string_equal(strbuf_text(&text), expected);
    assert_int_equal(left_out, left_out_expected);
    strbuf_fini(&text);
    vec_fini(&entries, transfer_entry_destroy);
}

static void an_owners_directory_travels_with_the_files_that_its_links_lead_to(void **state)
{
    walk_is(*state, TRANSFER_LINKS_FOLLOWED, "d", 2,
            "F d/a 3;F d/beside 5;F d/beyond 7;L d/inner>sub/b;D d/sub;F d/sub/b 0;"
            "D d/sub/empty;L d/sub/up>../a;");
}

static void out_of_a_sandbox_no_link_leads(void **state)
{
    walk_is(*state, TRANSFER_LINKS_CONTAINED, "d", 3,
            "F d/a 3;F d/beside 5;L d/inner>sub/b;D d/sub;F d/sub/b 0;D d/sub/empty;"
            "L d/sub/up>../a;");
}

static void contents_alone_have_no_links_at_their_top(void **state)
{
    walk_is(*state, TRANSFER_LINKS_CONTAINED, "", 3,
            "F a 3;F beside 5;F inner 0;D sub;F sub/b 0;D sub/empty;F sub/up 3;");
}

static void an_owners_link_to_nothing_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct vec entries = {0};
    struct err err = {{0}};
    link_to(f, "root/d/dangling", "/no/such/file");
    assert_int_equal(transfer_walk(f->os, at(f, "root"), "d", "d", TRANSFER_LINKS_FOLLOWED,
                                   &entries, NULL, &err),
                     -ENOENT);
    assert_non_null(strstr(err.text, "d/dangling"));
    vec_fini(&entries, transfer_entry_destroy);
}

static void a_tree_without_end_is_refused(void **state)
{
    struct fixture *f = *state;
    struct vec entries = {0};
    char path[600];
    (void)snprintf(path, sizeof(path), "%s/root/d", f->top);
    for (unsigned i = 0; i < TRANSFER_DEPTH_MAX; i++) {
        size_t used = strlen(path);
        (void)snprintf(path + used, sizeof(path) - used, "/z");
    }
    assert_int_equal(os_mkdirs(f->os, path, 0700, NULL), 0);
    assert_int_equal(transfer_walk(f->os, at(f, "root"), "d", "d", TRANSFER_LINKS_CONTAINED,
                                   &entries, NULL, NULL),
                     -E2BIG);
    vec_fini(&entries, transfer_entry_destroy);
}

static void leads_to(struct fixture *f, const char *path, int expected, const char *to)
{
    char real[TRANSFER_PATH_MAX + 1];
    assert_int_equal(transfer_resolve(f->os, at(f, "root"), path, real, sizeof(real)), expected);
    if (expected == 0) {
        assert_string_equal(real, to);
    }
}

static void a_name_in_a_sandbox_leads_to_something_in_it(void **state)
{
    struct fixture *f = *state;
    char inside[600];
    (void)snprintf(inside, sizeof(inside), "%s/root/d", f->top);
    link_to(f, "root/whole", inside);
    link_to(f, "root/round", "round");
    leads_to(f, "d/inner", 0, "d/sub/b");
    leads_to(f, "d/sub/up", 0, "d/a");
    leads_to(f, "whole/sub/up", 0, "d/a");
    leads_to(f, "d/beside", 0, "top");
    leads_to(f, "d/beyond", -EXDEV, NULL);
    leads_to(f, "d/directory/secret", -EXDEV, NULL);
    leads_to(f, "../out/secret", -EXDEV, NULL);
    leads_to(f, "round", -ELOOP, NULL);
    leads_to(f, "d/none", -ENOENT, NULL);
    leads_to(f, "top/x", -ENOTDIR, NULL);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(an_owners_directory_travels_with_the_files_that_its_links_lead_to),
           CASE(out_of_a_sandbox_no_link_leads), CASE(contents_alone_have_no_links_at_their_top),
           CASE(an_owners_link_to_nothing_is_an_error), CASE(a_tree_without_end_is_refused),
           CASE(a_name_in_a_sandbox_leads_to_something_in_it))
