-- before
SELECT id, cid, price * 2 AS twice FROM orders WHERE status = 'open'

-- after
SELECT o.id, o.cid, c.name FROM orders o LEFT JOIN customers c ON c.id = o.cid WHERE o.status = 'open'

-- edits: look-up, columns over stored ones

-- rows
SELECT
  `stored`.id,
  `stored`.cid,
  c_2.c__name AS name,
  c_2.c__id AS idivm__c__id,
  c_2.c_2__has_right AS idivm__c_2__has_right
FROM `view` VERSION AS OF 7 AS `stored`
LEFT JOIN (
  SELECT
    c.id AS c__id,
    c.name AS c__name,
    1 AS c_2__has_right
  FROM customers VERSION AS OF 4 AS c
) AS c_2
  ON c_2.c__id = `stored`.cid
