"""Random histories have the same verdicts and cores in Python, as lists and as tables, as on the command line.

`LINPOINT_PYTHON_DIFFERENTIAL` sets how many; 100,000 take some minutes.
"""

import json
import random
import re

import linpoint
import pytest
from conftest import number, ops

TYPES = {
    "queue": (["enq"], ["deq"]),
    "stack": (["push"], ["pop"]),
    "register": (["write"], ["read"]),
    "cas-register": (["write"], ["read"]),
    "priority-queue": (["insert"], ["poll"]),
}


def random_history(chance, changes, looks):
    history, free, value = [], [0, 0, 0], 0
    for _ in range(chance.randint(1, 9)):
        process = chance.randrange(3)
        call = free[process] + chance.randint(1, 4)
        end = call + chance.randint(1, 8)
        free[process] = end
        if chance.random() < 0.5:
            value += 1
            row = (process, chance.choice(changes), chance.choice((value, 1)), None)
        else:
            row = (process, chance.choice(looks), None, chance.choice((None, 1, max(value, 1), value + 1)))
        history += ops((*row, call, end))
    if chance.random() < 0.2:
        last = max(history, key=lambda op: op["call"])
        last["return"] = None
    return history


def evidence(document):
    """All but times and lines: a whole history is one line, and operations of a list have one each."""
    strip(document)
    return [
        (part["verdict"], part["engine"], part.get("violation"), part.get("undecided")) for part in document["parts"]
    ]


@pytest.mark.parametrize("type", TYPES)
def test_python_and_the_command_agree(type, command, tmp_path):
    count = number("LINPOINT_PYTHON_DIFFERENTIAL", 1000) // len(TYPES)
    changes, looks = TYPES[type]
    chance = random.Random(type)
    histories = [random_history(chance, changes, looks) for _ in range(count)]
    path = tmp_path / "histories.jsonl"
    path.write_text("".join(json.dumps({"type": type, "ops": history}) + "\n" for history in histories))
    # Enough time for the explanations on any machine: cut short, they may differ.
    printed = command("check", "--jsonl", "--explanation", "60s", path)
    assert printed.returncode == 1, printed.stderr
    documents = {}
    for line in printed.stdout.splitlines():
        document = json.loads(line)
        documents[int(document["history"].rpartition(":")[2])] = document
    assert len(documents) == count
    verdicts, again = [], 0
    for i, history in enumerate(histories):
        report = linpoint.check(history, type=type, explanation=60)
        assert report.verdict == documents[i]["verdict"], history
        found, printed = evidence(json.loads(report.to_json())["histories"][0]), evidence(documents[i])
        if found != printed:
            # Steps of an explanation have times of their own, which a busy machine may exceed.
            again += 1
            path.write_text(json.dumps({"type": type, "ops": history}) + "\n")
            printed = evidence(json.loads(command("check", "--jsonl", "--explanation", "60s", path).stdout))
            report = linpoint.check(history, type=type, explanation=60)
            found = evidence(json.loads(report.to_json())["histories"][0])
        assert found == printed, history
        verdicts.append(report.verdict)
    assert min(verdicts.count("linearizable"), verdicts.count("not linearizable")) > count // 10, verdicts
    assert again <= 3 + count // 1000
    print(f"{type}: {count} histories, {verdicts.count('not linearizable')} not linearizable, asked again: {again}")


def strip(item):
    """Takes out the lines, also from sentences."""
    if isinstance(item, dict):
        item.pop("line", None)
        for name, inner in item.items():
            if isinstance(inner, str):
                item[name] = without_lines(inner)
            strip(inner)
    elif isinstance(item, list):
        for inner in item:
            strip(inner)


def without_lines(text):
    return re.sub(r" \((line|row) \d+\)", "", text)


def test_tables_and_lists_agree():
    pyarrow = pytest.importorskip("pyarrow")
    chance = random.Random(3)
    for _ in range(number("LINPOINT_PYTHON_DIFFERENTIAL", 1000) // 10):
        history = random_history(chance, ["enq"], ["deq"])
        names = {"arg": "argument", "ret": "result"}
        table = pyarrow.table(
            {
                names.get(name, name): pyarrow.array(
                    [op[name] for op in history], pyarrow.string() if name == "method" else pyarrow.int64()
                )
                for name in history[0]
            }
        )
        listed, tabled = linpoint.check(history, type="queue"), linpoint.check(table, type="queue")
        assert listed.verdict == tabled.verdict, history
        assert [op["line"] for op in listed.core] == [op["line"] for op in tabled.core], history
        assert without_lines(str(listed.sentence)) == without_lines(str(tabled.sentence))
