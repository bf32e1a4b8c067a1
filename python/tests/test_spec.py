import dataclasses
import pickle
import random
import traceback

import linpoint
import pytest
from conftest import FINE, VIOLATION, number, ops


class Queue(linpoint.Spec):
    def init(self):
        return ()

    def step(self, state, method, arg):
        if method == "enq":
            return None, (*state, arg)
        if method == "deq":
            return (state[0], state[1:]) if state else (None, state)
        raise ValueError(f"no method {method}")


class Register(linpoint.Spec):
    def __init__(self, initial=None):
        self.initial = initial

    def init(self):
        return self.initial

    def step(self, state, method, arg):
        return (state, state) if method == "read" else (None, arg)

    def is_pure(self, method, arg, known, ret):
        return method == "read"


def test_verdicts():
    assert linpoint.check(FINE, spec=Queue()).verdict == "linearizable"
    report = linpoint.check(VIOLATION, spec=Queue())
    assert report.verdict == "not linearizable" and report.type == "Queue"
    assert report.core[-1]["line"] == 3 and report.core[-1]["ret"] == 2
    assert "deq() → 2" in str(report)
    assert report.to_html().startswith("<!doctype html>")
    assert report.proof()


def test_each_question_is_asked_once():
    spec, asked = Queue(), []
    step = spec.step
    spec.step = lambda state, method, arg: (asked.append((state, method, arg)), step(state, method, arg))[1]
    for _ in range(20):
        assert linpoint.check(VIOLATION, spec=spec).verdict == "not linearizable"
    # Each is asked once more to see that the answer stays.
    assert len(asked) <= 2 * len(set(asked))
    steps, states = spec.effort
    assert steps == len(asked) and states >= 3


class Lock(linpoint.Spec):
    name = "a lock"

    def init(self):
        return None

    def step(self, holder, process, method, arg):
        if method == "lock":
            return linpoint.BLOCKED if holder is not None else (None, process)
        return (holder == process, None if holder == process else holder)


def test_blocking_and_processes():
    held = ops((0, "lock", None, None, 0, 1), (1, "lock", None, None, 2, 9), (0, "unlock", None, True, 3, 4))
    assert linpoint.check(held, spec=Lock()).verdict == "linearizable"
    assert linpoint.check(held[:2], spec=Lock()).verdict == "not linearizable"
    foreign = ops((0, "lock", None, None, 0, 1), (1, "unlock", None, True, 2, 3))
    report = linpoint.check(foreign, spec=Lock())
    assert report.verdict == "not linearizable" and report.type == "a lock"


class Coin(linpoint.Spec):
    def init(self):
        return 0

    def step(self, state, method, arg):
        return [("heads", state), ("tails", state)]


def test_several_answers():
    assert linpoint.check(ops((0, "toss", None, "tails", 0, 1)), spec=Coin()).verdict == "linearizable"
    assert linpoint.check(ops((0, "toss", None, "edge", 0, 1)), spec=Coin()).verdict == "not linearizable"


def test_keys_and_refusals():
    class Map(linpoint.Spec):
        def init(self):
            return frozenset()

        def step(self, state, method, arg):
            if method == "put":
                key, value = arg
                return None, frozenset({*((k, v) for k, v in state if k != key), (key, value)})
            return dict(state).get(arg), state

        def key(self, method, arg):
            return arg[0] if method == "put" else arg

        def refusal(self, method, arg, known, ret):
            return None if method in ("put", "get") else f"no method {method}"

    history = ops((0, "put", ["a", 1], None, 0, 1), (0, "put", ["b", 2], None, 2, 3), (1, "get", "b", 1, 4, 5))
    report = linpoint.check(history, spec=Map())
    assert [(part["key"], part["verdict"]) for part in report.parts if part["verdict"] != "linearizable"] == [("b", "not linearizable")]
    with pytest.raises(linpoint.MalformedError, match="no method drop") as raised:
        linpoint.check([*history, *ops((0, "drop", None, None, 6, 7))], spec=Map())
    assert raised.value.line == 4


def test_equal_states_of_other_types_are_apart():
    # True == 1 == 1.0 in Python, and yet a register that holds True does not answer 1.
    for state in (True, 1, (True,), frozenset({1})):
        for answer in (True, 1):
            history = ops((0, "write", answer, None, 0, 1), (0, "read", None, answer, 2, 3))
            assert linpoint.check(history, spec=Register(state)).verdict == "linearizable"
    one = Register()
    both = ops((0, "write", 1, None, 0, 1), (0, "read", None, 1, 2, 3), (0, "write", True, None, 4, 5), (0, "read", None, True, 6, 7))
    assert linpoint.check(both, spec=one).verdict == "linearizable"
    wrong = both[:3] + ops((0, "read", None, 1, 6, 7))
    assert linpoint.check(wrong, spec=one).verdict == "not linearizable"
    nested = Box()
    assert linpoint.check(both, spec=nested).verdict == "linearizable"
    assert linpoint.check(wrong, spec=nested).verdict == "not linearizable"


@dataclasses.dataclass(frozen=True)
class Boxed:
    value: object


