-- title
-- V of the running example (idIVM §2): the parts of phones

-- schema
CREATE TABLE devices (did INT, category STRING, PRIMARY KEY (did));
CREATE TABLE parts (pid INT, price INT, PRIMARY KEY (pid));
CREATE TABLE devices_parts (did INT, pid INT, PRIMARY KEY (did, pid));

-- view
SELECT d.did, p.pid, p.price
FROM parts AS p
JOIN devices_parts AS dp ON p.pid = dp.pid
JOIN devices AS d ON dp.did = d.did
WHERE d.category = 'phone';

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
-- π d__did, p__pid, p__price, dp__did, dp__pid   [ID: p__pid, dp__did, dp__pid, d__did]
--   σ d__category = 'phone'   [ID: p__pid, dp__did, dp__pid, d__did]
--     ⋈ dp__did = d__did   [ID: p__pid, dp__did, dp__pid, d__did]
--       ⋈ p__pid = dp__pid   [ID: p__pid, dp__did, dp__pid]
--         scan parts as p   [ID: p__pid]
--         scan devices_parts as dp   [ID: dp__did, dp__pid]
--       scan devices as d   [ID: d__did]

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
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)

-- Δ-script (optimised)
-- i-diff 1: INS(p__pid, dp__did, dp__pid, d__did; assigns p__price) from d_ins__p
-- guard: d_ins__p has rows
SELECT d_ins__p.p__pid, dp.did AS dp__did, dp.pid AS dp__pid, d.did AS d__did, d_ins__p.p__price
FROM d_ins__p
JOIN devices_parts AS dp ON d_ins__p.p__pid = dp.pid
JOIN devices AS d ON dp.did = d.did
WHERE d.category = 'phone';
-- i-diff 2: DEL(p__pid; knows p__price) from d_del__p
-- guard: d_del__p has rows
SELECT d_del__p.p__pid, d_del__p.p__price FROM d_del__p;
-- i-diff 3: UPD(p__pid; assigns p__price) from d_upd__p
-- guard: d_upd__p has rows
SELECT d_upd__p.p__pid, d_upd__p.p__price FROM d_upd__p;
-- i-diff 4: INS(p__pid, dp__did, dp__pid, d__did; assigns p__price) from d_ins__dp
-- guard: d_ins__dp has rows
SELECT p.pid AS p__pid, d_ins__dp.dp__did, d_ins__dp.dp__pid, d.did AS d__did, p.price AS p__price
FROM d_ins__dp
JOIN parts AS p ON p.pid = d_ins__dp.dp__pid
JOIN devices AS d ON d_ins__dp.dp__did = d.did
WHERE d.category = 'phone';
-- i-diff 5: DEL(dp__did, dp__pid) from d_del__dp
-- guard: d_del__dp has rows
SELECT d_del__dp.dp__did, d_del__dp.dp__pid FROM d_del__dp;
-- i-diff 6: INS(p__pid, dp__did, dp__pid, d__did; assigns p__price) from d_ins__d
-- guard: d_ins__d has rows
SELECT p.pid AS p__pid, dp.did AS dp__did, dp.pid AS dp__pid, d_ins__d.d__did, p.price AS p__price
FROM d_ins__d
CROSS JOIN parts AS p
JOIN devices_parts AS dp ON p.pid = dp.pid AND dp.did = d_ins__d.d__did
WHERE d_ins__d.d__category = 'phone';
-- i-diff 7: DEL(d__did) from d_del__d
-- guard: d_del__d has rows
SELECT d_del__d.d__did FROM d_del__d WHERE d_del__d.d__category = 'phone';
-- i-diff 8: REC(d__did) from d_rec__d
-- guard: d_rec__d has rows
SELECT d_rec__d.d__did FROM d_rec__d WHERE d_rec__d.d__category = 'phone';
