"""English words that say nothing about what a text is about. Negations are not among them: they do."""

_LISTING = """
    a about after again all also am an and any are as at be because been before being both but by can could
    did do does doing done eg etc for from had has have having he her here hers herself him himself his how
    i ie if in into is it its itself just let lets me more most my myself of off on once only or other our
    ours ourselves out over own same shall she should so some such than that the their theirs them themselves
    then there these they this those through to too under until up very was we were what when where
    which while who whom whose why will with would you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_LISTING.split())
