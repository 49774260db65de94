SELECT
  id,
  `My Price`,
  idivm_c1,
  'insert' AS idivm__change,
  CAST(1 AS BIGINT) AS idivm__copies,
  CAST(7 AS BIGINT) AS idivm__refresh,
  CONCAT('{"main.orders": 4, "main.`$', '{x}`": 1}') AS idivm__versions
FROM main.v VERSION AS OF 5