class Box(Register):
    def init(self):
        return Boxed(None)

    def step(self, state, method, arg):
        return (state.value, state) if method == "read" else (None, Boxed(arg))


def refused(spec, history=FINE):
    with pytest.raises(linpoint.SpecificationError) as raised:
        linpoint.check(history, spec=spec)
    return raised.value


def test_exceptions_are_tracebacks_and_never_verdicts():
    class Broken(Queue):
        def step(self, state, method, arg):
            if method == "deq":
                return state[7], state
            return super().step(state, method, arg)

    for history in (FINE, VIOLATION):
        error = refused(Broken(), history)
        assert isinstance(error.__cause__, IndexError)
        text = "".join(traceback.format_exception(error))
        assert "return state[7], state" in text and "test_spec.py" in text
        assert "Broken" in str(error) and "IndexError" in str(error)
    # It is no memory of the failure: what does not reach it is decided.
    assert linpoint.check(FINE[:2], spec=Broken()).verdict == "linearizable"


def test_states_must_be_hashable_and_equal_by_content():
    class Lists(Queue):
        def step(self, state, method, arg):
            return None, [*state, arg]

    error = refused(Lists())
    assert "cannot be hashed" in str(error.__cause__) and "Lists.step" in str(error.__cause__)

    class Things(Queue):
        def step(self, state, method, arg):
            return None, Things()

    assert "equal to themselves only" in str(refused(Things()).__cause__)


def test_answers_must_be_outcomes():
    for outcome in (None, 3, (1, 2, 3), [3], "ab"):

        class Wrong(Queue):
            outcome = None

            def step(self, state, method, arg):
                return self.outcome

        spec = Wrong()
        spec.outcome = outcome
        assert "returns (answer, next_state)" in str(refused(spec).__cause__)

    class Odd(Queue):
        def step(self, state, method, arg):
            return {1, 2}, state

    assert "a set is no value of a history" in str(refused(Odd()).__cause__)


def test_answers_must_not_depend_on_anything_else():
    class Moody(Queue):
        asked = 0

        def step(self, state, method, arg):
            self.asked += 1
            return (state[0] if method == "deq" and state else None), (*state, self.asked)

    error = refused(Moody())
    assert "differently when it is asked again" in str(error)


def test_mistakes_of_definitions():
    class Nothing(linpoint.Spec):
        pass

    with pytest.raises(NotImplementedError, match="has no init"):
        linpoint.check(FINE, spec=Nothing())

    class Short(Queue):
        def step(self, state):
            return None, state

    with pytest.raises(TypeError, match="takes \\(state, method, arg\\)"):
        linpoint.check(FINE, spec=Short())

    class Raising(Queue):
        def init(self):
            raise RuntimeError("no start")

    with pytest.raises(RuntimeError, match="no start"):
        linpoint.check(FINE, spec=Raising())


def test_a_spec_can_be_sent():
    spec = Register(3)
    assert linpoint.check(ops((0, "read", None, 3, 0, 1)), spec=spec).verdict == "linearizable"
    assert pickle.loads(pickle.dumps(spec)).initial == 3


def test_a_file_of_a_specification(tmp_path):
    path = tmp_path / "ids.spec"
    path.write_text("def init(params):\n    return 0\n\ndef step(state, process, method, arg):\n    return (state + 1, state + 1)\n")
    history = ops((0, "next", None, 1, 0, 1), (1, "next", None, 1, 2, 3))
    try:
        assert linpoint.check(history, spec=path).verdict == "not linearizable"
    except linpoint.UsageError as error:
        assert "built without" in str(error)  # noqa: PT017
        pytest.skip("this wheel is built without specification files")


def random_history(chance, methods, values):
    """A few operations that overlap, with answers that may be wrong."""
    history, free = [], [0, 0, 0]
    for _ in range(chance.randint(2, 7)):
        process = chance.randrange(3)
        call = free[process] + chance.randint(1, 4)
        free[process] = call + chance.randint(1, 6)
        method = chance.choice(methods)
        arg = chance.choice(values) if method in ("enq", "write") else None
        ret = None if arg is not None else chance.choice([*values, None])
        end = None if chance.random() < 0.1 and all(op["process"] != process for op in history) else free[process]
        history += ops((process, method, arg, ret, call, end))
        if end is None:
            free[process] = 10**6
    return [op for op in history if op["call"] < 10**6]


@pytest.mark.parametrize(
    ("spec", "type", "methods"),
    [(Queue(), "queue", ("enq", "deq")), (Register(), "register", ("write", "read"))],
)
def test_classes_decide_as_the_built_in_types(spec, type, methods):
    chance, verdicts = random.Random(7), []
    for _ in range(number("LINPOINT_PYTHON_SPECS", 500)):
        history = random_history(chance, methods, (1, True, 2))
        report = linpoint.check(history, spec=spec, explanation=0)
        assert report.verdict == linpoint.check(history, type=type, explanation=0).verdict, history
        verdicts.append(report.verdict)
    assert min(verdicts.count("linearizable"), verdicts.count("not linearizable")) > len(verdicts) // 20
