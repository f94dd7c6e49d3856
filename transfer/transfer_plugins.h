/* transfer/transfer_plugins.h - finds the programs of a machine that fetch URLs.
 *
 * A file transfer plug-in, as HTCondor has them, is run with -classad and prints an ad with
 * SupportedMethods ("http,https") and MultipleFileSupport.  For http, https and ftp, curl is used
 * when no plug-in supports them and curl is installed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_TRANSFER_PLUGINS_H
#define TRANSFER_TRANSFER_PLUGINS_H

#include <stdbool.h>
#include <stdint.h>

struct log;
struct loop;
struct os;
struct strbuf;
struct transfer_plugins;

/* A program that fetches URLs. */
struct transfer_plugin {
    const char *path;
    bool is_curl;       /* true: the program is curl; call it with curl's arguments */
    bool takes_several; /* true: call it with -infile FILE -outfile FILE; false: with URL FILE */
};

/* Options of transfer_plugins_create(), which copies the texts; loop, os and log must outlive the
 * struct transfer_plugins. */
struct transfer_plugins_options {
    struct loop *loop;
    struct os *os;
    struct log *log; /* gets the name of each program that cannot be used */
    /* paths of the plug-ins to run with -classad; NULL-terminated, may be NULL */
    const char *const *paths;
    const char *curl; /* path of curl; NULL: none */
    /* how long a program may take to say what it supports, in ms, before it is killed and not used;
     * 0: 20 seconds */
    uint64_t answer_ms;
    const char *scratch; /* path of a file to write, for the programs' answers */
    /* Called after the last program has answered or failed, never from within the call that creates
     * the plug-ins; not called when no program can be started (transfer_plugins_are_known() is true
     * at once).  NULL: nobody is told. */
    void (*ready)(void *arg);
    void *arg;
};

/* Makes the set of plug-ins and starts to ask the programs, one after the other, what they
 * support. */
struct transfer_plugins *transfer_plugins_create(const struct transfer_plugins_options *options);
void transfer_plugins_destroy(struct transfer_plugins *plugins); /* NULL is allowed */
/* Returns whether each program in `paths` of transfer_plugins_create() was asked what it supports,
 * and has answered or failed. */
bool transfer_plugins_are_known(const struct transfer_plugins *plugins);
/* Finds the program that fetches this URL, for *ret, whose path is borrowed from plugins.  Returns
 * false when no program fetches such URLs. */
bool transfer_plugins_find(const struct transfer_plugins *plugins, const char *url,
                           struct transfer_plugin *ret);
/* Appends the supported methods as "ftp,http,https", for HasFileTransferPluginMethods. */
void transfer_plugins_methods(const struct transfer_plugins *plugins, struct strbuf *ret);

#endif
