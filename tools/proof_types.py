"""The simple types that check_proof.py knows, as docs/proofs.md describes them."""

from proof_history import BOOL, FALSE, INT, LIST, MAP, NIL, NUMBER, TEXT, TRUE, Malformed, items, shown
from proof_spec import OPAQUE, Spec, Unsupported, answering, done, nothing, reads, some, truth, writes


class Register(Spec):
    kind = "slot"

    def __init__(self, params, has_cas):
        self.initial, self.has_cas = params.get("initial", NIL), has_cas

    def decode(self, op):
        if op.method in ("read", "get"):
            nothing(op.argument)
            return ("read",)
        if op.method in ("write", "set", "put"):
            return ("write", op.argument)
        if op.method in ("cas", "compare_and_set") and self.has_cas and items(op.argument, 2):
            return ("cas", *op.argument[1])
        raise Malformed(f"unknown method {op.method}")

    def result(self, op, result):
        if op[0] == "read":
            return result
        return done(result, op[1:]) if op[0] == "write" else truth(result)

    def init(self):
        return self.initial

    def step(self, state, op, result):
        if op[0] == "read":
            return answering(result, [(state, state)])
        if op[0] == "write":
            return answering(result, [(NIL, op[1])])
        fits = state == op[1]
        return answering(result, [((BOOL, fits), op[2] if fits else state)])

    def is_pure(self, op, result):
        return op[0] == "read" or (op[0] == "cas" and (op[1] == op[2] or result == FALSE))

    def role(self, op, result):
        if op[0] == "read":
            return OPAQUE if result is None else reads(result)
        if op[0] == "write":
            return writes(op[1])
        if result == FALSE:
            return ("slot", ("is not", op[1]), None)
        return ("slot", ("is", op[1]), op[2])

    def state_value(self, state):
        return state


class Counter(Spec):
    kind = "counter"

    def __init__(self, params):
        self.initial = params.get("initial", (INT, 0))[1]

    def decode(self, op):
        by = {"get_and_inc": 1, "inc_and_get": 1}.get(op.method)
        if by is None and op.argument[0] == INT:
            by = op.argument[1]
        if by is None and op.method in ("inc", "increment", "dec", "decrement"):
            by = 1
        name = {
            "get": "get", "read": "get", "add": "add", "inc": "add", "increment": "add", "dec": "sub", "decrement": "sub",
            "fetch_add": "before", "get_and_add": "before", "get_and_inc": "before", "add_and_get": "after",
            "inc_and_get": "after",
        }.get(op.method)
        if name == "get":
            nothing(op.argument)
            return ("get", 0)
        if name is None or by is None:
            raise Malformed(f"unknown method {op.method}, or no number")
        return ("add", -by) if name == "sub" else (name, by)

    def result(self, op, result):
        if op[0] == "add":
            return done(result, [(INT, op[1])]) if result != (INT, -op[1]) else NIL
        if result[0] != INT:
            raise Malformed(f"{shown(result)} is no integer")
        return result

    def init(self):
        return self.initial

    def step(self, state, op, result):
        after = (state + op[1] + (1 << 63)) % (1 << 64) - (1 << 63)
        answer = {"add": NIL, "after": (INT, after)}.get(op[0], (INT, state))
        return answering(result, [(answer, after)])

    def is_pure(self, op, result):
        return op[1] == 0

    def state_value(self, state):
        return (INT, state)


