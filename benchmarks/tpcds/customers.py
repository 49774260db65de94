"""Ad hoc questions about customers, orders and returns: EXISTS and IN, subqueries, INTERSECT and EXCEPT, FULL JOIN."""

from __future__ import annotations

from benchmarks.tpcds.question import Question

OF_CUSTOMERS = (
    Question(
        1,
        "customers who returned much more than the mean of their store",
        """
        with returned as (
            select sr_customer_sk as customer, sr_store_sk as store_sk, sum(sr_return_amt) as amount
            from store_returns, date_dim
            where sr_returned_date_sk = d_date_sk and d_year = 2000
            group by sr_customer_sk, sr_store_sk
        )
        select c_customer_id
        from returned r, store, customer
        where r.amount > (select avg(amount) * 1.2 from returned o where r.store_sk = o.store_sk)
            and s_store_sk = r.store_sk and s_state = 'TN' and r.customer = c_customer_sk
        order by c_customer_id
        limit 100""",
    ),
    Question(
        8,
        "profit of stores near places with many preferred customers",
        """
        select s_store_name, sum(ss_net_profit) as profit
        from store_sales, date_dim, store,
            (select zip from (
                select substr(ca_zip, 1, 5) as zip from customer_address where substr(ca_zip, 1, 5) in ('10001', '10002', '24068')
                intersect
                select zip from (
                    select substr(ca_zip, 1, 5) as zip, count(*) as customers
                    from customer_address, customer
                    where ca_address_sk = c_current_addr_sk and c_preferred_cust_flag = 'Y'
                    group by ca_zip
                    having count(*) > 1
                ) preferred
            ) both) places
        where ss_store_sk = s_store_sk and ss_sold_date_sk = d_date_sk and d_qoy = 1 and d_year = 2000
            and substr(s_zip, 1, 2) = substr(places.zip, 1, 2)
        group by s_store_name
        order by s_store_name
        limit 100""",
    ),
    Question(
        10,
        "profiles of customers of two counties who buy in stores and on the web or by catalogue",
        """
        select cd_gender, cd_marital_status, cd_education_status, count(*) as customers, cd_purchase_estimate,
            count(*) as with_estimate, cd_credit_rating, count(*) as with_rating, cd_dep_count
        from customer c, customer_address a, customer_demographics
        where c.c_current_addr_sk = a.ca_address_sk and ca_county in ('Polk', 'Lake') and cd_demo_sk = c.c_current_cdemo_sk
            and exists (select * from store_sales, date_dim
                where c.c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk and d_year = 2000
                    and d_moy between 1 and 4)
            and (exists (select * from web_sales, date_dim
                    where c.c_customer_sk = ws_bill_customer_sk and ws_sold_date_sk = d_date_sk and d_year = 2000
                        and d_moy between 1 and 4)
                or exists (select * from catalog_sales, date_dim
                    where c.c_customer_sk = cs_ship_customer_sk and cs_sold_date_sk = d_date_sk and d_year = 2000
                        and d_moy between 1 and 4))
        group by cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating, cd_dep_count
        order by cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating, cd_dep_count
        limit 100""",
    ),
    Question(
        30,
        "customers of a state who returned on the web more than the mean of their state",
        """
        with returned as (
            select wr_returning_customer_sk as customer, ca_state as state, sum(wr_return_amt) as amount
            from web_returns join date_dim on d_date_sk = wr_returned_date_sk join web_page on wp_web_page_sk = wr_web_page_sk
                join customer_address on ca_address_sk = wr_refunded_addr_sk
            where d_year = 2000
            group by wr_returning_customer_sk, ca_state
        )
        select c_customer_id, c_salutation, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_year, c_email_address,
            amount
        from returned r join customer on c_customer_sk = r.customer join customer_address on ca_address_sk = c_current_addr_sk
        where r.amount > (select avg(o.amount) * 1.1 from returned o where o.state = r.state) and ca_state = 'TN'
        order by c_customer_id, c_salutation, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_year, c_email_address,
            amount
        limit 100""",
    ),
    Question(
        32,
        "discounts of catalogue sales that were far above the mean of their item",
        """
        select sum(cs_ext_discount_amt) as excess
        from catalog_sales s, item, date_dim
        where i_manufact_id = 1 and i_item_sk = s.cs_item_sk and d_date_sk = s.cs_sold_date_sk
            and d_date between date '2000-01-01' and date '2000-01-01' + interval 90 days
            and s.cs_ext_discount_amt > (
                select 1.1 * avg(cs_ext_discount_amt) from catalog_sales, date_dim
                where cs_item_sk = i_item_sk and d_date_sk = cs_sold_date_sk
                    and d_date between date '2000-01-01' and date '2000-01-01' + interval 90 days)
        order by sum(cs_ext_discount_amt)
        limit 100""",
    ),
    Question(
        35,
        "profiles of customers of all channels, with spreads of their dependants",
        """
        select ca_state, cd_gender, cd_marital_status, cd_dep_count, count(*) as customers, min(cd_dep_count) as least,
            max(cd_dep_count) as most, avg(cd_dep_count) as mean
        from customer c join customer_address on ca_address_sk = c.c_current_addr_sk
            join customer_demographics on cd_demo_sk = c.c_current_cdemo_sk
        where exists (select 1 from store_sales join date_dim on d_date_sk = ss_sold_date_sk
                where ss_customer_sk = c.c_customer_sk and d_year = 2000 and d_qoy < 4)
            and (c.c_customer_sk in (select ws_bill_customer_sk from web_sales join date_dim on d_date_sk = ws_sold_date_sk
                    where d_year = 2000 and d_qoy < 4)
                or c.c_customer_sk in (select cs_ship_customer_sk from catalog_sales join date_dim on d_date_sk = cs_sold_date_sk
                    where d_year = 2000 and d_qoy < 4))
        group by ca_state, cd_gender, cd_marital_status, cd_dep_count
        order by ca_state, cd_gender, cd_marital_status, cd_dep_count
        limit 100""",
    ),
    Question(
        38,
        "how many customers bought through all channels on one day",
        """
        select count(*) as customers
        from (
            select distinct c_last_name, c_first_name, d_date from store_sales, date_dim, customer
            where ss_sold_date_sk = d_date_sk and ss_customer_sk = c_customer_sk and d_month_seq between 1200 and 1211
            intersect
            select distinct c_last_name, c_first_name, d_date from catalog_sales, date_dim, customer
            where cs_sold_date_sk = d_date_sk and cs_bill_customer_sk = c_customer_sk and d_month_seq between 1200 and 1211
            intersect
            select distinct c_last_name, c_first_name, d_date from web_sales, date_dim, customer
            where ws_sold_date_sk = d_date_sk and ws_bill_customer_sk = c_customer_sk and d_month_seq between 1200 and 1211
        ) everywhere
        limit 100""",
    ),
    Question(
        41,
        "products of makers who offer some combinations of colour, unit and size",
        """
        select distinct i.i_product_name
        from item i
        where i.i_manufact_id between 1 and 2
            and (select count(*) from item j
                where j.i_manufact = i.i_manufact
                    and (j.i_category = 'Books' and j.i_color in ('blue', 'green') and j.i_units in ('Each', 'Box')
                            and j.i_size = 'small'
                        or j.i_category = 'Home' and j.i_color in ('red', 'green') and j.i_units = 'Box'
                            and j.i_size in ('large', 'small'))) > 0
        order by i.i_product_name
        limit 100""",
    ),
    Question(
        45,
        "web sales by zip and city, of some zips or some items",
        """
        select ca_zip, ca_city, sum(ws_sales_price) as sales
        from web_sales, customer, customer_address, date_dim, item
        where ws_bill_customer_sk = c_customer_sk and c_current_addr_sk = ca_address_sk and ws_item_sk = i_item_sk
            and ws_sold_date_sk = d_date_sk and d_qoy = 1 and d_year = 2000
            and (substr(ca_zip, 1, 5) in ('10001', '24068')
                or i_item_id in (select i_item_id from item where i_item_sk in (2, 3, 5, 7)))
        group by ca_zip, ca_city
        order by ca_zip, ca_city
        limit 100""",
    ),
    Question(
        50,
        "returns to stores by how many days after the sale they came",
        """
        select s_store_name, s_company_name, s_city, s_county, s_state,
            count_if(sr_returned_date_sk - ss_sold_date_sk <= 5) as to_5_days,
            count_if(sr_returned_date_sk - ss_sold_date_sk > 5 and sr_returned_date_sk - ss_sold_date_sk <= 30) as to_30_days,
            count_if(sr_returned_date_sk - ss_sold_date_sk > 30) as more_days
        from store_sales
            join store_returns on sr_ticket_number = ss_ticket_number and sr_item_sk = ss_item_sk
                and sr_customer_sk = ss_customer_sk
            join store on s_store_sk = ss_store_sk
            join date_dim sold on sold.d_date_sk = ss_sold_date_sk
            join date_dim back on back.d_date_sk = sr_returned_date_sk
        where back.d_year = 2000
        group by s_store_name, s_company_name, s_city, s_county, s_state
        order by s_store_name, s_company_name, s_city, s_county, s_state
        limit 100""",
    ),
    Question(
        54,
        "revenue segments of customers who bought goods of a class elsewhere, in the months after",
        """
        with buyers as (
            select distinct c_customer_sk, c_current_addr_sk
            from (
                select cs_sold_date_sk as day, cs_bill_customer_sk as customer, cs_item_sk as item_sk from catalog_sales
                union all
                select ws_sold_date_sk, ws_bill_customer_sk, ws_item_sk from web_sales
            ) sold, item, date_dim, customer
            where day = d_date_sk and item_sk = i_item_sk and i_category = 'Books' and i_class in ('fiction', 'lamps')
                and c_customer_sk = customer and d_moy = 1 and d_year = 2000
        ),
        revenues as (
            select c_customer_sk, sum(ss_ext_sales_price) as revenue
            from buyers, store_sales, customer_address, store, date_dim
            where c_current_addr_sk = ca_address_sk and ca_county = s_county and ca_state = s_state
                and ss_sold_date_sk = d_date_sk and c_customer_sk = ss_customer_sk
                and d_month_seq between (select distinct d_month_seq + 1 from date_dim where d_year = 2000 and d_moy = 1)
                    and (select distinct d_month_seq + 10 from date_dim where d_year = 2000 and d_moy = 1)
            group by c_customer_sk
        )
        select segment, count(*) as customers, segment * 50 as base
        from (select cast(revenue / 50 as int) as segment from revenues)
        group by segment
        order by segment, customers
        limit 100""",
    ),
    Question(
        61,
        "share of promoted sales in all sales of a category",
        """
        select promotions, total, cast(promotions as decimal(15, 4)) / cast(total as decimal(15, 4)) * 100 as share
        from
            (select sum(ss_ext_sales_price) as promotions
                from store_sales, store, promotion, date_dim, customer, customer_address, item
                where ss_sold_date_sk = d_date_sk and ss_store_sk = s_store_sk and ss_promo_sk = p_promo_sk
                    and ss_customer_sk = c_customer_sk and ca_address_sk = c_current_addr_sk and ss_item_sk = i_item_sk
                    and ca_gmt_offset = -5 and i_category = 'Books'
                    and (p_channel_dmail = 'Y' or p_channel_email = 'Y' or p_channel_tv = 'Y')
                    and s_gmt_offset = -5 and d_year = 2000) p,
            (select sum(ss_ext_sales_price) as total
                from store_sales, store, date_dim, customer, customer_address, item
                where ss_sold_date_sk = d_date_sk and ss_store_sk = s_store_sk
                    and ss_customer_sk = c_customer_sk and ca_address_sk = c_current_addr_sk and ss_item_sk = i_item_sk
                    and ca_gmt_offset = -5 and i_category = 'Books' and s_gmt_offset = -5 and d_year = 2000) t
        order by promotions, total
        limit 100""",
    ),
    Question(
        69,
        "profiles of customers who buy in stores and nowhere else",
        """
        select cd_gender, cd_marital_status, cd_education_status, count(*) as customers, cd_purchase_estimate,
            count(*) as with_estimate, cd_credit_rating, count(*) as with_rating
        from customer c, customer_address a, customer_demographics
        where c.c_current_addr_sk = a.ca_address_sk and ca_state in ('TN', 'CA') and cd_demo_sk = c.c_current_cdemo_sk
            and exists (select * from store_sales, date_dim
                where c.c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk and d_year = 2000)
            and not exists (select * from web_sales, date_dim
                where c.c_customer_sk = ws_bill_customer_sk and ws_sold_date_sk = d_date_sk and d_year = 2001 and d_moy = 2)
            and not exists (select * from catalog_sales, date_dim
                where c.c_customer_sk = cs_ship_customer_sk and cs_sold_date_sk = d_date_sk and d_year = 2001 and d_moy = 2)
        group by cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating
        order by cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating
        limit 100""",
    ),
    Question(
        82,
        "goods of a price range that are in stock and are sold in stores",
        """
        select i_item_id, i_item_desc, i_current_price
        from item, inventory, date_dim, store_sales
        where i_current_price between 20 and 40 and inv_item_sk = i_item_sk and d_date_sk = inv_date_sk
            and d_date between date '2000-01-01' and date '2000-03-01' and i_manufact_id in (1, 2)
            and inv_quantity_on_hand between 300 and 500 and ss_item_sk = i_item_sk
        group by i_item_id, i_item_desc, i_current_price
        order by i_item_id
        limit 100""",
    ),
    Question(
        83,
        "returned items of three channels in some weeks, with their shares",
        """
        with days as (
            select d_date from date_dim
            where d_week_seq in (select d_week_seq from date_dim where d_date in (date '2000-01-05', date '2000-01-10'))
        ),
        s as (
            select i_item_id, sum(sr_return_quantity) as quantity from store_returns, item, date_dim
            where sr_item_sk = i_item_sk and d_date in (select d_date from days) and sr_returned_date_sk = d_date_sk
            group by i_item_id
        ),
        c as (
            select i_item_id, sum(cr_return_quantity) as quantity from catalog_returns, item, date_dim
            where cr_item_sk = i_item_sk and d_date in (select d_date from days) and cr_returned_date_sk = d_date_sk
            group by i_item_id
        ),
        w as (
            select i_item_id, sum(wr_return_quantity) as quantity from web_returns, item, date_dim
            where wr_item_sk = i_item_sk and d_date in (select d_date from days) and wr_returned_date_sk = d_date_sk
            group by i_item_id
        )
        select s.i_item_id, s.quantity as in_stores, s.quantity / (s.quantity + c.quantity + w.quantity) / 3.0 * 100 as of_stores,
            c.quantity as by_catalog, w.quantity as by_web, (s.quantity + c.quantity + w.quantity) / 3.0 as mean
        from s, c, w
        where s.i_item_id = c.i_item_id and s.i_item_id = w.i_item_id
        order by s.i_item_id, in_stores
        limit 100""",
    ),
    Question(
        85,
        "mean amounts of web returns by reason, of customers of the same status",
        """
        select substr(r_reason_desc, 1, 20) as reason, avg(ws_quantity) as quantity, avg(wr_return_amt) as refund,
            avg(wr_net_loss) as loss
        from web_sales, web_returns, web_page, customer_demographics one, customer_demographics other, customer_address,
            date_dim, reason
        where ws_web_page_sk = wp_web_page_sk and ws_item_sk = wr_item_sk and ws_order_number = wr_order_number
            and ws_sold_date_sk = d_date_sk and d_year = 2000 and one.cd_demo_sk = wr_refunded_cdemo_sk
            and other.cd_demo_sk = wr_returning_cdemo_sk and ca_address_sk = wr_refunded_addr_sk and r_reason_sk = wr_reason_sk
            and (one.cd_marital_status = 'M' and one.cd_marital_status = other.cd_marital_status and ws_sales_price >= 1
                or one.cd_education_status = 'College' and one.cd_education_status = other.cd_education_status
                    and ws_sales_price between 5 and 150)
            and (ca_country = 'United States' and ca_state in ('TN', 'CA') and ws_net_profit >= -50
                or ca_country = 'United States' and ca_state in ('GA') and ws_net_profit between 0 and 300)
        group by r_reason_desc
        order by substr(r_reason_desc, 1, 20), avg(ws_quantity), avg(wr_return_amt), avg(wr_net_loss)
        limit 100""",
    ),
    Question(
        87,
        "how many customers bought in stores on a day and through no other channel",
        """
        select count(*) as customers
        from (
            (select distinct c_last_name, c_first_name, d_date from store_sales, date_dim, customer
            where ss_sold_date_sk = d_date_sk and ss_customer_sk = c_customer_sk and d_month_seq between 1200 and 1211)
            except
            (select distinct c_last_name, c_first_name, d_date from catalog_sales, date_dim, customer
            where cs_sold_date_sk = d_date_sk and cs_bill_customer_sk = c_customer_sk and d_month_seq between 1200 and 1211)
            except
            (select distinct c_last_name, c_first_name, d_date from web_sales, date_dim, customer
            where ws_sold_date_sk = d_date_sk and ws_bill_customer_sk = c_customer_sk and d_month_seq between 1200 and 1211)
        ) only_stores
        order by 1
        limit 100""",
    ),
    Question(
        88,
        "how many buy in each of eight half hours",
        """
        select *
        from
"""
        + ",\n".join(
            f"""            (select count(*) as at_{hour}_{half}
                from store_sales, household_demographics, time_dim, store
                where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk
                    and t_hour = {hour} and t_minute {"<" if half == 0 else ">="} 30
                    and (hd_dep_count = 3 and hd_vehicle_count <= 5 or hd_dep_count = 0 and hd_vehicle_count <= 2
                        or hd_dep_count = 1 and hd_vehicle_count <= 3)
                    and s_store_name = 'ese') s{number}"""
            for number, (hour, half) in enumerate(((8, 30), (9, 0), (9, 30), (10, 0), (10, 30), (11, 0), (11, 30), (12, 0)))
        )
        + """
        order by at_8_30
        limit 100""",
    ),
    Question(
        90,
        "web sales in the morning against those in the evening",
        """
        select cast(morning as decimal(15, 4)) / cast(nullif(evening, 0) as decimal(15, 4)) as ratio
        from
            (select count(*) as morning from web_sales, household_demographics, time_dim, web_page
                where ws_sold_time_sk = t_time_sk and ws_ship_hdemo_sk = hd_demo_sk and ws_web_page_sk = wp_web_page_sk
                    and t_hour between 8 and 9 and hd_dep_count <= 3 and wp_char_count between 4000 and 5200) a,
            (select count(*) as evening from web_sales, household_demographics, time_dim, web_page
                where ws_sold_time_sk = t_time_sk and ws_ship_hdemo_sk = hd_demo_sk and ws_web_page_sk = wp_web_page_sk
                    and t_hour between 10 and 20 and hd_dep_count <= 3 and wp_char_count between 4000 and 5200) e
        order by ratio
        limit 100""",
    ),
    Question(
        95,
        "web orders that left from several warehouses and were returned",
        """
        with several as (
            select a.ws_order_number, a.ws_warehouse_sk as one, b.ws_warehouse_sk as other
            from web_sales a, web_sales b
            where a.ws_order_number = b.ws_order_number and a.ws_warehouse_sk <> b.ws_warehouse_sk
        )
        select count(distinct w.ws_order_number) as orders, sum(w.ws_ext_ship_cost) as shipping, sum(w.ws_net_profit) as profit
        from web_sales w, date_dim, customer_address, web_site
        where d_date between date '2000-01-01' and date '2000-01-01' + interval 60 days and w.ws_ship_date_sk = d_date_sk
            and w.ws_ship_addr_sk = ca_address_sk and ca_state in ('TN', 'CA') and w.ws_web_site_sk = web_site_sk
            and web_company_name = 'pri'
            and w.ws_order_number in (select ws_order_number from several)
            and w.ws_order_number in (select wr_order_number from web_returns, several
                where wr_order_number = several.ws_order_number)
        order by count(distinct w.ws_order_number)
        limit 100""",
    ),
    Question(
        97,
        "how many customers bought an item in stores, by catalogue, or both",
        """
        with s as (
            select ss_customer_sk as customer, ss_item_sk as item from store_sales, date_dim
            where ss_sold_date_sk = d_date_sk and d_month_seq between 1200 and 1211
            group by ss_customer_sk, ss_item_sk
        ),
        c as (
            select cs_bill_customer_sk as customer, cs_item_sk as item from catalog_sales, date_dim
            where cs_sold_date_sk = d_date_sk and d_month_seq between 1200 and 1211
            group by cs_bill_customer_sk, cs_item_sk
        )
        select sum(case when s.customer is not null and c.customer is null then 1 else 0 end) as only_stores,
            sum(case when s.customer is null and c.customer is not null then 1 else 0 end) as only_catalog,
            sum(case when s.customer is not null and c.customer is not null then 1 else 0 end) as both
        from s full outer join c on s.customer = c.customer and s.item = c.item
        limit 100""",
    ),
)
