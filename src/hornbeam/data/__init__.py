"""The door in: schema, table, bins, engine."""
