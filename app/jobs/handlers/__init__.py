"""One function a kind: from the job's payload to one service call."""

from app.jobs.handlers.admit import admit
from app.jobs.handlers.forget import forget
from app.jobs.handlers.import_file import import_file
from app.jobs.handlers.label import label
from app.jobs.handlers.maintain import maintain
from app.jobs.handlers.narrate import narrate
from app.jobs.handlers.rebuild import rebuild
from app.jobs.handlers.reembed import reembed
from app.jobs.handlers.segment import segment

__all__ = ["admit", "forget", "import_file", "label", "maintain", "narrate", "rebuild", "reembed", "segment"]
