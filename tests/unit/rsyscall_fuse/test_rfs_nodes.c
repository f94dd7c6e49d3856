/* tests/unit/rsyscall_fuse/test_rfs_nodes.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "rsyscall_fuse/rfs_nodes.h"

#define FILE_MODE 0100644U

static struct rfs_nodes *with_root(const char *view)
{
    struct rfs_nodes *nodes = rfs_nodes_create();
    assert_int_equal(rfs_nodes_add_root(nodes, 3, view, strlen(view), NULL), 0);
    return nodes;
}

/* As the kernel looks a name up. */
static struct rfs_node *look_up(struct rfs_nodes *nodes, struct rfs_node *parent, const char *name,
                                uint64_t ino)
{
    struct rsys_attr attr = {.mode = FILE_MODE, .dev = 9, .ino = ino};
    struct rfs_node *node = rfs_nodes_found(nodes, parent, name, &attr);
    node->lookups++;
    return node;
}

static void is_at(const struct rfs_node *node, const char *name, uint64_t handle, const char *path)
{
    char buffer[RSYS_PATH_MAX + 1];
    struct rsys_at at;
    assert_int_equal(rfs_node_at(node, name, buffer, &at), 0);
    assert_int_equal(at.handle, handle);
    assert_string_equal(at.path.data, path);
    assert_int_equal(at.path.length, strlen(path));
}

static void a_file_is_where_it_was_found(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = with_root("/");
    struct rfs_node *top = rfs_nodes_top(nodes);
    struct rfs_node *a = look_up(nodes, top, "a", 1);
    struct rfs_node *b = look_up(nodes, a, "b", 2);
    is_at(top, NULL, 3, "");
    is_at(b, NULL, 3, "a/b");
    is_at(b, "c", 3, "a/b/c");
    assert_ptr_equal(rfs_node_of(nodes, rfs_node_number(nodes, b)), b);
    assert_int_equal(rfs_node_number(nodes, top), 1);
    rfs_nodes_destroy(nodes);
}

static void a_file_with_two_names_is_one_and_lives_by_the_other(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = with_root("/");
    struct rfs_node *top = rfs_nodes_top(nodes);
    struct rfs_node *file = look_up(nodes, top, "a", 1);
    assert_ptr_equal(look_up(nodes, top, "b", 1), file);
    is_at(file, NULL, 3, "b");
    rfs_nodes_unname(nodes, top, "b");
    is_at(file, NULL, 3, "a");
    rfs_nodes_unname(nodes, top, "a");
    char buffer[RSYS_PATH_MAX + 1];
    struct rsys_at at;
    assert_int_equal(rfs_node_at(file, NULL, buffer, &at), -ESTALE);
    rfs_nodes_destroy(nodes);
}

static void a_name_goes_to_the_file_that_has_it_now(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = with_root("/");
    struct rfs_node *top = rfs_nodes_top(nodes);
    struct rfs_node *old = look_up(nodes, top, "a", 1);
    struct rfs_node *new = look_up(nodes, top, "a", 2);
    assert_ptr_not_equal(old, new);
    assert_ptr_equal(rfs_nodes_at(nodes, top, "a"), new);
    assert_true(TAILQ_EMPTY(&old->names));
    rfs_nodes_destroy(nodes);
}

static void what_is_in_a_renamed_directory_goes_with_it(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = with_root("/");
    struct rfs_node *top = rfs_nodes_top(nodes);
    struct rfs_node *dir = look_up(nodes, top, "dir", 1);
    struct rfs_node *file = look_up(nodes, dir, "file", 2);
    struct rfs_node *to = look_up(nodes, top, "to", 3);
    struct rfs_node *gone = look_up(nodes, to, "name", 4);
    rfs_nodes_renamed(nodes, top, "dir", to, "name", false);
    is_at(file, NULL, 3, "to/name/file");
    assert_true(TAILQ_EMPTY(&gone->names));
    struct rfs_node *other = look_up(nodes, top, "other", 5);
    rfs_nodes_renamed(nodes, to, "name", top, "other", true);
    is_at(file, NULL, 3, "other/file");
    is_at(other, NULL, 3, "to/name");
    rfs_nodes_destroy(nodes);
}

static void what_the_kernel_forgot_is_gone(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = with_root("/");
    struct rfs_node *top = rfs_nodes_top(nodes);
    size_t before = rfs_nodes_count(nodes);
    struct rfs_node *dir = look_up(nodes, top, "dir", 1);
    struct rfs_node *file = look_up(nodes, dir, "file", 2);
    file->lookups++;
    rfs_node_forget(nodes, dir, 1); /* it is held by the name of the file */
    assert_int_equal(rfs_nodes_count(nodes), before + 2);
    rfs_node_forget(nodes, file, 1);
    assert_int_equal(rfs_nodes_count(nodes), before + 2);
    rfs_node_forget(nodes, file, 1);
    assert_int_equal(rfs_nodes_count(nodes), before);
    assert_null(rfs_nodes_at(nodes, top, "dir"));
    rfs_nodes_destroy(nodes);
}

