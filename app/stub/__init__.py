"""The scripted models served as an OpenAI-compatible endpoint that fails on demand: for tests and demos."""
