"""Data mining: wide rows of customers, goods and their sales, as they are extracted for further analysis."""

from __future__ import annotations

from benchmarks.tpcds.question import Question

MINING = (
    Question(
        4,
        "customers whose purchases by catalogue grew more than those in stores and on the web",
        """
        with totals as (
            select c_customer_id as id, c_first_name, c_last_name, c_preferred_cust_flag, d_year as year,
                sum((ss_ext_list_price - ss_ext_wholesale_cost - ss_ext_discount_amt + ss_ext_sales_price) / 2) as total,
                's' as kind
            from customer, store_sales, date_dim
            where c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk
            group by c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year
            union all
            select c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year,
                sum((cs_ext_list_price - cs_ext_wholesale_cost - cs_ext_discount_amt + cs_ext_sales_price) / 2), 'c'
            from customer, catalog_sales, date_dim
            where c_customer_sk = cs_bill_customer_sk and cs_sold_date_sk = d_date_sk
            group by c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year
            union all
            select c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year,
                sum((ws_ext_list_price - ws_ext_wholesale_cost - ws_ext_discount_amt + ws_ext_sales_price) / 2), 'w'
            from customer, web_sales, date_dim
            where c_customer_sk = ws_bill_customer_sk and ws_sold_date_sk = d_date_sk
            group by c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year
        )
        select s2.id, s2.c_first_name, s2.c_last_name, s2.c_preferred_cust_flag
        from totals s1, totals s2, totals c1, totals c2, totals w1, totals w2
        where s2.id = s1.id and s1.id = c2.id and s1.id = c1.id and s1.id = w1.id and s1.id = w2.id
            and s1.kind = 's' and c1.kind = 'c' and w1.kind = 'w' and s2.kind = 's' and c2.kind = 'c' and w2.kind = 'w'
            and s1.year = 2000 and s2.year = 2001 and c1.year = 2000 and c2.year = 2001 and w1.year = 2000 and w2.year = 2001
            and s1.total > 0 and c1.total > 0 and w1.total > 0
            and c2.total / c1.total > s2.total / s1.total and c2.total / c1.total > w2.total / w1.total
        order by s2.id, s2.c_first_name, s2.c_last_name, s2.c_preferred_cust_flag
        limit 100""",
    ),
    Question(
        11,
        "customers whose purchases on the web grew more than those in stores",
        """
        with totals as (
            select c_customer_id as id, c_first_name, c_last_name, c_birth_country, d_year as year,
                sum(ss_ext_list_price - ss_ext_discount_amt) as total, 's' as kind
            from customer, store_sales, date_dim
            where c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk
            group by c_customer_id, c_first_name, c_last_name, c_birth_country, d_year
            union all
            select c_customer_id, c_first_name, c_last_name, c_birth_country, d_year,
                sum(ws_ext_list_price - ws_ext_discount_amt), 'w'
            from customer, web_sales, date_dim
            where c_customer_sk = ws_bill_customer_sk and ws_sold_date_sk = d_date_sk
            group by c_customer_id, c_first_name, c_last_name, c_birth_country, d_year
        )
        select s2.id, s2.c_first_name, s2.c_last_name, s2.c_birth_country
        from totals s1 join totals s2 on s2.id = s1.id join totals w1 on w1.id = s1.id join totals w2 on w2.id = s1.id
        where s1.kind = 's' and w1.kind = 'w' and s2.kind = 's' and w2.kind = 'w'
            and s1.year = 2000 and s2.year = 2001 and w1.year = 2000 and w2.year = 2001 and s1.total > 0 and w1.total > 0
            and case when w1.total > 0 then w2.total / w1.total else 0.0 end
                > case when s1.total > 0 then s2.total / s1.total else 0.0 end
        order by s2.id, s2.c_first_name, s2.c_last_name, s2.c_birth_country
        limit 100""",
    ),
    Question(
        17,
        "spreads of quantities that were bought, returned, and bought again by catalogue",
        """
        select i_item_id, i_item_desc, s_state,
            count(ss_quantity) as sold, avg(ss_quantity) as mean_sold, stddev_samp(ss_quantity) as deviation_sold,
            stddev_samp(ss_quantity) / avg(ss_quantity) as variation_sold,
            count(sr_return_quantity) as returned, avg(sr_return_quantity) as mean_returned,
            stddev_samp(sr_return_quantity) as deviation_returned,
            count(cs_quantity) as ordered, avg(cs_quantity) as mean_ordered, stddev_samp(cs_quantity) as deviation_ordered
        from store_sales, store_returns, catalog_sales, date_dim d1, date_dim d2, date_dim d3, store, item
        where d1.d_year = 2000 and d1.d_date_sk = ss_sold_date_sk and i_item_sk = ss_item_sk and s_store_sk = ss_store_sk
            and ss_customer_sk = sr_customer_sk and ss_item_sk = sr_item_sk and ss_ticket_number = sr_ticket_number
            and sr_returned_date_sk = d2.d_date_sk and d2.d_year in (2000, 2001)
            and sr_customer_sk = cs_bill_customer_sk and sr_item_sk = cs_item_sk and cs_sold_date_sk = d3.d_date_sk
            and d3.d_year in (1999, 2000, 2001)
        group by i_item_id, i_item_desc, s_state
        order by i_item_id, i_item_desc, s_state
        limit 100""",
    ),
    Question(
        22,
        "mean stock by product, brand, class and category, with totals",
        """
        select i_product_name, i_brand, i_class, i_category, avg(inv_quantity_on_hand) as stock
        from inventory, date_dim, item
        where inv_date_sk = d_date_sk and inv_item_sk = i_item_sk and d_month_seq between 1200 and 1211
        group by rollup (i_product_name, i_brand, i_class, i_category)
        order by stock, i_product_name, i_brand, i_class, i_category
        limit 100""",
    ),
    Question(
        25,
        "profits of goods that were bought, returned, and bought again by catalogue",
        """
        select i_item_id, i_item_desc, s_store_id, s_store_name, sum(ss_net_profit) as of_stores, sum(sr_net_loss) as of_returns,
            sum(cs_net_profit) as of_catalog
        from store_sales
            join store_returns on sr_customer_sk = ss_customer_sk and sr_item_sk = ss_item_sk
                and sr_ticket_number = ss_ticket_number
            join catalog_sales on cs_bill_customer_sk = sr_customer_sk and cs_item_sk = sr_item_sk
            join date_dim d1 on d1.d_date_sk = ss_sold_date_sk
            join date_dim d2 on d2.d_date_sk = sr_returned_date_sk
            join date_dim d3 on d3.d_date_sk = cs_sold_date_sk
            join store on s_store_sk = ss_store_sk
            join item on i_item_sk = ss_item_sk
        where d1.d_moy between 1 and 4 and d1.d_year = 2000 and d2.d_year >= 2000 and d3.d_year >= 1999
        group by i_item_id, i_item_desc, s_store_id, s_store_name
        order by i_item_id, i_item_desc, s_store_id, s_store_name
        limit 100""",
    ),
    Question(
        34,
        "customers with tickets of many lines",
        """
        select c_last_name, c_first_name, c_salutation, c_preferred_cust_flag, ss_ticket_number, lines
        from (
            select ss_ticket_number, ss_customer_sk, count(*) as lines
            from store_sales, date_dim, store, household_demographics
            where ss_sold_date_sk = d_date_sk and ss_store_sk = s_store_sk and ss_hdemo_sk = hd_demo_sk
                and (d_dom between 1 and 8 or d_dom between 9 and 28)
                and (hd_buy_potential = '>10000' or hd_buy_potential = 'Unknown') and hd_vehicle_count > 0
                and case when hd_vehicle_count > 0 then hd_dep_count / hd_vehicle_count else null end > 0.5
                and d_year in (1999, 2000, 2001) and s_county in ('Polk', 'Lake')
            group by ss_ticket_number, ss_customer_sk
        ) tickets, customer
        where ss_customer_sk = c_customer_sk and lines between 2 and 20
        order by c_last_name, c_first_name, c_salutation, c_preferred_cust_flag desc, ss_ticket_number
        limit 100""",
    ),
    Question(
        46,
        "what customers from elsewhere bought at weekends, ticket by ticket",
        """
        select c_last_name, c_first_name, now.ca_city, bought_city, ss_ticket_number, coupons, profit
        from (
            select ss_ticket_number, ss_customer_sk, ca_city as bought_city, sum(ss_coupon_amt) as coupons,
                sum(ss_net_profit) as profit
            from store_sales, date_dim, store, household_demographics, customer_address
            where ss_sold_date_sk = d_date_sk and ss_store_sk = s_store_sk and ss_hdemo_sk = hd_demo_sk
                and ss_addr_sk = ca_address_sk and (hd_dep_count = 4 or hd_vehicle_count between 0 and 3) and d_dow in (6, 0)
                and d_year in (1999, 2000, 2001) and s_city in ('Fairview', 'Midway')
            group by ss_ticket_number, ss_customer_sk, ss_addr_sk, ca_city
        ) dn, customer, customer_address now
        where ss_customer_sk = c_customer_sk and c_current_addr_sk = now.ca_address_sk and now.ca_city <> bought_city
        order by c_last_name, c_first_name, now.ca_city, bought_city, ss_ticket_number
        limit 100""",
    ),
    Question(
        64,
        "goods that the same shops sold in two successive years, with who bought them and where",
        """
        with refunds as (
            select cs_item_sk, sum(cs_ext_list_price) as sale, sum(cr_return_amount) as refund
            from catalog_sales, catalog_returns
            where cs_item_sk = cr_item_sk and cs_order_number = cr_order_number
            group by cs_item_sk
            having sum(cs_ext_list_price) > 0.5 * sum(cr_return_amount)
        ),
        sales as (
            select i_product_name as product, i_item_sk as item, s_store_name as store_name, s_zip as store_zip,
                bought.ca_city as bought_city, bought.ca_zip as bought_zip, lives.ca_city as lives_city,
                lives.ca_zip as lives_zip,
                d1.d_year as year, d2.d_year as first_sale, d3.d_year as first_shipped, count(*) as number,
                sum(ss_wholesale_cost) as cost, sum(ss_list_price) as price, sum(ss_coupon_amt) as coupons
            from store_sales, store_returns, refunds, date_dim d1, date_dim d2, date_dim d3, store, customer,
                customer_demographics at_sale, customer_demographics now, promotion, household_demographics h1,
                household_demographics h2, customer_address bought, customer_address lives, income_band b1, income_band b2, item
            where ss_store_sk = s_store_sk and ss_sold_date_sk = d1.d_date_sk and ss_customer_sk = c_customer_sk
                and ss_cdemo_sk = at_sale.cd_demo_sk and ss_hdemo_sk = h1.hd_demo_sk and ss_addr_sk = bought.ca_address_sk
                and ss_item_sk = i_item_sk and ss_item_sk = sr_item_sk and ss_ticket_number = sr_ticket_number
                and ss_item_sk = refunds.cs_item_sk and c_current_cdemo_sk = now.cd_demo_sk and c_current_hdemo_sk = h2.hd_demo_sk
                and c_current_addr_sk = lives.ca_address_sk and c_first_sales_date_sk = d2.d_date_sk
                and c_first_shipto_date_sk = d3.d_date_sk and ss_promo_sk = p_promo_sk
                and h1.hd_income_band_sk = b1.ib_income_band_sk and h2.hd_income_band_sk = b2.ib_income_band_sk
                and at_sale.cd_marital_status <> now.cd_marital_status and i_color in ('red', 'blue')
                and i_current_price between 5 and 90
            group by i_product_name, i_item_sk, s_store_name, s_zip, bought.ca_city, bought.ca_zip, lives.ca_city, lives.ca_zip,
                d1.d_year, d2.d_year, d3.d_year
        )
        select a.product, a.store_name, a.store_zip, a.bought_city, a.bought_zip, a.lives_city, a.lives_zip, a.year, a.number,
            a.cost, a.price, a.coupons, b.cost as cost_after, b.price as price_after, b.coupons as coupons_after,
            b.year as year_after, b.number as number_after
        from sales a, sales b
        where a.item = b.item and a.year = 2000 and b.year = 2001 and b.number <= a.number and a.store_name = b.store_name
            and a.store_zip = b.store_zip
        order by a.product, a.store_name, number_after, a.cost, cost_after
        limit 100""",
    ),
    Question(
        72,
        "catalogue orders of goods that were out of stock, with and without promotion",
        """
        select i_item_desc, w_warehouse_name, d1.d_week_seq, sum(case when p_promo_sk is null then 1 else 0 end) as unpromoted,
            sum(case when p_promo_sk is not null then 1 else 0 end) as promoted, count(*) as total
        from catalog_sales
            join inventory on cs_item_sk = inv_item_sk
            join warehouse on w_warehouse_sk = inv_warehouse_sk
            join item on i_item_sk = cs_item_sk
            join customer_demographics on cs_bill_cdemo_sk = cd_demo_sk
            join household_demographics on cs_bill_hdemo_sk = hd_demo_sk
            join date_dim d1 on cs_sold_date_sk = d1.d_date_sk
            join date_dim d2 on inv_date_sk = d2.d_date_sk
            join date_dim d3 on cs_ship_date_sk = d3.d_date_sk
            left outer join promotion on cs_promo_sk = p_promo_sk
            left outer join catalog_returns on cr_item_sk = cs_item_sk and cr_order_number = cs_order_number
        where d1.d_week_seq = d2.d_week_seq and inv_quantity_on_hand < cs_quantity * 20 and d3.d_date > d1.d_date + 2
            and hd_buy_potential = '>10000' and d1.d_year = 2000 and cd_marital_status in ('M', 'S')
        group by i_item_desc, w_warehouse_name, d1.d_week_seq
        order by total desc, i_item_desc, w_warehouse_name, d_week_seq
        limit 100""",
    ),
    Question(
        74,
        "customers whose yearly totals on the web grew more than those in stores",
        """
        with totals as (
            select c_customer_id as id, c_first_name, c_last_name, d_year as year, max(ss_net_paid) as total, 's' as kind
            from customer join store_sales on ss_customer_sk = c_customer_sk join date_dim on d_date_sk = ss_sold_date_sk
            where d_year in (2000, 2001)
            group by c_customer_id, c_first_name, c_last_name, d_year
            union all
            select c_customer_id, c_first_name, c_last_name, d_year, max(ws_net_paid), 'w'
            from customer join web_sales on ws_bill_customer_sk = c_customer_sk join date_dim on d_date_sk = ws_sold_date_sk
            where d_year in (2000, 2001)
            group by c_customer_id, c_first_name, c_last_name, d_year
        )
        select s2.id, s2.c_first_name, s2.c_last_name
        from totals s1, totals s2, totals w1, totals w2
        where s2.id = s1.id and s1.id = w2.id and s1.id = w1.id and s1.kind = 's' and w1.kind = 'w' and s2.kind = 's'
            and w2.kind = 'w' and s1.year = 2000 and s2.year = 2001 and w1.year = 2000 and w2.year = 2001
            and s1.total > 0 and w1.total > 0
            and case when w1.total > 0 then w2.total / w1.total end > case when s1.total > 0 then s2.total / s1.total end
        order by all
        limit 100""",
    ),
)
