"""The type `etcd` for check_proof.py, as docs/etcd.md describes it.

Of the forms that the robustness tests of etcd write, only values are known here.
"""

from collections import namedtuple

from proof_history import BOOL, FALSE, INT, LIST, MAP, NIL, TEXT, TRUE, Malformed, items, shown
from proof_spec import Spec, Unsupported

Store = namedtuple("Store", "revision compacted keys leases")  # keys: ((key, Entry), ...), sorted; leases: sorted numbers
Entry = namedtuple("Entry", "value create mod version lease")
Range = namedtuple("Range", "start end limit revision")  # `end` is None for one key
Txn = namedtuple("Txn", "conditions then otherwise")

ANSWER = ("revision", "kvs", "count", "deleted", "succeeded", "results", "persisted", "error")
ENTRY = ("key", *Entry._fields)
TARGETS = ("mod", "create", "version", "value", "lease")
TESTS = {
    "=": lambda found, given: found == given,
    "!=": lambda found, given: found != given,
    ">": lambda found, given: found > given,
    "<": lambda found, given: found < given,
}
ALL_THAT_FOLLOW = "\0"
REFUSED = "refused"


def fields_of(recorded, known, what):
    """The fields of a map by name."""
    if recorded[0] != MAP:
        raise Malformed(f"{what} is a map, not {shown(recorded)}")
    fields = {key[1]: a_value for key, a_value in recorded[1]}
    for field in fields:
        if field[:1].isupper():
            raise Unsupported(f"{what} is written as in the robustness tests of etcd")
        if field not in known:
            raise Malformed(f"{what} has no {field!r}")
    return fields


def key_text(recorded):
    kind, content = recorded
    if kind not in (TEXT, INT):
        raise Malformed(f"a key is a text, not {shown(recorded)}")
    return str(content)


def positive(recorded):
    if recorded[0] != INT or recorded[1] <= 0:
        raise Malformed(f"{shown(recorded)} is no number from 1 on")
    return recorded[1]


def number_if_told(recorded):
    return None if recorded in (NIL, (INT, 0)) else positive(recorded)


def after_prefix(prefix):
    """The first key after all keys with this prefix."""
    while prefix:
        last = ord(prefix[-1]) + 1
        if last <= 0x10FFFF:
            return prefix[:-1] + chr(0xE000 if 0xD800 <= last < 0xE000 else last)
        prefix = prefix[:-1]
    return ALL_THAT_FOLLOW


def range_of(argument):
    if argument[0] != MAP:
        return Range(key_text(argument), None, None, None)
    fields = fields_of(argument, ("key", "end", "prefix", "limit", "revision"), "a range")
    limit, revision = (number_if_told(fields.get(field, NIL)) for field in ("limit", "revision"))
    if "prefix" in fields:
        start = key_text(fields["prefix"])
        return Range(start, after_prefix(start), limit, revision)
    last = fields.get("end", (TEXT, ""))
    return Range(key_text(fields.get("key", NIL)), None if last == (TEXT, "") else key_text(last), limit, revision)


def put_of(argument):
    """The key, the value and the lease; 0 for no lease."""
    pair = items(argument, 2)
    if pair:
        return (key_text(pair[0]), stored(pair[1]), 0)
    fields = fields_of(argument, ("key", "value", "lease"), "a put")
    if "value" not in fields:
        raise Malformed(f"{shown(argument)} has no value")
    return (key_text(fields.get("key", NIL)), stored(fields["value"]), number_if_told(fields.get("lease", NIL)) or 0)


def stored(a_value):
    """A value, also as the robustness tests write it: with the hash of a long one; an empty map means an empty text."""
    if a_value[0] != MAP or any(field[1] not in ("Value", "Hash") for field, _ in a_value[1]):
        return a_value
    fields = {field[1]: part for field, part in a_value[1]}
    is_hash = fields.get("Hash", NIL)[0] == INT and fields["Hash"][1] != 0
    return a_value if is_hash else fields.get("Value", (TEXT, ""))


READERS = {"range": range_of, "put": put_of, "delete": range_of}


