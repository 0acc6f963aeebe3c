-- Statements of other kinds, and more than one.
-- rule: one-select
INSERT INTO patients VALUES (1)
-- rule: one-select
UPDATE patients SET age = 1
-- rule: one-select
DELETE FROM patients
-- rule: one-select
DROP TABLE patients
-- rule: one-select
CREATE TABLE x AS SELECT * FROM patients
-- rule: one-select
CREATE OR REPLACE VIEW v AS SELECT * FROM patients
-- rule: one-select
ALTER TABLE patients ADD COLUMN x INT
-- rule: one-select
TRUNCATE patients
-- rule: one-select
COPY patients TO '/tmp/x.csv'
-- rule: one-select
COPY (SELECT * FROM patients) TO 'x.parquet' (FORMAT PARQUET)
-- rule: one-select
ATTACH 'evil.db' AS evil
-- rule: one-select
DETACH evil
-- rule: one-select
SET enable_external_access = true
-- rule: one-select
SET ROLE none
-- rule: one-select
RESET ALL
-- rule: one-select
PRAGMA database_list
-- rule: one-select
CALL pragma_version()
-- rule: one-select
DO $$ BEGIN PERFORM 1; END $$
-- rule: one-select
EXPLAIN SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: one-select
EXPLAIN ANALYZE SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: one-select
DESCRIBE patients
-- rule: one-select
DESC patients
-- rule: one-select
SHOW TABLES
-- rule: one-select
SUMMARIZE patients
-- rule: one-select
SUMMARIZE SELECT * FROM patients
-- rule: one-select
VALUES (1), (2)
-- rule: one-select
TABLE patients
-- rule: one-select
FROM patients
-- rule: one-select
FROM patients SELECT disease GROUP BY disease HAVING COUNT(*) > 5
-- rule: one-select
PIVOT patients ON disease USING COUNT(*)
-- rule: one-select
UNPIVOT patients ON age INTO NAME n VALUE v
-- rule: one-select
INSTALL httpfs
-- rule: one-select
LOAD httpfs
-- rule: one-select
EXPORT DATABASE 'x'
-- rule: one-select
IMPORT DATABASE 'x'
-- rule: one-select
CHECKPOINT
-- rule: one-select
VACUUM
-- rule: one-select
ANALYZE patients
-- rule: one-select
BEGIN
-- rule: one-select
COMMIT
-- rule: one-select
ROLLBACK
-- rule: one-select
GRANT ALL ON patients TO evil
-- rule: one-select
REVOKE ALL ON patients FROM evil
-- rule: one-select
LOCK TABLE patients
-- rule: one-select
LISTEN x
-- rule: one-select
NOTIFY x, 'y'
-- rule: one-select
PREPARE q AS SELECT 1
-- rule: one-select
EXECUTE q
-- rule: one-select
DEALLOCATE q
-- rule: one-select
DECLARE c CURSOR FOR SELECT 1
-- rule: one-select
FETCH ALL FROM c
-- rule: one-select
CLUSTER patients
-- rule: one-select
REINDEX TABLE patients
-- rule: one-select
REFRESH TABLE patients
-- rule: one-select
CACHE TABLE patients
-- rule: one-select
ADD JAR evil.jar
-- rule: one-select
MERGE INTO patients USING x ON a = b WHEN MATCHED THEN DELETE
-- rule: one-select
REPLACE INTO patients VALUES (1)
-- rule: one-select
USE evil
-- rule: one-select
KILL 1
-- rule: one-select
(SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5)
-- rule: one-select
'SELECT disease FROM patients'
-- rule: one-select
"SELECT"
-- rule: one-select
1
-- rule: one-select
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5; DROP TABLE patients
-- rule: one-select
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5; SELECT * FROM patients
-- rule: one-select
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5;; COPY patients TO 'x'
-- rule: one-select
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 ; ATTACH 'x' /* hidden */
-- rule: one-select
;SELECT 1; SELECT 2
-- rule: one-select
;;;
-- rule: one-select
/* only a comment */
-- rule: one-select
-- only a comment
-- rule: one-select
EXEC xp_cmdshell 'dir'
-- rule: one-select
HANDLER patients OPEN
-- rule: one-select
RENAME TABLE patients TO x
-- rule: one-select
COMMENT ON TABLE patients IS 'x'
-- rule: one-select
MSCK REPAIR TABLE patients
-- rule: one-select
TRANSFORM x
-- rule: no-subquery
WITH x AS (SELECT * FROM patients) SELECT disease FROM x GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
WITH RECURSIVE x AS (SELECT 1 UNION ALL SELECT 1 FROM x) SELECT 1 FROM x
-- rule: no-subquery
WITH x AS (DELETE FROM patients RETURNING *) SELECT disease FROM x GROUP BY disease HAVING COUNT(*) > 1
-- rule: no-subquery
WITH x AS MATERIALIZED (SELECT 1) SELECT 1
