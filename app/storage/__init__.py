"""The database: every SQL statement of the service, for SQLite and Postgres alike."""
