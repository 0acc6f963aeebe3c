-- Rows, and other things in the select list than keys.
-- rule: row-level-output
SELECT * FROM patients
-- rule: row-level-output
SELECT age FROM patients
-- rule: row-level-output
SELECT patients.* FROM patients
-- rule: row-level-output
SELECT * FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: row-level-output
SELECT p.* FROM patients p GROUP BY disease HAVING COUNT(*) > 5
-- rule: row-level-output
SELECT *, COUNT(*) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: row-level-output
SELECT disease, * FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: row-level-output
SELECT COUNT(*) FROM patients
-- rule: row-level-output
SELECT COUNT(*) FROM patients WHERE age > 5
-- rule: row-level-output
SELECT 1
-- rule: row-level-output
SELECT 'x'
-- rule: row-level-output
SELECT disease FROM patients WHERE age > 100
-- rule: row-level-output
SELECT FROM patients
-- rule: row-level-output
SELECT
-- rule: row-level-output
SELECT disease
-- rule: select-keys
SELECT age FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: select-keys
SELECT disease, age FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: select-keys
SELECT disease, zip FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: select-keys
SELECT disease, disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: select-keys
SELECT COUNT(*) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: select-keys
SELECT disease FROM patients GROUP BY disease, ward HAVING COUNT(*) > 5
-- rule: select-keys
SELECT disease AS d FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: select-keys
SELECT disease d FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: select-keys
SELECT disease, COUNT(*) AS n FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: select-keys
SELECT disease, COUNT(*) n FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: select-keys
SELECT disease, 1 FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: select-keys
SELECT disease, 2 + 3 FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: constant-thresholds
SELECT disease, 'x' FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: constant-thresholds
SELECT disease, NULL FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: constant-thresholds
SELECT disease, TRUE FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, list(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, first(zip) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, last(zip) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, any_value(zip) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, arbitrary(zip) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, string_agg(zip, ',') FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, group_concat(zip) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, listagg(zip, ',') FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, array_agg(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, histogram(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, max(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, min(zip) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, arg_max(zip, age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, max_by(zip, age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, mode(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, median(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, quantile_cont(age, 0.5) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, stats(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, json_group_array(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, json_agg(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, xmlagg(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, collect_list(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, bit_xor(ward) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, product(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, entropy(age) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, upper(disease) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, getenv('HOME') FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, current_setting('x') FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, version() FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, error('x') FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, md5(disease) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, hash(disease) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease, COLUMNS('.*') FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT reflect('java.lang.Runtime', 'getRuntime') FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT java_method('java.lang.System', 'exit', 1) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT if(age > 3, 1, 0) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT coalesce(disease, 'x') FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease, grouping(disease) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT TRANSFORM(age) USING 'cat' FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease, EXISTS (SELECT 1) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease INTO stolen FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease INTO OUTFILE '/tmp/x' FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease, (SELECT 1) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT UNNEST(zip) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT CASE WHEN age > 3 THEN 1 END FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT CAST(zip AS INT) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT TRY_CAST(zip AS INT) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT zip::INT FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease || zip FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT age % 2 FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT zip[1] FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT [age] FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT EXTRACT(YEAR FROM admitted) FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT INTERVAL '1' DAY FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT x -> 'y' FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: aggregates-in-having
SELECT disease, age + 1 FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: aggregates-in-having
SELECT disease, age * 2 FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: aggregates-in-having
SELECT disease, -age FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT CURRENT_USER FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT {'a': age} FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT :x FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT ? FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT CURRENT_TIMESTAMP FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease, CURRENT_DATE FROM patients GROUP BY disease HAVING COUNT(*) > 5
