-- Order, samples and limits.
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 LIMIT 1
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 LIMIT ALL
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 LIMIT 10 PERCENT
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 OFFSET 1
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 ORDER BY COUNT(*)
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 ORDER BY disease
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 ORDER BY COUNT(*) DESC LIMIT 1
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 FETCH FIRST 1 ROW ONLY
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 FETCH FIRST 1 ROWS WITH TIES
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 QUALIFY 1 = 1
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 SORT BY disease
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 CLUSTER BY disease
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 DISTRIBUTE BY disease
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 USING SAMPLE 10
-- rule: declared-order
SELECT disease FROM patients TABLESAMPLE (10 PERCENT) GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-order
SELECT disease FROM patients TABLESAMPLE BERNOULLI (10) GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-order
SELECT disease FROM patients USING SAMPLE 10% GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-order
SELECT DISTINCT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-order
SELECT DISTINCT ON (disease) disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-order
SELECT ALL disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-order
SELECT TOP 5 disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-order
SELECT disease FROM patients LIMIT 5
-- rule: declared-order
SELECT disease FROM patients ORDER BY age
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING SUM(age ORDER BY age) > 5
-- rule: declared-order
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 ORDER BY ALL
