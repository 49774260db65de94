-- title
-- ⟕ of a table without a key: IDs repeat, so the rows of all partners are REC instead of INS and DEL of padded ones

-- schema
CREATE TABLE t0 (x INT, y INT);
CREATE TABLE t1 (k INT, x INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.y, b.z FROM t0 AS a LEFT JOIN t1 AS b ON b.x = a.x;

-- data
INSERT INTO t0 VALUES (1, 5), (1, 5), (2, 6);
INSERT INTO t1 VALUES (1, 2, 1);
-- then
INSERT INTO t1 VALUES (2, 1, 2);
UPDATE t1 SET z = 7 WHERE k = 1;
-- then
DELETE FROM t1 WHERE k = 2;
INSERT INTO t0 VALUES (1, 5);
-- then
UPDATE t1 SET x = 1;

-- ids
-- π a__y, b__z, a__x, b__k, b_2__has_right   [ID, not unique: a__x, a__y, b__k, b_2__has_right]
--   ⟕ b__x = a__x   [ID, not unique: a__x, a__y, b__k, b_2__has_right]
--     scan t0 as a   [ID, not unique: a__x, a__y]
--     scan t1 as b   [ID: b__k]

-- base diffs
-- REC(a__x, a__y) from d_rec__a
-- INS(b__k; assigns b__x, b__z) from d_ins__b
-- DEL(b__k; knows b__x, b__z) from d_del__b
-- UPD(b__k; assigns b__z; knows b__x) from d_upd__b
-- REC(b__k; knows b__x, b__z) from d_rec__b

-- rules
-- outer_rec  (rec → 1)
-- outer_ins_bag_pads  (ins → 1)
-- outer_del_bag  (del → 2)
-- outer_upd  (upd → 1)
-- outer_rec  (rec → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: DEL(b__k, b_2__has_right; knows b__z) from d_del__b: see below
-- i-diff 2: UPD(b__k, b_2__has_right; assigns b__z) from d_upd__b: see below
-- i-diff 3: REC(a__x, a__y) from d_rec__a+d_del__b+d_ins__b+d_rec__b
-- guard: d_rec__a has rows or d_del__b has rows or d_ins__b has rows or d_rec__b has rows
SELECT keys_4.a__x, keys_4.a__y
FROM (
  SELECT DISTINCT united.a__x, united.a__y
  FROM (
    SELECT d_rec__a.a__x, d_rec__a.a__y
    FROM d_rec__a
    UNION ALL
    SELECT a.x AS a__x, a.y AS a__y
    FROM t0 AS a
    WHERE EXISTS(SELECT 1 FROM (SELECT DISTINCT d_ins__b.b__x FROM d_ins__b) AS keys WHERE keys.b__x = a.x)
    UNION ALL
    SELECT a_2.x AS a__x, a_2.y AS a__y
    FROM t0 AS a_2
    WHERE
      EXISTS(
        SELECT 1
        FROM (
          SELECT DISTINCT b_2.b__x
          FROM (
            SELECT b.k AS b__k, b.x AS b__x, b.z AS b__z
            FROM t1 AS b
            UNION ALL
            SELECT d_minus__b.b__k, d_minus__b.b__x, d_minus__b.b__z
            FROM d_minus__b
          ) AS b_2
          WHERE EXISTS(SELECT 1 FROM d_del__b WHERE d_del__b.b__k IS NOT DISTINCT FROM b_2.b__k)) AS keys_2
        WHERE keys_2.b__x = a_2.x)
    UNION ALL
    SELECT a_3.x AS a__x, a_3.y AS a__y
    FROM t0 AS a_3
    WHERE
      EXISTS(
        SELECT 1
        FROM (
          SELECT DISTINCT b_4.b__x
          FROM (
            SELECT b_3.k AS b__k, b_3.x AS b__x, b_3.z AS b__z
            FROM t1 AS b_3
            UNION ALL
            SELECT d_minus__b_2.b__k, d_minus__b_2.b__x, d_minus__b_2.b__z
            FROM d_minus__b AS d_minus__b_2
          ) AS b_4
          WHERE EXISTS(SELECT 1 FROM d_rec__b WHERE d_rec__b.b__k IS NOT DISTINCT FROM b_4.b__k)) AS keys_3
        WHERE keys_3.b__x = a_3.x)
  ) AS united
) AS keys_4;

-- Δ-script (optimised)
-- i-diff 1: DEL(b__k, b_2__has_right; knows b__z) from d_del__b
-- guard: d_del__b has rows
SELECT d_del__b.b__k, 1 AS b_2__has_right, d_del__b.b__z FROM d_del__b;
-- i-diff 2: UPD(b__k, b_2__has_right; assigns b__z) from d_upd__b
-- guard: d_upd__b has rows
SELECT d_upd__b.b__k, 1 AS b_2__has_right, d_upd__b.b__z FROM d_upd__b;
-- i-diff 3: REC(a__x, a__y) from d_rec__a+d_del__b+d_ins__b+d_rec__b
-- guard: d_rec__a has rows or d_del__b has rows or d_ins__b has rows or d_rec__b has rows
SELECT keys_4.a__x, keys_4.a__y
FROM (
  SELECT DISTINCT united.a__x, united.a__y
  FROM (
    SELECT d_rec__a.a__x, d_rec__a.a__y
    FROM d_rec__a
    UNION ALL
    SELECT a.x AS a__x, a.y AS a__y
    FROM t0 AS a
    WHERE EXISTS(SELECT 1 FROM (SELECT DISTINCT d_ins__b.b__x FROM d_ins__b) AS keys WHERE keys.b__x = a.x)
    UNION ALL
    SELECT a_2.x AS a__x, a_2.y AS a__y
    FROM t0 AS a_2
    WHERE EXISTS(SELECT 1 FROM (SELECT DISTINCT d_del__b.b__x FROM d_del__b) AS keys_2 WHERE keys_2.b__x = a_2.x)
    UNION ALL
    SELECT a_3.x AS a__x, a_3.y AS a__y
    FROM t0 AS a_3
    WHERE
      EXISTS(SELECT 1 FROM (SELECT DISTINCT d_rec__b.b__x FROM d_rec__b) AS keys_3 WHERE keys_3.b__x = a_3.x)
  ) AS united
) AS keys_4;
