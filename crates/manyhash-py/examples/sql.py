import duckdb
import manyhash.duckdb

connection = duckdb.connect()
manyhash.duckdb.register(connection)
print(connection.sql("select manyhash_sha512('a@example.org')"))