def change_of(recorded):
    fields = fields_of(recorded, READERS, "a part of a transaction")
    if len(fields) != 1:
        raise Malformed(f"{shown(recorded)} is not one part of a transaction")
    [(method, argument)] = fields.items()
    return (method, READERS[method](argument))


def condition_of(recorded):
    fields = fields_of(recorded, ("key", "is", *TARGETS), "a condition")
    target = next((target for target in TARGETS if target in fields), None)
    test = fields.get("is", (TEXT, "="))[1]
    if target is None or test not in TESTS:
        raise Malformed(f"{shown(recorded)} is no condition")
    return (key_text(fields.get("key", NIL)), target, test, stored(fields[target]))


def txn_of(argument):
    fields = fields_of(argument, ("if", "then", "else"), "a transaction")

    def each(field, read):
        recorded = fields.get(field, NIL)
        if recorded != NIL and recorded[0] != LIST:
            raise Malformed(f"{field!r} of a transaction is a list")
        return () if recorded == NIL else tuple(read(item) for item in recorded[1])

    return Txn(each("if", condition_of), each("then", change_of), each("else", change_of))


def number_of(argument, field):
    return positive(fields_of(argument, (field,), "a request").get(field, NIL) if argument[0] == MAP else argument)


def answer_of(recorded):
    """An answer as a tuple of pairs: the fields that are told."""
    if recorded in (NIL, TRUE):
        return ()
    told = []
    for field, a_value in sorted(fields_of(recorded, ANSWER, "an answer").items()):
        if a_value == NIL:
            continue
        if field in ("kvs", "results"):
            if a_value[0] != LIST:
                raise Malformed(f"{field!r} is a list, not {shown(a_value)}")
            read = entry_of if field == "kvs" else answer_of
            a_value = tuple(read(item) for item in a_value[1])
        told.append((field, a_value))
    return tuple(told)


def entry_of(recorded):
    fields = fields_of(recorded, ENTRY, "an entry")
    if "key" in fields:
        fields["key"] = (TEXT, key_text(fields["key"]))
    if "value" in fields:
        fields["value"] = stored(fields["value"])
    return tuple(sorted(fields.items()))


class Etcd(Spec):
    def __init__(self, params):
        self.revision = params.get("revision", (INT, 1))[1]

    def decode(self, op):
        method = {"get": "range", "leaseGrant": "lease_grant", "leaseRevoke": "lease_revoke"}.get(op.method, op.method)
        if method in READERS:
            return (method, READERS[method](op.argument))
        if method == "txn":
            return (method, txn_of(op.argument))
        if method in ("lease_grant", "lease_revoke"):
            return (method, number_of(op.argument, "id"))
        if method == "compact":
            return (method, number_of(op.argument, "revision"))
        if method != "defragment":
            raise Malformed(f"unknown method {op.method}")
        return (method,)

    def result(self, op, result):
        if op[0] in ("range", "txn") and result[0] != MAP:
            raise Malformed(f"{shown(result)} is no answer")
        return answer_of(result)

    def init(self):
        return Store(self.revision, 0, (), ())

    def step(self, state, op, result):
        answer, after = respond(state, *op)
        if result is None:
            return [after]
        told = dict(result)
        if told.get("revision", (INT, after.revision)) != (INT, after.revision):
            return []
        if answer == REFUSED or "error" in told:
            return [after] if answer == REFUSED and "error" in told else []
        return [after] if fits(told, answer) else []

    def is_pure(self, op, result):
        told = dict(result or ())
        if "error" in told or op[0] in ("range", "defragment"):
            return True
        if op[0] == "delete":
            return told.get("deleted") == (INT, 0)
        if op[0] != "txn":
            return False
        branches = {TRUE: op[1].then, FALSE: op[1].otherwise}
        taken = branches.get(told.get("succeeded"), op[1].then + op[1].otherwise)
        return all(change[0] == "range" for change in taken)

    def state_value(self, state):
        def named(fields):
            return (MAP, tuple(sorted(((TEXT, field), a_value) for field, a_value in fields.items())))

        keys = tuple(named(shown_entry(key, entry)) for key, entry in state.keys)
        leases = tuple((INT, lease) for lease in state.leases)
        return named({
            "revision": (INT, state.revision), "compacted": (INT, state.compacted), "keys": (LIST, keys),
            "leases": (LIST, leases),
        })


