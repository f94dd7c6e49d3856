/* rsyscall_fuse/main.c - roost-rsys-mount: runs a program on the files of another machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop_run.h"
#include "base/os/os_run.h"
#include "base/text.h"
#include "rsyscall_fuse/begin_linux.h"
#include "rsyscall_fuse/beside.h"
#include "rsyscall_fuse/mount.h"
#include "starter/job_filter.h"

static const char USAGE[] =
    "usage: roost-rsys-mount --server ADDRESS --ticket-file FILE [OPTION...] -- PROGRAM "
    "[ARGUMENT...]\n"
    "       roost-rsys-mount --probe\n"
    "Runs PROGRAM so that it sees only the files of the server, as an ordinary user.\n"
    "  --server ADDRESS    tcp:HOST:PORT or unix:/path\n"
    "  --server-file FILE  file whose first line, if there is one, is the server's current\n"
    "                      ADDRESS; read before each connection\n"
    "  --pin SHA256        fingerprint of the server's certificate; required for tcp\n"
    "  --route ROUTE       service to ask for at that address (rsys)\n"
    "  --ticket-file FILE  file whose first line is the ticket that admits us\n"
    "  --scratch DIR       directory of this machine that the program sees as /tmp\n"
    "  --cwd DIR           the program's initial directory, as the program sees it (/)\n"
    "  --stdin FILE, --stdout FILE, --stderr FILE\n"
    "                      its standard files, as the program sees them (those of\n"
    "                      roost-rsys-mount)\n"
    "  --environment FILE  its environment, with a zero byte after each entry (that of\n"
    "                      roost-rsys-mount)\n"
    "  --image FILE        run this program of this machine, a checkpoint image, in place of\n"
    "                      PROGRAM\n"
    "  --network           the program may use the network\n"
    "  --filter KIND       filter for system calls: standard (default), strict, none\n"
    "  --give-up DURATION  end the program after this time without the server, exit status 75\n"
    "  --wrap FILE         do not mount a file system, for machines where users may not create\n"
    "                      namespaces; the program's own file calls go to the server through\n"
    "                      FILE (roost_remote.so); needs --scratch\n"
    "  --local PATH:PATH   with --wrap: paths of this machine, besides /proc, /dev, /sys (/tmp)\n"
    "  --fetch             with --wrap: PROGRAM is a file of the server, not of this machine\n"
    "  --door DIR          with --wrap: directory to create for the job's connections; use the\n"
    "                      same one where an image of the job is resumed (in the scratch\n"
    "                      directory)\n"
    "  --write-behind SIZE, --read-ahead SIZE, --stats\n"
    "The exit status, or the signal, is that of the program.  126: the program, its directory or\n"
    "its standard files could not be opened.  Our messages on standard error begin with\n"
    "roost-rsys-mount.\n";

struct arguments {
    struct rfs_mount_options mount;
    const char *library; /* preloaded library; without a file system */
    const char *local;
    const char *door;
    bool fetch;
};

static int take_size(const char *value, size_t *ret)
{
    int64_t number = 0;
    int code = text_parse_size(value, &number, NULL);
    if (code == 0 && (number < 0 || number > ((int64_t)1 << 30))) {
        return -EINVAL;
    }
    *ret = (size_t)number;
    return code;
}

static int take_filter(const char *value, struct rfs_cage_options *cage)
{
    if (strcmp(value, "none") == 0) {
        cage->filter = cage->offline_filter = NULL;
    } else if (strcmp(value, "strict") == 0) {
        cage->filter = &job_filter_strict;
    } else if (strcmp(value, "standard") != 0) {
        return -EINVAL;
    }
    return 0;
}

static int take_value(struct arguments *arguments, const char *name, const char *value)
{
    struct rfs_mount_options *options = &arguments->mount;
    const struct {
        const char *name;
        const char **text;
    } TEXTS[] = {{"--server", &options->link.address},
                 {"--pin", &options->link.pin},
                 {"--route", &options->link.route},
                 {"--scratch", &options->cage.scratch},
                 {"--cwd", &options->cage.directory},
                 {"--stdin", &options->cage.streams[0]},
                 {"--stdout", &options->cage.streams[1]},
                 {"--stderr", &options->cage.streams[2]},
                 {"--server-file", &options->server_file},
                 {"--ticket-file", &options->ticket_file},
                 {"--environment", &options->environment_file},
                 {"--image", &options->cage.image},
                 {"--wrap", &arguments->library},
                 {"--local", &arguments->local},
                 {"--door", &arguments->door}};
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        if (strcmp(name, TEXTS[i].name) == 0) {
            *TEXTS[i].text = value;
            return 0;
        }
    }
    int64_t number = 0;
    int code = -EINVAL;
    if (strcmp(name, "--filter") == 0) {
        code = take_filter(value, &options->cage);
    } else if (strcmp(name, "--write-behind") == 0) {
        code = take_size(value, &options->files.write_behind_max);
    } else if (strcmp(name, "--read-ahead") == 0) {
        code = take_size(value, &options->files.read_ahead_max);
    } else if (strcmp(name, "--give-up") == 0) {
        code = text_parse_duration_ms(value, &number, NULL);
        code = code == 0 && number < 1 ? -EINVAL : code;
        options->link.give_up_ms = (uint64_t)number;
    }
    return code;
}

