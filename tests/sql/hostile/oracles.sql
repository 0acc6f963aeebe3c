-- Expressions that fail, print values, or answer by failing.
-- rule: total-expressions
SELECT disease FROM patients WHERE CAST(zip AS INT) > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE TRY_CAST(zip AS INT) > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip::INT > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE CAST(zip AS DATE) = '2024-01-01' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE CONVERT(INT, zip) > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip LIKE 'a%' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip NOT LIKE '%a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip ILIKE 'A%' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip SIMILAR TO '(a|b)*' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip ~ '^(a+)+$' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip RLIKE '(a+)+$' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip REGEXP '(a+)+$' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip GLOB 'a*' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip || 'x' = 'yx' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age % 2 = 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age ^ 2 > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age & 1 = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age | 1 = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE CASE WHEN zip = 'x' THEN 1/0 ELSE 1 END = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE 1 / (age - 30) > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE 1 / age > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age / 0 > 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age + 1 > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age * age > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE -age < -5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age - age = 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE ~age = 3 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip[1] = 'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip COLLATE NOCASE = 'A' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE admitted + INTERVAL '1' DAY > '2024-01-01' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE admitted > TIMESTAMP '2024-01-01 00:00:00' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE EXTRACT(YEAR FROM admitted) = 2024 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE payload->>'a' = 'b' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip LIKE 'a' ESCAPE '!' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE ! smoker GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip = U&'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age IS DISTINCT FROM 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE zip = 'a' 'b' GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age > > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age XOR 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients WHERE age DIV 2 = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: total-expressions
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*)::INT > 5
-- rule: total-expressions
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) % 2 > 0
-- rule: total-expressions
SELECT disease FROM patients GROUP BY disease HAVING CASE WHEN COUNT(*) > 5 THEN 1 ELSE 0 END > 0
-- rule: total-expressions
SELECT disease FROM patients GROUP BY disease HAVING CAST(COUNT(*) AS INT) > 5
-- rule: total-expressions
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) ^ 2 > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE age = ANY (1) GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE age > ALL (1) GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > ANY (1)
-- rule: allowed-functions
SELECT disease FROM patients WHERE error('x') IS NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE getenv('HOME') = 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE pg_sleep(10) IS NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE sleep(10) = 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE pg_read_file('/etc/passwd') = 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE pg_advisory_lock(1) IS NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE set_config('x', 'y', false) = 'y' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE lo_import('/etc/passwd') > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE lo_export(1, '/tmp/x') > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE dblink_exec('host=evil', 'x') = 'y' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE query_to_xml('select 1', true, true, '') IS NOT NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE json_execute_serialized_sql('x') = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE regexp_matches(zip, '(a+)+$') GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE regexp_replace(zip, 'a', 'b') = 'c' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE substr(zip, 1, 1) = 'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE substring(zip from 1 for 1) = 'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE length(zip) > 3 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE lower(zip) = 'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE LEFT(zip, 1) = 'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE RIGHT(zip, 1) = 'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE ascii(zip) > 64 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE starts_with(zip, 'a') GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE contains(zip, 'a') GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE strpos(zip, 'a') > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE random() < 0.5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE rand() < 0.5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE now() > '2024-01-01' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE abs(age) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE sqrt(age) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE ln(age) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE mod(age, 2) = 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE coalesce(age, 0) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE nullif(age, 0) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE ifnull(age, 0) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE if(age > 5, true, false) GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE iif(age > 5, true, false) GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE greatest(age, 5) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE rowid(patients) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE year(admitted) = 2024 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE date_trunc('month', admitted) = '2024-01-01' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE strftime(admitted, '%Y') = '2024' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE md5(zip) = 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE hash(zip) = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE reflect('java.lang.System', 'getenv', 'HOME') = 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE java_method('java.lang.System', 'exit', 1) = 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE assert_true(age > 5) IS NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE raise_error('x') IS NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE nextval('s') > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE txid_current() > 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE current_setting('x') = 'y' GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE pg_catalog.pg_sleep(1) IS NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE "pg_sleep"(1) IS NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients WHERE patients.error('x') IS NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING MEDIAN(age) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING STDDEV(age) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING VARIANCE(age) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING MAX(age) > 100
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING MIN(age) < 1
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING MODE(age) > 1
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING QUANTILE_CONT(age, 0.5) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING PERCENTILE_CONT(0.5) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING APPROX_COUNT_DISTINCT(age) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING COUNT_IF(age > 5) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING COUNTIF(age > 5) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING BOOL_OR(smoker)
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING EVERY(smoker)
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING CORR(age, score) > 0
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING BIT_AND(ward) > 0
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING ABS(COUNT(*)) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING LN(COUNT(*)) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING ROUND(AVG(age)) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING COALESCE(SUM(age), 0) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING NULLIF(COUNT(*), 0) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING GREATEST(COUNT(*), 5) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING SUM(ABS(age)) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING list(age) IS NOT NULL
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING string_agg(zip, ',') > 'a'
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING first(zip) = 'x'
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING any_value(zip) = 'x'
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING histogram(age) IS NOT NULL
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING pg_sleep(COUNT(*)) IS NULL
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING error('x') > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING getenv('HOME') > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING SUM(age * 2) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING SUM(age + amount) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING AVG(age / 2) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING SUM(1 / (age - 30)) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING SUM(1) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING AVG(age) IGNORE NULLS > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING SUM('x') > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING COUNT(1) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING COUNT(age > 5) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING COUNT(age + 1) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING COUNT() > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) * COUNT(*) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING SUM(age) * AVG(age) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING SUM(age) / SUM(amount) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING 5 / COUNT(*) > 1
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) / (COUNT(*) - 5) > 1
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) / (COUNT(*) + COUNT(age)) > 1
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING AVG(age) / COUNT(*) > 1
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING AVG(age) + COUNT(*) > 1
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING AVG(age) > AVG(amount)
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING (COUNT(*) > 5) > 3
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > (COUNT(*) > 5)
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) + (age > 3) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING SUM(SUM(age)) > 5
-- rule: linear-forms
SELECT disease FROM patients GROUP BY disease HAVING (COUNT(*), 1) > (5, 1)
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) / 0 > 5
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) / (3 - 3) > 5
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 1 / 0
-- rule: exact-numbers
SELECT disease FROM patients WHERE age > 1 / 0 GROUP BY disease HAVING COUNT(*) > 5
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 1e999999999
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 1e61
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 1e-61
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 1e60 * 1e60 * 1e60 * 1e60
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 0x1F
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 1_000
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 1e
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5L
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 .5
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > NaN
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > inf
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > -Infinity
-- rule: exact-numbers
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 99999999999999999999999999999999999999999999999999999999999999999
-- rule: no-equality
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) = 100
-- rule: no-equality
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) <> 100
-- rule: no-equality
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) != 100
-- rule: no-equality
SELECT disease FROM patients GROUP BY disease HAVING NOT COUNT(*) = 100
-- rule: no-equality
SELECT disease FROM patients GROUP BY disease HAVING 100 = COUNT(*)
-- rule: no-equality
SELECT disease FROM patients GROUP BY disease HAVING AVG(age) = 30
-- rule: no-equality
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 AND SUM(age) = 30