def shown_entry(key, entry):
    numbers = {field: (INT, number) for field, number in entry._asdict().items() if field != "value"}
    return {"key": (TEXT, key), "value": entry.value, **numbers}


# Answers. Each is a dictionary of the fields that are known; those that are not known are not compared.


def fits(told, answer):
    """Whether what was recorded is this answer, as far as both tell."""
    for field, expected in answer.items():
        if field not in told:
            continue
        if field == "kvs":
            same = len(told[field]) == len(expected) and all(
                dict(entry).items() <= known.items() for entry, known in zip(told[field], expected)
            )
        elif field == "results":
            same = len(told[field]) == len(expected) and all(
                fits(dict(part), known) for part, known in zip(told[field], expected)
            )
        else:
            same = told[field] == expected
        if not same:
            return False
    return True


def respond(state, method, argument=None):
    """What a request answers, or that it is refused, and the state after it."""
    if method == "range":
        return ranged(state, argument, state.revision), state
    if method in ("put", "delete"):
        results, after = changed(state, [(method, argument)])
        return (REFUSED, state) if results == REFUSED else (results[0], after)
    if method == "txn":
        succeeded = all(holds(state, *condition) for condition in argument.conditions)
        results, after = changed(state, argument.then if succeeded else argument.otherwise)
        return (REFUSED, state) if results == REFUSED else ({"succeeded": (BOOL, succeeded), "results": results}, after)
    if method == "lease_grant":
        if argument in state.leases:
            return REFUSED, state
        return {}, state._replace(leases=tuple(sorted((*state.leases, argument))))
    if method == "lease_revoke":
        return revoked(state, argument)
    if method == "compact":
        possible = state.compacted < argument <= state.revision
        return ({}, state._replace(compacted=argument)) if possible else (REFUSED, state)
    return {}, state


def matching(state, wanted):
    """The entries with the keys that are meant."""
    def is_meant(key):
        if wanted.end is None:
            return key == wanted.start
        return key >= wanted.start and (wanted.end == ALL_THAT_FOLLOW or key < wanted.end)

    return [(key, entry) for key, entry in state.keys if is_meant(key)]


def ranged(state, wanted, current):
    """What a read answers in a request that found the store at the revision `current`."""
    if wanted.revision is not None:
        if wanted.revision > current or wanted.revision < state.compacted:
            return REFUSED
        if wanted.revision != state.revision:
            return {}  # what keys held then is not known
    found = matching(state, wanted)
    entries = [shown_entry(key, entry) for key, entry in found[: wanted.limit]]
    return {"kvs": entries, "count": (INT, len(found))}


def changed(state, changes):
    """The results of changes that are made at one revision, or that they are refused, and the state after them."""
    results, before = [], state.revision
    for method, argument in changes:
        if method == "range":
            answer = ranged(state, argument, before)
            if answer == REFUSED:
                return REFUSED, state
            results.append(answer)
        elif method == "delete":
            found = matching(state, argument)
            left = tuple(pair for pair in state.keys if pair not in found)
            state = state._replace(keys=left, revision=before + 1 if found else state.revision)
            results.append({"deleted": (INT, len(found))})
        else:
            key, a_value, lease = argument
            if lease and lease not in state.leases:
                return REFUSED, state
            old = dict(state.keys).get(key, Entry(None, before + 1, None, 0, None))
            new = Entry(a_value, old.create, before + 1, old.version + 1, lease)
            state = state._replace(keys=tuple(sorted({**dict(state.keys), key: new}.items())), revision=before + 1)
            results.append({})
    return results, state


def revoked(state, lease):
    if lease not in state.leases:
        return REFUSED, state
    left = tuple((key, entry) for key, entry in state.keys if entry.lease != lease)
    revision = state.revision + (left != state.keys)
    leases = tuple(other for other in state.leases if other != lease)
    return {}, state._replace(keys=left, leases=leases, revision=revision)


def holds(state, key, target, test, operand):
    entry = dict(state.keys).get(key)
    if target == "value":
        # A missing key has no value that could be compared.
        return entry is not None and TESTS[test](entry.value, operand)
    return TESTS[test]((INT, getattr(entry, target) if entry else 0), operand)
