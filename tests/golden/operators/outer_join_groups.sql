-- title
-- ⟕ with groups: the marker tells the group NULL from padded rows

-- schema
CREATE TABLE t0 (k INT, n INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, x INT, PRIMARY KEY (k));

-- view
SELECT a.k, g.x, g.n FROM t0 AS a LEFT JOIN (SELECT b.x, count(*) AS n FROM t1 AS b GROUP BY b.x) AS g ON g.n = a.n;

-- data
INSERT INTO t0 VALUES (1, 1), (2, 2), (3, 7);
INSERT INTO t1 VALUES (1, NULL), (2, 5), (3, 5);
-- then
INSERT INTO t1 VALUES (4, NULL);
-- then
DELETE FROM t1 WHERE x IS NULL;

-- ids
-- π a__k, b__x, g__n, g__has_right   [ID: a__k, b__x, g__has_right]
--   ⟕ g__n = a__n   [ID: a__k, b__x, g__has_right]
--     scan t0 as a   [ID: a__k]
--     γ b__x; COUNT(*) → g__n   [ID: b__x]
--       scan t1 as b   [ID: b__k]

-- base diffs
-- INS(a__k; assigns a__n) from d_ins__a
-- DEL(a__k; knows a__n) from d_del__a
-- REC(a__k; knows a__n) from d_rec__a
-- INS(b__k; assigns b__x) from d_ins__b
-- DEL(b__k; knows b__x) from d_del__b
-- REC(b__k; knows b__x) from d_rec__b

-- rules
-- outer_ins  (ins → 1)
-- outer_del  (del → 1)
-- outer_rec  (rec → 1)
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_rec  (rec → 1)
-- outer_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k, b__x, g__has_right; assigns g__n) from d_ins__a: see below
-- i-diff 2: DEL(a__k) from d_del__a: see below
-- i-diff 3: REC(a__k) from d_rec__a+d_del__b+d_ins__b+d_rec__b
-- guard: d_rec__a has rows or d_del__b has rows or d_ins__b has rows or d_rec__b has rows
SELECT keys_10.a__k
FROM (
  SELECT DISTINCT united_4.a__k
  FROM (
    SELECT d_rec__a.a__k
    FROM d_rec__a
    UNION ALL
    SELECT a.k AS a__k
    FROM t0 AS a
    WHERE
      EXISTS(
        SELECT 1
        FROM (
          SELECT DISTINCT united_3.g__n
          FROM (
            SELECT groups.b__x, groups.g__n
            FROM (
              SELECT b_2.b__x, COUNT(*) AS g__n
              FROM (
                SELECT b.k AS b__k, b.x AS b__x
                FROM t1 AS b
                WHERE NOT EXISTS(SELECT 1 FROM d_plus__b WHERE d_plus__b.b__k IS NOT DISTINCT FROM b.k)
                UNION ALL
                SELECT d_minus__b.b__k, d_minus__b.b__x
                FROM d_minus__b
              ) AS b_2
              WHERE
                EXISTS(
                  SELECT 1
                  FROM (
                    SELECT DISTINCT united.b__x
                    FROM (
                      SELECT keys.b__x
                      FROM (SELECT DISTINCT d_ins__b.b__x FROM d_ins__b) AS keys
                      UNION ALL
                      SELECT keys_2.b__x
                      FROM (
                        SELECT DISTINCT b_4.b__x
                        FROM (
                          SELECT b_3.k AS b__k, b_3.x AS b__x
                          FROM t1 AS b_3
                          UNION ALL
                          SELECT d_minus__b_2.b__k, d_minus__b_2.b__x
                          FROM d_minus__b AS d_minus__b_2
                        ) AS b_4
                        WHERE
                          EXISTS(SELECT 1 FROM d_del__b WHERE d_del__b.b__k IS NOT DISTINCT FROM b_4.b__k)
                      ) AS keys_2
                      UNION ALL
                      SELECT keys_3.b__x
                      FROM (
                        SELECT DISTINCT b_6.b__x
                        FROM (
                          SELECT b_5.k AS b__k, b_5.x AS b__x
                          FROM t1 AS b_5
                          UNION ALL
                          SELECT d_minus__b_3.b__k, d_minus__b_3.b__x
                          FROM d_minus__b AS d_minus__b_3
                        ) AS b_6
                        WHERE
                          EXISTS(SELECT 1 FROM d_rec__b WHERE d_rec__b.b__k IS NOT DISTINCT FROM b_6.b__k)
                      ) AS keys_3
                    ) AS united
                  ) AS keys_4
                  WHERE keys_4.b__x IS NOT DISTINCT FROM b_2.b__x)
              GROUP BY b_2.b__x) AS groups
            UNION ALL
            SELECT groups_2.b__x, groups_2.g__n
            FROM (
              SELECT b_7.x AS b__x, COUNT(*) AS g__n
              FROM t1 AS b_7
              WHERE
                EXISTS(
                  SELECT 1
                  FROM (
                    SELECT DISTINCT united_2.b__x
                    FROM (
                      SELECT keys_5.b__x
                      FROM (SELECT DISTINCT d_ins__b_2.b__x FROM d_ins__b AS d_ins__b_2) AS keys_5
                      UNION ALL
                      SELECT keys_6.b__x
                      FROM (
                        SELECT DISTINCT b_9.b__x
                        FROM (
                          SELECT b_8.k AS b__k, b_8.x AS b__x
                          FROM t1 AS b_8
                          UNION ALL
                          SELECT d_minus__b_4.b__k, d_minus__b_4.b__x
                          FROM d_minus__b AS d_minus__b_4
                        ) AS b_9
                        WHERE
                          EXISTS(
                            SELECT 1
                            FROM d_del__b AS d_del__b_2
                            WHERE d_del__b_2.b__k IS NOT DISTINCT FROM b_9.b__k)
                      ) AS keys_6
                      UNION ALL
                      SELECT keys_7.b__x
                      FROM (
                        SELECT DISTINCT b_11.b__x
                        FROM (
                          SELECT b_10.k AS b__k, b_10.x AS b__x
                          FROM t1 AS b_10
                          UNION ALL
                          SELECT d_minus__b_5.b__k, d_minus__b_5.b__x
                          FROM d_minus__b AS d_minus__b_5
                        ) AS b_11
                        WHERE
                          EXISTS(
                            SELECT 1
                            FROM d_rec__b AS d_rec__b_2
                            WHERE d_rec__b_2.b__k IS NOT DISTINCT FROM b_11.b__k)
                      ) AS keys_7
                    ) AS united_2
                  ) AS keys_8
                  WHERE keys_8.b__x IS NOT DISTINCT FROM b_7.x)
              GROUP BY b_7.x) AS groups_2
          ) AS united_3
        ) AS keys_9
        WHERE keys_9.g__n = a.n)
  ) AS united_4
) AS keys_10;

