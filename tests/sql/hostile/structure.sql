-- Subqueries, windows, set operations, joins, and groups that are not keys.
-- rule: no-subquery
SELECT disease FROM (SELECT * FROM patients) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM (SELECT * FROM patients) AS p GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM (patients) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM (VALUES ('flu')) AS t GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM (FROM patients) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients WHERE age IN (SELECT age FROM patients) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients WHERE EXISTS (SELECT 1 FROM patients q) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients WHERE NOT EXISTS (SELECT 1) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM LATERAL (SELECT 1) AS x GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients, LATERAL (SELECT 1) AS x GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients JOIN LATERAL (SELECT 1) AS x ON true GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients JOIN (SELECT * FROM diseases) AS d ON disease = d.name GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients JOIN (diseases) ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM UNNEST([1,2]) AS t GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients PIVOT (COUNT(*) FOR disease IN ('flu')) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients UNPIVOT (v FOR n IN (age)) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients MATCH_RECOGNIZE (PATTERN (A)) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM TABLE(x) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients FOR UPDATE
-- rule: no-subquery
SELECT disease FROM patients FOR SYSTEM_TIME AS OF '2024-01-01' GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients WITH (NOLOCK) GROUP BY disease HAVING COUNT(*) > 5
-- rule: no-subquery
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) IN (SELECT 1)
-- rule: no-subquery
SELECT disease FROM patients GROUP BY disease HAVING EXISTS (SELECT 1)
-- rule: no-subquery
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 CONNECT BY age = 3
-- rule: constant-thresholds
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > (SELECT 5)
-- rule: constant-thresholds
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > (SELECT AVG(age) FROM patients)
-- rule: constant-thresholds
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > (SELECT COUNT(*) FROM patients q WHERE q.disease = patients.disease)
-- rule: constant-thresholds
SELECT disease FROM patients GROUP BY disease HAVING (COUNT(*)) >= (SELECT 1)
-- rule: constant-thresholds
SELECT disease FROM patients WHERE age = (SELECT MAX(age) FROM patients) GROUP BY disease HAVING COUNT(*) > 5
-- rule: constant-thresholds
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > '5'
-- rule: constant-thresholds
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 'NaN'
-- rule: constant-thresholds
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > TRUE
-- rule: constant-thresholds
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > NULL
-- rule: constant-thresholds
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > DATE '2024-01-01'
-- rule: constant-thresholds
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) BETWEEN NULL AND 5
-- rule: constant-thresholds
SELECT gender FROM patients JOIN diseases ON disease = name GROUP BY gender HAVING COUNT(*) > severity
-- rule: constant-thresholds
SELECT disease FROM patients JOIN diseases ON disease = name GROUP BY disease HAVING COUNT(*) > kind
-- rule: no-window
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) OVER () > 5
-- rule: no-window
SELECT disease FROM patients GROUP BY disease HAVING SUM(age) OVER (PARTITION BY disease) > 5
-- rule: no-window
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) FILTER (WHERE age > 5) OVER () > 5
-- rule: no-window
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) OVER w > 5 WINDOW w AS ()
-- rule: no-window
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 WINDOW w AS (PARTITION BY disease)
-- rule: no-window
SELECT disease, COUNT(*) OVER () FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING ROW_NUMBER() OVER () = 1
-- rule: allowed-functions
SELECT disease FROM patients p(a, b) GROUP BY disease HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING RANK() OVER () = 1
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING LAG(age) OVER () > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY disease HAVING GROUPING_ID() > 0
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY upper(disease) HAVING COUNT(*) > 5
-- rule: allowed-functions
SELECT disease FROM patients GROUP BY date_trunc('month', admitted) HAVING COUNT(*) > 5
-- rule: no-set-operation
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 UNION SELECT zip FROM patients
-- rule: no-set-operation
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 UNION ALL SELECT zip FROM patients
-- rule: no-set-operation
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 EXCEPT SELECT 'flu'
-- rule: no-set-operation
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 INTERSECT SELECT 'flu'
-- rule: no-set-operation
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 MINUS SELECT 'flu'
-- rule: no-set-operation
SELECT 1 UNION SELECT 2
-- rule: public-joins-only
SELECT disease FROM patients JOIN visits ON ward = building GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients p JOIN patients q ON p.age = q.age GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients, diseases GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients, visits GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients CROSS JOIN diseases GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients LEFT JOIN diseases ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients RIGHT JOIN diseases ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients FULL OUTER JOIN diseases ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients NATURAL JOIN diseases GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients SEMI JOIN diseases ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients ANTI JOIN diseases ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients ASOF JOIN diseases ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients POSITIONAL JOIN diseases GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases USING (name) GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases ON true GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases ON 1 = 1 GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases ON disease <> name GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases ON disease = name AND age > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases ON disease = name OR age > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases ON disease = 'flu' GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases ON disease = gender GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases ON name = kind GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases ON patient_id = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN wards ON ward = wards.number GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients p JOIN diseases p ON disease = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: public-joins-only
SELECT disease FROM patients JOIN diseases d ON disease = d.name JOIN buildings b ON d.severity = b.capacity GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients JOIN diseases ON age = name GROUP BY disease HAVING COUNT(*) > 5
-- rule: comparable-values
SELECT disease FROM patients JOIN buildings ON disease = capacity GROUP BY disease HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY 1 HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY ALL HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY () HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY ROLLUP (disease) HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY CUBE (disease) HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY GROUPING SETS ((disease), ()) HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY disease WITH ROLLUP HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY (disease, ward) HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY disease, disease HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY disease, 'x' HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY age + 1 HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY COUNT(*) HAVING COUNT(*) > 5
-- rule: plain-groups
SELECT disease FROM patients GROUP BY age > 5 HAVING COUNT(*) > 5
-- rule: declared-domains
SELECT zip FROM patients GROUP BY zip HAVING COUNT(*) > 5
-- rule: declared-domains
SELECT disease, zip FROM patients GROUP BY disease, zip HAVING COUNT(*) > 5
-- rule: declared-domains
SELECT kind FROM patients JOIN diseases ON disease = name GROUP BY kind HAVING COUNT(*) > 5
-- rule: group-limit
SELECT wide FROM visits GROUP BY wide HAVING COUNT(*) > 5
-- rule: group-limit
SELECT admitted, age FROM patients GROUP BY admitted, age HAVING COUNT(*) > 5
-- rule: group-limit
SELECT wide, minutes FROM visits WHERE wide < 1 GROUP BY wide, minutes HAVING COUNT(*) > 5
-- rule: group-and-having
SELECT disease FROM patients GROUP BY disease
-- rule: group-and-having
SELECT disease FROM patients GROUP BY
-- rule: group-and-having
SELECT disease FROM patients HAVING COUNT(*) > 5
-- rule: group-and-having
SELECT COUNT(*) FROM patients HAVING COUNT(*) > 5
-- rule: distinct-unit
SELECT disease FROM patients GROUP BY disease HAVING COUNT(DISTINCT age) > 5
-- rule: distinct-unit
SELECT disease FROM patients GROUP BY disease HAVING COUNT(DISTINCT zip) > 5
-- rule: distinct-unit
SELECT disease FROM patients GROUP BY disease HAVING COUNT(DISTINCT patient_id, age) > 5
-- rule: distinct-unit
SELECT disease FROM patients GROUP BY disease HAVING SUM(DISTINCT age) > 5
-- rule: distinct-unit
SELECT disease FROM patients GROUP BY disease HAVING AVG(DISTINCT age) > 5
-- rule: distinct-unit
SELECT building FROM visits GROUP BY building HAVING COUNT(DISTINCT minutes) > 5
-- rule: distinct-unit
SELECT patient_id FROM patients GROUP BY patient_id HAVING COUNT(*) > 5
-- rule: distinct-unit
SELECT disease FROM patients WHERE patient_id = 7 GROUP BY disease HAVING COUNT(*) > 5
-- rule: distinct-unit
SELECT disease FROM patients WHERE patient_id IS NULL GROUP BY disease HAVING COUNT(*) > 5
-- rule: distinct-unit
SELECT disease FROM patients WHERE patient_id IN (1, 2, 3) GROUP BY disease HAVING COUNT(*) > 5
-- rule: distinct-unit
SELECT disease FROM patients GROUP BY disease HAVING SUM(patient_id) > 5
-- rule: distinct-unit
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) FILTER (WHERE patient_id = 7) > 0
-- rule: declared-bounds
SELECT disease FROM patients GROUP BY disease HAVING SUM(zip) > 5
-- rule: declared-bounds
SELECT disease FROM patients GROUP BY disease HAVING AVG(disease) > 5
-- rule: declared-bounds
SELECT disease FROM patients GROUP BY disease HAVING SUM(ward) > 5
-- rule: declared-bounds
SELECT disease FROM patients GROUP BY disease HAVING AVG(smoker) > 0.5
-- rule: declared-bounds
SELECT disease FROM patients GROUP BY disease HAVING SUM(admitted) > 5
-- rule: declared-bounds
SELECT disease FROM patients GROUP BY disease HAVING AVG(age_band) > 1