class Container(Spec):
    """The next value to serve is in front."""

    METHODS = {
        "queue": ("enq enqueue offer add put", "deq dequeue poll remove", "peek"),
        "stack": ("push", "pop", "peek top"),
        "priority-queue": ("add insert offer enq put", "poll extract remove deq extract_max", "peek"),
        "min-priority-queue": ("add insert offer enq put", "poll extract remove deq extract_min", "peek"),
    }

    def __init__(self, name):
        self.kind = self.name = name
        self.adds, self.removes, self.peeks = (names.split() for names in self.METHODS[name])

    def decode(self, op):
        if op.method in self.adds:
            return ("add", some(op.argument))
        nothing(op.argument)
        if op.method in self.removes:
            return ("remove",)
        if op.method in self.peeks:
            return ("peek",)
        if op.method == "size":
            return ("size",)
        raise Malformed(f"unknown method {op.method}")

    def result(self, op, result):
        return done(result, op[1:]) if op[0] == "add" else result

    def init(self):
        return ()

    def place(self, state, added):
        if self.name == "queue":
            return len(state)
        if self.name == "stack":
            return 0
        if self.name == "priority-queue":
            return sum(other > added for other in state)
        return sum(other < added for other in state)

    def step(self, state, op, result):
        front = state[0] if state else NIL
        if op[0] == "add":
            place = self.place(state, op[1])
            return answering(result, [(NIL, state[:place] + (op[1],) + state[place:])])
        if op[0] == "remove":
            return answering(result, [(front, state[1:])])
        return answering(result, [(front if op[0] == "peek" else (INT, len(state)), state)])

    def is_pure(self, op, result):
        return op[0] in ("peek", "size") or (op[0] == "remove" and result == NIL)

    def role(self, op, result):
        if op[0] == "add":
            return ("adds", op[1])
        if (op[0] != "size" and result == NIL) or (op[0] == "size" and result == (INT, 0)):
            return ("empty",)
        if op[0] == "remove":
            return ("removes some",) if result is None else ("removes", result)
        return ("peeks", result) if op[0] == "peek" and result is not None else OPAQUE

    def state_value(self, state):
        return (LIST, state)


class Set(Spec):
    kind = "slot"

    def decode(self, op):
        name = {"insert": "add", "delete": "remove"}.get(op.method, op.method)
        if name in ("add", "remove", "contains"):
            return (name, some(op.argument))
        if name in ("read", "size"):
            nothing(op.argument)
            return (name,)
        raise Malformed(f"unknown method {op.method}")

    def result(self, op, result):
        if op[0] in ("add", "remove"):
            if result == NIL or (result == op[1] and result[0] != BOOL):
                return NIL
            return truth(result)
        if op[0] == "contains":
            return truth(result)
        return (LIST, tuple(sorted(result[1]))) if op[0] == "read" else result

    def init(self):
        return ()

    def step(self, state, op, result):
        if op[0] == "read":
            return answering(result, [((LIST, state), state)])
        if op[0] == "size":
            return answering(result, [((INT, len(state)), state)])
        is_there = op[1] in state
        if op[0] == "contains":
            return answering(result, [((BOOL, is_there), state)])
        result = None if result == NIL else result
        if op[0] == "add":
            after = state if is_there else tuple(sorted(state + (op[1],)))
            return answering(result, [((BOOL, not is_there), after)])
        after = tuple(member for member in state if member != op[1])
        return answering(result, [((BOOL, is_there), after)])

    def key(self, op):
        return op[1] if len(op) > 1 else None

    def is_pure(self, op, result):
        return op[0] in ("contains", "read", "size") or result == FALSE

    def role(self, op, result):
        if op[0] == "contains":
            return OPAQUE if result is None else reads(result)
        if op[0] in ("read", "size"):
            return OPAQUE
        becomes = (BOOL, op[0] == "add")
        if result == NIL:
            return writes(becomes)
        if result == FALSE:
            return reads(becomes)
        return ("slot", ("is", (BOOL, not becomes[1])), becomes)

    def state_value(self, state):
        return (LIST, state)


class Mutex(Spec):
    kind = "slot"
    METHODS = {
        "acquire": ("take", True), "lock": ("take", True), "release": ("take", False), "unlock": ("take", False),
        "try_acquire": ("try", True), "try_lock": ("try", True), "try_release": ("try", False),
        "try_unlock": ("try", False),
    }

    def decode(self, op):
        nothing(op.argument)
        if op.method not in self.METHODS:
            raise Malformed(f"unknown method {op.method}")
        return self.METHODS[op.method]

    def result(self, op, result):
        is_token = op == ("take", True) and result[0] == INT and result[1] > 0
        if is_token:
            return NIL
        return done(result, []) if op[0] == "take" else truth(result)

    def init(self):
        return False

    def step(self, state, op, result):
        possible = state != op[1]
        if op[0] == "try":
            return answering(result, [((BOOL, possible), op[1])])
        return answering(result, [(NIL, op[1])]) if possible else []

    def is_pure(self, op, result):
        return op[0] == "try" and result == FALSE

    def role(self, op, result):
        if result == FALSE:
            return reads((BOOL, op[1]))
        return ("slot", ("is", (BOOL, not op[1])), (BOOL, op[1]))

    def state_value(self, state):
        return (TEXT, "held" if state else "free")


