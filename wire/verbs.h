/* wire/verbs.h - the verbs of the protocol and the scopes that each of them needs.
 *
 * A new verb is a line in the enum, a row in verbs.c and a section in docs/protocol/wire.md; the
 * process that answers it handles it in its request handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_VERBS_H
#define WIRE_VERBS_H

#include <stdbool.h>
#include <stdint.h>

/* Scopes of a token (what its holder may do), as bits. */
enum {
    SCOPE_READ = 1 << 0,
    SCOPE_WRITE = 1 << 1,      /* submit and act on one's own jobs */
    SCOPE_ADVERTISE = 1 << 2,  /* send ads under the names that the token's pattern allows */
    SCOPE_SCHEDD = 1 << 3,     /* be a schedd: use claims, run jobs, advertise requests */
    SCOPE_NEGOTIATOR = 1 << 4, /* be a negotiator: read claim ids, match slots */
    SCOPE_ADMINISTRATOR = 1 << 5,
    SCOPE_ROOSTER = 1 << 6, /* be a rooster: wake machines, set their power attributes */
    SCOPE_MASTER = 1 << 7,  /* be a master: say which daemons run on this host */
    SCOPE_FACTORY = 1 << 8, /* be a factory: advertise what sites could start */
    /* be a glidein that was just started: exchange this token, once, for one of its own */
    SCOPE_TICKET = 1 << 9,
};

/* What a request asks for.  The numbers are part of the protocol and never change.  The groups say
 * which daemon answers; "relayed" means that the request comes through the collector. */
