-- title
-- V' of the running example (idIVM §4): what the parts of a phone cost

-- schema
CREATE TABLE devices (did INT, category STRING, PRIMARY KEY (did));
CREATE TABLE parts (pid INT, price INT, PRIMARY KEY (pid));
CREATE TABLE devices_parts (did INT, pid INT, PRIMARY KEY (did, pid));

-- view
SELECT dp.did, sum(p.price) AS cost
FROM parts AS p
JOIN devices_parts AS dp ON p.pid = dp.pid
JOIN devices AS d ON dp.did = d.did
WHERE d.category = 'phone'
GROUP BY dp.did;

-- data
INSERT INTO devices VALUES (1, 'phone'), (2, 'phone'), (3, 'tablet');
INSERT INTO parts VALUES (1, 10), (2, 20);
INSERT INTO devices_parts VALUES (1, 1), (2, 1), (1, 2), (3, 2);
-- then
UPDATE parts SET price = 11 WHERE pid = 1;
-- then
UPDATE devices SET category = 'phone' WHERE did = 3;
INSERT INTO parts VALUES (3, 30);
INSERT INTO devices_parts VALUES (2, 3);
DELETE FROM devices_parts WHERE did = 1 AND pid = 1;

-- ids
-- π dp__did, v__cost, count__rows, count__p__price   [ID: dp__did]
--   γ dp__did; SUM(p__price) → v__cost, COUNT(*) → count__rows, COUNT(p__price) → count__p__price   [ID: dp__did]
--     σ d__category = 'phone'   [ID: p__pid, dp__did, dp__pid, d__did]
--       ⋈ dp__did = d__did   [ID: p__pid, dp__did, dp__pid, d__did]
--         ⋈ p__pid = dp__pid   [ID: p__pid, dp__did, dp__pid]
--           scan parts as p   [ID: p__pid]
--           scan devices_parts as dp   [ID: dp__did, dp__pid]
--         scan devices as d   [ID: d__did]

-- rules
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_rec  (rec → 1)
-- select_ins  (ins → 1)
-- select_del  (del → 1)
-- select_upd  (upd → 1)
-- select_ins  (ins → 1)
-- select_del  (del → 1)
-- select_ins  (ins → 1)
-- select_del_known  (del → 1)
-- select_rec_known  (rec → 1)
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_argument  (upd → 1)
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)
-- additive_rows  (COUNT(*) → count__rows)
-- additive_count  (COUNT(p__price) → count__p__price)
-- additive_sum  (SUM(p__price) → v__cost)

-- Δ-script (optimised)
-- i-diff 1: REC(dp__did) from d_del__d+d_ins__d+d_rec__d+d_del__dp+d_ins__dp+d_del__p+d_ins__p+d_upd__p
-- guard: d_del__d has rows or d_ins__d has rows or d_rec__d has rows or d_del__dp has rows or d_ins__dp has rows or d_del__p has rows or d_ins__p has rows or d_upd__p has rows
SELECT keys.dp__did
FROM (
  SELECT DISTINCT united.dp__did
  FROM (
    SELECT dp.did AS dp__did
    FROM d_ins__p
    JOIN devices_parts AS dp ON d_ins__p.p__pid = dp.pid
    JOIN devices AS d ON dp.did = d.did
    WHERE d.category = 'phone'
    UNION ALL
    SELECT dp_3.dp__did
    FROM d_del__p
    JOIN (
      SELECT dp_2.did AS dp__did, dp_2.pid AS dp__pid
      FROM devices_parts AS dp_2
      UNION ALL
      SELECT d_minus__dp.dp__did, d_minus__dp.dp__pid
      FROM d_minus__dp
    ) AS dp_3 ON d_del__p.p__pid = dp_3.dp__pid
    JOIN (
      SELECT d_2.did AS d__did, d_2.category AS d__category
      FROM devices AS d_2
      UNION ALL
      SELECT d_minus__d.d__did, d_minus__d.d__category
      FROM d_minus__d
    ) AS d_3 ON dp_3.dp__did = d_3.d__did
    WHERE d_3.d__category = 'phone'
    UNION ALL
    SELECT dp_4.did AS dp__did
    FROM d_upd__p
    JOIN devices_parts AS dp_4 ON d_upd__p.p__pid = dp_4.pid
    JOIN devices AS d_4 ON dp_4.did = d_4.did
    WHERE d_4.category = 'phone'
    UNION ALL
    SELECT d_ins__dp.dp__did
    FROM d_ins__dp
    JOIN parts AS p ON p.pid = d_ins__dp.dp__pid
    JOIN devices AS d_5 ON d_ins__dp.dp__did = d_5.did
    WHERE d_5.category = 'phone'
    UNION ALL
    SELECT d_del__dp.dp__did
    FROM d_del__dp
    UNION ALL
    SELECT dp_5.did AS dp__did
    FROM d_ins__d
    CROSS JOIN parts AS p_2
    JOIN devices_parts AS dp_5 ON p_2.pid = dp_5.pid AND dp_5.did = d_ins__d.d__did
    WHERE d_ins__d.d__category = 'phone'
    UNION ALL
    SELECT dp_7.dp__did
    FROM (
      SELECT p_3.pid AS p__pid, p_3.price AS p__price
      FROM parts AS p_3
      UNION ALL
      SELECT d_minus__p.p__pid, d_minus__p.p__price
      FROM d_minus__p
    ) AS p_4
    JOIN (
      SELECT dp_6.did AS dp__did, dp_6.pid AS dp__pid
      FROM devices_parts AS dp_6
      UNION ALL
      SELECT d_minus__dp_2.dp__did, d_minus__dp_2.dp__pid
      FROM d_minus__dp AS d_minus__dp_2
    ) AS dp_7 ON p_4.p__pid = dp_7.dp__pid
    JOIN d_del__d ON dp_7.dp__did = d_del__d.d__did
    WHERE d_del__d.d__category = 'phone' AND d_del__d.d__category = 'phone'
    UNION ALL
    SELECT dp_9.dp__did
    FROM (
      SELECT p_5.pid AS p__pid, p_5.price AS p__price
      FROM parts AS p_5
      UNION ALL
      SELECT d_minus__p_2.p__pid, d_minus__p_2.p__price
      FROM d_minus__p AS d_minus__p_2
    ) AS p_6
    JOIN (
      SELECT dp_8.did AS dp__did, dp_8.pid AS dp__pid
      FROM devices_parts AS dp_8
      UNION ALL
      SELECT d_minus__dp_3.dp__did, d_minus__dp_3.dp__pid
      FROM d_minus__dp AS d_minus__dp_3
    ) AS dp_9 ON p_6.p__pid = dp_9.dp__pid
    JOIN d_rec__d ON dp_9.dp__did = d_rec__d.d__did
    WHERE d_rec__d.d__category = 'phone' AND d_rec__d.d__category = 'phone') AS united
) AS keys;
