-- title
-- π over a look-up: what it brought is not looked up with again, the rows that it names are recomputed

-- schema
CREATE TABLE t0 (k INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, z INT, PRIMARY KEY (k));
CREATE TABLE t2 (k INT, w INT, PRIMARY KEY (k));

-- view
SELECT p.k, p.l, c.k AS m, p.s + c.w AS s FROM (SELECT a.k, b.k AS l, a.y + b.z AS s FROM t0 AS a JOIN t1 AS b ON a.k = b.k) AS p JOIN t2 AS c ON p.k = c.k;

-- data
INSERT INTO t0 VALUES (1, 1), (2, 2);
INSERT INTO t1 VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO t2 VALUES (1, 5), (2, 6), (3, 7);
-- then
UPDATE t0 SET y = 9 WHERE k = 1;
-- then
UPDATE t1 SET z = 8 WHERE k = 2;
UPDATE t2 SET w = 8 WHERE k = 1;
INSERT INTO t0 VALUES (3, 3);

-- ids
-- π a__k, b__k, c__k, p__s + c__w → v__s   [ID: a__k, b__k, c__k]
--   ⋈ a__k = c__k   [ID: a__k, b__k, c__k]
--     π a__k, b__k, a__y + b__z → p__s   [ID: a__k, b__k]
--       ⋈ a__k = b__k   [ID: a__k, b__k]
--         scan t0 as a   [ID: a__k]
--         scan t1 as b   [ID: b__k]
--     scan t2 as c   [ID: c__k]

-- base diffs
-- INS(a__k; assigns a__y) from d_ins__a
-- DEL(a__k; knows a__y) from d_del__a
-- UPD(a__k; assigns a__y) from d_upd__a
-- INS(b__k; assigns b__z) from d_ins__b
-- DEL(b__k; knows b__z) from d_del__b
-- UPD(b__k; assigns b__z) from d_upd__b
-- INS(c__k; assigns c__w) from d_ins__c
-- DEL(c__k; knows c__w) from d_del__c
-- UPD(c__k; assigns c__w) from d_upd__c

-- rules
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd_lookup  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd_lookup  (upd → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd_again  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd_again  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd_lookup  (upd → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k, b__k, c__k; assigns v__s) from d_ins__a: see below
-- i-diff 2: DEL(a__k) from d_del__a: see below
-- i-diff 3: INS(a__k, b__k, c__k; assigns v__s) from d_ins__b: see below
-- i-diff 4: DEL(b__k) from d_del__b: see below
-- i-diff 5: INS(a__k, b__k, c__k; assigns v__s) from d_ins__c: see below
-- i-diff 6: DEL(c__k) from d_del__c: see below
-- i-diff 7: UPD(a__k, b__k, c__k; assigns v__s) from d_upd__c
-- guard: d_upd__c has rows
SELECT a.k AS a__k, b.k AS b__k, c.k AS c__k, (a.y + b.z) + c.w AS v__s
FROM t0 AS a
JOIN t1 AS b ON a.k = b.k
JOIN t2 AS c ON a.k = c.k
WHERE EXISTS(SELECT 1 FROM d_upd__c WHERE d_upd__c.c__k IS NOT DISTINCT FROM c.k);
-- i-diff 8: REC(a__k, b__k) from d_upd__a+d_upd__b
-- guard: d_upd__a has rows or d_upd__b has rows
SELECT keys.a__k, keys.b__k
FROM (
  SELECT DISTINCT united.a__k, united.b__k
  FROM (
    SELECT a.k AS a__k, b.k AS b__k
    FROM t0 AS a
    JOIN t1 AS b ON a.k = b.k
    WHERE EXISTS(SELECT 1 FROM d_upd__a WHERE d_upd__a.a__k IS NOT DISTINCT FROM a.k)
    UNION ALL
    SELECT a_2.k AS a__k, b_2.k AS b__k
    FROM t0 AS a_2
    JOIN t1 AS b_2 ON a_2.k = b_2.k
    WHERE EXISTS(SELECT 1 FROM d_upd__b WHERE d_upd__b.b__k IS NOT DISTINCT FROM b_2.k)) AS united
) AS keys;

-- Δ-script (optimised)
-- i-diff 1: INS(a__k, b__k, c__k; assigns v__s) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, b.k AS b__k, c.k AS c__k, (d_ins__a.a__y + b.z) + c.w AS v__s
FROM d_ins__a
JOIN t1 AS b ON d_ins__a.a__k = b.k
JOIN t2 AS c ON d_ins__a.a__k = c.k;
-- i-diff 2: DEL(a__k) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k FROM d_del__a;
-- i-diff 3: INS(a__k, b__k, c__k; assigns v__s) from d_ins__b
-- guard: d_ins__b has rows
SELECT a.k AS a__k, d_ins__b.b__k, c.k AS c__k, (a.y + d_ins__b.b__z) + c.w AS v__s
FROM d_ins__b
JOIN t0 AS a ON a.k = d_ins__b.b__k
JOIN t2 AS c ON a.k = c.k;
-- i-diff 4: DEL(b__k) from d_del__b
-- guard: d_del__b has rows
SELECT d_del__b.b__k FROM d_del__b;
-- i-diff 5: INS(a__k, b__k, c__k; assigns v__s) from d_ins__c
-- guard: d_ins__c has rows
SELECT a.k AS a__k, b.k AS b__k, d_ins__c.c__k, (a.y + b.z) + d_ins__c.c__w AS v__s
FROM d_ins__c
CROSS JOIN t0 AS a
JOIN t1 AS b ON a.k = b.k AND a.k = d_ins__c.c__k;
-- i-diff 6: DEL(c__k) from d_del__c
-- guard: d_del__c has rows
SELECT d_del__c.c__k FROM d_del__c;
-- i-diff 7: UPD(a__k, b__k, c__k; assigns v__s) from d_upd__c
-- guard: d_upd__c has rows
SELECT a.k AS a__k, b.k AS b__k, d_upd__c.c__k, (a.y + b.z) + d_upd__c.c__w AS v__s
FROM t0 AS a
JOIN t1 AS b ON a.k = b.k
JOIN d_upd__c ON a.k = d_upd__c.c__k;
-- i-diff 8: REC(a__k, b__k) from d_upd__a+d_upd__b
-- guard: d_upd__a has rows or d_upd__b has rows
SELECT keys.a__k, keys.b__k
FROM (
  SELECT DISTINCT united.a__k, united.b__k
  FROM (
    SELECT d_upd__a.a__k, b.k AS b__k
    FROM d_upd__a
    JOIN t1 AS b ON d_upd__a.a__k = b.k
    UNION ALL
    SELECT a.k AS a__k, d_upd__b.b__k
    FROM t0 AS a
    JOIN d_upd__b ON a.k = d_upd__b.b__k) AS united
) AS keys;
