-- before
SELECT o.id, o.price, c.name FROM orders o JOIN customers c ON c.id = o.cid WHERE c.region <> 'US'

-- after
SELECT o.id, o.price, c.name, upper(c.region) AS region FROM orders o JOIN customers c ON c.id = o.cid WHERE c.region <> 'US' AND c.region < 'F'

-- edits: columns looked up, condition narrowed, columns over stored ones

-- rows
SELECT
  `stored`.id,
  `stored`.price,
  `stored`.name,
  UPPER(c.region) AS region,
  `stored`.idivm__c__id
FROM `view` VERSION AS OF 7 AS `stored`
JOIN customers VERSION AS OF 4 AS c
  ON `stored`.idivm__c__id IS NOT DISTINCT FROM c.id
WHERE
  c.region <> 'US' AND c.region < 'F'
