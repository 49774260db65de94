SELECT
  idivm_c1 AS id,
  idivm_c2 AS `My Price`,
  idivm_c3 AS idivm_c1,
  -idivm_weight AS idivm_difference
FROM (
  SELECT
    idivm_c1 AS idivm_c1,
    CAST(CAST(idivm_c2 AS STRING) AS DOUBLE) AS idivm_c2,
    ANY_VALUE(idivm_c3) AS idivm_c3,
    SUM(idivm_sign) AS idivm_weight
  FROM (
    SELECT
      idivm_c1,
      idivm_c2,
      idivm_c3,
      idivm_sign
    FROM (
      SELECT
        id AS idivm_c1,
        `My Price` AS idivm_c2,
        idivm_c1 AS idivm_c3,
        1 AS idivm_copies
      FROM main.v VERSION AS OF 5
    ) AS `rows`
    UNPIVOT INCLUDE NULLS (idivm_sign FOR idivm_label IN (idivm_copies))
    UNION ALL
    SELECT
      idivm_c1,
      idivm_c2,
      idivm_c3,
      idivm_sign
    FROM (
      SELECT
        id AS idivm_c1,
        `My Price` AS idivm_c2,
        idivm_c1 AS idivm_c3,
        -CASE WHEN idivm__change = 'insert' THEN idivm__copies ELSE -idivm__copies END AS idivm_copies
      FROM main.v__idivm_changes VERSION AS OF 6
    ) AS `rows`
    UNPIVOT INCLUDE NULLS (idivm_sign FOR idivm_label IN (idivm_copies))
  ) AS `both`
  GROUP BY
    idivm_c1,
    CAST(idivm_c2 AS STRING),
    TO_JSON(STRUCT(idivm_c3 AS v)) || CAST(idivm_c3 AS STRING)
  HAVING
    SUM(idivm_sign) <> 0
) AS differences
