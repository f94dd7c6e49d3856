/* virt/virt.h - roost-libvirt: the one process that talks to a libvirt daemon.
 *
 * The rooster starts one for each connection URI (power/method_libvirt.c) and writes orders to its
 * standard input; the answers are lines on its standard output.  README.md describes the lines.
 *
 * Design note.  libvirt's calls block and have no deadline: a daemon that hangs would hang its
 * caller.  A thread in the rooster could not be ended and would keep the rooster from ending; a
 * process can be killed.  The process also keeps libvirt, and the thirty libraries that it needs,
 * out of the rooster.  Inside, the main thread runs libvirt's event loop, and each order has a
 * thread, which waits for lifecycle events and does not poll.  A lost connection is opened again;
 * an order then checks the domain's state and continues from there, so that an order survives a
 * restart of libvirtd.
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

#define VIRT_ORDERS_MAX 64 /* running at a time; further orders wait */
#define VIRT_TEXT_MAX   300
#define VIRT_STATE_MAX  64 /* bytes of virt_state_text() */

/* Serves standard input until end of file.  Returns the exit status of the process. */
int virt_run(const char *uri);

/* ---- virt_linux.c: for orders; callable from any thread */

uint64_t virt_now_ms(void); /* monotonic clock, milliseconds */

/* Writes one line of answer; text includes the line end. */
void virt_say(struct virt *virt, const char *text);

/* Returns the connection, opened if there is none; the caller closes it with virConnectClose().
 * Returns 0, or -ENOTCONN with libvirt's message in err. */
int virt_connect(struct virt *virt, virConnectPtr *ret, struct err *err);
/* Call it after a libvirt call failed: returns whether the connection is lost.  If so,
 * virt_connect() will open a new one. */
bool virt_lost(struct virt *virt, virConnectPtr conn);

/* Begins to wait for events of one domain and for the loss of the connection; uuid NULL: only for
 * the loss. */
struct virt_wait *virt_wait_begin(struct virt *virt, const unsigned char *uuid);
/* Returns when there was an event since the last call, at until_ms at the latest. */
void virt_wait(struct virt_wait *wait, uint64_t until_ms);
void virt_wait_end(struct virt_wait *wait);

/* ---- find.c */

struct virt_names; /* cache: which network card belongs to which domain */
struct virt_names *virt_names_create(void);
void virt_names_forget(struct virt_names *names); /* a domain's definition has changed */
/* Finds a domain by name, UUID or network address (52:54:00:...); the caller frees it with
 * virDomainFree().  Returns 0; -ENOENT: no such domain; -EEXIST: two domains have that address;
 * -EIO: libvirt failed, its message is in err. */
int virt_find(struct virt_names *names, virConnectPtr conn, const char *domain, virDomainPtr *ret,
              struct err *err);
struct virt_names *virt_names(struct virt *virt);

/* ---- watches.c: reports the state of domains, whoever changes it */

struct virt_watches;
/* Makes the watches and starts their thread. */
struct virt_watches *virt_watches_create(struct virt *virt);
/* Reports the domain's state under that id, at once and at each change. */
void virt_watches_add(struct virt_watches *watches, uint64_t id, const char *domain);
/* no watch of that id is allowed */
void virt_watches_remove(struct virt_watches *watches, uint64_t id);
/* libvirt has reported an event of the domain.  renamed: its name or definition may have
 * changed. */
void virt_watches_event(struct virt_watches *watches, const unsigned char *uuid, bool renamed);
void virt_watches_lost(struct virt_watches *watches); /* the connection is lost */

/* ---- order.c */

/* The result of an order. */
struct virt_answer {
    int status;        /* result of a wake or sleep: 0 or a negative errno */
    const char *state; /* result of a status: "on" "off" "unknown" */
    char text[VIRT_TEXT_MAX];
};

/* Carries out an order.  Blocks up to its limit (or as long as libvirt blocks), or until *cancelled
 * is set and a virt_wait() of the order ends. */
void virt_order(struct virt *virt, const struct virt_line *line, const atomic_bool *cancelled,
                struct virt_answer *ret);

/* Returns "on", "off" or "unknown" for libvirt's state and reason, and describes it in text; NULL:
 * the state is just changing. */
const char *virt_state_text(int state, int reason, char text[VIRT_STATE_MAX]);

/* Returns libvirt's last error in this thread, as one line. */
const char *virt_error_text(void);

#endif
