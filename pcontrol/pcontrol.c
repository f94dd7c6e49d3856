/* pcontrol/pcontrol.c - see pcontrol.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/pcontrol.h"

#include <signal.h>
#include <stdio.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/os/os.h"
#include "pcontrol/commands.h"
#include "pcontrol/console.h"
#include "pcontrol/controller.h"
#include "pcontrol/server.h"
#include "pcontrol/settings.h"

struct pcontrol {
    struct loop *loop;
    struct console *console; /* NULL: the commands come from a socket */
};

static void say_change(void *arg, const char *line)
{
    struct pcontrol *self = arg;
    if (self->console != NULL) {
        console_say(self->console, line);
    } else {
        (void)fprintf(stderr, "pcontrol: %s\n", line);
    }
}

static void end_program(void *arg)
{
    struct pcontrol *self = arg;
    loop_stop(self->loop, 128 + SIGTERM);
}

int pcontrol_run(struct loop *loop, struct os *os, const char *server, struct err *err)
{
    struct controller_settings settings;
    struct pcontrol self = {.loop = loop};
    struct server *listener = NULL;
    if (settings_load(os, &settings, err) != 0) {
        return 1;
    }
    struct controller *controller = controller_create(loop, os, &settings);
    struct commands *commands = commands_create(controller, os, say_change, &self);
    int rc = server != NULL ? server_open(loop, os, server, commands, &listener, err)
                            : console_open(loop, controller, commands, &self.console, err);
    int status = 1;
    if (rc == 0) {
        loop_on_signal(loop, SIGTERM, end_program, &self);
        loop_on_signal(loop, SIGHUP, end_program, &self);
        if (server != NULL) {
            loop_on_signal(loop, SIGINT, end_program, &self);
        }
        status = loop_run(loop);
    }
    server_close(listener);
    console_close(self.console);
    commands_destroy(commands);
    controller_destroy(controller);
    settings_fini(&settings);
    return status;
}
