-- before
SELECT o.id, o.price, c.name FROM orders o LEFT JOIN customers c ON c.id = o.cid

-- after
SELECT o.id, o.price, c.name, c.region FROM orders o LEFT JOIN customers c ON c.id = o.cid

-- edits: columns looked up, columns over stored ones

-- rows
SELECT
  `stored`.id,
  `stored`.price,
  `stored`.name,
  c.region,
  `stored`.idivm__c__id,
  `stored`.idivm__c_2__has_right
FROM `view` VERSION AS OF 7 AS `stored`
LEFT JOIN customers VERSION AS OF 4 AS c
  ON `stored`.idivm__c__id = c.id
