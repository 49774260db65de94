SELECT
  idivm_c1 AS id,
  idivm_c2 AS `My Price`,
  idivm_c3 AS idivm_c1,
  CASE WHEN idivm_weight > 0 THEN 'insert' ELSE 'delete' END AS idivm__change,
  CAST(ABS(idivm_weight) AS BIGINT) AS idivm__copies,
  CAST(7 AS BIGINT) AS idivm__refresh,
  CONCAT('{"main.orders": 4, "main.`$', '{x}`": 1}') AS idivm__versions
FROM (
  SELECT
    id AS idivm_c1,
    CAST(CAST(`My Price` AS STRING) AS DOUBLE) AS idivm_c2,
    ANY_VALUE(idivm_c1) AS idivm_c3,
    SUM(CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END) AS idivm_weight
  FROM TABLE_CHANGES('main.v', 4, 5)
  GROUP BY
    id,
    CAST(`My Price` AS STRING),
    TO_JSON(STRUCT(idivm_c1 AS v)) || CAST(idivm_c1 AS STRING)
  HAVING
    SUM(CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END) <> 0
) AS net_rows
