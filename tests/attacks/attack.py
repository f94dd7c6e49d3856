"""The list of attacks, and what runs them on a pool.

attack.py --pool DIR --roost FILE --files DIR [--list] [--waiting] [NAME...]

An attack is a function of (scene) that returns when the pool held, and calls worked() when the attacker got what he wanted.  One that the
pool does not withstand yet names what it waits for: it is not run, unless by name or with --waiting, which tells how each of them ends.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import importlib
import os
import sys
import time
import traceback

MODULES = ["accounts", "cannots", "findings", "bounds", "hub_attacks", "searches", "storms"]
ATTACKS = {}
Attack = collections.namedtuple("Attack", "name of says run waits")


class Worked(Exception):
    """The attacker got what he wanted."""


class Impossible(Exception):
    """This build has no such thing to attack."""


def is_instrumented():
    """A build with sanitizers has no roost-pilot, no checkpoints and so no standard universe, and its memory says nothing."""
    return not os.path.exists(os.path.join(os.environ["ROOST_BIN"], "roost-pilot"))


def needs_checkpoints():
    if is_instrumented():
        raise Impossible("a build with sanitizers has no checkpoints")


def worked(what):
    raise Worked(what)


def attack(of, says, waits=None):
    """of: the finding or the line of docs/SECURITY.md; says: what is tried; waits: what it must wait for."""

    def add(function):
        ATTACKS[function.__name__] = Attack(function.__name__, of, says, function, waits)
        return function

    return add


def load(modules=MODULES):
    """Every attack of these modules."""
    for module in modules:
        importlib.import_module(module)
    return list(ATTACKS.values())


def chosen(options):
    unknown = [name for name in options.names if name not in ATTACKS]
    if unknown:
        sys.exit(f"no such attack: {' '.join(unknown)}")
    if options.names:
        return [ATTACKS[name] for name in options.names]
    return [one for one in ATTACKS.values() if (one.waits is not None) == options.waiting]


def run(one, scene):
    """(held, what happened)"""
    began = time.monotonic()
    try:
        one.run(scene)
        held, said = True, "held"
    except Worked as error:
        held, said = False, f"WORKED: {error}"
    except Impossible as error:
        held, said = True, f"skipped: {error}"
    except Exception:  # noqa: BLE001 - an attack that could not be carried out has shown nothing
        held, said = False, "was not carried out:\n" + traceback.format_exc()
    finally:
        scene.clean()
    print(f"{one.of:12} {one.name}: {said} ({time.monotonic() - began:.1f} s)", flush=True)
    return held


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pool")
    parser.add_argument("--roost")
    parser.add_argument("--files")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--waiting", action="store_true")
    parser.add_argument("--of", help="only attacks of this module")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    load([options.of] if options.of else MODULES)
    if options.list:
        for one in ATTACKS.values():
            print(f"{one.of:12} {one.name:45} {'waits for ' + one.waits if one.waits else 'on':30} {one.says}")
        return
    from scene import Scene

    attacks = chosen(options)
    if not attacks:
        print("skipped: all of these attacks wait for something")
        sys.exit(77)
    scene = Scene(options)
    results = [run(one, scene) for one in attacks]
    print(f"{sum(results)} of {len(results)} attacks held")
    if not all(results) and not options.waiting:
        sys.exit(1)


if __name__ == "__main__":
    sys.modules["attack"] = sys.modules["__main__"]  # the modules add to this list
    main()
