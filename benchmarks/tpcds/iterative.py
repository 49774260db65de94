"""Iterative OLAP: a question in several steps, each of which is a query over the former's result."""

from __future__ import annotations

from benchmarks.tpcds.question import Question

ITERATIVE = (
    Question(
        14,
        "sales of goods that all channels sell, above the mean of all sales, with totals",
        """
        with common as (
            select i_item_sk as item
            from item, (
                select i_brand_id, i_class_id, i_category_id from store_sales, item, date_dim
                where ss_item_sk = i_item_sk and ss_sold_date_sk = d_date_sk and d_year between 1999 and 2001
                intersect
                select i_brand_id, i_class_id, i_category_id from catalog_sales, item, date_dim
                where cs_item_sk = i_item_sk and cs_sold_date_sk = d_date_sk and d_year between 1999 and 2001
                intersect
                select i_brand_id, i_class_id, i_category_id from web_sales, item, date_dim
                where ws_item_sk = i_item_sk and ws_sold_date_sk = d_date_sk and d_year between 1999 and 2001
            ) x
            where item.i_brand_id = x.i_brand_id and item.i_class_id = x.i_class_id and item.i_category_id = x.i_category_id
        ),
        usual as (
            select avg(quantity * list_price) as sales
            from (
                select ss_quantity as quantity, ss_list_price as list_price from store_sales, date_dim
                where ss_sold_date_sk = d_date_sk and d_year between 1999 and 2001
                union all
                select cs_quantity, cs_list_price from catalog_sales, date_dim
                where cs_sold_date_sk = d_date_sk and d_year between 1999 and 2001
                union all
                select ws_quantity, ws_list_price from web_sales, date_dim
                where ws_sold_date_sk = d_date_sk and d_year between 1999 and 2001
            ) x
        )
        select channel, i_brand_id, i_class_id, i_category_id, sum(sales) as sales, sum(number) as number
        from (
            select 'store' as channel, i_brand_id, i_class_id, i_category_id, sum(ss_quantity * ss_list_price) as sales,
                count(*) as number
            from store_sales, item, date_dim
            where ss_item_sk in (select item from common) and ss_item_sk = i_item_sk and ss_sold_date_sk = d_date_sk
                and d_year = 2000 and d_moy = 1
            group by i_brand_id, i_class_id, i_category_id
            having sum(ss_quantity * ss_list_price) > (select sales from usual)
            union all
            select 'catalog', i_brand_id, i_class_id, i_category_id, sum(cs_quantity * cs_list_price), count(*)
            from catalog_sales, item, date_dim
            where cs_item_sk in (select item from common) and cs_item_sk = i_item_sk and cs_sold_date_sk = d_date_sk
                and d_year = 2000 and d_moy = 1
            group by i_brand_id, i_class_id, i_category_id
            having sum(cs_quantity * cs_list_price) > (select sales from usual)
            union all
            select 'web', i_brand_id, i_class_id, i_category_id, sum(ws_quantity * ws_list_price), count(*)
            from web_sales, item, date_dim
            where ws_item_sk in (select item from common) and ws_item_sk = i_item_sk and ws_sold_date_sk = d_date_sk
                and d_year = 2000 and d_moy = 1
            group by i_brand_id, i_class_id, i_category_id
            having sum(ws_quantity * ws_list_price) > (select sales from usual)
        ) y
        group by rollup (channel, i_brand_id, i_class_id, i_category_id)
        order by channel, i_brand_id, i_class_id, i_category_id
        limit 100""",
    ),
    Question(
        23,
        "catalogue and web sales of goods that sell often to the best customers of the stores",
        """
        with often as (
            select substr(i_item_desc, 1, 30) as about, i_item_sk as item, d_date as day, count(*) as number
            from store_sales, date_dim, item
            where ss_sold_date_sk = d_date_sk and ss_item_sk = i_item_sk and d_year in (2000, 2001)
            group by substr(i_item_desc, 1, 30), i_item_sk, d_date
            having count(*) > 1
        ),
        most as (
            select max(sales) as sales from (
                select c_customer_sk, sum(ss_quantity * ss_sales_price) as sales from store_sales, customer, date_dim
                where ss_customer_sk = c_customer_sk and ss_sold_date_sk = d_date_sk and d_year in (2000, 2001)
                group by c_customer_sk)
        ),
        best as (
            select c_customer_sk, sum(ss_quantity * ss_sales_price) as sales from store_sales, customer
            where ss_customer_sk = c_customer_sk
            group by c_customer_sk
            having sum(ss_quantity * ss_sales_price) > 0.3 * (select * from most)
        )
        select c_last_name, c_first_name, sum(sales) as sales
        from (
            select c_last_name, c_first_name, sum(cs_quantity * cs_list_price) as sales
            from catalog_sales, customer, date_dim
            where d_year = 2000 and d_moy = 1 and cs_sold_date_sk = d_date_sk and cs_item_sk in (select item from often)
                and cs_bill_customer_sk in (select c_customer_sk from best) and cs_bill_customer_sk = c_customer_sk
            group by c_last_name, c_first_name
            union all
            select c_last_name, c_first_name, sum(ws_quantity * ws_list_price)
            from web_sales, customer, date_dim
            where d_year = 2000 and d_moy = 1 and ws_sold_date_sk = d_date_sk and ws_item_sk in (select item from often)
                and ws_bill_customer_sk in (select c_customer_sk from best) and ws_bill_customer_sk = c_customer_sk
            group by c_last_name, c_first_name
        )
        group by c_last_name, c_first_name
        order by c_last_name, c_first_name, sales
        limit 100""",
    ),
    Question(
        24,
        "customers and stores where goods of a colour brought more than a part of the mean",
        """
        with paid as (
            select c_last_name, c_first_name, s_store_name, ca_state, s_state, i_color, i_current_price, i_manager_id, i_units,
                i_size, sum(ss_net_paid) as paid
            from store_sales, store_returns, store, item, customer, customer_address
            where ss_ticket_number = sr_ticket_number and ss_item_sk = sr_item_sk and ss_customer_sk = c_customer_sk
                and ss_item_sk = i_item_sk and ss_store_sk = s_store_sk and c_current_addr_sk = ca_address_sk
                and c_birth_country <> upper(ca_country) and s_market_id = 5
            group by c_last_name, c_first_name, s_store_name, ca_state, s_state, i_color, i_current_price, i_manager_id, i_units,
                i_size
        )
        select c_last_name, c_first_name, s_store_name, sum(paid) as paid
        from paid
        where i_color = 'red'
        group by c_last_name, c_first_name, s_store_name
        having sum(paid) > (select 0.05 * avg(paid) from paid)
        order by c_last_name, c_first_name, s_store_name
        limit 100""",
    ),
    Question(
        39,
        "goods whose stock varies in two successive months",
        """
        with stock as (
            select w_warehouse_name, w_warehouse_sk, i_item_sk, d_moy, mean, deviation,
                case mean when 0 then null else deviation / mean end as variation
            from (
                select w_warehouse_name, w_warehouse_sk, i_item_sk, d_moy, stddev_samp(inv_quantity_on_hand) as deviation,
                    avg(inv_quantity_on_hand) as mean
                from inventory, item, warehouse, date_dim
                where inv_item_sk = i_item_sk and inv_warehouse_sk = w_warehouse_sk and inv_date_sk = d_date_sk and d_year = 2000
                group by w_warehouse_name, w_warehouse_sk, i_item_sk, d_moy
            ) x
            where case mean when 0 then 0 else deviation / mean end > 0.1
        )
        select a.w_warehouse_sk, a.i_item_sk, a.d_moy, a.mean, a.variation, b.d_moy as next_moy, b.mean as next_mean,
            b.variation as next_variation
        from stock a, stock b
        where a.i_item_sk = b.i_item_sk and a.w_warehouse_sk = b.w_warehouse_sk and a.d_moy = 1 and b.d_moy = 1 + 1
        order by a.w_warehouse_sk, a.i_item_sk, a.d_moy, a.mean, a.variation, b.d_moy, b.mean, b.variation
        limit 100""",
    ),
    Question(
        47,
        "months of a brand and store that are far from the mean, with the months before and after",
        """
        with months as (
            select i_category, i_brand, s_store_name, s_company_name, d_year, d_moy, sum(ss_sales_price) as sales,
                avg(sum(ss_sales_price)) over (partition by i_category, i_brand, s_store_name, s_company_name, d_year) as mean,
                rank() over (partition by i_category, i_brand, s_store_name, s_company_name order by d_year, d_moy) as place
            from item, store_sales, date_dim, store
            where ss_item_sk = i_item_sk and ss_sold_date_sk = d_date_sk and ss_store_sk = s_store_sk
                and (d_year = 2000 or d_year = 1999 and d_moy = 12 or d_year = 2001 and d_moy = 1)
            group by i_category, i_brand, s_store_name, s_company_name, d_year, d_moy
        )
        select m.i_category, m.i_brand, m.s_store_name, m.d_year, m.d_moy, m.mean, m.sales, before.sales as sales_before,
            after.sales as sales_after
        from months m, months before, months after
        where m.i_category = before.i_category and m.i_category = after.i_category and m.i_brand = before.i_brand
            and m.i_brand = after.i_brand and m.s_store_name = before.s_store_name and m.s_store_name = after.s_store_name
            and m.s_company_name = before.s_company_name and m.s_company_name = after.s_company_name
            and m.place = before.place + 1 and m.place = after.place - 1 and m.d_year = 2000 and m.mean > 0
            and abs(m.sales - m.mean) / m.mean > 0.1
        order by m.sales - m.mean, m.d_moy
        limit 100""",
    ),
    Question(
        57,
        "the same of call centres, with the neighbours by lag and lead",
        """
        with months as (
            select i_category, i_brand, cc_name, d_year, d_moy, sum(cs_sales_price) as sales
            from item join catalog_sales on cs_item_sk = i_item_sk join date_dim on d_date_sk = cs_sold_date_sk
                join call_center on cc_call_center_sk = cs_call_center_sk
            where d_year = 2000 or d_year = 1999 and d_moy = 12 or d_year = 2001 and d_moy = 1
            group by i_category, i_brand, cc_name, d_year, d_moy
        ),
        beside as (
            select *, avg(sales) over (partition by i_category, i_brand, cc_name, d_year) as mean,
                lag(sales) over w as sales_before, lead(sales) over w as sales_after
            from months
            window w as (partition by i_category, i_brand, cc_name order by d_year, d_moy)
        )
        select i_category, i_brand, d_year, d_moy, mean, sales, sales_before, sales_after
        from beside
        where d_year = 2000 and mean > 0 and abs(sales - mean) / mean > 0.1 and sales_before is not null
        order by sales - mean, 3
        limit 100""",
    ),
)
