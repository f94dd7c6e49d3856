/* virt/virt.h - roost-libvirt: the one process that talks to a libvirt daemon.
 *
 * The rooster starts one for each connection URI (power/method_libvirt.c) and writes orders to its
 * standard input; the answers are lines on its standard output.  See README.md for the lines.
 *
 * Design note.  libvirt's calls block, without a deadline of their own: a daemon that hangs would
 * hang its caller.  A thread of the rooster would hang, too, could not be ended, and would keep the
 * rooster from ending; a process can be killed.  It also keeps libvirt and the thirty libraries
 * behind it out of the rooster.  Inside, the main thread runs libvirt's event loop, and each order
 * has a thread: waits are for lifecycle events, nothing is polled.  A lost connection is opened
 * again; an order then looks at the domain's state once more and goes on from there, so that a
 * libvirtd that is restarted in the middle of an order does not harm it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VIRT_VIRT_H
#define VIRT_VIRT_H

#include <libvirt/libvirt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct virt;
struct virt_line;
struct virt_wait;

#define VIRT_ORDERS_MAX 64 /* at a time; more wait for their turn */
#define VIRT_TEXT_MAX   300
#define VIRT_STATE_MAX  64 /* of virt_state_text() */

/* Serves standard input until it ends; returns the exit status. */
int virt_run(const char *uri);

/* ---- virt_linux.c, for orders; from any thread */

uint64_t virt_now_ms(void); /* monotonic */

/* Writes a line of answer; text ends with a line's end. */
void virt_say(struct virt *virt, const char *text);

/* The connection, opened if there is none; the caller closes it (virConnectClose).  -ENOTCONN with
 * libvirt's own words. */
int virt_connect(struct virt *virt, virConnectPtr *ret, struct err *err);
/* The caller's last call failed: is it that the connection is lost?  Then it will be opened anew.
 */
bool virt_lost(struct virt *virt, virConnectPtr conn);

/* Events of one domain from now on, and the loss of the connection.  uuid NULL: the loss only. */
struct virt_wait *virt_wait_begin(struct virt *virt, const unsigned char *uuid);
/* Returns when there was an event since the last call, or at until_ms. */
void virt_wait(struct virt_wait *wait, uint64_t until_ms);
void virt_wait_end(struct virt_wait *wait);

/* ---- find.c */

struct virt_names; /* which network card belongs to which domain; kept until a definition changes */
struct virt_names *virt_names_create(void);
void virt_names_forget(struct virt_names *names); /* some definition has changed */
/* The domain of that name, UUID or network address (52:54:00:...); the caller frees it
 * (virDomainFree).  -ENOENT: there is none; -EEXIST: two have that address; -EIO: libvirt's words.
 */
int virt_find(struct virt_names *names, virConnectPtr conn, const char *domain, virDomainPtr *ret,
              struct err *err);
struct virt_names *virt_names(struct virt *virt);

/* ---- watches.c: what becomes of domains, whoever did it */

struct virt_watches;
struct virt_watches *virt_watches_create(struct virt *virt); /* has a thread from now on */
/* The state of that domain is told under that id, at once and whenever it is another. */
void virt_watches_add(struct virt_watches *watches, uint64_t id, const char *domain);
void virt_watches_remove(struct virt_watches *watches, uint64_t id); /* if there is one */
/* libvirt tells something of the domain; its name or description may be another now. */
void virt_watches_event(struct virt_watches *watches, const unsigned char *uuid, bool renamed);
void virt_watches_lost(struct virt_watches *watches); /* the connection is */

/* ---- order.c */

struct virt_answer {
    int status;        /* 0, or negative errno; of a wake or sleep */
    const char *state; /* of VIRT_STATUS: "on" "off" "unknown" */
    char text[VIRT_TEXT_MAX];
};

/* Carries it out; blocks for up to its limit (and for as long as libvirt does), or until *cancelled
 * and a virt_wait() of it ends. */
void virt_order(struct virt *virt, const struct virt_line *line, const atomic_bool *cancelled,
                struct virt_answer *ret);

/* "on", "off", "unknown", and in words; NULL: it is on its way to another one. */
const char *virt_state_text(int state, int reason, char text[VIRT_STATE_MAX]);

/* The last error of libvirt in this thread, as one line. */
const char *virt_error_text(void);

#endif
