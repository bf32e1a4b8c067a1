#!/usr/bin/env python3
"""Checks proofs of linpoint against histories in JSON lines, without linpoint.

    tools/check_proof.py PROOF HISTORY.jsonl

docs/proofs.md describes the file and why a proof that is accepted is right. This program follows that description and shares
nothing with linpoint. It knows hints and the types register, cas-register, counter, queue, stack, priority-queue,
min-priority-queue, set, mutex, kv, snapshot, bank, unique-ids, fenced-lock, kafka-log and etcd. Exit codes: 0 if every proof is
accepted, 1 if one is refused, 2 if the file says that one was not made, 64 for other types and wrong usage, 65 if the history
cannot be read.
"""

import gzip
import sys
from collections import namedtuple

sys.dont_write_bytecode = True

from proof_catalog import specification, type_name
from proof_history import NEVER, Malformed, parse, read_histories, shown, value
from proof_spec import Unsupported


class Refused(Exception):
    """Why a proof is refused."""


# An operation of a part: its number, what it does, its result, and the ranks of its call and its return.
Timed = namedtuple("Timed", "number op result call ret")


def pending(timed):
    return timed._replace(result=None, ret=NEVER)


def refuse(condition, reason):
    if condition:
        raise Refused(reason)


def count(line, name):
    """The number in a field of a line."""
    number = line.get(name)
    refuse(type(number) is not int or number < 0, f"{name!r} must be a number")
    return number


def verdict_of(line):
    verdict = line.get("verdict")
    refuse(verdict not in ("linearizable", "not linearizable", "undecided"), f"{verdict!r} is no verdict")
    return verdict