class KeyValue(Spec):
    kind = "slot"
    LENGTHS = {"get": 1, "put": 2, "append": 2, "cas": 3, "delete": 1}

    def __init__(self, params):
        self.missing = params.get("initial", NIL)

    def decode(self, op):
        other = {"read": "get", "write": "put", "set": "put", "compare_and_set": "cas", "remove": "delete"}
        name = other.get(op.method, op.method)
        length = self.LENGTHS.get(name)
        if length == 1:
            return (name, some(op.argument))
        if length and items(op.argument, length):
            return (name, *op.argument[1])
        raise Malformed(f"unknown method {op.method}, or other arguments")

    def result(self, op, result):
        if op[0] in ("put", "append"):
            return done(result, list(op[1:]))
        if op[0] == "get" or (op[0] == "delete" and result == NIL):
            return result
        return truth(result)

    def init(self):
        return ()

    def step(self, state, op, result):
        held = dict(state)
        is_there, found = op[1] in held, held.get(op[1], self.missing)

        def with_value(new):
            return tuple(sorted({**held, op[1]: new}.items()))

        if op[0] == "get":
            return answering(result, [(found, state)])
        if op[0] == "put":
            return answering(result, [(NIL, with_value(op[2]))])
        if op[0] == "append":
            return answering(result, [(NIL, with_value((TEXT, plain_text(found) + plain_text(op[2]))))])
        if op[0] == "cas":
            fits = found == op[2]
            return answering(result, [((BOOL, fits), with_value(op[3]) if fits else state)])
        after = tuple(pair for pair in state if pair[0] != op[1])
        return answering(None if result == NIL else result, [((BOOL, is_there), after)])

    def key(self, op):
        return op[1]

    def is_pure(self, op, result):
        if op[0] == "cas":
            return (op[2] == op[3] and op[2] != self.missing) or result == FALSE
        return op[0] == "get" or (op[0] == "delete" and result == FALSE)

    def role(self, op, result):
        if op[0] == "get":
            return OPAQUE if result is None else reads(result)
        if op[0] == "put":
            return OPAQUE if op[2] == self.missing else writes(op[2])
        if op[0] == "append":
            # Its values are not known either way.
            return OPAQUE
        if op[0] == "cas":
            if result == FALSE:
                return ("slot", ("is not", op[2]), None)
            return OPAQUE if op[3] == self.missing else ("slot", ("is", op[2]), op[3])
        if result == FALSE:
            return reads(self.missing)
        if result == TRUE:
            return ("slot", ("is not", self.missing), self.missing)
        return writes(self.missing)

    def state_value(self, state):
        return (LIST, tuple((LIST, pair) for pair in state))


def plain_text(a_value):
    """What an append takes a value for: text without quotes, nothing for nil, and other values as linpoint displays them."""
    if a_value == NIL:
        return ""
    return a_value[1] if a_value[0] == TEXT else displayed(a_value)


def displayed(a_value):
    kind, content = a_value
    if kind == LIST:
        return "[" + ", ".join(displayed(item) for item in content) + "]"
    if kind == MAP:
        return "{" + ", ".join(f"{displayed(key)}: {displayed(item)}" for key, item in content) + "}"
    if kind == TEXT:
        if not content.isprintable():
            raise Unsupported("text with control characters is appended as part of a list or map")
        return '"' + content.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return content if kind == NUMBER else {NIL: "nil", TRUE: "true", FALSE: "false"}.get(a_value, str(content))


