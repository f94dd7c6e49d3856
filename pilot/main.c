/* pilot/main.c - the program roost-pilot: keeper, startd and starter in one static file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/loop_run.h"
#include "base/os/os_run.h"
#include "pilot/pilot.h"
#include "pilot/pilot_plan.h"
#include "pilot/ticket.h"
#include "startd/startd.h"
#include "starter/starter.h"

/* Runs a daemon that ends with the keeper. */
static int run_tied(const struct daemon *daemon, int argc, char **argv)
{
    struct os *os = NULL;
    struct err err = {""};
    if (os_create(NULL, &os, &err) != 0) {
        (void)fprintf(stderr, "roost-pilot: %s\n", err.text);
        return 1;
    }
    pilot_tie(os);
    int status = daemon_main(daemon, argc, argv);
    pilot_untie(os);
    os_destroy(os);
    return status;
}

static int run_keeper(int argc, char **argv)
{
    struct pilot_options options;
    struct pilot *pilot = NULL;
    struct loop *loop = NULL;
    struct os *os = NULL;
    struct err err = {""};
    int status = 1;
    if (pilot_plan_options(argc, argv, &options, &err) != 0) {
        (void)fprintf(stderr, "roost-pilot: %s\n%s", err.text, PILOT_USAGE);
        return 2;
    }
    if (options.help || options.version) {
        (void)printf("%s", options.help ? PILOT_USAGE : "roost-pilot " ROOST_VERSION "\n");
        return 0;
    }
    if (loop_create(&loop, &err) == 0 && os_create(loop, &os, &err) == 0 &&
        pilot_create(loop, os, &options, &pilot, &err) == 0) {
        status = loop_run(loop);
    }
    if (err.text[0] != '\0') {
        (void)fprintf(stderr, "roost-pilot: %s\n", err.text);
    }
    pilot_destroy(pilot);
    os_destroy(os);
    loop_destroy(loop);
    return status;
}

int main(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "";
    if (strcmp(name, "roost-startd") == 0) {
        return run_tied(&startd_daemon, argc, argv);
    }
    if (strcmp(name, "roost-ticket") == 0) {
        return run_tied(&ticket_daemon, argc, argv);
    }
    if (strcmp(name, "roost-starter") == 0) {
        return daemon_main_prepared(&starter_daemon, argc, argv);
    }
    return run_keeper(argc, argv);
}
