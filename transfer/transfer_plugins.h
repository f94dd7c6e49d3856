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

struct os;
struct strbuf;
struct transfer_plugins;

/* A program that fetches URLs. */
struct transfer_plugin {
    const char *path;
    bool is_curl;       /* true: the program is curl; call it with curl's arguments */
    bool takes_several; /* true: call it with -infile FILE -outfile FILE; false: with URL FILE */
};

/* Runs the programs (paths: NULL-terminated, may be NULL) one after the other to ask what they
 * support.  curl: path of curl, or NULL.  scratch: a file that we may write, for their answers.
 * ready(arg), unless NULL, is called after the last answer, and never from within this call; it is
 * not called when no program can be started (transfer_plugins_are_known() is true at once). */
struct transfer_plugins *transfer_plugins_create(struct os *os, const char *const *paths,
                                                 const char *curl, const char *scratch,
                                                 void (*ready)(void *arg), void *arg);
void transfer_plugins_destroy(struct transfer_plugins *plugins); /* NULL is allowed */
/* Returns whether each program in `paths` of transfer_plugins_create() was asked what it supports,
 * and has answered or failed. */
bool transfer_plugins_are_known(const struct transfer_plugins *plugins);
/* Finds the program that fetches this URL.  Returns false when there is none. */
bool transfer_plugins_find(const struct transfer_plugins *plugins, const char *url,
                           struct transfer_plugin *ret);
/* Appends the supported methods as "ftp,http,https", for HasFileTransferPluginMethods. */
void transfer_plugins_methods(const struct transfer_plugins *plugins, struct strbuf *ret);

#endif
