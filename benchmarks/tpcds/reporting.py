"""Reports: known questions about sales and returns, above all of the catalogue and of all channels together."""

from __future__ import annotations

from benchmarks.tpcds.question import Question

REPORTING = (
    Question(
        5,
        "sales, returns and profit of each outlet and channel in two weeks",
        """
        with moved as (
            select 'store' as channel, s_store_id as outlet, ss_sold_date_sk as day, ss_ext_sales_price as sold,
                ss_net_profit as gain, cast(0 as decimal(7, 2)) as returned
            from store_sales join store on s_store_sk = ss_store_sk
            union all
            select 'store', s_store_id, sr_returned_date_sk, cast(0 as decimal(7, 2)), -sr_net_loss, sr_return_amt
            from store_returns join store on s_store_sk = sr_store_sk
            union all
            select 'catalog', cp_catalog_page_id, cs_sold_date_sk, cs_ext_sales_price, cs_net_profit, cast(0 as decimal(7, 2))
            from catalog_sales join catalog_page on cp_catalog_page_sk = cs_catalog_page_sk
            union all
            select 'catalog', cp_catalog_page_id, cr_returned_date_sk, cast(0 as decimal(7, 2)), -cr_net_loss, cr_return_amount
            from catalog_returns join catalog_page on cp_catalog_page_sk = cr_catalog_page_sk
            union all
            select 'web', web_site_id, ws_sold_date_sk, ws_ext_sales_price, ws_net_profit, cast(0 as decimal(7, 2))
            from web_sales join web_site on web_site_sk = ws_web_site_sk
            union all
            select 'web', web_site_id, wr_returned_date_sk, cast(0 as decimal(7, 2)), -wr_net_loss, wr_return_amt
            from web_returns
                left join web_sales on ws_item_sk = wr_item_sk and ws_order_number = wr_order_number
                join web_site on web_site_sk = ws_web_site_sk
        )
        select channel, outlet, sum(sold) as sales, sum(returned) as returns, sum(gain) as profit
        from moved join date_dim on d_date_sk = day
        where d_date between date '2000-01-01' and date '2000-01-01' + interval 14 days
        group by rollup (channel, outlet)
        order by channel, outlet
        limit 100""",
    ),
    Question(
        16,
        "catalogue orders that left from several warehouses and were not returned",
        """
        select count(distinct o.cs_order_number) as orders, sum(o.cs_ext_ship_cost) as shipping, sum(o.cs_net_profit) as profit
        from catalog_sales o, date_dim, customer_address, call_center
        where d_date between date '2000-01-01' and date '2000-01-01' + interval 60 days
            and o.cs_ship_date_sk = d_date_sk and o.cs_ship_addr_sk = ca_address_sk and ca_state in ('TN', 'CA', 'GA')
            and o.cs_call_center_sk = cc_call_center_sk and cc_county in ('Polk', 'Lake')
            and exists (select 1 from catalog_sales p
                where p.cs_order_number = o.cs_order_number and p.cs_warehouse_sk <> o.cs_warehouse_sk)
            and not exists (select 1 from catalog_returns where cr_order_number = o.cs_order_number)
        order by count(distinct o.cs_order_number)
        limit 100""",
    ),
    Question(
        18,
        "average quantities, prices and ages of catalogue customers by item and place",
        """
        select i_item_id, ca_country, ca_state, ca_county,
            avg(cast(cs_quantity as decimal(12, 2))) as quantity, avg(cast(cs_list_price as decimal(12, 2))) as list_price,
            avg(cast(cs_coupon_amt as decimal(12, 2))) as coupon, avg(cast(c_birth_year as decimal(12, 2))) as born,
            avg(cast(buyer.cd_dep_count as decimal(12, 2))) as dependants
        from catalog_sales
            join date_dim on d_date_sk = cs_sold_date_sk
            join item on i_item_sk = cs_item_sk
            join customer_demographics buyer on buyer.cd_demo_sk = cs_bill_cdemo_sk
            join customer on c_customer_sk = cs_bill_customer_sk
            join customer_demographics now on now.cd_demo_sk = c_current_cdemo_sk
            join customer_address on ca_address_sk = c_current_addr_sk
        where buyer.cd_gender = 'F' and buyer.cd_education_status = 'College' and c_birth_month in (1, 4, 6, 9)
            and d_year = 2000 and ca_state in ('TN', 'CA')
        group by rollup (i_item_id, ca_country, ca_state, ca_county)
        order by ca_country, ca_state, ca_county, i_item_id
        limit 100""",
    ),
    Question(
        20,
        "share of each catalogue item in the revenue of its class",
        """
        select i_item_id, i_item_desc, i_category, i_class, i_current_price, sum(cs_ext_sales_price) as revenue,
            sum(cs_ext_sales_price) * 100 / sum(sum(cs_ext_sales_price)) over (partition by i_class) as share
        from catalog_sales join item on i_item_sk = cs_item_sk join date_dim on d_date_sk = cs_sold_date_sk
        where i_category in ('Books', 'Home') and d_date between date '2000-01-01' and date '2000-01-01' + interval 30 days
        group by i_item_id, i_item_desc, i_category, i_class, i_current_price
        order by i_category, i_class, i_item_id, i_item_desc, share
        limit 100""",
    ),
    Question(
        26,
        "averages of catalogue sales under promotions without mail or event, by item",
        """
        select i_item_id, avg(cs_quantity) as quantity, avg(cs_list_price) as list_price, avg(cs_coupon_amt) as coupon,
            avg(cs_sales_price) as price
        from catalog_sales, customer_demographics, date_dim, item, promotion
        where cs_sold_date_sk = d_date_sk and cs_item_sk = i_item_sk and cs_bill_cdemo_sk = cd_demo_sk
            and cs_promo_sk = p_promo_sk and cd_gender = 'F' and cd_education_status = 'College'
            and (p_channel_email = 'N' or p_channel_event = 'N') and d_year = 2000
        group by i_item_id
        order by i_item_id
        limit 100""",
    ),
    Question(
        33,
        "revenue of the makers of home goods over three channels in a month",
        """
        with wanted as (select distinct i_manufact_id as maker from item where i_category = 'Home'),
        in_stores as (
            select i_manufact_id as maker, sum(ss_ext_sales_price) as revenue
            from store_sales join item on i_item_sk = ss_item_sk join date_dim on d_date_sk = ss_sold_date_sk
                join customer_address on ca_address_sk = ss_addr_sk
            where i_manufact_id in (select maker from wanted) and d_year = 2000 and d_moy = 1 and ca_gmt_offset = -5
            group by i_manufact_id
        ),
        by_catalog as (
            select i_manufact_id as maker, sum(cs_ext_sales_price) as revenue
            from catalog_sales join item on i_item_sk = cs_item_sk join date_dim on d_date_sk = cs_sold_date_sk
                join customer_address on ca_address_sk = cs_ship_addr_sk
            where i_manufact_id in (select maker from wanted) and d_year = 2000 and d_moy = 1 and ca_gmt_offset = -5
            group by i_manufact_id
        ),
        by_web as (
            select i_manufact_id as maker, sum(ws_ext_sales_price) as revenue
            from web_sales join item on i_item_sk = ws_item_sk join date_dim on d_date_sk = ws_sold_date_sk
                join customer_address on ca_address_sk = ws_bill_addr_sk
            where i_manufact_id in (select maker from wanted) and d_year = 2000 and d_moy = 1 and ca_gmt_offset = -5
            group by i_manufact_id
        )
        select maker, sum(revenue) as revenue
        from (select * from in_stores union all select * from by_catalog union all select * from by_web)
        group by maker
        order by revenue
        limit 100""",
    ),
    Question(
        40,
        "catalogue revenue of each warehouse and item before and after a day, returns deducted",
        """
        select w_state, i_item_id,
            sum(case when d_date < date '2000-01-08' then cs_sales_price - coalesce(cr_return_amount, 0) else 0 end) as before,
            sum(case when d_date >= date '2000-01-08' then cs_sales_price - coalesce(cr_return_amount, 0) else 0 end) as since
        from catalog_sales
            left join catalog_returns on cr_order_number = cs_order_number and cr_item_sk = cs_item_sk
            join warehouse on w_warehouse_sk = cs_warehouse_sk
            join item on i_item_sk = cs_item_sk
            join date_dim on d_date_sk = cs_sold_date_sk
        where i_current_price between 10 and 60
            and d_date between date '2000-01-08' - interval 30 days and date '2000-01-08' + interval 30 days
        group by w_state, i_item_id
        order by w_state, i_item_id
        limit 100""",
    ),
    Question(
        49,
        "the items of each channel with the worst ratios of returns",
        """
        with ratios as (
            select 'web' as channel, ws_item_sk as item,
                sum(coalesce(wr_return_quantity, 0)) * 1.0 / sum(ws_quantity) as by_number,
                sum(coalesce(wr_return_amt, 0)) / sum(ws_net_paid) as by_value
            from web_sales left join web_returns on wr_order_number = ws_order_number and wr_item_sk = ws_item_sk
                join date_dim on d_date_sk = ws_sold_date_sk
            where ws_net_profit > 1 and ws_net_paid > 0 and ws_quantity > 0 and d_year = 2000
            group by ws_item_sk
            union all
            select 'catalog', cs_item_sk, sum(coalesce(cr_return_quantity, 0)) * 1.0 / sum(cs_quantity),
                sum(coalesce(cr_return_amount, 0)) / sum(cs_net_paid)
            from catalog_sales left join catalog_returns on cr_order_number = cs_order_number and cr_item_sk = cs_item_sk
                join date_dim on d_date_sk = cs_sold_date_sk
            where cs_net_profit > 1 and cs_net_paid > 0 and cs_quantity > 0 and d_year = 2000
            group by cs_item_sk
            union all
            select 'store', ss_item_sk, sum(coalesce(sr_return_quantity, 0)) * 1.0 / sum(ss_quantity),
                sum(coalesce(sr_return_amt, 0)) / sum(ss_net_paid)
            from store_sales left join store_returns on sr_ticket_number = ss_ticket_number and sr_item_sk = ss_item_sk
                join date_dim on d_date_sk = ss_sold_date_sk
            where ss_net_profit > 1 and ss_net_paid > 0 and ss_quantity > 0 and d_year = 2000
            group by ss_item_sk
        ),
        placed as (
            select *, rank() over (partition by channel order by by_number desc) as number_rank,
                rank() over (partition by channel order by by_value desc) as value_rank
            from ratios
        )
        select distinct channel, item, by_number, number_rank, value_rank from placed where number_rank <= 3 or value_rank <= 3
        order by channel, number_rank, value_rank, item
        limit 100""",
    ),
    Question(
        58,
        "items whose revenue in a week is about the same in all channels",
        """
        with days as (
            select d_date_sk as day from date_dim
            where d_week_seq = (select d_week_seq from date_dim where d_date = date '2000-01-05')
        ),
        s as (
            select i_item_id, sum(ss_ext_sales_price) as revenue from store_sales
                join item on i_item_sk = ss_item_sk join days on day = ss_sold_date_sk
            group by i_item_id
        ),
        c as (
            select i_item_id, sum(cs_ext_sales_price) as revenue from catalog_sales
                join item on i_item_sk = cs_item_sk join days on day = cs_sold_date_sk
            group by i_item_id
        ),
        w as (
            select i_item_id, sum(ws_ext_sales_price) as revenue from web_sales
                join item on i_item_sk = ws_item_sk join days on day = ws_sold_date_sk
            group by i_item_id
        )
        select s.i_item_id, s.revenue as in_stores, c.revenue as by_catalog, w.revenue as by_web,
            s.revenue / ((s.revenue + c.revenue + w.revenue) / 3) * 100 as share_of_stores
        from s join c on c.i_item_id = s.i_item_id join w on w.i_item_id = s.i_item_id
        where s.revenue between 0.1 * c.revenue and 10 * c.revenue and s.revenue between 0.1 * w.revenue and 10 * w.revenue
            and c.revenue between 0.1 * w.revenue and 10 * w.revenue
        order by s.i_item_id, in_stores
        limit 100""",
    ),
    Question(
        66,
        "monthly web and catalogue sales of each warehouse, months as columns",
        """
        with months as (
            select w_warehouse_name, w_warehouse_sq_ft, w_city, d_year, d_moy, ws_ext_sales_price * ws_quantity as sales,
                ws_net_paid * ws_quantity as paid
            from web_sales join warehouse on w_warehouse_sk = ws_warehouse_sk join date_dim on d_date_sk = ws_sold_date_sk
                join time_dim on t_time_sk = ws_sold_time_sk join ship_mode on sm_ship_mode_sk = ws_ship_mode_sk
            where d_year = 2000 and t_hour between 8 and 16 and sm_carrier in ('DHL', 'UPS')
            union all
            select w_warehouse_name, w_warehouse_sq_ft, w_city, d_year, d_moy, cs_sales_price * cs_quantity,
                cs_net_paid * cs_quantity
            from catalog_sales join warehouse on w_warehouse_sk = cs_warehouse_sk join date_dim on d_date_sk = cs_sold_date_sk
                join time_dim on t_time_sk = cs_sold_time_sk join ship_mode on sm_ship_mode_sk = cs_ship_mode_sk
            where d_year = 2000 and t_hour between 8 and 16 and sm_carrier in ('DHL', 'UPS')
        )
        select w_warehouse_name, w_warehouse_sq_ft, w_city, concat('DHL', ',', 'UPS') as carriers, d_year,
            sum(case d_moy when 1 then sales else 0 end) as sales_1, sum(case d_moy when 2 then sales else 0 end) as sales_2,
            sum(case d_moy when 3 then sales else 0 end) as sales_3, sum(case d_moy when 11 then sales else 0 end) as sales_11,
            sum(case d_moy when 1 then sales / w_warehouse_sq_ft end) as sales_1_of_foot,
            sum(case d_moy when 11 then sales / w_warehouse_sq_ft end) as sales_11_of_foot,
            sum(case d_moy when 1 then paid else 0 end) as paid_1, sum(case d_moy when 11 then paid else 0 end) as paid_11
        from months
        group by w_warehouse_name, w_warehouse_sq_ft, w_city, d_year
        order by w_warehouse_name
        limit 100""",
    ),
    Question(
        75,
        "brands that sold less than in the year before, returns deducted",
        """
        with net as (
            select d_year, i_brand_id, i_category_id, cs_quantity - coalesce(cr_return_quantity, 0) as number,
                cs_ext_sales_price - coalesce(cr_return_amount, 0.0) as amount
            from catalog_sales join item on i_item_sk = cs_item_sk join date_dim on d_date_sk = cs_sold_date_sk
                left join catalog_returns on cr_order_number = cs_order_number and cr_item_sk = cs_item_sk
            where i_category <> 'Sports'
            union
            select d_year, i_brand_id, i_category_id, ss_quantity - coalesce(sr_return_quantity, 0),
                ss_ext_sales_price - coalesce(sr_return_amt, 0.0)
            from store_sales join item on i_item_sk = ss_item_sk join date_dim on d_date_sk = ss_sold_date_sk
                left join store_returns on sr_ticket_number = ss_ticket_number and sr_item_sk = ss_item_sk
            where i_category <> 'Sports'
            union
            select d_year, i_brand_id, i_category_id, ws_quantity - coalesce(wr_return_quantity, 0),
                ws_ext_sales_price - coalesce(wr_return_amt, 0.0)
            from web_sales join item on i_item_sk = ws_item_sk join date_dim on d_date_sk = ws_sold_date_sk
                left join web_returns on wr_order_number = ws_order_number and wr_item_sk = ws_item_sk
            where i_category <> 'Sports'
        ),
        years as (
            select d_year, i_brand_id, i_category_id, sum(number) as number, sum(amount) as amount
            from net group by d_year, i_brand_id, i_category_id
        )
        select former.d_year as former_year, latter.d_year as year, latter.i_brand_id, latter.i_category_id,
            former.number as former_number, latter.number, latter.number - former.number as more,
            latter.amount - former.amount as more_amount
        from years latter join years former
            on former.i_brand_id = latter.i_brand_id and former.i_category_id = latter.i_category_id
        where latter.d_year = 2001 and former.d_year = 2000
            and cast(latter.number as decimal(17, 2)) / cast(former.number as decimal(17, 2)) < 0.9
        order by more, more_amount
        limit 100""",
    ),
    Question(
        76,
        "sales of which a reference is missing, by channel and quarter",
        """
        select channel, missing, d_year, d_qoy, i_category, count(*) as sales, sum(price) as amount
        from (
            select 'store' as channel, 'ss_store_sk' as missing, d_year, d_qoy, i_category, ss_ext_sales_price as price
            from store_sales, item, date_dim
            where ss_store_sk is null and ss_sold_date_sk = d_date_sk and ss_item_sk = i_item_sk
            union all
            select 'web', 'ws_ship_customer_sk', d_year, d_qoy, i_category, ws_ext_sales_price from web_sales, item, date_dim
            where ws_ship_customer_sk is null and ws_sold_date_sk = d_date_sk and ws_item_sk = i_item_sk
            union all
            select 'catalog', 'cs_ship_addr_sk', d_year, d_qoy, i_category, cs_ext_sales_price
            from catalog_sales, item, date_dim
            where cs_ship_addr_sk is null and cs_sold_date_sk = d_date_sk and cs_item_sk = i_item_sk
        )
        group by channel, missing, d_year, d_qoy, i_category
        order by channel, missing, d_year, d_qoy, i_category
        limit 100""",
    ),
    Question(
        77,
        "sales and returns of each outlet, each summed for itself and then joined",
        """
        with days as (
            select d_date_sk as day from date_dim
            where d_date between date '2000-01-01' and date '2000-01-01' + interval 30 days
        ),
        s as (select ss_store_sk as id, sum(ss_ext_sales_price) as sales, sum(ss_net_profit) as profit
            from store_sales join days on day = ss_sold_date_sk group by ss_store_sk),
        sr as (select sr_store_sk as id, sum(sr_return_amt) as returns, sum(sr_net_loss) as loss
            from store_returns join days on day = sr_returned_date_sk group by sr_store_sk),
        c as (select cs_call_center_sk as id, sum(cs_ext_sales_price) as sales, sum(cs_net_profit) as profit
            from catalog_sales join days on day = cs_sold_date_sk group by cs_call_center_sk),
        cr as (select sum(cr_return_amount) as returns, sum(cr_net_loss) as loss
            from catalog_returns join days on day = cr_returned_date_sk),
        w as (select ws_web_page_sk as id, sum(ws_ext_sales_price) as sales, sum(ws_net_profit) as profit
            from web_sales join days on day = ws_sold_date_sk group by ws_web_page_sk),
        wr as (select wr_web_page_sk as id, sum(wr_return_amt) as returns, sum(wr_net_loss) as loss
            from web_returns join days on day = wr_returned_date_sk group by wr_web_page_sk)
        select channel, id, sum(sales) as sales, sum(returns) as returns, sum(profit) as profit
        from (
            select 'store' as channel, s.id, sales, coalesce(returns, 0) as returns, profit - coalesce(loss, 0) as profit
            from s left join sr on sr.id = s.id
            union all
            select 'catalog', c.id, sales, returns, profit - loss from c cross join cr
            union all
            select 'web', w.id, sales, coalesce(returns, 0), profit - coalesce(loss, 0) from w left join wr on wr.id = w.id
        )
        group by rollup (channel, id)
        order by channel, id
        limit 100""",
    ),
    Question(
        80,
        "promoted sales with their returns and profit by channel and outlet",
        """
        with of_stores as (
            select s_store_id as outlet, sum(ss_ext_sales_price) as sales, sum(coalesce(sr_return_amt, 0)) as returns,
                sum(ss_net_profit - coalesce(sr_net_loss, 0)) as profit
            from store_sales left join store_returns on sr_item_sk = ss_item_sk and sr_ticket_number = ss_ticket_number,
                date_dim, store, item, promotion
            where ss_sold_date_sk = d_date_sk and d_date between date '2000-01-01' and date '2000-01-01' + interval 30 days
                and ss_store_sk = s_store_sk and ss_item_sk = i_item_sk and i_current_price > 20
                and ss_promo_sk = p_promo_sk and p_channel_tv = 'N'
            group by s_store_id
        ),
        of_pages as (
            select cp_catalog_page_id as outlet, sum(cs_ext_sales_price) as sales, sum(coalesce(cr_return_amount, 0)) as returns,
                sum(cs_net_profit - coalesce(cr_net_loss, 0)) as profit
            from catalog_sales left join catalog_returns on cr_item_sk = cs_item_sk and cr_order_number = cs_order_number,
                date_dim, catalog_page, item, promotion
            where cs_sold_date_sk = d_date_sk and d_date between date '2000-01-01' and date '2000-01-01' + interval 30 days
                and cs_catalog_page_sk = cp_catalog_page_sk and cs_item_sk = i_item_sk and i_current_price > 20
                and cs_promo_sk = p_promo_sk and p_channel_tv = 'N'
            group by cp_catalog_page_id
        ),
        of_sites as (
            select web_site_id as outlet, sum(ws_ext_sales_price) as sales, sum(coalesce(wr_return_amt, 0)) as returns,
                sum(ws_net_profit - coalesce(wr_net_loss, 0)) as profit
            from web_sales left join web_returns on wr_item_sk = ws_item_sk and wr_order_number = ws_order_number,
                date_dim, web_site, item, promotion
            where ws_sold_date_sk = d_date_sk and d_date between date '2000-01-01' and date '2000-01-01' + interval 30 days
                and ws_web_site_sk = web_site_sk and ws_item_sk = i_item_sk and i_current_price > 20
                and ws_promo_sk = p_promo_sk and p_channel_tv = 'N'
            group by web_site_id
        )
        select channel, outlet, sum(sales) as sales, sum(returns) as returns, sum(profit) as profit
        from (
            select 'store' as channel, concat('store ', outlet) as outlet, sales, returns, profit from of_stores
            union all
            select 'catalog', concat('page ', outlet), sales, returns, profit from of_pages
            union all
            select 'web', concat('site ', outlet), sales, returns, profit from of_sites
        )
        group by rollup (channel, outlet)
        order by channel, outlet
        limit 100""",
    ),
    Question(
        99,
        "catalogue sales by how many days they took to be shipped",
        """
        select substr(w_warehouse_name, 1, 20) as warehouse, sm_type, cc_name,
            sum(case when cs_ship_date_sk - cs_sold_date_sk <= 5 then 1 else 0 end) as to_5_days,
            sum(case when cs_ship_date_sk - cs_sold_date_sk > 5 and cs_ship_date_sk - cs_sold_date_sk <= 30 then 1 else 0 end)
                as to_30_days,
            sum(case when cs_ship_date_sk - cs_sold_date_sk > 30 then 1 else 0 end) as more_days
        from catalog_sales, warehouse, ship_mode, call_center, date_dim
        where d_year = 2000 and cs_ship_date_sk = d_date_sk and cs_warehouse_sk = w_warehouse_sk
            and cs_ship_mode_sk = sm_ship_mode_sk and cs_call_center_sk = cc_call_center_sk
        group by substr(w_warehouse_name, 1, 20), sm_type, cc_name
        order by warehouse, sm_type, cc_name
        limit 100""",
    ),
)