enum wire_verb {
    VERB_NONE = 0,
    /* the next verbs are answered by the collector */
    VERB_UPDATE = 10,     /* store whole ads of the sender, or attributes of them that changed */
    VERB_MERGE = 11,      /* set single attributes of another sender's ad */
    VERB_INVALIDATE = 12, /* remove ads of the sender */
    /* read ads: collector (all types), schedd (jobs, history), rooster (ledger), negotiator
     * (accounts) */
    VERB_QUERY = 13,
    VERB_WATCH = 14, /* a snapshot of ads, then every change: collector, schedd */
    /* carry a request to an uplink; a caller with only the scope ADVERTISE may relay only
     * POWER_DOWN_ASK and POOL_FIGURES, one with only TICKET only TICKET */
    VERB_RELAY = 15,
    VERB_LEASE = 16,  /* hold a named role, which has one holder at a time */
    VERB_REVOKE = 17, /* refuse the token of this id from now on */
    /* from an uplink: the instance id with which requests to it must be signed from now on */
    VERB_INSTANCE = 18,
    /* from an administrator: no job wakes these machines, and none is matched to them */
    VERB_POWER_LOCK = 19,
    /* the next verbs are answered by the schedd */
    VERB_SUBMIT = 30,         /* add a cluster of jobs to the queue */
    VERB_ACT = 31,            /* remove, hold or release jobs by constraint or ids */
    VERB_MATCH = 32,          /* from the negotiator: a slot for one of the schedd's autoclusters */
    VERB_CLAIM = 33,          /* from a startd that dialled: offers the slot of this claim id */
    VERB_ALIVE = 34,          /* from a startd: renew the claim's lease */
    VERB_CLAIM_GONE = 35,     /* from a startd: this claim ended, and why */
    VERB_NO_MATCH = 36,       /* from the negotiator: why these autoclusters got no slot */
    VERB_EDIT = 37,           /* set attributes of jobs in the queue */
    VERB_JOB_ACCESS = 38,     /* get a ticket for the owner's shadow: tail, shell, spooled files */
    VERB_JOB_CHECKPOINT = 39, /* take checkpoints of running jobs now */
    /* the next verbs are answered by the startd, relayed */
    VERB_DIAL_ME = 50,    /* from a schedd: dial this schedd if the startd accepts its job */
    VERB_POWER_DOWN = 51, /* from an administrator: go to sleep */
    /* the next verbs are answered by the startd, on the claim's connection */
    VERB_ACTIVATE = 52,   /* start this job */
    VERB_DEACTIVATE = 53, /* end this job: vacate, remove, hold */
    VERB_RELEASE_CLAIM = 54,
    VERB_SUSPEND_CLAIM = 55,    /* suspend or continue this job: roost suspend, roost continue */
    VERB_CHECKPOINT_CLAIM = 61, /* take a checkpoint of this job now: roost checkpoint */
    /* the next verbs are answered by the startd, relayed (docs/protocol/drain.md) */
    VERB_START_DRAINING = 56,  /* say what draining would cost, then wait for commit or cancel */
    VERB_COMMIT_DRAINING = 57, /* begin to drain */
    VERB_CANCEL_DRAINING = 58, /* give up the offer to drain, or stop draining */
    VERB_MAGIC_PACKET = 59,    /* from the rooster: send a Wake-on-LAN packet on your network */
    VERB_POWER_KEEP = 60,      /* from an administrator: stay awake until a given time */
    /* from the rooster or negotiator, when jobs wait for machines: stay awake if there is still
     * time, but not when somebody ordered this machine by name to power down */
    VERB_POWER_RECLAIM = 62,
    /* the next verbs are sent between schedd and shadow, on a Unix socket; the shadow dials */
    /* shadow to schedd: the owner that the shadow serves and the jobs that it has */
    VERB_SHADOW_HELLO = 70,
    VERB_JOB_RUN = 71,    /* schedd to shadow: expect the starter of this job */
    VERB_JOB_RESULT = 72, /* shadow to schedd: how the job ended; its output is staged */
    VERB_JOB_PLACED = 73, /* shadow to schedd: the job's output is in its final place */
    /* shadow to schedd: news of a run: its usage, that it started, or that it failed */
    VERB_JOB_STATUS = 74,
    VERB_JOB_STOP = 75,      /* schedd to shadow: this run of a job is over, forget the run */
    VERB_JOB_EVENT = 76,     /* schedd to shadow: append these events to job event logs */
    VERB_JOB_ADMIT = 77,     /* schedd to shadow: what the holder of this ticket may do */
    VERB_TRANSFER_TURN = 78, /* shadow to schedd: answer when this run may transfer its files */
    /* the next verbs are answered by the shadow; the starter dials */
    VERB_JOB_FETCH = 80, /* get the job ad and the list of input files */
    VERB_FILE_GET = 81,  /* get bytes of one input file, in parts */
    VERB_FILE_PUT = 82,  /* send bytes of one output file */
    VERB_JOB_STARTED = 83,
    VERB_JOB_USAGE = 84,
    /* the job's exit status, after all output was sent; answered when the result is committed */
    VERB_JOB_DONE = 85,
    VERB_CKPT_PUT = 103,     /* send bytes of a checkpoint (docs/protocol/checkpoint.md) */
    VERB_CKPT_DONE = 104,    /* the checkpoint was sent completely; answered when it is committed */
    VERB_CKPT_LOOK = 105,    /* list the checkpoints of the job that the shadow keeps */
    VERB_CKPT_GET = 106,     /* get bytes of a checkpoint */
    VERB_CKPT_REFUSED = 107, /* report that a checkpoint cannot be resumed */
    /* the next verbs are answered by the starter; the shadow passes them on for a client that
     * has a ticket */
    VERB_FILE_PEEK = 86,   /* get bytes of a file in the sandbox of a running job */
    VERB_SHELL_OPEN = 87,  /* start a program beside the job, with a terminal or pipes */
    VERB_SHELL_READ = 88,  /* get what the program of SHELL_OPEN wrote, or how it ended */
    VERB_SHELL_WRITE = 89, /* send input, a size of terminal or a signal to SHELL_OPEN's program */
    /* the next verbs are sent between startd and starter, on a Unix socket; the starter dials */
    VERB_STARTER_HELLO = 90,      /* starter to startd: the claim for which the starter works */
    VERB_LEASE_RENEWED = 91,      /* startd to starter: the schedd has renewed the claim's lease */
    VERB_STARTER_STOP = 92,       /* startd to starter: vacate or kill the job */
    VERB_STARTER_DONE = 93,       /* starter to startd: sandbox removed; how the job ended */
    VERB_CONSOLE_USED = 95,       /* kbdd to startd: when keyboard or mouse were last used */
    VERB_STARTER_SUSPEND = 94,    /* startd to starter: suspend or continue the job */
    VERB_STARTER_RUN = 79,        /* startd to a starter that it kept: run the claim's next job */
    VERB_STARTER_CHECKPOINT = 63, /* startd to starter: take a checkpoint now */
    VERB_STARTER_CKPT = 64,       /* starter to startd: a checkpoint was taken and committed */
    VERB_STARTER_ENERGY = 109,    /* starter to startd: the run's share of the machine's energy */
    /* the next verbs are answered by the shadow; a client with a ticket dials */
    VERB_SPOOL_LOOK = 96, /* list the files of a job's sandbox in SPOOL */
    VERB_SPOOL_PUT = 97,  /* send bytes of one input file */
    VERB_SPOOL_GET = 98,  /* get bytes of one output file */
    VERB_SPOOL_END = 99,  /* all input is there, the jobs may run; or all output was fetched */
    /* the next verbs are answered by the rooster, relayed */
    VERB_POWER_ON = 100,
    VERB_POWER_STATUS = 101,
    VERB_POWER_DOWN_ASK = 102, /* from a startd: may its machine go to sleep? */
    /* the next verbs are answered by every daemon, relayed or direct */
    VERB_PING = 110,
    VERB_CONFIG = 111, /* read, set or unset knobs, or reload the configuration (wire/settings.h) */
    /* answered by a master, relayed: start a daemon that was told to stay down
     * (base/daemon/daemon_down.h) */
    VERB_DAEMON_ON = 112,
    /* the next verbs are answered by the negotiator, relayed */
    /* from an administrator: set, reset or delete the negotiator's account of a submitter */
    VERB_USERPRIO = 120,
    /* from a startd or the rooster: how many jobs are idle (wire/pool_figures.h) */
    VERB_POOL_FIGURES = 121,
    /* the next verbs are answered by the factory, relayed */
    /* from an administrator: grow, shrink, pause, resume, test, log, reconcile */
    VERB_FACTORY_ORDER = 130,
    /* from a glidein that was just started: a token of its own for its ticket */
    VERB_TICKET = 135,
};

struct wire_verb_info {
    enum wire_verb verb;
    const char *name; /* name for logs and error messages, such as "UPDATE" */
    /* SCOPE_* bits, of which the caller needs one; 0: every connected peer may call */
    uint32_t scopes;
    uint32_t deadline_ms; /* milliseconds until the answer, and between its parts; 0: no deadline */
};
/* Returns the verb's row in the table of verbs; NULL: unknown verb. */
const struct wire_verb_info *wire_verb_find(enum wire_verb verb);
/* Returns whether handlers of this verb get the request's ads undecoded, by
 * wire_request_next_ad_bytes(). */
bool wire_verb_ads_are_bytes(enum wire_verb verb);
/* Returns the verb's name; "?" for an unknown verb; never NULL. */
const char *wire_verb_name(enum wire_verb verb);
/* Writes the names of the scopes to ret, a buffer of size bytes: "READ,WRITE".  Returns ret. */
const char *scope_names(uint32_t scopes, char *ret, unsigned size);
/* Parses the name of one scope.  Returns 0 and sets *ret to its SCOPE_* bit, or returns -EINVAL. */
int scope_parse(const char *text, uint32_t *ret);

#endif
