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

#define VIRT_ORDERS_MAX 64  /* most orders carried out at a time; further orders wait */
#define VIRT_TEXT_MAX   300 /* most bytes of an answer's text, with the terminating zero */
/* bytes of the text that virt_state_text() writes, with the terminating zero */
#define VIRT_STATE_MAX 64

/* Carries out the orders on standard input, with the libvirt daemon at uri.  At the end of standard
 * input, ends the process with exit status 0.  Returns only on failure: 1, the exit status for the
 * process; standard error then says why. */
int virt_run(const char *uri);

/* ---- virt_linux.c: functions for orders; any thread may call them */

uint64_t virt_now_ms(void); /* returns the time of the monotonic clock, ms */

/* Writes text, one line of an answer with its line end, to standard output.  Ends the process if
 * nobody reads the output any more. */
void virt_say(struct virt *virt, const char *text);

/* Sets *ret to the connection to libvirt, which is opened if necessary; the caller releases it with
 * virConnectClose().  Returns 0; -ENOTCONN, with libvirt's message in err, if it cannot be
 * opened. */
int virt_connect(struct virt *virt, virConnectPtr *ret, struct err *err);
/* To be called after a libvirt call has failed: returns whether the connection conn is lost.  If
 * the connection is lost, the next virt_connect() opens a new one. */
bool virt_lost(struct virt *virt, virConnectPtr conn);

/* Begins to note events of the domain with that UUID, and the loss of the connection, for
 * virt_wait(), until virt_wait_end(). uuid NULL: notes only the loss of the connection. */
struct virt_wait *virt_wait_begin(struct virt *virt, const unsigned char *uuid);
/* Blocks until the time until_ms (virt_now_ms()) at most.  Returns early, or at once, when an event
 * was noted since the previous virt_wait() or, in the first call, since virt_wait_begin(). */
void virt_wait(struct virt_wait *wait, uint64_t until_ms);
void virt_wait_end(struct virt_wait *wait);

/* ---- find.c: finds domains */

struct virt_names; /* cache of which network card belongs to which domain */
struct virt_names *virt_names_create(void);
/* to be called when a domain's definition has changed: empties the cache */
void virt_names_forget(struct virt_names *names);
/* Finds a domain by name, UUID or network address (52:54:00:...); the caller frees it with
 * virDomainFree().  Returns 0; -ENOENT: no such domain; -EEXIST: two domains have that address;
 * -EIO: libvirt failed, its message is in err. */
int virt_find(struct virt_names *names, virConnectPtr conn, const char *domain, virDomainPtr *ret,
              struct err *err);
struct virt_names *virt_names(struct virt *virt);

/* ---- watches.c: reports the state of domains, whoever changes it */

struct virt_watches;
/* Makes an empty list of watches (domains whose state is reported), and starts the thread that
 * serves them. */
struct virt_watches *virt_watches_create(struct virt *virt);
/* Starts a watch with that id: writes the domain's state to standard output, at once and at each
 * change. domain: its name, UUID or network address. */
void virt_watches_add(struct virt_watches *watches, uint64_t id, const char *domain);
/* Ends the watch with that id; does nothing if there is no such watch. */
void virt_watches_remove(struct virt_watches *watches, uint64_t id);
/* To be called when libvirt has reported an event of the domain with that UUID: the watches of this
 * domain soon look at its state again. renamed: the domain's name or definition may have changed,
 * so watches that have not found their domain look for it again. */
void virt_watches_event(struct virt_watches *watches, const unsigned char *uuid, bool renamed);
/* To be called when the connection to libvirt is lost: all watches soon look at their domain's
 * state again. */
void virt_watches_lost(struct virt_watches *watches);

/* ---- order.c: carries out orders */

/* The result of an order. */
struct virt_answer {
    int status;        /* result of a wake or sleep order: 0 or a negative errno */
    const char *state; /* result of a status order: "on", "off" or "unknown" */
    char text[VIRT_TEXT_MAX];
};

/* Carries out an order and sets *ret.  Blocks until the order's time limit at most, or longer if
 * libvirt blocks.  If *cancelled becomes true, the order ends at its next virt_wait(). */
void virt_order(struct virt *virt, const struct virt_line *line, const atomic_bool *cancelled,
                struct virt_answer *ret);

/* Translates a domain's state and reason, as libvirt gives them: returns "on", "off" or "unknown",
 * and writes a description to text.  Returns NULL while the state is changing. */
const char *virt_state_text(int state, int reason, char text[VIRT_STATE_MAX]);

/* Returns the text of libvirt's last error in this thread, as one line. */
const char *virt_error_text(void);

#endif
