-- Names that are not there, values of other kinds, and columns where they do not belong.
-- rule: known-columns
SELECT diseas FROM patients GROUP BY diseas HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE ag > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE rowid > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE ctid > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE patients.nothing = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE x.age = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE visits.minutes > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE diseases.kind = 'viral' GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE "AGE" > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE "select; drop" = 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients p WHERE patients.age > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients GROUP BY disease HAVING SUM(nothing) > 5
-- rule: known-columns
SELECT disease FROM patients GROUP BY disease HAVING COUNT(nothing) > 5
-- rule: known-columns
SELECT disease FROM patients GROUP BY disease HAVING n > 5
-- rule: known-columns
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > n
-- rule: known-columns
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > threshold
-- rule: known-columns
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) FILTER (WHERE nothing) > 5
-- rule: known-columns
SELECT disease FROM patients JOIN diseases ON disease = nam GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients JOIN diseases d ON disease = diseases.name GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE 1 = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE 'a' = 'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE TRUE GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE NOT FALSE GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE age GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE zip GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE age = ward GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE zip = disease GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE age > score GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE age = 5 OR 1 = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE age IN (ward, 5) GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE age BETWEEN ward AND 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE (age, ward) IN ((1, 2)) GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE 5 IN (5, age) GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE 1 IS NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE age IN age GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients WHERE age IN () GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients JOIN diseases ON disease = name WHERE age > severity GROUP BY disease HAVING COUNT(*) > 5
-- rule: column-and-constant
SELECT disease FROM patients JOIN diseases d ON disease = name WHERE d.name = d.kind GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE age = 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE age > '5' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE age = TRUE GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE zip = 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE zip = TRUE GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE smoker = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE smoker = 'true' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE age IS TRUE GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE admitted = 20240101 GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE admitted = '2024-02-30' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE admitted = '20240101' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE admitted = '2024-1-1' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE admitted = DATE 'yesterday' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE admitted > '2024-01-01 00:00:00' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE seen = '2024-01-01' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE seen = '2024-01-01 05:30' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE seen = '2024-01-01 25:00' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE seen = DATE '2024-01-01' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE age_band = 'young' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE age_band = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE ward = 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE age IN (1, 'x') GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients WHERE disease = 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients JOIN diseases ON disease = name WHERE kind = 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients JOIN diseases ON disease = name WHERE severity = 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients JOIN diseases ON disease = name WHERE severity IS TRUE GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients JOIN diseases ON disease = name WHERE severity GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-text-order
SELECT disease FROM patients WHERE zip > 'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-text-order
SELECT disease FROM patients WHERE zip BETWEEN 'a' AND 'b' GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-text-order
SELECT disease FROM patients WHERE disease < 'm' GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-text-order
SELECT disease FROM patients WHERE 'a' <= gender GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-text-order
SELECT disease FROM patients WHERE smoker > FALSE GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-text-order
SELECT disease FROM patients WHERE age_band > '[0, 18)' GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-text-order
SELECT disease FROM patients JOIN diseases ON disease = name WHERE kind > 'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-text-order
SELECT disease FROM patients JOIN diseases ON disease = name WHERE notifiable > FALSE GROUP BY disease HAVING COUNT(*) > 5
-- rule: null-by-is
SELECT disease FROM patients WHERE age = NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: null-by-is
SELECT disease FROM patients WHERE age <> NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: null-by-is
SELECT disease FROM patients WHERE age IN (1, NULL) GROUP BY disease HAVING COUNT(*) > 5
-- rule: null-by-is
SELECT disease FROM patients WHERE age NOT IN (NULL) GROUP BY disease HAVING COUNT(*) > 5
-- rule: null-by-is
SELECT disease FROM patients WHERE age BETWEEN NULL AND 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: null-by-is
SELECT disease FROM patients WHERE age IS 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: null-by-is
SELECT disease FROM patients WHERE age IS 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: aggregates-in-having
SELECT disease FROM patients WHERE COUNT(*) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: aggregates-in-having
SELECT disease FROM patients WHERE AVG(age) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) FILTER (WHERE COUNT(*) > 5) > 5
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING age > 5
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING disease > 5
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > age
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 AND age > 3
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING 1 > 0
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING 5 > 3 AND COUNT(*) > 5
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*)
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING NOT COUNT(*)
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING TRUE
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING smoker
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) IS NULL
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING SUM(age) IS NOT NULL
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) IN (5, 6)
-- rule: aggregates-in-having
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) NOT IN (5)
-- rule: aggregates-in-having
SELECT disease FROM patients JOIN diseases ON disease = name GROUP BY disease HAVING severity > 2
-- rule: readable-sql
SELECT disease FROM
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING
-- rule: readable-sql
SELECT disease FROM patients WHERE GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) >
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(* > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING (COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5)
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 'x
-- rule: readable-sql
SELECT disease FROM patients WHERE zip = E'a\'b' GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING "COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 /* never closed
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 /* a /* nested */ comment
-- rule: readable-sql
SELECT disease, FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease, HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients* GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients HAVING COUNT(*) > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients WHERE age > 5 WHERE age < 9 GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) FILTER (age > 5) > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) FILTER () > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) FILTER WHERE age > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 AND
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 OR OR COUNT(*) < 3
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING NOT
-- rule: readable-sql
SELECT disease FROM patients WHERE age BETWEEN 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease disease disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients AS AS p GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients p q GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING SUM(age, ward) > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING AVG() > 5
-- rule: readable-sql
SELECT SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients VERSION AS OF 3 GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-sql
SELECT disease FROM patients GROUP BY disease HAVING AVG(age) WITHIN GROUP > 5
-- rule: known-words
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) == 5
-- rule: known-words
SELECT disease FROM patients WHERE age ISNULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 SETTINGS x = 1
-- rule: known-words
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 FORMAT JSON
-- rule: known-words
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) <=> 5
-- rule: known-words
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) := 5
-- rule: known-words
SELECT disease FROM patients GROUP BY disease HAVING COUNT(ALL age) > 5
-- rule: known-words
SELECT disease FROM patients WHERE zip = E'ab' GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients WHERE zip = N'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients WHERE zip = x'0f' GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients WHERE zip = b'01' GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients WHERE zip = _utf8'a' GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients WHERE zip = $$a$$ GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients WHERE zip = $tag$a$tag$ GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients WHERE zip = `a` GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients WHERE session_user = 'x' GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-words
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 \g /tmp/x
-- rule: known-words
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 \! rm
-- rule: known-words
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > @x
-- rule: known-words
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > #5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mis_rate=0.1) disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=0.1, miss_rate=0.2) disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate) disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=) disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS() disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=0.1 disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS miss_rate=0.1 disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=(SELECT 1)) disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(key=getenv('HOME')) disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS('miss_rate'=0.1) disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH ANONYMIZATION OPTIONS(epsilon=1) disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH NOTHING disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(miss_rate=
-- rule: known-values
SELECT disease FROM patients WHERE disease = 'Flu' GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-values
SELECT disease FROM patients WHERE gender NOT IN ('f', 'x') GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-values
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) FILTER (WHERE ward <> 4) > 5
-- rule: known-values
SELECT disease FROM patients JOIN diseases d ON disease = d.name WHERE d.kind = 'x' GROUP BY disease HAVING COUNT(*) > 5
