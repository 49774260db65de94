-- title
-- the signed rows of a union with a constant row are those of its table

-- schema
CREATE TABLE t0 (k INT, y STRING, PRIMARY KEY (k));

-- view (tuple)
SELECT a.k, a.y FROM t0 AS a UNION ALL SELECT -1, 'unknown';

-- data
INSERT INTO t0 VALUES (1, 'a'), (2, 'b');
-- then
UPDATE t0 SET y = 'c' WHERE k = 1;
DELETE FROM t0 WHERE k = 2;
INSERT INTO t0 VALUES (-1, 'd');

-- ids
-- π v__k, v__y, v__branch, v__0__a__k   [ID: v__branch, v__0__a__k]
--   ∪ v of 2 branches   [ID: v__branch, v__0__a__k]
--     scan t0 as a   [ID: a__k]
--     π -1 → v__1, 'unknown' → v__unknown   [ID: ()]
--       one row   [ID: ()]

-- rules


-- apply
-- apply: tuple
MERGE INTO maintained AS v
USING (
  WITH net_rows AS (
    SELECT v__k AS v__k, v__y AS v__y, v__branch AS v__branch, v__0__a__k AS v__0__a__k, SUM(idivm_sign) AS idivm_weight
    FROM (
      SELECT
        d_signed__a.a__k AS v__k,
        d_signed__a.a__y AS v__y,
        0 AS v__branch,
        d_signed__a.a__k AS v__0__a__k,
        d_signed__a.idivm_sign
      FROM d_signed__a
    ) AS signed_rows
    GROUP BY v__k, v__y, v__branch, v__0__a__k
    HAVING SUM(idivm_sign) <> 0)
  SELECT CASE WHEN idivm_weight > 0 THEN 'I' ELSE 'D' END AS idivm_op, v__k, v__y, v__branch, v__0__a__k
  FROM (
    SELECT
      v__k,
      v__y,
      v__branch,
      v__0__a__k,
      idivm_weight,
      MAX(idivm_weight) OVER (PARTITION BY v__branch, v__0__a__k) AS idivm_last
    FROM net_rows
  ) AS ranked
  WHERE idivm_weight = idivm_last) AS d
ON v.idivm__v__branch IS NOT DISTINCT FROM d.v__branch
AND v.idivm__v__0__a__k IS NOT DISTINCT FROM d.v__0__a__k
AND v.idivm__v__branch BETWEEN 0 AND 0
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'I' THEN UPDATE SET k = d.v__k, y = d.v__y
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (k, y, idivm__v__branch, idivm__v__0__a__k) VALUES (d.v__k, d.v__y, d.v__branch, d.v__0__a__k);
