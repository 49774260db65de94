"""TPC-DS's tables with their keys, and of their columns those that the queries of this package read."""

from __future__ import annotations

from benchmarks.workloads.declared import declared

_MONEY = "decimal(7,2)"
_OF_SALES = (
    "{0}_quantity int, {0}_wholesale_cost money, {0}_list_price money, {0}_sales_price money, {0}_ext_discount_amt money, "
    "{0}_ext_sales_price money, {0}_ext_wholesale_cost money, {0}_ext_list_price money, {0}_coupon_amt money, "
    "{0}_ext_ship_cost money, {0}_net_paid money, {0}_net_profit money"
)

TABLES = tuple(
    declared(text, _MONEY)
    for text in (
        "date_dim(d_date_sk int, d_date date, d_month_seq int, d_week_seq int, d_year int, d_moy int, d_dom int, d_qoy int, "
        "d_dow int, d_day_name string; d_date_sk)",
        "time_dim(t_time_sk int, t_hour int, t_minute int, t_meal_time string; t_time_sk)",
        "item(i_item_sk int, i_item_id string, i_item_desc string, i_current_price money, i_wholesale_cost money, "
        "i_brand_id int, i_brand string, i_class_id int, i_class string, i_category_id int, i_category string, "
        "i_manufact_id int, i_manufact string, i_size string, i_color string, i_units string, i_manager_id int, "
        "i_product_name string; i_item_sk)",
        "customer(c_customer_sk int, c_customer_id string, c_current_cdemo_sk int, c_current_hdemo_sk int, "
        "c_current_addr_sk int, c_first_sales_date_sk int, c_first_shipto_date_sk int, c_salutation string, c_first_name string, "
        "c_last_name string, c_preferred_cust_flag string, c_birth_month int, c_birth_year int, c_birth_country string, "
        "c_email_address string; c_customer_sk)",
        "customer_address(ca_address_sk int, ca_city string, ca_county string, ca_state string, ca_zip string, "
        "ca_country string, ca_gmt_offset int, ca_location_type string; ca_address_sk)",
        "customer_demographics(cd_demo_sk int, cd_gender string, cd_marital_status string, cd_education_status string, "
        "cd_purchase_estimate int, cd_credit_rating string, cd_dep_count int; cd_demo_sk)",
        "household_demographics(hd_demo_sk int, hd_income_band_sk int, hd_buy_potential string, hd_dep_count int, "
        "hd_vehicle_count int; hd_demo_sk)",
        "income_band(ib_income_band_sk int, ib_lower_bound int, ib_upper_bound int; ib_income_band_sk)",
        "store(s_store_sk int, s_store_id string, s_store_name string, s_city string, s_county string, s_state string, "
        "s_zip string, s_market_id int, s_gmt_offset int, s_number_employees int, s_company_name string; s_store_sk)",
        "warehouse(w_warehouse_sk int, w_warehouse_name string, w_warehouse_sq_ft int, w_city string, w_state string; "
        "w_warehouse_sk)",
        "promotion(p_promo_sk int, p_channel_dmail string, p_channel_email string, p_channel_event string, p_channel_tv string; "
        "p_promo_sk)",
        "ship_mode(sm_ship_mode_sk int, sm_type string, sm_carrier string; sm_ship_mode_sk)",
        "reason(r_reason_sk int, r_reason_desc string; r_reason_sk)",
        "call_center(cc_call_center_sk int, cc_call_center_id string, cc_name string, cc_manager string, cc_county string; "
        "cc_call_center_sk)",
        "catalog_page(cp_catalog_page_sk int, cp_catalog_page_id string; cp_catalog_page_sk)",
        "web_site(web_site_sk int, web_site_id string, web_name string, web_company_name string; web_site_sk)",
        "web_page(wp_web_page_sk int, wp_char_count int; wp_web_page_sk)",
        "inventory(inv_date_sk int, inv_item_sk int, inv_warehouse_sk int, inv_quantity_on_hand int; "
        "inv_date_sk, inv_item_sk, inv_warehouse_sk)",
        "store_sales(ss_sold_date_sk int, ss_sold_time_sk int, ss_item_sk int, ss_customer_sk int, ss_cdemo_sk int, "
        f"ss_hdemo_sk int, ss_addr_sk int, ss_store_sk int, ss_promo_sk int, ss_ticket_number bigint, {_OF_SALES.format('ss')}; "
        "ss_item_sk, ss_ticket_number)",
        "store_returns(sr_returned_date_sk int, sr_item_sk int, sr_customer_sk int, sr_cdemo_sk int, sr_store_sk int, "
        "sr_reason_sk int, sr_ticket_number bigint, sr_return_quantity int, sr_return_amt money, sr_net_loss money; "
        "sr_item_sk, sr_ticket_number)",
        "catalog_sales(cs_sold_date_sk int, cs_sold_time_sk int, cs_ship_date_sk int, cs_bill_customer_sk int, "
        "cs_bill_cdemo_sk int, cs_bill_hdemo_sk int, cs_ship_customer_sk int, cs_ship_addr_sk int, cs_call_center_sk int, "
        "cs_catalog_page_sk int, cs_ship_mode_sk int, cs_warehouse_sk int, cs_item_sk int, cs_promo_sk int, "
        f"cs_order_number bigint, {_OF_SALES.format('cs')}; cs_item_sk, cs_order_number)",
        "catalog_returns(cr_returned_date_sk int, cr_item_sk int, cr_returning_customer_sk int, cr_returning_addr_sk int, "
        "cr_call_center_sk int, cr_catalog_page_sk int, cr_order_number bigint, cr_return_quantity int, cr_return_amount money, "
        "cr_net_loss money; cr_item_sk, cr_order_number)",
        "web_sales(ws_sold_date_sk int, ws_sold_time_sk int, ws_ship_date_sk int, ws_item_sk int, ws_bill_customer_sk int, "
        "ws_bill_addr_sk int, ws_ship_customer_sk int, ws_ship_hdemo_sk int, ws_ship_addr_sk int, ws_web_page_sk int, "
        "ws_web_site_sk int, ws_ship_mode_sk int, ws_warehouse_sk int, ws_promo_sk int, ws_order_number bigint, "
        f"{_OF_SALES.format('ws')}; ws_item_sk, ws_order_number)",
        "web_returns(wr_returned_date_sk int, wr_item_sk int, wr_returning_customer_sk int, wr_refunded_cdemo_sk int, "
        "wr_refunded_addr_sk int, wr_returning_cdemo_sk int, wr_web_page_sk int, wr_reason_sk int, wr_order_number bigint, "
        "wr_return_quantity int, wr_return_amt money, wr_net_loss money; wr_item_sk, wr_order_number)",
    )
)