class Proof:
    """The lines of a file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        self.file = gzip.open(path, "rt", encoding="utf-8") if packed else open(path, encoding="utf-8")
        self.number = 0

    def next(self):
        """The next line; None at the end."""
        self.number += 1
        try:
            text = self.file.readline()
            line = parse(text) if text else None
        except (ValueError, EOFError, OSError) as error:
            raise Refused(f"it cannot be read: {error}") from None
        refuse(text and not isinstance(line, dict), "it is no JSON object")
        return line

    def expect(self):
        line = self.next()
        refuse(line is None, "the proof ends too early")
        return line

    def numbers(self, name, count):
        """The numbers of `count` operations, listed as differences."""
        numbers, last = [], 0
        while len(numbers) < count:
            listed = self.expect().get(name)
            refuse(not isinstance(listed, list) or not listed, f"here must be a line with a list {name!r}")
            for difference in listed:
                refuse(type(difference) is not int, f"{name!r} lists something that is no operation")
                last += difference
                numbers.append(last)
        refuse(len(numbers) > count, f"{name!r} has more than {count} operations")
        return numbers

    def check(self, history):
        """The verdict that the next proof shows about a history."""
        header = self.next()
        refuse(header is None, "the file has no proof of this history")
        refuse(header.get("linpoint-proof") != 2, "here must be the header of a proof, a file that `check --proof` writes")
        refuse(header["split"] not in ("keys", "objects"), "'split' is 'keys' or 'objects'")
        claimed, spec = verdict_of(header), specification(header, history)
        refuse(header["operations"] != len(history.ops), "the proof is about another number of operations")
        refuse(header["ties"] != history.ties, "the proof is about another order at equal times")
        if history.type is not None:
            refuse(type_name(history.type) != header["type"], "the proof is about another type")
            params = {name: value(given) for name, given in header["params"].items()}
            refuse(params != history.params, "the proof is about other parameters")
        ops = []
        for number, op in enumerate(history.ops):
            decoded = spec.decode(op)
            result = None if op.result is None else spec.result(decoded, op.result)
            ops.append(Timed(number, decoded, result, op.call, op.ret))
        parts = partition(spec, history, ops, header["split"])
        proven, missing = {}, None
        for _ in range(count(header, "parts")):
            line = self.expect()
            number, verdict = count(line, "part"), verdict_of(line)
            refuse(number in proven or number not in range(len(parts)), f"there is no part {number}, or it comes twice")
            key, part = parts[number]
            given = shown(value(line["key"])) if "key" in line else None
            refuse(given != (None if key is None else shown(key)), f"part {number} has another key")
            refuse(line.get("operations") != len(part), f"part {number} has another number of operations")
            if "unproven" in line:
                missing = missing or line["unproven"]
                continue
            if verdict == "linearizable":
                check_order(spec, part, self.numbers("order", count(line, "order")))
            else:
                refuse(verdict == "undecided", "a part is undecided")
                self.check_refutation(spec, part, line)
            proven[number] = verdict
        if "not linearizable" in proven.values():
            verdict = "not linearizable"
        elif len(proven) == len(parts):
            verdict = "linearizable"
        else:
            return None, missing or "only some parts of the history are looked at"
        refuse(claimed != verdict, "the header has another verdict")
        return verdict, None

    def check_refutation(self, spec, part, line):
        cut, left = count(line, "cut"), count(line, "sets")
        numbers = self.numbers("keep", count(line, "keep"))
        relaxed = self.numbers("relax", count(line, "relax"))
        by_number = {op.number: op for op in part}
        refuse(not set(numbers) <= set(by_number), "an operation that is kept is not in the part")
        refuse(sorted(set(numbers)) != numbers, "the operations that are kept are out of order")
        refuse(sorted(set(relaxed)) != relaxed or not set(relaxed) <= set(numbers), "\"relax\" is wrong")
        relaxed, recorded = set(relaxed), [by_number[number] for number in numbers]
        kept = [pending(op) if op.number in relaxed or op.ret > cut else op for op in recorded]
        check_reduction(spec, part, cut, recorded, kept)
        induction = Induction(spec)
        listed, left = self.next_set(left)
        events = sorted([(op.call, op) for op in kept] + [(op.ret, op) for op in kept if op.ret != NEVER])
        for rank, op in events:
            if rank == op.call:
                induction.open.append(op)
                continue
            induction.take_return(op)
            if listed is not None and listed.get("return") == op.number:
                induction.replace(listed.get("set"))
                listed, left = self.next_set(left)
            if not induction.possible:
                break
        refuse(induction.possible, "the operations that are kept do not contradict each other")
        refuse(listed is not None, "a set is out of order or after the contradiction")

    def next_set(self, left):
        """The line of the next set, and how many are left then."""
        return (self.expect(), left - 1) if left else (None, 0)


def partition(spec, history, ops, split):
    """The operations of each object, or of each key of an object if every operation has a key, with the key."""
    keys = [spec.key(op.op) for op in ops]
    if split != "keys" or None in keys:
        keys = [None] * len(ops)
    parts = {}
    for recorded, op, key in zip(history.ops, ops, keys):
        parts.setdefault((recorded.object, key), []).append(op)
    return [(key, part) for (_, key), part in parts.items()]


def check_order(spec, part, order):
    left = {op.number: op for op in part}
    latest_call, states = -1, {spec.init()}
    for number in order:
        refuse(number not in left, f"operation {number} is not in the part, or takes effect twice")
        op = left.pop(number)
        refuse(op.ret < latest_call, f"operation {number} takes effect after its return")
        latest_call = max(latest_call, op.call)
        states = {after for state in states for after in spec.step(state, op.op, op.result)}
        refuse(not states, f"operation {number} cannot have its result there")
    for op in left.values():
        refuse(op.ret != NEVER, f"operation {op.number} returned but is missing")


def mentions(role):
    """The values that an operation with this role is about; None if that is not known."""
    name = role[0]
    if name == "slot":
        needs, leaves = role[1:]
        return [a_value for a_value in (needs and needs[1], leaves) if a_value is not None]
    if name in ("adds", "removes", "peeks"):
        return [role[1]]
    if name in ("removes some", "empty"):
        return []
    if name == "updates":
        return [entry_value(role[1], role[2])]
    if name == "scans":
        return ["initial"] + [entry_value(entry, seen) for entry, seen in enumerate(role[1])]
    return None


def entry_value(entry, a_value):
    return "initial" if a_value is None else (entry, a_value)


def check_reduction(spec, part, cut, recorded, kept):
    refuse(any(op.call > cut for op in kept), "an operation that is kept was called after the cut")
    numbers = {op.number for op in kept}
    dropped = [op for op in part if op.call <= cut and op.number not in numbers]
    one_key = len({spec.key(op.op) for op in part}) == 1
    kind = spec.kind if one_key else None
    repeats = repeated_updates(spec, part, cut, kept) if kind == "snapshot" else set()
    gone = set()
    for op in dropped:
        if spec.is_pure(op.op, op.result) or spec.is_pure(op.op, None) or op.number in repeats:
            continue
        role = spec.role(op.op, op.result)
        values = mentions(role)
        refuse(values is None, f"operation {op.number} was dropped without a reason")
        if role == ("removes some",):
            adds = any(spec.role(op.op, op.result)[0] == "adds" for op in recorded)
            refuse(adds, f"operation {op.number} was dropped, but may have removed what was added")
        gone.update(values)
    if not gone:
        return
    refuse(kind is None, "values were dropped from an object that is not known")
    for now, before in zip(kept, recorded):
        may_be_deleted = now.ret == NEVER
        if may_be_deleted and spec.is_pure(before.op, before.result):
            continue
        role = spec.role(before.op, before.result)
        needs_other = role[0] == "slot" and role[1] is not None and role[1][0] == "is not"
        values = mentions(role)
        depends = f"operation {now.number} depends on what was dropped"
        refuse(values is None or needs_other, depends)
        count = sum(a_value in gone for a_value in values)
        refuse(count > 0 and not (may_be_deleted and count == len(values)), depends)


def repeated_updates(spec, part, cut, kept):
    """The updates of a snapshot that write what their entry holds."""
    about = {a_value for op in kept for a_value in mentions(spec.role(op.op, op.result)) or []}
    of_entry = {}
    for op in part:
        role = spec.role(op.op, op.result)
        if op.call <= cut and role[0] == "updates" and entry_value(*role[1:]) in about:
            of_entry.setdefault(role[1], []).append((op, role[2]))
    repeats = set()
    for updates in of_entry.values():
        held, is_known, finished = None, True, -1
        for (op, new), following in zip(updates, updates[1:] + [None]):
            alone = finished < op.call and (following is None or op.ret < following[0].call)
            if alone and is_known and held == new:
                repeats.add(op.number)
            held, is_known, finished = new, alone, max(finished, op.ret)
    return repeats


class Induction:
    """The sets of configurations: pairs of the open operations that took effect, and the state."""

    def __init__(self, spec):
        self.spec, self.open = spec, []
        self.possible = {(frozenset(), spec.init())}

    def take_return(self, op):
        """The set becomes the one that follows when `op` returns."""
        seen, frontier = set(), list(self.possible)
        while frontier:
            pair = self.saturated(*frontier.pop())
            if pair in seen:
                continue
            seen.add(pair)
            taken, state = pair
            if op.number in taken:
                continue
            used = set()  # pending operations that equal an earlier one wait for it
            for other in self.open:
                if other.number in taken or (other.ret == NEVER and other.op in used):
                    continue
                if other.ret == NEVER:
                    used.add(other.op)
                for after in self.spec.step(state, other.op, other.result):
                    frontier.append((taken | {other.number}, after))
        self.open.remove(op)
        self.possible = self.least({(taken - {op.number}, state) for taken, state in seen if op.number in taken})

    def saturated(self, taken, state):
        """The same configuration after all that return, change nothing and can have their results took effect."""
        more = (op for op in self.open if op.ret != NEVER and self.spec.is_pure(op.op, op.result))
        return taken | {op.number for op in more if self.spec.step(state, op.op, op.result)}, state

    def by_state(self, configurations):
        """The configurations by what they must have in common with those that they cover."""
        never = {op.number for op in self.open if op.ret == NEVER}
        groups = {}
        for taken, state in configurations:
            groups.setdefault((taken - never, state), []).append(taken)
        return groups

    def least(self, configurations):
        """The configurations that no other one covers."""
        groups = self.by_state(configurations).items()
        return {(taken, key[1]) for key, group in groups for taken in group if not any(other < taken for other in group)}

    def replace(self, configurations):
        """Takes a set that is listed instead of the one that follows."""
        states = {}
        for _, state in self.possible:
            text = shown(self.spec.state_value(state))
            refuse(states.setdefault(text, state) != state, f"two different states are both written as {text}")
        refuse(not isinstance(configurations, list), "here must be a line with a list 'set'")
        numbers, listed = {op.number for op in self.open}, set()
        for configuration in configurations:
            fits = isinstance(configuration, list) and len(configuration) == 2 and isinstance(configuration[0], list)
            refuse(not fits, "a configuration is [[operations], state]")
            taken, text = configuration[0], shown(value(configuration[1]))
            refuse(len(set(taken)) != len(taken) or not set(taken) <= numbers, "an operation is not open, or listed twice")
            refuse(text not in states, f"the state {text} does not follow from the set before")
            listed.add(self.saturated(frozenset(taken), states[text]))
        groups = self.by_state(listed)
        for key, group in self.by_state(self.saturated(*pair) for pair in self.possible).items():
            for taken in group:
                missing = not any(other <= taken for other in groups.get(key, []))
                refuse(missing, f"a configuration is missing: state {shown(self.spec.state_value(key[1]))}, {sorted(taken)}")
        self.possible = self.least(listed)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 64
    proof_path, history_path = arguments
    try:
        opened = gzip.open if history_path.endswith(".gz") else open
        with opened(history_path, "rt", encoding="utf-8") as file:
            histories = list(read_histories(file.read()))
        proof = Proof(proof_path)
    except (Malformed, OSError, ValueError) as error:
        print(f"{error}", file=sys.stderr)
        return 65
    exit_code = 0
    try:
        for number, history in enumerate(histories):
            verdict, missing = proof.check(history)
            if verdict is None:
                exit_code = 2
                print(f"history {number}: no proof was made: {missing}")
            else:
                print(f"history {number}: the proof is accepted: {verdict}")
        refuse(proof.next() is not None, "more proofs than histories")
    except (Refused, KeyError, TypeError) as error:
        print(f"the proof is refused: {proof_path}:{proof.number}: {error}")
        return 1
    except Unsupported as error:
        print(f"{error}", file=sys.stderr)
        return 64
    except Malformed as error:
        print(f"{history_path}: {error}", file=sys.stderr)
        return 65
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
