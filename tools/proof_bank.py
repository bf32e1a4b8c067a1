"""The type `bank` for check_proof.py.

A state is ("known", ((account, balance), ...)) or, before a read told the balances, ("unknown", ((account, bounds), ...)).
"""

from collections import namedtuple

from proof_history import FALSE, INT, LIST, MAP, NIL, TEXT, TRUE, Malformed, items, shown
from proof_spec import Spec, name, nothing, truth

# How much was paid in, less what was paid out; and what the account held at the start: so much at least, and less than so much.
# None where there is no such bound.
Bounds = namedtuple("Bounds", "moved least below")


def untold(may_overdraw):
    """What is known of an account of which nothing was told: it is not overdrawn, unless that is allowed."""
    return Bounds(0, None if may_overdraw else 0, None)


# What a pending read finds where the bounds allow it: five accounts with 10 each at the start.
USUAL = {(INT, account): 10 for account in range(5)}


def balances(recorded):
    """The balances of all accounts by account."""
    kind, content = recorded
    pairs = None
    if kind == LIST:
        pairs = [((INT, account), balance) for account, balance in enumerate(content)]
    elif kind == MAP:
        pairs = [(name(account), balance) for account, balance in content]
    told = {} if pairs is None else {account: balance[1] for account, balance in pairs if balance[0] == INT}
    if pairs is None or None in told or len(told) != len(pairs):
        raise Malformed(f"{shown(recorded)} does not tell the balance of every account")
    return told


def in_order(by_account):
    return tuple(sorted(by_account.items()))


def listed(pairs):
    """A list if accounts are numbered from 0, else a map."""
    if all(account == (INT, number) for number, (account, _) in enumerate(pairs)):
        return (LIST, tuple((INT, balance) for _, balance in pairs))
    return (MAP, tuple((account, (INT, balance)) for account, balance in pairs))


class Bank(Spec):
    def __init__(self, params):
        self.may_overdraw = params.get("allow_negative", FALSE) == TRUE
        self.initial = None
        if params.get("initial", NIL) != NIL:
            self.initial = balances(params["initial"])
        elif "accounts" in params or "balance" in params:
            count, balance = params.get("accounts", (INT, 5))[1], params.get("balance", (INT, 10))[1]
            self.initial = {(INT, account): balance for account in range(count)}

    def account(self, recorded):
        account = name(recorded)
        if account is None or (self.initial is not None and account not in self.initial):
            raise Malformed(f"there is no account {shown(recorded)}")
        return account

    def decode(self, op):
        if op.method == "read":
            nothing(op.argument)
            return ("read",)
        named = dict(op.argument[1]) if op.argument[0] == MAP else {}
        given = items(op.argument, 3) or [named.get((TEXT, field), NIL) for field in ("from", "to", "amount")]
        payer, receiver, amount = given
        if op.method != "transfer" or amount[0] != INT or amount[1] < 0:
            raise Malformed(f"unknown method {op.method}, or other arguments")
        return ("transfer", self.account(payer), self.account(receiver), amount[1])

    def result(self, op, result):
        if op[0] == "transfer":
            return NIL if result == NIL else truth(result)
        told = balances(result)
        if self.initial is not None and set(told) != set(self.initial):
            raise Malformed(f"{shown(result)} does not tell the balance of every account")
        return listed(in_order(told))

    def init(self):
        return ("unknown", ()) if self.initial is None else ("known", in_order(self.initial))

    def step(self, state, op, result):
        is_known, pairs = state[0] == "known", dict(state[1])
        if op[0] == "read":
            told = usual(pairs, is_known) if result is None else balances(result)
            fits = told == pairs if is_known else may_be(pairs, told, self.may_overdraw)
            return [("known", in_order(told))] if fits else []
        transfer = known_transfer if is_known else unknown_transfer
        after = transfer(pairs, *op[1:], self.may_overdraw)
        answers = (TRUE, FALSE) if result in (None, NIL) else (result,)
        possible = [after[answer] for answer in answers if after[answer] is not None]
        return [(state[0], in_order(left)) for left in possible]

    def is_pure(self, op, result):
        if self.initial is None:  # every operation tells something about the start
            return False
        return op[0] == "read" or op[1] == op[2] or op[3] == 0 or result == FALSE

    def state_value(self, state):
        if state[0] == "known":
            return listed(state[1])
        accounts = []
        for account, bounds in state[1]:
            told = tuple(NIL if bound is None else (INT, bound) for bound in bounds)
            accounts.append((LIST, (account, *told)))
        return (MAP, (((TEXT, "unknown"), (LIST, tuple(accounts))),))


def known_transfer(held, payer, receiver, amount, may_overdraw):
    """What each answer leaves; None where it is impossible."""
    if payer not in held or receiver not in held:
        return {TRUE: None, FALSE: None}
    if held[payer] < amount and not may_overdraw:
        return {TRUE: None, FALSE: held}
    left = {**held, payer: held[payer] - amount}
    left[receiver] += amount
    return {TRUE: left, FALSE: None}


def unknown_transfer(pairs, payer, receiver, amount, may_overdraw):
    """The same, where only bounds are known."""
    pairs = {payer: untold(may_overdraw), receiver: untold(may_overdraw), **pairs}
    before = pairs[payer]
    # The payer has enough now if it held this much at the start.
    limit = amount - before.moved
    enough, lacking = before, None
    if not may_overdraw:
        enough = before._replace(least=limit if before.least is None else max(before.least, limit))
        lacking = before._replace(below=limit if before.below is None else min(before.below, limit))
    left = {**pairs, payer: enough._replace(moved=enough.moved - amount)}
    left[receiver] = left[receiver]._replace(moved=left[receiver].moved + amount)
    return {
        TRUE: left if has_room(enough) else None,
        FALSE: {**pairs, payer: lacking} if lacking and has_room(lacking) else None,
    }


def has_room(bounds):
    return bounds.least is None or bounds.below is None or bounds.least < bounds.below


def may_be(pairs, told, may_overdraw):
    """Whether the bounds allow these balances."""
    if not set(pairs) <= set(told):
        return False
    for account, balance in told.items():
        moved, least, below = pairs.get(account, untold(may_overdraw))
        start = balance - moved
        if (least is not None and start < least) or (below is not None and start >= below):
            return False
    return True


def usual(pairs, is_known):
    """What a pending read finds: where the balances are not known, the usual ones as far as the bounds allow them."""
    if is_known:
        return pairs
    found = dict(USUAL)
    for account, (moved, least, below) in pairs.items():
        start = USUAL.get(account, 0)
        start = start if least is None else max(start, least)
        start = start if below is None else min(start, below - 1)
        found[account] = start + moved
    return found
