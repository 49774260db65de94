-- title
-- μ over a row that NOT EXISTS brings again: it is recomputed

-- schema
CREATE TABLE t0 (k INT, x INT, s STRING, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, x INT, PRIMARY KEY (k));

-- view (no split)
SELECT a.k, posexplode_outer(split(a.s, ',')) AS (p, e) FROM t0 AS a WHERE NOT EXISTS (SELECT 1 FROM t1 AS b WHERE b.x = a.x);

-- data
INSERT INTO t0 VALUES (1, 1, 'a,b'), (2, 1, 'c'), (3, 2, 'd');
INSERT INTO t1 VALUES (1, 1), (2, 3);
-- then
UPDATE t0 SET s = 'e,e' WHERE k = 3;
DELETE FROM t1 WHERE x = 1;
-- then
UPDATE t0 SET s = NULL WHERE k = 1;
UPDATE t1 SET x = 2 WHERE k = 2;

-- ids
-- π a__k, v__pos, v__e   [ID: a__k, v__pos]
--   μ SPLIT(a__s, ',') outer → v__pos, v__e   [ID: a__k, v__pos]
--     ▷ b__x = a__x   [ID: a__k]
--       scan t0 as a   [ID: a__k]
--       scan t1 as b   [ID: b__k]

-- base diffs
-- INS(a__k; assigns a__x, a__s) from d_ins__a
-- DEL(a__k; knows a__x, a__s) from d_del__a
-- UPD(a__k; assigns a__x, a__s) from d_upd__a
-- INS(b__k; assigns b__x) from d_ins__b
-- DEL(b__k; knows b__x) from d_del__b
-- UPD(b__k; assigns b__x) from d_upd__b

-- rules
-- semijoin_left_ins  (ins → 1)
-- semijoin_left_del  (del → 1)
-- semijoin_left_upd_condition  (upd → 1)
-- antijoin_right_ins  (ins → 1)
-- antijoin_right_del  (del → 1)
-- semijoin_right_upd_condition  (upd → 1)
-- unnest_ins  (ins → 1)
-- unnest_del  (del → 1)
-- unnest_del  (del → 1)
-- unnest_ins_again  (ins → 1)
-- unnest_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k, v__pos; assigns v__e) from d_ins__a: see below
-- i-diff 2: DEL(a__k) from d_del__a: see below
-- i-diff 3: DEL(a__k) from d_ins__b: see below
-- i-diff 4: REC(a__k) from d_upd__a+d_del__b+d_upd__b
-- guard: d_upd__a has rows or d_del__b has rows or d_upd__b has rows
SELECT keys_4.a__k
FROM (
  SELECT DISTINCT united_2.a__k
  FROM (
    SELECT a.k AS a__k
    FROM t0 AS a
    WHERE
      EXISTS(
        SELECT 1
        FROM (
          SELECT DISTINCT b_2.b__x
          FROM (
            SELECT b.k AS b__k, b.x AS b__x
            FROM t1 AS b
            UNION ALL
            SELECT d_minus__b.b__k, d_minus__b.b__x
            FROM d_minus__b
          ) AS b_2
          WHERE EXISTS(SELECT 1 FROM d_del__b WHERE d_del__b.b__k IS NOT DISTINCT FROM b_2.b__k)) AS keys
        WHERE keys.b__x = a.x)
      AND NOT EXISTS(SELECT 1 FROM t1 AS b_3 WHERE b_3.x = a.x)
    UNION ALL
    SELECT keys_3.a__k
    FROM (
      SELECT DISTINCT united.a__k
      FROM (
        SELECT d_upd__a.a__k
        FROM d_upd__a
        UNION ALL
        SELECT a_2.k AS a__k
        FROM t0 AS a_2
        WHERE
          EXISTS(
            SELECT 1
            FROM (
              SELECT DISTINCT b_5.b__x
              FROM (
                SELECT b_4.k AS b__k, b_4.x AS b__x
                FROM t1 AS b_4
                UNION ALL
                SELECT d_minus__b_2.b__k, d_minus__b_2.b__x
                FROM d_minus__b AS d_minus__b_2
              ) AS b_5
              WHERE EXISTS(SELECT 1 FROM d_upd__b WHERE d_upd__b.b__k IS NOT DISTINCT FROM b_5.b__k)) AS keys_2
            WHERE keys_2.b__x = a_2.x)
      ) AS united
    ) AS keys_3
  ) AS united_2
) AS keys_4;

-- Δ-script (optimised)
-- i-diff 1: INS(a__k, v__pos; assigns v__e) from d_ins__a
-- guard: d_ins__a has rows
SELECT elements.a__k, elements.v__pos, elements.v__e
FROM (
  SELECT d_ins__a.a__k, d_ins__a.a__x, d_ins__a.a__s, POSEXPLODE_OUTER(SPLIT(d_ins__a.a__s, ',')) AS (v__pos, v__e)
  FROM d_ins__a
  WHERE NOT EXISTS(SELECT 1 FROM t1 AS b WHERE b.x = d_ins__a.a__x)) AS elements;
-- i-diff 2: DEL(a__k) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k FROM d_del__a;
-- i-diff 3: DEL(a__k) from d_ins__b
-- guard: d_ins__b has rows
SELECT a.k AS a__k
FROM t0 AS a
WHERE EXISTS(SELECT 1 FROM (SELECT DISTINCT d_ins__b.b__x FROM d_ins__b) AS keys WHERE keys.b__x = a.x);
-- i-diff 4: REC(a__k) from d_upd__a+d_del__b+d_upd__b
-- guard: d_upd__a has rows or d_del__b has rows or d_upd__b has rows
SELECT keys_3.a__k
FROM (
  SELECT DISTINCT united_3.a__k
  FROM (
    SELECT a.k AS a__k
    FROM t0 AS a
    WHERE
      EXISTS(SELECT 1 FROM (SELECT DISTINCT d_del__b.b__x FROM d_del__b) AS keys WHERE keys.b__x = a.x)
      AND NOT EXISTS(SELECT 1 FROM t1 AS b WHERE b.x = a.x)
    UNION ALL
    SELECT united_2.a__k
    FROM (
      SELECT d_upd__a.a__k
      FROM d_upd__a
      UNION ALL
      SELECT a_2.k AS a__k
      FROM t0 AS a_2
      WHERE
        EXISTS(
          SELECT 1
          FROM (
            SELECT DISTINCT united.b__x
            FROM (
              SELECT d_plus__b.b__k, d_plus__b.b__x
              FROM d_plus__b
              UNION ALL
              SELECT d_minus__b.b__k, d_minus__b.b__x
              FROM d_minus__b
            ) AS united
            WHERE EXISTS(SELECT 1 FROM d_upd__b WHERE d_upd__b.b__k IS NOT DISTINCT FROM united.b__k)) AS keys_2
          WHERE keys_2.b__x = a_2.x)
    ) AS united_2
  ) AS united_3
) AS keys_3;
