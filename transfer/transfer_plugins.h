/* transfer/transfer_plugins.h - the programs by which URLs are fetched on a machine.
 *
 * A file transfer plug-in, as HTCondor has them, says what it is when it is run with -classad: an
 * ad with SupportedMethods ("http,https") and MultipleFileSupport.  What none of them claims of
 * http, https and ftp is curl's, where that is installed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_TRANSFER_PLUGINS_H
#define TRANSFER_TRANSFER_PLUGINS_H

#include <stdbool.h>

struct os;
struct strbuf;
struct transfer_plugins;

struct transfer_plugin {
    const char *path;
    bool is_curl;       /* to be called as curl is */
    bool takes_several; /* -infile FILE -outfile FILE; else: URL FILE */
};

/* Asks the programs (paths: NULL-terminated), one after the other; ready, which may be NULL, is
 * called when all have answered, never from here.  scratch is a file that we may write, for the
 * answers.  curl: its path. */
struct transfer_plugins *transfer_plugins_create(struct os *os, const char *const *paths,
                                                 const char *curl, const char *scratch,
                                                 void (*ready)(void *arg), void *arg);
void transfer_plugins_destroy(struct transfer_plugins *plugins); /* NULL is allowed */
bool transfer_plugins_are_known(const struct transfer_plugins *plugins);
/* Who fetches that URL; false: nobody. */
bool transfer_plugins_find(const struct transfer_plugins *plugins, const char *url,
                           struct transfer_plugin *ret);
/* "ftp,http,https": HasFileTransferPluginMethods */
void transfer_plugins_methods(const struct transfer_plugins *plugins, struct strbuf *ret);

#endif