class Snapshot(Spec):
    kind = "snapshot"

    def __init__(self, params):
        self.entries = params.get("processes", (INT, None))[1]
        self.initial = params.get("initial", (INT, 0))

    def trimmed(self, entries):
        while entries and entries[-1] == self.initial:
            entries = entries[:-1]
        return entries

    def listed(self, entries):
        missing = max(0, (self.entries or 0) - len(entries))
        return (LIST, entries + (self.initial,) * missing)

    def decode(self, op):
        if op.method in ("scan", "read"):
            nothing(op.argument)
            return ("scan",)
        if op.method not in ("update", "write"):
            raise Malformed(f"unknown method {op.method}")
        entry, new = items(op.argument, 2) or (op.process, op.argument)
        if entry[0] != INT or entry[1] < 0 or entry[1] >= (self.entries or 1 << 16):
            raise Malformed(f"there is no entry {shown(entry)}")
        return ("update", entry[1], new)

    def result(self, op, result):
        if op[0] == "update":
            return done(result, [(INT, op[1]), op[2]])
        if result[0] != LIST:
            raise Malformed(f"{shown(result)} is no list")
        return self.listed(self.trimmed(result[1]))

    def init(self):
        return ()

    def step(self, state, op, result):
        if op[0] == "scan":
            return answering(result, [(self.listed(state), state)])
        entries = state + (self.initial,) * (op[1] + 1 - len(state))
        after = self.trimmed(entries[: op[1]] + (op[2],) + entries[op[1] + 1 :])
        return answering(result, [(NIL, after)])

    def is_pure(self, op, result):
        return op[0] == "scan"

    def role(self, op, result):
        def noted(a_value):
            return None if a_value == self.initial else a_value

        if op[0] == "update":
            return ("updates", op[1], noted(op[2]))
        return OPAQUE if result is None else ("scans", [noted(entry) for entry in result[1]])

    def state_value(self, state):
        return self.listed(state)


class UniqueIds(Spec):
    """The id that was answered is part of the operation: ("id", id), or ("pending",)."""

    kind = "slot"

    def decode(self, op):
        if op.method != "generate":
            raise Malformed(f"unknown method {op.method}")
        nothing(op.argument)
        return ("pending",) if op.result is None else ("id", op.result)

    def result(self, op, result):
        return some(result)

    def init(self):
        return ()

    def step(self, state, op, result):
        if op[0] == "pending":
            return [state]
        return [] if op[1] in state else [tuple(sorted(state + (op[1],)))]

    def key(self, op):
        return NIL if op[0] == "pending" else op[1]

    def is_pure(self, op, result):
        return op[0] == "pending"

    def role(self, op, result):
        return OPAQUE if op[0] == "pending" else ("slot", ("is", FALSE), TRUE)

    def state_value(self, state):
        return (LIST, state)


class HintedIds(UniqueIds):
    """With hints the operation does not know its id. A pending one takes the smallest positive integer that is left."""

    def decode(self, op):
        super().decode(op)
        return ("generate",)

    def step(self, state, op, result):
        if result is None:
            result = next((INT, number) for number in range(1, len(state) + 2) if (INT, number) not in state)
        return super().step(state, ("id", result), result)

    def is_pure(self, op, result):
        return False


class FencedLock(Spec):
    """A state is the owner or NIL, and the smallest number that the last token may have been."""

    METHODS = {
        "acquire": "acquire", "lock": "acquire", "release": "release", "unlock": "release", "try_acquire": "try",
        "try_lock": "try",
    }
    LARGEST = (1 << 63) - 1

    def decode(self, op):
        if op.method not in self.METHODS:
            raise Malformed(f"unknown method {op.method}")
        owner = op.process if op.argument == NIL else op.argument
        if owner == NIL:
            raise Unsupported("the process that calls a lock is not recorded")
        return (self.METHODS[op.method], owner)

    def result(self, op, result):
        is_token = op[0] != "release" and result[0] == INT and result[1] > 0
        if is_token:
            return result
        if op[0] == "try":
            return truth(result)
        return NIL if op[0] == "acquire" and result == (INT, 0) else done(result, [op[1]])

    def init(self):
        return (NIL, 0)

    def step(self, state, op, result):
        owner, token = state
        if op[0] == "release":
            return [(NIL, token)] if owner == op[1] else []
        if owner != NIL:
            return [state] if op[0] == "try" and result in (None, FALSE) else []
        if result == FALSE:
            return []
        is_told = result is not None and result[0] == INT
        # Of a token that is not told, the smallest one leaves the most to later ones.
        now = result[1] if is_told else min(token + 1, self.LARGEST)
        return [] if is_told and now <= token else [(op[1], now)]

    def is_pure(self, op, result):
        return op[0] == "try" and result == FALSE

    def state_value(self, state):
        return (LIST, (state[0], (INT, state[1])))
