#!/bin/bash
# The check lint.attrs finds names of attributes that are not in the list of known ones.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

new_tree
plant classad/held.c <<'END'
void f(struct ad *ad) { ad_set_int(ad, "HeldSince", 1); }
END
finds "a list that is missing" "classad/held.c:1: the attribute 'HeldSince' is not in classad/ad_attr_names.c" attrs
lint attrs --write
passes "the list as written" attrs
sed -i 's/HeldSince/HeldFrom/' "$TREE/classad/held.c"
finds "an attribute that was renamed" "classad/held.c:1: the attribute 'HeldFrom' is not in" attrs
lint attrs --write
grep -q '"HeldFrom",' "$TREE/classad/ad_attr_names.c" || { echo "FAILED: the new name is not in the list"; failures=$((failures + 1)); }
finish
