-- title
-- γ by an attribute of the other table: the group of a deleted row is looked up in both states

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, x INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.y, bit_or(b.z) AS m FROM t0 AS a JOIN t1 AS b ON a.x = b.x GROUP BY a.y;

-- data
INSERT INTO t0 VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO t1 VALUES (1, 1, 1), (2, 2, 2), (3, 1, 3);
-- then
UPDATE t0 SET y = 9 WHERE k = 1;
UPDATE t1 SET z = 9 WHERE k = 1;
DELETE FROM t1 WHERE k = 2;
-- then
UPDATE t0 SET x = 2 WHERE k = 1;
INSERT INTO t1 VALUES (4, 2, 4);

-- ids
-- π a__y, v__m   [ID: a__y]
--   γ a__y; BIT_OR(b__z) → v__m   [ID: a__y]
--     ⋈ a__x = b__x   [ID: a__k, b__k]
--       scan t0 as a   [ID: a__k]
--       scan t1 as b   [ID: b__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- REC(a__k; knows a__x, a__y) from d_rec__a
-- INS(b__k; assigns b__x, b__z) from d_ins__b
-- DEL(b__k; knows b__x, b__z) from d_del__b
-- UPD(b__k; assigns b__z; knows b__x) from d_upd__b
-- REC(b__k; knows b__x, b__z) from d_rec__b

-- rules
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_rec  (rec → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_rec  (rec → 1)
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_rec  (rec → 1)
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_argument  (upd → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: REC(a__y) from d_del__a+d_ins__a+d_rec__a+d_del__b+d_ins__b+d_rec__b+d_upd__b
-- guard: d_del__a has rows or d_ins__a has rows or d_rec__a has rows or d_del__b has rows or d_ins__b has rows or d_rec__b has rows or d_upd__b has rows
SELECT keys_8.a__y
FROM (
  SELECT DISTINCT united.a__y
  FROM (
    SELECT keys.a__y
    FROM (SELECT DISTINCT d_ins__a.a__y FROM d_ins__a JOIN t1 AS b ON d_ins__a.a__x = b.x) AS keys
    UNION ALL
    SELECT keys_2.a__y
    FROM (
      SELECT DISTINCT a_2.a__y
      FROM (
        SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y
        FROM t0 AS a
        UNION ALL
        SELECT d_minus__a.a__k, d_minus__a.a__x, d_minus__a.a__y
        FROM d_minus__a
      ) AS a_2
      JOIN (
        SELECT b_2.k AS b__k, b_2.x AS b__x, b_2.z AS b__z
        FROM t1 AS b_2
        UNION ALL
        SELECT d_minus__b.b__k, d_minus__b.b__x, d_minus__b.b__z
        FROM d_minus__b
      ) AS b_3 ON a_2.a__x = b_3.b__x
      WHERE EXISTS(SELECT 1 FROM d_del__a WHERE d_del__a.a__k IS NOT DISTINCT FROM a_2.a__k)) AS keys_2
    UNION ALL
    SELECT keys_3.a__y
    FROM (
      SELECT DISTINCT a_4.a__y
      FROM (
        SELECT a_3.k AS a__k, a_3.x AS a__x, a_3.y AS a__y
        FROM t0 AS a_3
        UNION ALL
        SELECT d_minus__a_2.a__k, d_minus__a_2.a__x, d_minus__a_2.a__y
        FROM d_minus__a AS d_minus__a_2
      ) AS a_4
      JOIN (
        SELECT b_4.k AS b__k, b_4.x AS b__x, b_4.z AS b__z
        FROM t1 AS b_4
        UNION ALL
        SELECT d_minus__b_2.b__k, d_minus__b_2.b__x, d_minus__b_2.b__z
        FROM d_minus__b AS d_minus__b_2
      ) AS b_5 ON a_4.a__x = b_5.b__x
      WHERE EXISTS(SELECT 1 FROM d_rec__a WHERE d_rec__a.a__k IS NOT DISTINCT FROM a_4.a__k)) AS keys_3
    UNION ALL
    SELECT keys_4.a__y
    FROM (SELECT DISTINCT a_5.y AS a__y FROM d_ins__b JOIN t0 AS a_5 ON a_5.x = d_ins__b.b__x) AS keys_4
    UNION ALL
    SELECT keys_5.a__y
    FROM (
      SELECT DISTINCT a_7.a__y
      FROM (
        SELECT a_6.k AS a__k, a_6.x AS a__x, a_6.y AS a__y
        FROM t0 AS a_6
        UNION ALL
        SELECT d_minus__a_3.a__k, d_minus__a_3.a__x, d_minus__a_3.a__y
        FROM d_minus__a AS d_minus__a_3
      ) AS a_7
      JOIN (
        SELECT b_6.k AS b__k, b_6.x AS b__x, b_6.z AS b__z
        FROM t1 AS b_6
        UNION ALL
        SELECT d_minus__b_3.b__k, d_minus__b_3.b__x, d_minus__b_3.b__z
        FROM d_minus__b AS d_minus__b_3
      ) AS b_7 ON a_7.a__x = b_7.b__x
      WHERE EXISTS(SELECT 1 FROM d_del__b WHERE d_del__b.b__k IS NOT DISTINCT FROM b_7.b__k)) AS keys_5
    UNION ALL
    SELECT keys_6.a__y
    FROM (
      SELECT DISTINCT a_8.y AS a__y
      FROM t0 AS a_8
      JOIN t1 AS b_8 ON a_8.x = b_8.x
      WHERE EXISTS(SELECT 1 FROM d_upd__b WHERE d_upd__b.b__k IS NOT DISTINCT FROM b_8.k)) AS keys_6
    UNION ALL
    SELECT keys_7.a__y
    FROM (
      SELECT DISTINCT a_10.a__y
      FROM (
        SELECT a_9.k AS a__k, a_9.x AS a__x, a_9.y AS a__y
        FROM t0 AS a_9
        UNION ALL
        SELECT d_minus__a_4.a__k, d_minus__a_4.a__x, d_minus__a_4.a__y
        FROM d_minus__a AS d_minus__a_4
      ) AS a_10
      JOIN (
        SELECT b_9.k AS b__k, b_9.x AS b__x, b_9.z AS b__z
        FROM t1 AS b_9
        UNION ALL
        SELECT d_minus__b_4.b__k, d_minus__b_4.b__x, d_minus__b_4.b__z
        FROM d_minus__b AS d_minus__b_4
      ) AS b_10 ON a_10.a__x = b_10.b__x
      WHERE EXISTS(SELECT 1 FROM d_rec__b WHERE d_rec__b.b__k IS NOT DISTINCT FROM b_10.b__k)) AS keys_7
  ) AS united
) AS keys_8;

-- Δ-script (optimised)
-- i-diff 1: REC(a__y) from d_del__a+d_ins__a+d_rec__a+d_del__b+d_ins__b+d_rec__b+d_upd__b
-- guard: d_del__a has rows or d_ins__a has rows or d_rec__a has rows or d_del__b has rows or d_ins__b has rows or d_rec__b has rows or d_upd__b has rows
SELECT keys.a__y
FROM (
  SELECT DISTINCT united.a__y
  FROM (
    SELECT d_ins__a.a__y
    FROM d_ins__a
    JOIN t1 AS b ON d_ins__a.a__x = b.x
    UNION ALL
    SELECT d_del__a.a__y
    FROM d_del__a
    UNION ALL
    SELECT d_rec__a.a__y
    FROM d_rec__a
    UNION ALL
    SELECT a.y AS a__y
    FROM d_ins__b
    JOIN t0 AS a ON a.x = d_ins__b.b__x
    UNION ALL
    SELECT a_3.a__y
    FROM (
      SELECT a_2.k AS a__k, a_2.x AS a__x, a_2.y AS a__y
      FROM t0 AS a_2
      UNION ALL
      SELECT d_minus__a.a__k, d_minus__a.a__x, d_minus__a.a__y
      FROM d_minus__a
    ) AS a_3
    JOIN d_del__b ON a_3.a__x = d_del__b.b__x
    UNION ALL
    SELECT a_4.y AS a__y
    FROM t0 AS a_4
    JOIN d_upd__b ON a_4.x = d_upd__b.b__x
    UNION ALL
    SELECT a_6.a__y
    FROM (
      SELECT a_5.k AS a__k, a_5.x AS a__x, a_5.y AS a__y
      FROM t0 AS a_5
      UNION ALL
      SELECT d_minus__a_2.a__k, d_minus__a_2.a__x, d_minus__a_2.a__y
      FROM d_minus__a AS d_minus__a_2
    ) AS a_6
    JOIN d_rec__b ON a_6.a__x = d_rec__b.b__x) AS united
) AS keys;
