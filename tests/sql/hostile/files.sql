-- Files, networks and other tables than the declared ones.
-- rule: declared-tables-only
SELECT disease FROM read_csv('/etc/passwd') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM read_csv_auto('/etc/passwd') AS p GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM read_parquet('s3://bucket/x.parquet') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM parquet_scan('x.parquet') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM read_json('http://evil.example/x.json') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM read_json_auto('x.json') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM read_ndjson('x.json') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM read_text('/etc/shadow') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM read_blob('/dev/mem') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM sniff_csv('/etc/passwd') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM glob('/*') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM parquet_metadata('x.parquet') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM parquet_schema('x.parquet') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM 'x.parquet' GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM '/etc/passwd' GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM 'https://evil.example/x.csv' AS p GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM "x.parquet" GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM "/etc/passwd" GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM iceberg_scan('x') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM delta_scan('x') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM sqlite_scan('x.db', 't') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM postgres_scan('host=evil', 'public', 't') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM postgres_query('db', 'select 1') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM mysql_query('db', 'select 1') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM query('select * from patients') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM query_table('patients') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM json_execute_serialized_sql('{}') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM duckdb_tables() GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM duckdb_settings() GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM duckdb_secrets() GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM pragma_table_info('patients') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM range(1000000000) GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM generate_series(1, 1000000000) GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM seq_scan('patients') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM arrow_scan(1, 2, 3) GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM python_map_function('x') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM dblink('host=evil', 'select 1') AS t GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM pg_read_file('/etc/passwd') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM pg_ls_dir('/') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM pg_stat_get_activity(NULL) GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM file('x.csv', 'CSV') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM url('http://evil.example', CSV) GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM s3('http://evil.example') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM remote('evil:9000', db, t) GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM openrowset('SQLNCLI', 'x', 'select 1') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM "read_csv"('/etc/passwd') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM json_each('[1]') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM summary('patients') GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM information_schema.tables GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM pg_catalog.pg_user GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM main.patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM memory.main.patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM pg_shadow GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM sqlite_master GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM duckdb_tables GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM patient GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM secrets GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM "Patients" GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT name FROM diseases GROUP BY name HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM patients JOIN read_csv('/etc/passwd') ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM patients JOIN 'x.parquet' ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM patients JOIN disease ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM csv.`/etc/passwd` GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM `patients` GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM @stage GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM $1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM $$patients$$ GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM #temp GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM ${table} GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients /*+ INDEX(x) */ WHERE age > 3 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT /*+ BROADCAST(p) */ disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM {{ table }} GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease {# note #} FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients {% if x %} GROUP BY disease HAVING COUNT(*) > 5
