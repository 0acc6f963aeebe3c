-- Characters that look like others, or like nothing.
-- rule: readable-text
SELECT dis​ease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease  FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
ＳＥＬＥＣＴ disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM pаtients GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM patients　 GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > ５
-- rule: readable-text
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) ＞ 5
-- rule: readable-text
SELECT disease FROM patients GROUP BY disease HAVING COUNT（*） > 5
-- rule: readable-text
SELECT disease FROM patients WHERE zip = ‘a’ GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM patients WHERE zip = “a” GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM patients WHERE age ≥ 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM patients WHERE age − 5 > 3 GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 -- ‮ drop
-- rule: readable-text
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 /* é */
-- rule: readable-text
﻿SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM patiénts GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM patients WHERE agé > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: readable-text
SELECT disease FROM patients GROUP BY disease HAVING COUNT(*) > 5 ; -- ☃
-- rule: readable-text
SELECT 🦀 FROM patients GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE "agе" > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE "a​ge" > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE "age " > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: known-columns
SELECT disease FROM patients WHERE "‮age" > 5 GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM "pаtients" GROUP BY disease HAVING COUNT(*) > 5
-- rule: declared-tables-only
SELECT disease FROM "patients​" GROUP BY disease HAVING COUNT(*) > 5
