"""Values, and histories in linpoint's JSON lines, for check_proof.py."""

import json
from collections import namedtuple

NEVER = 1 << 62  # the rank of a return that never came


class Malformed(Exception):
    """Why a history cannot be read."""


# Values. Python takes True for 1, so each value is a pair of a kind and its content; pairs are ordered as linpoint's values.

NIL_KIND, BOOL, INT, NUMBER, TEXT, LIST, MAP = range(7)
NIL = (NIL_KIND, 0)
TRUE, FALSE = (BOOL, True), (BOOL, False)


class Literal(str):
    """A number that is no integer of 64 bits, as it is written."""


def whole(text):
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else Literal(text)


def parse(text):
    return json.loads(text, parse_float=Literal, parse_int=whole, parse_constant=Literal)


def value(plain):
    """The value of parsed JSON."""
    if plain is None:
        return NIL
    if isinstance(plain, bool):
        return (BOOL, plain)
    if isinstance(plain, int):
        return (INT, plain)
    if isinstance(plain, Literal):
        return (NUMBER, str(plain))
    if isinstance(plain, str):
        return (TEXT, plain)
    if isinstance(plain, list):
        return (LIST, tuple(value(item) for item in plain))
    return (MAP, tuple(sorted((value(key), value(item)) for key, item in plain.items())))


def shown(a_value):
    """The JSON of a value as text, the same for equal values."""
    kind, content = a_value
    if kind == NIL_KIND:
        return "null"
    if kind == NUMBER:
        return repr(float(content))
    if kind == LIST:
        return "[" + ",".join(shown(item) for item in content) + "]"
    if kind == MAP:
        return "{" + ",".join(shown(key) + ":" + shown(item) for key, item in content) + "}"
    return json.dumps(content)


def items(a_value, count):
    """The items of a list of this length, or None."""
    kind, content = a_value
    return content if kind == LIST and len(content) == count else None


Op = namedtuple("Op", "process object method argument result call ret hint")
History = namedtuple("History", "type params ops ties")


def read_histories(text):
    """The histories of a file in linpoint's JSON lines."""
    collected = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            fields = parse(line)
        except ValueError as error:
            raise Malformed(f"line {number}: {error}") from None
        if not isinstance(fields, dict):
            raise Malformed(f"line {number}: no JSON object")
        if "ops" in fields:
            if collected:
                yield collected.history()
            collected = Collected(fields)
            for operation in fields["ops"]:
                collected.take(operation, number)
            yield collected.history()
            collected = None
        elif "linpoint" in fields:
            if collected:
                yield collected.history()
            collected = Collected(fields)
        else:
            collected = collected or Collected({})
            collected.take(fields, number)
    if collected:
        yield collected.history()


class Collected:
    """The lines of one history so far."""

    def __init__(self, header):
        self.type = header.get("type")
        self.params = {name: value(given) for name, given in (header.get("params") or {}).items()}
        self.ties = header.get("ties") or "invocation-first"
        self.timed = []  # operations with times
        self.called = []  # operations of events: fields, rank of the call, rank of the return, result
        self.open = {}
        self.events = 0

    def take(self, fields, number):
        if type(fields.get("hint", 0)) is not int or ("hint" in fields and fields.get("event") in ("call", "fail", "note")):
            raise Malformed(f"line {number}: a hint is an integer, of an operation, a return or a crash")
        if "event" not in fields:
            if "call" not in fields or "inv" in fields:
                raise Malformed(f"line {number}: an operation needs \"call\"")
            self.timed.append(fields)
            return
        event, process = fields["event"], value(fields.get("process"))
        if event == "note":
            return
        if event == "call":
            if process in self.open:
                raise Malformed(f"line {number}: the process has an open call")
            self.open[process] = len(self.called)
            self.called.append([fields, self.events, NEVER, NIL])
            self.events += 1
            return
        place = self.open.get(process)
        if place is None:
            raise Malformed(f"line {number}: the process has no open call")
        if event == "return":
            self.called[place][2:] = [self.events, value(fields.get("ret"))]
            self.events += 1
        elif event == "fail":
            self.called[place][1] = None
        elif event not in ("crash", "info"):
            raise Malformed(f"line {number}: unknown event {event!r}")
        if "hint" in fields:
            self.called[place][0]["hint"] = fields["hint"]
        if event in ("return", "fail"):
            del self.open[process]

    def history(self):
        if self.timed and self.called:
            raise Malformed("events and operations with times in one history")
        if self.timed:
            return self.with_times()
        called = [entry for entry in self.called if entry[1] is not None]
        # Failed calls leave gaps in the ranks, which are closed.
        ranks = sorted(rank for entry in called for rank in entry[1:3] if rank != NEVER)
        ranks = {rank: place for place, rank in enumerate(ranks)}
        ranks[NEVER] = NEVER
        ops = [
            operation(fields, result, ranks[call], ranks[ret])
            for fields, call, ret, result in called
        ]
        return History(self.type, self.params, ops, None)

    def with_times(self):
        fields = sorted(self.timed, key=lambda fields: fields["call"])
        orders = {ties: ranked(fields, ties) for ties in ("invocation-first", "response-first")}
        order = orders[self.ties]
        # The first rule that gives this order is the name that proofs have for it.
        ties = next(name for name, other in orders.items() if other == order)
        ops = [
            operation(fields, value(fields.get("ret")), call, ret)
            for fields, (call, ret) in zip(fields, order)
        ]
        return History(self.type, self.params, ops, ties)


def ranked(fields, ties):
    """The ranks of calls and returns: by time, then by kind as `ties` says, then by the order of calls."""
    call_class, return_class = (0, 1) if ties == "invocation-first" else (1, 0)
    events = []
    for place, operation in enumerate(fields):
        events.append((operation["call"], call_class, place, 0))
        if operation.get("return") is not None:
            events.append((operation["return"], return_class, place, 1))
    ranks = [[NEVER, NEVER] for _ in fields]
    for rank, (_, _, place, which) in enumerate(sorted(events)):
        ranks[place][which] = rank
    return [tuple(pair) for pair in ranks]


def operation(fields, result, call, ret):
    return Op(
        value(fields.get("process")),
        value(fields.get("object")),
        fields["method"],
        value(fields.get("arg")),
        None if ret == NEVER else result,
        call,
        ret,
        fields.get("hint"),
    )
