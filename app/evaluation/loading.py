"""The data sets that can be measured on, by name, and the questions that are known to be wrong."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from importlib.resources import as_file, files
from pathlib import Path

from app.evaluation import jsonlines, locomo, longmemeval
from app.evaluation.datasets import Dataset
from app.evaluation.errors import ToolError

DATA = files("app.evaluation") / "data"
SAMPLE, WRONG_ANSWERS = "sample.json", "wrong-answers.json"


class Format(StrEnum):
    """What a file holds; `sample` is a small made-up set that comes with the project, in LoCoMo's format."""

    LOCOMO = "locomo"
    LONGMEMEVAL = "longmemeval"
    JSONL = "jsonl"
    SAMPLE = "sample"


_READERS: Mapping[Format, Callable[[Path], Dataset]] = {
    Format.LOCOMO: locomo.load,
    Format.LONGMEMEVAL: longmemeval.load,
    Format.JSONL: jsonlines.load,
}


def load(format: Format, path: Path | None) -> Dataset:
    """Read a data set. Blocking. Raises ToolError: a file that is needed, or not, and what the readers raise."""
    if format is Format.SAMPLE:
        if path is not None:
            raise ToolError("the sample comes with the project: leave out --data")
        with as_file(DATA / SAMPLE) as sample:
            return replace(locomo.load(sample), name=format.value)
    if path is None:
        raise ToolError(f"--dataset {format.value} needs --data FILE")
    return _READERS[format](path)


def wrong_answers(dataset: Dataset) -> Mapping[str, frozenset[int]]:
    """Numbers of the questions whose answers are known to be wrong, by conversation. Raises ToolError for none."""
    listed = json.loads((DATA / WRONG_ANSWERS).read_text(encoding="utf-8"))["questions"].get(dataset.name)
    if listed is None:
        raise ToolError(f"there is no list of wrong answers for {dataset.name}")
    return {name: frozenset(numbers) for name, numbers in listed.items()}
