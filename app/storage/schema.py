"""What all files of tables share."""

from sqlalchemy import MetaData

NAME_LENGTH = 200  # characters of names; app/api/schemas allows no more

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
