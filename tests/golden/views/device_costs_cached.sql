-- title
-- V' of the running example with the cache below γ (idIVM §4, Figure 7)

-- schema
CREATE TABLE devices (did INT, category STRING, PRIMARY KEY (did));
CREATE TABLE parts (pid INT, price INT, PRIMARY KEY (pid));
CREATE TABLE devices_parts (did INT, pid INT, PRIMARY KEY (did, pid));

-- view (caches)
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
-- cache 1
-- because it is the input of γ by dp__did, which is evaluated from it, without the tables below
-- π parts__price, devices_parts__did, parts__pid, devices_parts__pid, devices__did   [ID: parts__pid, devices_parts__did, devices_parts__pid, devices__did]
--   σ devices__category = 'phone'   [ID: parts__pid, devices_parts__did, devices_parts__pid, devices__did]
--     ⋈ devices_parts__did = devices__did   [ID: parts__pid, devices_parts__did, devices_parts__pid, devices__did]
--       ⋈ parts__pid = devices_parts__pid   [ID: parts__pid, devices_parts__did, devices_parts__pid]
--         scan parts   [ID: parts__pid]
--         scan devices_parts   [ID: devices_parts__did, devices_parts__pid]
--       scan devices   [ID: devices__did]
-- view over it
-- π dp__did, v__cost, count__rows, count__p__price   [ID: dp__did]
--   γ dp__did; SUM(p__price) → v__cost, COUNT(*) → count__rows, COUNT(p__price) → count__p__price   [ID: dp__did]
--     scan idivm_cache_d4756a4c08ab_parts_devices_parts_devices as cache_1   [ID: p__pid, dp__did, dp__pid, d__did]

-- rules
-- cache 1
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
-- view over it
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_argument  (upd → 1)
-- project_rec  (rec → 1)
-- additive_rows  (COUNT(*) → count__rows)
-- additive_count  (COUNT(p__price) → count__p__price)
-- additive_sum  (SUM(p__price) → v__cost)

-- apply (updates)
-- cache 1
-- direct
MERGE INTO idivm_cache_d4756a4c08ab_parts_devices_parts_devices AS v
USING (SELECT d_upd__parts.parts__price AS parts__price, d_upd__parts.parts__pid AS parts__pid FROM d_upd__parts) AS d
ON v.parts__pid IS NOT DISTINCT FROM d.parts__pid
WHEN MATCHED AND NOT (v.parts__price IS NOT DISTINCT FROM d.parts__price) THEN UPDATE SET
  parts__price = d.parts__price;
-- view over it
-- additive
MERGE INTO maintained AS v
USING (
  SELECT change.dp__did, change.count__rows, change.count__p__price, change.v__cost
  FROM (
    SELECT
      d_signed__cache_1.dp__did,
      SUM(d_signed__cache_1.idivm_sign) AS count__rows,
      SUM(CASE WHEN d_signed__cache_1.p__price IS NULL THEN 0 ELSE d_signed__cache_1.idivm_sign END) AS count__p__price,
      COALESCE(
        SUM(
          CASE
            WHEN d_signed__cache_1.idivm_sign > 0
            THEN CAST(d_signed__cache_1.p__price AS BIGINT)
            ELSE -CAST(d_signed__cache_1.p__price AS BIGINT)
          END
        ),
        0
      ) AS v__cost
    FROM d_signed__cache_1
    GROUP BY d_signed__cache_1.dp__did
    HAVING
      SUM(d_signed__cache_1.idivm_sign) <> 0
      OR SUM(CASE WHEN d_signed__cache_1.p__price IS NULL THEN 0 ELSE d_signed__cache_1.idivm_sign END) <> 0
      OR COALESCE(
        SUM(
          CASE
            WHEN d_signed__cache_1.idivm_sign > 0
            THEN CAST(d_signed__cache_1.p__price AS BIGINT)
            ELSE -CAST(d_signed__cache_1.p__price AS BIGINT)
          END
        ),
        0
      ) <> 0
  ) AS change
) AS d
ON v.did IS NOT DISTINCT FROM d.dp__did
WHEN MATCHED AND d.count__rows < 0 AND v.idivm__count__rows + d.count__rows = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET
  cost = CASE WHEN (v.idivm__count__p__price + d.count__p__price) = 0 THEN NULL ELSE COALESCE(v.cost, 0) + d.v__cost
  END,
  idivm__count__rows = v.idivm__count__rows + d.count__rows,
  idivm__count__p__price = v.idivm__count__p__price + d.count__p__price
WHEN NOT MATCHED AND d.count__rows > 0 THEN INSERT (did, cost, idivm__count__rows, idivm__count__p__price) VALUES (
  d.dp__did,
  CASE WHEN (d.count__p__price) = 0 THEN NULL ELSE d.v__cost END,
  d.count__rows,
  d.count__p__price
);
