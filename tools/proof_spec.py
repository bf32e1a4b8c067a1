"""What the types that check_proof.py knows have in common."""

from proof_history import FALSE, INT, LIST, NIL, TEXT, TRUE, Malformed, shown


class Unsupported(Exception):
    """Why this program cannot tell."""


# Types. An operation is a tuple of a name and arguments. A result is a value, or None for any result: a pending operation.
#
# Roles are tuples: ("slot", needs, leaves) where `needs` is None, ("is", value) or ("is not", value), and `leaves` a value or
# None; ("adds", v), ("removes", v), ("removes some",), ("peeks", v), ("empty",), ("updates", entry, v), ("scans", entries), and
# ("opaque",). An entry's value is None where it is the initial one.

OPAQUE = ("opaque",)


def reads(a_value):
    return ("slot", ("is", a_value), None)


def writes(a_value):
    return ("slot", None, a_value)


def answering(result, outcomes):
    return [state for answer, state in outcomes if result is None or result == answer]


def done(result, arguments):
    """The result of a method that only says that it is done."""
    echo = result in arguments or (result == (LIST, tuple(arguments)) and arguments)
    is_ok = result[0] == TEXT and result[1].lower() == "ok"
    if result in (NIL, TRUE) or echo or is_ok:
        return NIL
    raise Malformed(f"{shown(result)} does not say that the operation is done")


def truth(result):
    if result in (TRUE, FALSE):
        return result
    raise Malformed(f"{shown(result)} is neither true nor false")


def nothing(argument):
    if argument not in (NIL, (LIST, ())):
        raise Malformed(f"{shown(argument)} is an argument of a method that has none")


def some(argument):
    if argument == NIL:
        raise Malformed("an argument is missing")
    return argument


class Spec:
    """What all types share unless they say otherwise."""

    kind = None

    def key(self, op):
        return None

    def role(self, op, result):
        return OPAQUE


def name(recorded):
    """The name of an account or a log: text that is written like an integer means the integer. None if it is no name."""
    kind, content = recorded
    if kind == INT:
        return recorded
    if kind != TEXT:
        return None
    digits = content[1:] if content.startswith("-") else content
    if not (digits.isascii() and digits.isdigit()) or str(int(content)) != content:
        return recorded
    return (INT, int(content)) if -(1 << 63) <= int(content) < 1 << 63 else recorded
