"""The axes along which MiniLM's words are kept: the principal ones of the words of our own dialogues.

    python -m tests.benchmarks.axes app/providers/minilm_axes.npy

Writes float16 (1 + WIDTH, dimension): the centre of the words' vectors, then the directions in which they differ
most. Only English dialogues are read, for MiniLM is an English model; none of the text is in the file. It is made
once: vectors that are stored along other axes mean something else, so a new file needs a new profile.
"""

import argparse
from pathlib import Path

import numpy as np

from app.domain.late import WIDTH
from app.domain.vectors import unit
from app.providers.embeddings import minilm
from tests.dialogues.loading import load


def main() -> None:
    """Read the dialogues with the model, and write the file."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("file", type=Path)
    file: Path = arguments.parse_args().file
    said = [
        f"{message.who}: {message.content}"
        for dialogue in load()
        if dialogue.language == "en"
        for message in dialogue.messages.values()
    ]
    model = minilm()
    words = unit(np.concatenate([reading.words for reading in model.read(said)]))
    model.close()
    centre = words.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(words.T))  # by rising variance
    axes = np.vstack([centre, directions.T[::-1][:WIDTH]])
    np.save(file, axes.astype(np.float16))
    print(f"{len(words):,} words of {len(said):,} messages: {axes.shape[0] - 1} axes of {axes.shape[1]} numbers")


if __name__ == "__main__":
    main()
