select status_id, initcap(status_name) as status_name from {{ source('brokerage', 'status_types') }}
