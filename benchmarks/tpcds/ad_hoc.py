"""Ad hoc questions about sales in stores and on the web: star joins, groups, windows, totals of totals."""

from __future__ import annotations

from benchmarks.tpcds.question import Question

AD_HOC = (
    Question(
        2,
        "weekly sales by weekday, against the week a year later",
        """
        with sold as (
            select ws_sold_date_sk as day, ws_ext_sales_price as price from web_sales
            union all
            select cs_sold_date_sk, cs_ext_sales_price from catalog_sales
        ),
        weeks as (
            select d_week_seq as week,
                sum(case when d_day_name = 'Sunday' then price end) as sundays,
                sum(case when d_day_name = 'Monday' then price end) as mondays,
                sum(case when d_day_name = 'Tuesday' then price end) as tuesdays,
                sum(case when d_day_name = 'Wednesday' then price end) as wednesdays,
                sum(case when d_day_name = 'Thursday' then price end) as thursdays,
                sum(case when d_day_name = 'Friday' then price end) as fridays,
                sum(case when d_day_name = 'Saturday' then price end) as saturdays
            from sold join date_dim on d_date_sk = day
            group by d_week_seq
        )
        select this.week, round(this.sundays / next.sundays, 2) as sundays, round(this.mondays / next.mondays, 2) as mondays,
            round(this.tuesdays / next.tuesdays, 2) as tuesdays, round(this.wednesdays / next.wednesdays, 2) as wednesdays,
            round(this.thursdays / next.thursdays, 2) as thursdays, round(this.fridays / next.fridays, 2) as fridays,
            round(this.saturdays / next.saturdays, 2) as saturdays
        from
            (select weeks.* from weeks join date_dim on d_week_seq = week where d_year = 2000) this,
            (select weeks.* from weeks join date_dim on d_week_seq = week where d_year = 2001) next
        where this.week = next.week - 52
        order by this.week
        limit 100""",
    ),
    Question(
        3,
        "revenue of a maker's brands by year",
        """
        select d_year, i_brand_id as brand_id, i_brand as brand, sum(ss_ext_sales_price) as revenue
        from store_sales join date_dim on d_date_sk = ss_sold_date_sk join item on i_item_sk = ss_item_sk
        where i_manufact_id = 1 and d_moy = 1
        group by d_year, i_brand, i_brand_id
        order by d_year, revenue desc, brand_id
        limit 100""",
    ),
    Question(
        6,
        "states with customers who bought goods above the mean price of their category",
        """
        select ca_state as state, count(*) as sales
        from customer_address, customer, store_sales, date_dim, item i
        where ca_address_sk = c_current_addr_sk and c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk
            and ss_item_sk = i.i_item_sk
            and d_month_seq = (select distinct d_month_seq from date_dim where d_year = 2000 and d_moy = 1)
            and i.i_current_price > 1.1 * (select avg(j.i_current_price) from item j where j.i_category = i.i_category)
        group by ca_state
        having count(*) >= 2
        order by sales, state
        limit 100""",
    ),
    Question(
        7,
        "averages of store sales under promotions without mail or event, by item",
        """
        select i_item_id, avg(ss_quantity) as quantity, avg(ss_list_price) as list_price, avg(ss_coupon_amt) as coupon,
            avg(ss_sales_price) as price
        from store_sales
            join customer_demographics on cd_demo_sk = ss_cdemo_sk
            join date_dim on d_date_sk = ss_sold_date_sk
            join item on i_item_sk = ss_item_sk
            join promotion on p_promo_sk = ss_promo_sk
        where cd_gender = 'M' and cd_education_status = 'College' and 'N' in (p_channel_email, p_channel_event) and d_year = 2000
        group by i_item_id
        order by i_item_id
        limit 100""",
    ),
    Question(
        9,
        "for each range of quantities the mean discount or the mean price paid",
        """
        select
            case when (select count(*) from store_sales where ss_quantity between 1 and 4) > 9
                then (select avg(ss_ext_discount_amt) from store_sales where ss_quantity between 1 and 4)
                else (select avg(ss_net_paid) from store_sales where ss_quantity between 1 and 4) end as of_1_to_4,
            case when (select count(*) from store_sales where ss_quantity between 5 and 8) > 9
                then (select avg(ss_ext_discount_amt) from store_sales where ss_quantity between 5 and 8)
                else (select avg(ss_net_paid) from store_sales where ss_quantity between 5 and 8) end as of_5_to_8,
            case when (select count(*) from store_sales where ss_quantity between 9 and 12) > 9
                then (select avg(ss_ext_discount_amt) from store_sales where ss_quantity between 9 and 12)
                else (select avg(ss_net_paid) from store_sales where ss_quantity between 9 and 12) end as of_9_to_12,
            case when (select count(*) from store_sales where ss_quantity between 13 and 16) > 9
                then (select avg(ss_ext_discount_amt) from store_sales where ss_quantity between 13 and 16)
                else (select avg(ss_net_paid) from store_sales where ss_quantity between 13 and 16) end as of_13_to_16,
            case when (select count(*) from store_sales where ss_quantity between 17 and 20) > 9
                then (select avg(ss_ext_discount_amt) from store_sales where ss_quantity between 17 and 20)
                else (select avg(ss_net_paid) from store_sales where ss_quantity between 17 and 20) end as of_17_to_20
        from reason where r_reason_sk = 1
        order by of_1_to_4
        limit 100""",
    ),
    Question(
        13,
        "mean amounts of store sales to some households, by one of several conditions",
        """
        select avg(ss_quantity) as quantity, avg(ss_ext_sales_price) as price, avg(ss_ext_wholesale_cost) as cost,
            sum(ss_ext_wholesale_cost) as costs
        from store_sales, store, customer_demographics, household_demographics, customer_address, date_dim
        where s_store_sk = ss_store_sk and ss_sold_date_sk = d_date_sk and d_year = 2000
            and (ss_hdemo_sk = hd_demo_sk and cd_demo_sk = ss_cdemo_sk and cd_marital_status = 'M' and hd_dep_count >= 2
                    and ss_sales_price between 1 and 100
                or ss_hdemo_sk = hd_demo_sk and cd_demo_sk = ss_cdemo_sk and cd_marital_status = 'S' and hd_dep_count < 2
                    and ss_sales_price between 20 and 150)
            and (ss_addr_sk = ca_address_sk and ca_country = 'United States' and ca_state in ('TN', 'GA')
                    and ss_net_profit between 0 and 200
                or ss_addr_sk = ca_address_sk and ca_country = 'United States' and ca_state in ('CA')
                    and ss_net_profit between -50 and 300)
        order by 1
        limit 100""",
    ),
    Question(
        19,
        "revenue of brands from customers who shop outside of their area",
        """
        select i_brand_id as brand_id, i_brand as brand, i_manufact_id, i_manufact, sum(ss_ext_sales_price) as revenue
        from date_dim, store_sales, item, customer, customer_address, store
        where d_date_sk = ss_sold_date_sk and ss_item_sk = i_item_sk and i_manager_id = 1 and d_moy = 1 and d_year = 2000
            and ss_customer_sk = c_customer_sk and c_current_addr_sk = ca_address_sk
            and substr(ca_zip, 1, 5) <> substr(s_zip, 1, 5) and ss_store_sk = s_store_sk
        group by i_brand, i_brand_id, i_manufact_id, i_manufact
        order by revenue desc, i_brand, i_brand_id, i_manufact_id, i_manufact
        limit 100""",
    ),
    Question(
        28,
        "list prices of six ranges of sales: mean, number, number of different ones",
        """
        select *
        from
            (select avg(ss_list_price) as mean_1, count(ss_list_price) as number_1, count(distinct ss_list_price) as different_1
                from store_sales where ss_quantity between 0 and 5
                    and (ss_list_price between 1 and 80 or ss_coupon_amt between 0 and 9)) a,
            (select avg(ss_list_price) as mean_2, count(ss_list_price) as number_2, count(distinct ss_list_price) as different_2
                from store_sales where ss_quantity between 6 and 10
                    and (ss_list_price between 10 and 90 or ss_coupon_amt between 1 and 9)) b,
            (select avg(ss_list_price) as mean_3, count(ss_list_price) as number_3, count(distinct ss_list_price) as different_3
                from store_sales where ss_quantity between 11 and 12
                    and (ss_list_price between 20 and 100 or ss_wholesale_cost between 1 and 20)) c,
            (select avg(ss_list_price) as mean_4, count(ss_list_price) as number_4, count(distinct ss_list_price) as different_4
                from store_sales where ss_quantity between 13 and 14
                    and (ss_list_price between 1 and 50 or ss_coupon_amt between 2 and 9)) d,
            (select avg(ss_list_price) as mean_5, count(ss_list_price) as number_5, count(distinct ss_list_price) as different_5
                from store_sales where ss_quantity between 15 and 17
                    and (ss_list_price between 30 and 60 or ss_wholesale_cost between 9 and 40)) e,
            (select avg(ss_list_price) as mean_6, count(ss_list_price) as number_6, count(distinct ss_list_price) as different_6
                from store_sales where ss_quantity between 18 and 20
                    and (ss_list_price between 5 and 70 or ss_coupon_amt between 3 and 9)) f
        order by 1
        limit 100""",
    ),
    Question(
        36,
        "gross margins by category and class, ranked within their level",
        """
        select sum(ss_net_profit) / sum(ss_ext_sales_price) as margin, i_category, i_class,
            grouping(i_category) + grouping(i_class) as level,
            rank() over (partition by grouping(i_category) + grouping(i_class),
                case when grouping(i_class) = 0 then i_category end
                order by sum(ss_net_profit) / sum(ss_ext_sales_price)) as place
        from store_sales join date_dim on d_date_sk = ss_sold_date_sk join item on i_item_sk = ss_item_sk
            join store on s_store_sk = ss_store_sk
        where d_year = 2000 and s_state in ('TN', 'CA')
        group by rollup (i_category, i_class)
        order by level desc, case when level = 0 then i_category end, place
        limit 100""",
    ),
    Question(
        42,
        "revenue of the categories of one manager in a month",
        """
        select d_year, i_category_id, i_category, sum(ss_ext_sales_price) as revenue
        from date_dim join store_sales on ss_sold_date_sk = d_date_sk join item on i_item_sk = ss_item_sk
        where i_manager_id = 1 and d_moy = 1 and d_year = 2000
        group by all
        order by sum(ss_ext_sales_price) desc, d_year, i_category_id, i_category
        limit 100""",
    ),
    Question(
        43,
        "sales of each store, weekdays as columns",
        """
        select s_store_name, s_store_id,
            sum(case when d_day_name = 'Sunday' then ss_sales_price else null end) as sundays,
            sum(case when d_day_name = 'Monday' then ss_sales_price else null end) as mondays,
            sum(case when d_day_name = 'Tuesday' then ss_sales_price else null end) as tuesdays,
            sum(case when d_day_name = 'Wednesday' then ss_sales_price else null end) as wednesdays,
            sum(case when d_day_name = 'Thursday' then ss_sales_price else null end) as thursdays,
            sum(case when d_day_name = 'Friday' then ss_sales_price else null end) as fridays,
            sum(case when d_day_name = 'Saturday' then ss_sales_price else null end) as saturdays
        from date_dim, store_sales, store
        where d_date_sk = ss_sold_date_sk and s_store_sk = ss_store_sk and s_gmt_offset = -5 and d_year = 2000
        group by s_store_name, s_store_id
        order by s_store_name, s_store_id, sundays, mondays, tuesdays, wednesdays, thursdays, fridays, saturdays
        limit 100""",
    ),
    Question(
        44,
        "the goods of a store with the best and the worst mean profit, side by side",
        """
        with means as (
            select ss_item_sk as item, avg(ss_net_profit) as profit from store_sales where ss_store_sk = 1
            group by ss_item_sk
            having avg(ss_net_profit) > 0.9 * (
                select avg(ss_net_profit) from store_sales where ss_store_sk = 1 and ss_addr_sk is null group by ss_store_sk)
        ),
        best as (select item, rank() over (order by profit desc) as place from means),
        worst as (select item, rank() over (order by profit) as place from means)
        select best.place, b.i_product_name as best_performing, w.i_product_name as worst_performing
        from best join worst on worst.place = best.place
            join item b on b.i_item_sk = best.item join item w on w.i_item_sk = worst.item
        where best.place < 11
        order by best.place
        limit 100""",
    ),
    Question(
        51,
        "days on which the running sales on the web were above those in stores",
        """
        with web as (
            select ws_item_sk as item, d_date as day,
                sum(sum(ws_sales_price)) over (partition by ws_item_sk order by d_date rows between unbounded preceding and
                    current row) as total
            from web_sales join date_dim on d_date_sk = ws_sold_date_sk
            where d_month_seq between 1200 and 1211 and ws_item_sk is not null
            group by ws_item_sk, d_date
        ),
        stores as (
            select ss_item_sk as item, d_date as day,
                sum(sum(ss_sales_price)) over (partition by ss_item_sk order by d_date rows between unbounded preceding and
                    current row) as total
            from store_sales join date_dim on d_date_sk = ss_sold_date_sk
            where d_month_seq between 1200 and 1211 and ss_item_sk is not null
            group by ss_item_sk, d_date
        )
        select *
        from (
            select item, day, on_web, in_stores,
                max(on_web) over (partition by item order by day rows between unbounded preceding and current row) as web_total,
                max(in_stores) over (partition by item order by day rows between unbounded preceding and current row)
                    as store_total
            from (
                select coalesce(web.item, stores.item) as item, coalesce(web.day, stores.day) as day, web.total as on_web,
                    stores.total as in_stores
                from web full outer join stores on web.item = stores.item and web.day = stores.day
            ) x
        ) y
        where web_total > store_total
        order by item, day
        limit 100""",
    ),
    Question(
        53,
        "quarters of makers with sales far from their mean",
        """
        select *
        from (
            select i_manufact_id, d_qoy, sum(ss_sales_price) as sales,
                avg(sum(ss_sales_price)) over (partition by i_manufact_id) as mean
            from item, store_sales, date_dim, store
            where ss_item_sk = i_item_sk and ss_sold_date_sk = d_date_sk and ss_store_sk = s_store_sk
                and d_month_seq in (1200, 1201, 1202, 1203, 1204, 1205, 1206, 1207, 1208, 1209, 1210, 1211)
                and (i_category in ('Books', 'Home') and i_class in ('fiction', 'lamps')
                    or i_category in ('Sports') and i_class in ('tents', 'fiction'))
            group by i_manufact_id, d_qoy
        ) q
        where case when mean > 0 then abs(sales - mean) / mean else null end > 0.1
        order by mean, sales, i_manufact_id
        limit 100""",
    ),
    Question(
        59,
        "weekly sales of stores by weekday, against the week a year later",
        """
        with weeks as (
            select d_week_seq as week, ss_store_sk as store_sk,
                sum(case when d_day_name = 'Sunday' then ss_sales_price end) as sundays,
                sum(case when d_day_name = 'Wednesday' then ss_sales_price end) as wednesdays,
                sum(case when d_day_name = 'Saturday' then ss_sales_price end) as saturdays
            from store_sales join date_dim on d_date_sk = ss_sold_date_sk
            group by d_week_seq, ss_store_sk
        )
        select this.s_store_name, this.s_store_id, this.week, this.sundays / next.sundays as sundays,
            this.wednesdays / next.wednesdays as wednesdays, this.saturdays / next.saturdays as saturdays
        from
            (select s_store_name, s_store_id, weeks.* from weeks join store on s_store_sk = store_sk
                join date_dim on d_week_seq = week where d_month_seq between 1200 and 1211) this,
            (select s_store_id, weeks.* from weeks join store on s_store_sk = store_sk
                join date_dim on d_week_seq = week where d_month_seq between 1212 and 1223) next
        where this.s_store_id = next.s_store_id and this.week = next.week - 52
        order by this.s_store_name, this.s_store_id, this.week
        limit 100""",
    ),
    Question(
        65,
        "goods that bring a store little of its mean revenue",
        """
        with revenues as (
            select ss_store_sk, ss_item_sk, sum(ss_sales_price) as revenue
            from store_sales join date_dim on d_date_sk = ss_sold_date_sk
            where d_month_seq between 1200 and 1211
            group by ss_store_sk, ss_item_sk
        )
        select s_store_name, i_item_desc, r.revenue, i_current_price, i_wholesale_cost, i_brand
        from store, item, (select ss_store_sk, avg(revenue) as mean from revenues group by ss_store_sk) m, revenues r
        where m.ss_store_sk = r.ss_store_sk and r.revenue <= 0.8 * m.mean and s_store_sk = r.ss_store_sk
            and i_item_sk = r.ss_item_sk
        order by s_store_name, i_item_desc
        limit 100""",
    ),
    Question(
        67,
        "the best stores, goods and times of each category, over all levels of totals",
        """
        select *
        from (
            select i_category, i_class, i_brand, i_product_name, d_year, d_qoy, d_moy, s_store_id, sales,
                rank() over (partition by i_category order by sales desc) as place
            from (
                select i_category, i_class, i_brand, i_product_name, d_year, d_qoy, d_moy, s_store_id,
                    sum(coalesce(ss_sales_price * ss_quantity, 0)) as sales
                from store_sales, date_dim, store, item
                where ss_sold_date_sk = d_date_sk and ss_item_sk = i_item_sk and ss_store_sk = s_store_sk
                    and d_month_seq between 1200 and 1211
                group by rollup (i_category, i_class, i_brand, i_product_name, d_year, d_qoy, d_moy, s_store_id)
            ) totals
        ) ranked
        where place <= 10
        order by i_category, i_class, i_brand, i_product_name, d_year, d_qoy, d_moy, s_store_id, sales, place
        limit 100""",
    ),
    Question(
        70,
        "profit by state and county, of the best states, ranked within their level",
        """
        select sum(ss_net_profit) as profit, s_state, s_county, grouping(s_state) + grouping(s_county) as level,
            rank() over (partition by grouping(s_state) + grouping(s_county), case when grouping(s_county) = 0 then s_state end
                order by sum(ss_net_profit) desc) as place
        from store_sales, date_dim, store
        where d_month_seq between 1200 and 1211 and d_date_sk = ss_sold_date_sk and s_store_sk = ss_store_sk
            and s_state in (
                select state from (
                    select s_state as state, rank() over (partition by s_state order by sum(ss_net_profit) desc) as place
                    from store_sales, store, date_dim
                    where d_month_seq between 1200 and 1211 and d_date_sk = ss_sold_date_sk and s_store_sk = ss_store_sk
                    group by s_state
                ) best
                where place <= 5)
        group by rollup (s_state, s_county)
        order by level desc, case when level = 0 then s_state end, place
        limit 100""",
    ),
    Question(
        89,
        "months of classes and stores with sales far from the mean of the year",
        """
        select *
        from (
            select i_category, i_class, i_brand, s_store_name, s_company_name, d_moy, sum(ss_sales_price) as sales,
                avg(sum(ss_sales_price)) over (partition by i_category, i_brand, s_store_name, s_company_name) as mean
            from item, store_sales, date_dim, store
            where ss_item_sk = i_item_sk and ss_sold_date_sk = d_date_sk and ss_store_sk = s_store_sk and d_year = 2000
                and (i_category in ('Books', 'Home') and i_class in ('fiction', 'lamps')
                    or i_category in ('Sports') and i_class in ('tents', 'fiction'))
            group by i_category, i_class, i_brand, s_store_name, s_company_name, d_moy
        )
        where case when mean <> 0 then abs(sales - mean) / mean end > 0.1
        order by sales - mean, s_store_name
        limit 100""",
    ),
    Question(
        93,
        "what customers paid after returns for one reason were deducted",
        """
        select ss_customer_sk, sum(paid) as paid
        from (
            select ss_item_sk, ss_ticket_number, ss_customer_sk,
                case when sr_return_quantity is not null then (ss_quantity - sr_return_quantity) * ss_sales_price
                    else ss_quantity * ss_sales_price end as paid
            from store_sales left outer join store_returns on sr_item_sk = ss_item_sk and sr_ticket_number = ss_ticket_number,
                reason
            where sr_reason_sk = r_reason_sk and r_reason_desc = 'too large'
        ) t
        group by ss_customer_sk
        order by paid, ss_customer_sk
        limit 100""",
    ),
    Question(
        98,
        "share of each store item in the revenue of its class",
        """
        select i_item_id, i_item_desc, i_category, i_class, i_current_price, sum(ss_ext_sales_price) as revenue,
            sum(ss_ext_sales_price) * 100 / sum(sum(ss_ext_sales_price)) over (partition by i_class) as share
        from store_sales, item, date_dim
        where ss_item_sk = i_item_sk and i_category in ('Books', 'Sports') and ss_sold_date_sk = d_date_sk
            and d_date between date '2000-01-01' and date '2000-01-31'
        group by i_item_id, i_item_desc, i_category, i_class, i_current_price
        order by i_category, i_class, i_item_id, i_item_desc, share
        limit 100""",
    ),
)
