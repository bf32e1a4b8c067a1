"""The type `kafka-log` for check_proof.py.

An operation is a tuple of steps: ("send", key, value) or ("poll",). Its result is a tuple of what each answered: an offset or
None, or the records that were seen by key. A state is ((key, log), ...), sorted; a log is a tuple of (offset or None, value).
"""

from proof_history import INT, LIST, MAP, NIL, TEXT, Malformed, items, shown
from proof_spec import Spec, name

LARGEST = (1 << 63) - 1
IDLE = ("assign", "subscribe", "crash", "debug-topic-partitions")


def malformed(recorded):
    return Malformed(f"{shown(recorded)} is no step of a log, or no answer to it")


def list_of(recorded):
    if recorded[0] != LIST:
        raise malformed(recorded)
    return recorded[1]


def step_of(recorded):
    parts = list_of(recorded)
    letter = parts[0][1].lstrip(":") if parts and parts[0][0] == TEXT else None
    if letter == "send" and len(parts) == 3 and name(parts[1]) is not None:
        return ("send", name(parts[1]), parts[2])
    if letter == "poll" and len(parts) in (1, 2):
        return ("poll",)
    raise malformed(recorded)


def record(recorded):
    """The offset and the value of a record."""
    pair = items(recorded, 2)
    if not pair or pair[0][0] != INT or pair[0][1] < 0:
        raise malformed(recorded)
    return (pair[0][1], pair[1])


def offset_told(step, recorded):
    """The offset that a send answered, None where it is not told."""
    told = step_of(recorded)
    if told[:2] != step[:2]:
        raise malformed(recorded)
    answered, pair = told[2], items(told[2], 2)
    if answered == step[2] or (pair and pair[0] == NIL and pair[1] == step[2]):
        return None
    offset, sent = record(answered)
    if sent != step[2]:
        raise malformed(recorded)
    return offset


def records_seen(recorded):
    """What a poll answered: pairs of a key and records."""
    if step_of(recorded) != ("poll",):
        raise malformed(recorded)
    told = recorded[1][1] if len(recorded[1]) == 2 else NIL
    if told == NIL:
        return ()
    if told[0] != MAP or any(name(key) is None for key, _ in told[1]):
        raise malformed(recorded)
    seen = ((name(key), tuple(record(one) for one in list_of(records))) for key, records in told[1])
    return tuple((key, records) for key, records in seen if records)


def end(log):
    """The smallest offset that may follow a log; None if its offsets do not grow."""
    least = 0
    for offset, _ in log:
        if offset is not None and offset < least:
            return None
        least = (least if offset is None else offset) + 1
    return least


def with_log(state, key, log):
    return tuple(sorted({**dict(state), key: log}.items(), key=lambda pair: pair[0]))


def sent(state, key, offset, a_value):
    log = dict(state).get(key, ())
    least = end(log)
    if not least <= (least if offset is None else offset) <= LARGEST:
        return []
    return [with_log(state, key, log + ((offset, a_value),))]


def polled(state, key, records):
    """The states in which these records stand together in the log, with their offsets."""
    log, states = dict(state).get(key, ()), []
    for first in range(len(log) - len(records) + 1):
        last = first + len(records)
        fits = all(had == saw and offset in (None, told) for (offset, had), (told, saw) in zip(log[first:last], records))
        told = log[:first] + records + log[last:]
        if fits and end(told) is not None:
            states.append(with_log(state, key, told))
    return states


class KafkaLog(Spec):
    def decode(self, op):
        if op.method in IDLE:
            return ()
        if op.method == "poll" and op.argument == NIL:
            return (("poll",),)
        if op.method not in ("send", "poll", "txn"):
            raise Malformed(f"unknown method {op.method}")
        return tuple(step_of(recorded) for recorded in list_of(op.argument))

    def result(self, op, result):
        if not op:
            return ()
        if result == NIL and ("poll",) not in op:
            return (None,) * len(op)
        recorded = list_of(result)
        if len(recorded) != len(op):
            raise malformed(result)
        read = {"send": offset_told, "poll": lambda _, answer: records_seen(answer)}
        return tuple(read[step[0]](step, answer) for step, answer in zip(op, recorded))

    def init(self):
        return ()

    def step(self, state, op, result):
        states = {state}
        for number, step in enumerate(op):
            answer = pending_answers(step) if result is None else lambda _, told=result[number]: [told]
            states = {after for before in states for told in answer(before) for after in effect(before, step, told)}
        return list(states)

    def key(self, op):
        keys = {step[1] if step[0] == "send" else None for step in op}
        return keys.pop() if len(keys) == 1 else None

    def is_pure(self, op, result):
        return not op

    def state_value(self, state):
        def written(offset):
            return NIL if offset is None else (INT, offset)

        logs = []
        for key, log in state:
            records = tuple((LIST, (written(offset), a_value)) for offset, a_value in log)
            logs.append((LIST, (key, (LIST, records))))
        return (LIST, tuple(logs))


def pending_answers(step):
    """What a pending step may answer: a send an offset that is not told, which stands for all, a poll nothing."""
    return lambda state: [()] if step[0] == "poll" else [None]


def effect(state, step, told):
    """The states that a step may leave when it answers this."""
    if step[0] == "send":
        return sent(state, step[1], told, step[2])
    states = [state]
    for key, records in told:
        states = [after for before in states for after in polled(before, key, records)]
    return states
