"""Commands that move memory: export and import, also from what other assistants give out. They speak HTTP only."""
