"""Small dialogues with the statements that a careful reader would keep; README.md says how they are written."""