static int take_options(struct arguments *arguments, int argc, char **argv)
{
    struct rfs_mount_options *options = &arguments->mount;
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--network") == 0) {
            options->cage.network = true;
        } else if (strcmp(argv[i], "--stats") == 0) {
            options->stats = true;
        } else if (strcmp(argv[i], "--fetch") == 0) {
            arguments->fetch = true;
        } else if (i + 1 == argc || take_value(arguments, argv[i], argv[i + 1]) != 0) {
            return -EINVAL;
        } else {
            i++;
        }
    }
    options->cage.argv = argv + i + 1;
    return i + 1 < argc && options->link.address != NULL && options->ticket_file != NULL &&
                   (arguments->library == NULL || options->cage.scratch != NULL)
               ? 0
               : -EINVAL;
}

static int run_beside(struct loop *loop, struct os *os, const struct arguments *arguments,
                      int *ret_status, struct err *err)
{
    const struct rfs_mount_options *mount = &arguments->mount;
    struct rfs_beside_options options = {.link = mount->link,
                                         .ticket_file = mount->ticket_file,
                                         .server_file = mount->server_file,
                                         .library = arguments->library,
                                         .local = arguments->local,
                                         .door = arguments->door,
                                         .scratch = mount->cage.scratch,
                                         .directory = mount->cage.directory,
                                         .streams = {mount->cage.streams[0], mount->cage.streams[1],
                                                     mount->cage.streams[2]},
                                         .environment_file = mount->environment_file,
                                         .image = mount->cage.image,
                                         .filter = mount->cage.filter,
                                         .fetch = arguments->fetch,
                                         .argv = mount->cage.argv,
                                         .stats = mount->stats};
    struct rfs_beside *beside = NULL;
    int code = rfs_beside_create(loop, os, &options, &beside, err);
    if (code == 0) {
        (void)loop_run(loop);
        *ret_status = rfs_beside_finish(beside);
    }
    return code;
}

static int run_probe(struct loop *loop, struct err *err)
{
    struct rfs_probe *probe = NULL;
    int code = rfs_probe_create(loop, &probe, err);
    if (code == 0) {
        (void)loop_run(loop);
        code = rfs_probe_finish(probe, err);
    }
    if (code == 0) {
        (void)puts("HasRemoteSyscalls = true");
    }
    return code;
}

static int run_mount(struct loop *loop, struct os *os, const struct rfs_mount_options *options,
                     int *ret_status, struct err *err)
{
    struct rfs_mount *mount = NULL;
    int code = rfs_mount_create(loop, os, options, &mount, err);
    if (code == 0) {
        (void)loop_run(loop);
        *ret_status = rfs_mount_finish(mount);
    }
    return code;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {
        .mount = {.link = {.route = "rsys"},
                  .cage = {.filter = &job_filter_standard, .offline_filter = &job_filter_offline},
                  .files = RFS_OPTIONS_DEFAULT}};
    if (argc > 1 && strcmp(argv[1], RFS_BEGIN_WORD) == 0) {
        return rfs_begin(argc, argv);
    }
    bool probe = argc == 2 && strcmp(argv[1], "--probe") == 0;
    if (!probe && take_options(&arguments, argc, argv) != 0) {
        (void)fputs(USAGE, stderr);
        return 2;
    }
    struct loop *loop = NULL;
    struct os *os = NULL;
    struct err err;
    int status = 0;
    int code = loop_create(&loop, &err);
    code = code != 0 ? code : os_create(loop, &os, &err);
    if (code == 0) {
        code = probe                       ? run_probe(loop, &err)
               : arguments.library != NULL ? run_beside(loop, os, &arguments, &status, &err)
                                           : run_mount(loop, os, &arguments.mount, &status, &err);
    }
    if (code != 0) {
        (void)fprintf(stderr, "roost-rsys-mount: %s\n", err.text);
        status = RFS_MOUNT_FAIL;
    }
    os_destroy(os);
    loop_destroy(loop);
    return status;
}
