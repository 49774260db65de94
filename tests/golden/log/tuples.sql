WITH d_signed__c AS (
  SELECT
    CAST(c1 AS BIGINT) AS c__id,
    CAST(c2 AS STRING) AS c__name,
    CAST(c3 AS INT) AS idivm_sign
  FROM VALUES
    (1, 'ann', -1),
    (1, 'ANN', 1) AS r(c1, c2, c3)
)
INSERT INTO main.v__idivm_changes (
  name,
  price,
  again,
  idivm__change,
  idivm__copies,
  idivm__refresh,
  idivm__versions
)
SELECT
  idivm_c1 AS name,
  idivm_c2 AS price,
  idivm_c3 AS again,
  CASE WHEN idivm_weight > 0 THEN 'insert' ELSE 'delete' END AS idivm__change,
  CAST(ABS(idivm_weight) AS BIGINT) AS idivm__copies,
  CAST(7 AS BIGINT) AS idivm__refresh,
  CONCAT('{"main.orders": 4, "main.`$', '{x}`": 1}') AS idivm__versions
FROM (
  SELECT
    c__name AS idivm_c1,
    o__price AS idivm_c2,
    o__price AS idivm_c3,
    SUM(idivm_sign) AS idivm_weight
  FROM (
    SELECT
      d_signed__c.c__name,
      o.price AS o__price,
      o.id AS o__id,
      d_signed__c.c__id,
      d_signed__c.idivm_sign
    FROM d_signed__c
    JOIN orders VERSION AS OF 4 AS o
      ON o.cid = d_signed__c.c__id
    WHERE
      o.cid BETWEEN 1 AND 1
  ) AS signed_rows
  GROUP BY
    c__name,
    o__price,
    o__price
  HAVING
    SUM(idivm_sign) <> 0
) AS net_rows