static void many_are_found_again(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = with_root("/");
    struct rfs_node *top = rfs_nodes_top(nodes);
    char name[16];
    for (uint64_t i = 0; i < 5000; i++) {
        (void)snprintf(name, sizeof name, "%u", (unsigned)i);
        (void)look_up(nodes, top, name, i);
    }
    for (uint64_t i = 0; i < 5000; i++) {
        (void)snprintf(name, sizeof name, "%u", (unsigned)i);
        assert_int_equal(rfs_nodes_at(nodes, top, name)->ino, i);
    }
    rfs_nodes_destroy(nodes);
}

static void roots_are_seen_at_their_places_and_ways_are_made_up(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = rfs_nodes_create();
    assert_int_equal(rfs_nodes_add_root(nodes, 0, "/usr", 4, NULL), 0);
    assert_int_equal(rfs_nodes_add_root(nodes, 1, "/home/me", 8, NULL), 0);
    assert_int_equal(rfs_nodes_add_root(nodes, 2, "/usr/local", 10, NULL), 0);
    struct rfs_node *top = rfs_nodes_top(nodes);
    const struct rfs_view *home = rfs_view_below(top, "home");
    const struct rfs_view *me = rfs_view_below(home->node, "me");
    const struct rfs_view *usr = rfs_view_below(top, "usr");
    assert_int_equal(top->space, RFS_NO_ROOT);
    assert_int_equal(home->node->space, RFS_NO_ROOT);
    is_at(me->node, "x", 1, "x");
    is_at(look_up(nodes, usr->node, "bin", 7), NULL, 0, "bin");
    is_at(rfs_view_below(usr->node, "local")->node, NULL, 2, "");
    assert_null(rfs_view_below(usr->node, "bin"));
    char buffer[RSYS_PATH_MAX + 1];
    struct rsys_at at;
    assert_int_equal(rfs_node_at(home->node, "x", buffer, &at), -ENOENT);
    rfs_nodes_destroy(nodes);
}

static void one_file_through_two_roots_is_two(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = with_root("/");
    assert_int_equal(rfs_nodes_add_root(nodes, 1, "/data", 5, NULL), 0);
    struct rfs_node *top = rfs_nodes_top(nodes);
    struct rfs_node *data = rfs_view_below(top, "data")->node;
    assert_ptr_not_equal(look_up(nodes, top, "d", 1), look_up(nodes, data, "d", 1));
    rfs_nodes_destroy(nodes);
}

static void a_way_through_a_root_is_a_path_of_that_root(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = rfs_nodes_create();
    assert_int_equal(rfs_nodes_add_place(nodes, "/a/b", NULL), 0);
    assert_int_equal(rfs_nodes_add_root(nodes, 4, "/", 1, NULL), 0); /* afterwards */
    struct rfs_node *a = rfs_view_below(rfs_nodes_top(nodes), "a")->node;
    assert_int_equal(a->space, 4);
    is_at(rfs_view_below(a, "b")->node, NULL, 4, "a/b");
    rfs_nodes_unname(nodes, a, "b"); /* it stays */
    assert_non_null(rfs_nodes_at(nodes, a, "b"));
    rfs_nodes_destroy(nodes);
}

static void views_that_are_no_places_are_refused(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = with_root("/a");
    static const char *const BAD[] = {"", "a", "/a/", "//a", "/a/../b", "/."};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(rfs_nodes_add_root(nodes, 1, BAD[i], strlen(BAD[i]), NULL), -EINVAL);
    }
    assert_int_equal(rfs_nodes_add_root(nodes, 1, "/a", 2, NULL), -EEXIST);
    rfs_nodes_destroy(nodes);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct rfs_nodes *nodes = with_root("/");
    struct rfs_node *at = rfs_nodes_top(nodes);
    char name[RSYS_NAME_MAX + 2], buffer[RSYS_PATH_MAX + 1];
    struct rsys_at found;
    memset(name, 'n', sizeof name);
    name[RSYS_NAME_MAX + 1] = '\0';
    assert_int_equal(rfs_node_at(at, name, buffer, &found), -ENAMETOOLONG);
    name[RSYS_NAME_MAX] = '\0';
    for (uint64_t i = 1; i <= 15; i++) { /* 15 * 256 + 255 = 4095 */
        at = look_up(nodes, at, name, i);
    }
    assert_int_equal(rfs_node_at(at, name, buffer, &found), 0);
    assert_int_equal(found.path.length, RSYS_PATH_MAX);
    at = look_up(nodes, at, name, 16);
    assert_int_equal(rfs_node_at(at, "x", buffer, &found), -ENAMETOOLONG);
    rfs_nodes_destroy(nodes);
}

UNIT_TESTS(UNIT(a_file_is_where_it_was_found),
           UNIT(a_file_with_two_names_is_one_and_lives_by_the_other),
           UNIT(a_name_goes_to_the_file_that_has_it_now),
           UNIT(what_is_in_a_renamed_directory_goes_with_it), UNIT(what_the_kernel_forgot_is_gone),
           UNIT(many_are_found_again), UNIT(roots_are_seen_at_their_places_and_ways_are_made_up),
           UNIT(one_file_through_two_roots_is_two),
           UNIT(a_way_through_a_root_is_a_path_of_that_root),
           UNIT(views_that_are_no_places_are_refused), UNIT(a_path_that_is_too_long_is_refused))
