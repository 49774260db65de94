-- before
SELECT cid, count(*) AS n, sum(price) AS total FROM orders WHERE status = 'open' GROUP BY cid

-- after
SELECT cid, count(*) AS n, sum(price) AS total FROM orders WHERE status = 'new' GROUP BY cid

-- edits: constants moved

-- statement
MERGE INTO `view` AS v
USING (
  SELECT
    change.orders__cid,
    change.v__n,
    change.count__orders__price,
    change.v__total
  FROM (
    SELECT
      united.orders__cid,
      SUM(united.idivm_sign) AS v__n,
      SUM(CASE WHEN united.orders__price IS NULL THEN 0 ELSE united.idivm_sign END) AS count__orders__price,
      COALESCE(
        SUM(
          CASE
            WHEN united.idivm_sign > 0
            THEN united.orders__price
            ELSE -united.orders__price
          END
        ),
        0
      ) AS v__total
    FROM (
      SELECT
        orders.id AS orders__id,
        orders.cid AS orders__cid,
        orders.status AS orders__status,
        orders.price AS orders__price,
        CAST('new' AS STRING) AS clock__t1,
        1 AS idivm_sign
      FROM orders VERSION AS OF 3 AS orders
      WHERE
        orders.status = CAST('new' AS STRING)
        AND (
          NOT (
            orders.status = CAST('open' AS STRING)
          )
          OR (
            orders.status = CAST('open' AS STRING)
          ) IS NULL
        )
      UNION ALL
      SELECT
        orders_2.id AS orders__id,
        orders_2.cid AS orders__cid,
        orders_2.status AS orders__status,
        orders_2.price AS orders__price,
        CAST('new' AS STRING) AS clock__t1,
        -1 AS idivm_sign
      FROM orders VERSION AS OF 3 AS orders_2
      WHERE
        orders_2.status = CAST('open' AS STRING)
        AND (
          NOT (
            orders_2.status = CAST('new' AS STRING)
          )
          OR (
            orders_2.status = CAST('new' AS STRING)
          ) IS NULL
        )
    ) AS united
    GROUP BY
      united.orders__cid
    HAVING
      SUM(united.idivm_sign) <> 0
      OR SUM(CASE WHEN united.orders__price IS NULL THEN 0 ELSE united.idivm_sign END) <> 0
      OR COALESCE(
        SUM(
          CASE
            WHEN united.idivm_sign > 0
            THEN united.orders__price
            ELSE -united.orders__price
          END
        ),
        0
      ) <> 0
  ) AS change
) AS d
ON v.cid IS NOT DISTINCT FROM d.orders__cid
WHEN MATCHED AND d.v__n < 0 AND v.n + d.v__n = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET
  n = v.n + d.v__n,
  total = CAST(CASE
    WHEN (
      v.idivm__count__orders__price + d.count__orders__price
    ) = 0
    THEN NULL
    ELSE COALESCE(v.total, 0) + d.v__total
  END AS DECIMAL(20, 2)),
  idivm__count__orders__price = v.idivm__count__orders__price + d.count__orders__price
WHEN NOT MATCHED AND d.v__n > 0 THEN INSERT (cid, n, total, idivm__count__orders__price) VALUES (
  d.orders__cid,
  d.v__n,
  CAST(CASE WHEN (
    d.count__orders__price
  ) = 0 THEN NULL ELSE d.v__total END AS DECIMAL(20, 2)),
  d.count__orders__price
)