-- Δ-script (optimised)
-- i-diff 1: INS(a__k, b__x, g__has_right; assigns g__n) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, g.b__x, g.g__has_right, g.g__n
FROM d_ins__a
LEFT JOIN (
  SELECT groups.b__x, groups.g__n, 1 AS g__has_right
  FROM (SELECT b.x AS b__x, COUNT(*) AS g__n FROM t1 AS b GROUP BY b.x) AS groups
) AS g ON g.g__n = d_ins__a.a__n;
-- i-diff 2: DEL(a__k) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k FROM d_del__a;
-- i-diff 3: REC(a__k) from d_rec__a+d_del__b+d_ins__b+d_rec__b
-- guard: d_rec__a has rows or d_del__b has rows or d_ins__b has rows or d_rec__b has rows
SELECT keys_4.a__k
FROM (
  SELECT DISTINCT united_4.a__k
  FROM (
    SELECT d_rec__a.a__k
    FROM d_rec__a
    UNION ALL
    SELECT a.k AS a__k
    FROM t0 AS a
    WHERE
      EXISTS(
        SELECT 1
        FROM (
          SELECT DISTINCT united_3.g__n
          FROM (
            SELECT groups.b__x, groups.g__n
            FROM (
              SELECT b_2.b__x, COUNT(*) AS g__n
              FROM (
                SELECT b.k AS b__k, b.x AS b__x
                FROM t1 AS b
                WHERE NOT EXISTS(SELECT 1 FROM d_plus__b WHERE d_plus__b.b__k IS NOT DISTINCT FROM b.k)
                UNION ALL
                SELECT d_minus__b.b__k, d_minus__b.b__x
                FROM d_minus__b
              ) AS b_2
              WHERE
                EXISTS(
                  SELECT 1
                  FROM (
                    SELECT DISTINCT united.b__x
                    FROM (
                      SELECT d_ins__b.b__x
                      FROM d_ins__b
                      UNION ALL
                      SELECT d_del__b.b__x
                      FROM d_del__b
                      UNION ALL
                      SELECT d_rec__b.b__x
                      FROM d_rec__b
                    ) AS united
                  ) AS keys
                  WHERE keys.b__x IS NOT DISTINCT FROM b_2.b__x)
              GROUP BY b_2.b__x) AS groups
            UNION ALL
            SELECT groups_2.b__x, groups_2.g__n
            FROM (
              SELECT b_3.x AS b__x, COUNT(*) AS g__n
              FROM t1 AS b_3
              WHERE
                EXISTS(
                  SELECT 1
                  FROM (
                    SELECT DISTINCT united_2.b__x
                    FROM (
                      SELECT d_ins__b_2.b__x
                      FROM d_ins__b AS d_ins__b_2
                      UNION ALL
                      SELECT d_del__b_2.b__x
                      FROM d_del__b AS d_del__b_2
                      UNION ALL
                      SELECT d_rec__b_2.b__x
                      FROM d_rec__b AS d_rec__b_2
                    ) AS united_2
                  ) AS keys_2
                  WHERE keys_2.b__x IS NOT DISTINCT FROM b_3.x)
              GROUP BY b_3.x) AS groups_2
          ) AS united_3
        ) AS keys_3
        WHERE keys_3.g__n = a.n)
  ) AS united_4
) AS keys_4;
