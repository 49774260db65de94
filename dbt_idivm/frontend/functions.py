"""The built-in functions of Spark SQL, classified by how they can be maintained.

A function on no list is refused unless the user lists it (`user_functions.py`), because we do not know whether it is
deterministic or an aggregate.
"""

from __future__ import annotations

from dbt_idivm.algebra.decimals import Type
from dbt_idivm.algebra.function_types import functions_giving
from dbt_idivm.operators.aggregate import FUNCTIONS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# One value per row, determined by the arguments. The time zone and ANSI mode are part of the fingerprint.
SCALAR = _words("""
    abs acos acosh add_months aes_decrypt aggregate array array_append array_compact array_contains
    array_distinct array_except array_insert array_intersect array_join array_max array_min
    array_position array_prepend array_remove array_repeat array_size array_sort array_union
    arrays_overlap ascii asin asinh assert_true atan atan2 atanh base64 bigint bin binary bit_count
    bit_get bit_length bitmap_bit_position bitmap_bucket_number bitmap_count boolean bround btrim
    cardinality cast cbrt ceil ceiling char char_length character_length chr coalesce collate collation
    concat concat_ws contains conv convert_timezone cos cosh cot crc32 csc date date_add date_diff
    date_format date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart day dayname
    dayofmonth dayofweek dayofyear decimal decode degrees double e element_at elt encode endswith
    equal_null exists exp expm1 extract factorial filter find_in_set flatten float floor forall
    format_number format_string from_csv from_json from_unixtime from_utc_timestamp from_xml get
    get_json_object getbit greatest hash hex hll_sketch_estimate hll_union hour hypot if ifnull initcap
    instr int is_valid_utf8 is_variant_null isnan isnotnull isnull json_array_length json_object_keys
    last_day lcase least left len length levenshtein ln locate log log10 log1p log2 lower lpad ltrim
    luhn_check make_date make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz
    make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat map_contains_key map_entries
    map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with mask md5 minute mod
    month monthname months_between named_struct nanvl negative next_day nullif nullifzero nvl nvl2
    octet_length overlay parse_json parse_url pi pmod position positive pow power printf quarter quote
    radians raise_error reduce regexp regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like
    regexp_replace regexp_substr repeat replace reverse right rint rlike round rpad rtrim schema_of_csv
    schema_of_json schema_of_variant schema_of_xml sec second sentences sequence sha sha1 sha2 shiftleft
    shiftright shiftrightunsigned sign signum sin sinh size slice smallint sort_array soundex space
    split split_part sqrt startswith str_to_map string struct substr substring substring_index tan tanh
    time time_diff time_trunc timestamp timestamp_micros timestampadd timestampdiff timestamp_millis timestamp_seconds tinyint
    to_binary to_char to_csv to_date to_json to_number to_time to_timestamp to_timestamp_ltz
    to_timestamp_ntz to_unix_timestamp to_utc_timestamp to_varchar to_variant_object to_xml transform
    transform_keys transform_values translate trim trunc try_add try_aes_decrypt try_cast try_divide
    try_element_at try_make_interval try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz
    try_mod try_multiply try_parse_json try_parse_url try_subtract try_to_binary try_to_date
    try_to_number try_to_time try_to_timestamp try_url_decode try_validate_utf8 try_variant_get typeof
    ucase unbase64 unhex unix_date unix_micros unix_millis unix_seconds unix_timestamp upper url_decode
    url_encode validate_utf8 variant_get weekday weekofyear width_bucket xpath xpath_boolean
    xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string xxhash64 year
    zeroifnull zip_with
""")

# Each evaluation may give another value, or the value depends on files and partitions. Spark flags most of these, but not all.
RANDOM = _words("""
    aes_encrypt input_file_block_length input_file_block_start input_file_name java_method
    monotonically_increasing_id rand randn random randstr reflect shuffle spark_partition_id try_reflect uniform
    uuid
""")

# Constant within a statement, but another value in the next one.
VOLATILE = _words("""
    curdate current_catalog current_database current_date current_schema current_time current_timestamp
    current_timezone current_user getdate localtimestamp now session_user user version
""")

# Of these, the ones that are called without brackets, if no column has the name.
BARE = _words("current_date current_time current_timestamp current_user session_user user")

# A struct that every file-based table has in addition to its columns: it tells where a row is stored.
HIDDEN_COLUMN = "_metadata"

# Aggregates whose result depends on the row order or on how ties are broken. Spark does not flag them. As part of a larger
# aggregate, such as array_sort(collect_list(x)), some are independent of it.
ORDERED = _words("""
    any_value approx_percentile approx_top_k approx_top_k_accumulate approx_top_k_combine array_agg
    collect_list collect_set first first_value histogram_numeric kll_merge_agg_bigint
    kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double
    kll_sketch_agg_float last last_value listagg max_by min_by mode percentile_approx string_agg
    theta_intersection_agg theta_sketch_agg theta_union_agg
""")

# Aggregates with several arguments or their own syntax, whose result does not depend on the row order.
OF_GROUPS = _words("""
    approx_count_distinct corr covar_pop covar_samp percentile percentile_cont percentile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
""")

# Of these, the ones that aggregate their ORDER BY expression; their argument is a constant.
OF_ORDER = _words("percentile_cont percentile_disc")

# Aggregates that are not accepted yet.
AGGREGATE = _words("""
    bitmap_and_agg bitmap_construct_agg bitmap_or_agg count_min_sketch hll_sketch_agg hll_union_agg try_avg try_sum
""")

# They tell to which grouping set of ROLLUP, CUBE and GROUPING SETS a group belongs.
OF_SETS = _words("grouping grouping_id")

# One row becomes several.
GENERATOR = _words("""
    collations explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer python_worker_logs
    range sql_keywords stack variant_explode variant_explode_outer
""")

# Time windows.
OF_TIMES = _words("session_window window window_time")

# Window functions, and below them a function that is rewritten with others.
OF_WINDOWS = _words("""
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value first last
""")
SUGAR = _words("count_if")

# Synonyms of accepted aggregates; and functions that have not been examined yet, which are refused.
SYNONYMS = _words("any every mean some std var_samp")
UNKNOWN = _words("""
    approx_top_k_estimate arrays_zip from_avro from_protobuf kll_sketch_get_n_bigint kll_sketch_get_n_double
    kll_sketch_get_n_float kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double kll_sketch_get_quantile_float
    kll_sketch_get_rank_bigint kll_sketch_get_rank_double kll_sketch_get_rank_float kll_sketch_merge_bigint
    kll_sketch_merge_double kll_sketch_merge_float kll_sketch_to_string_bigint kll_sketch_to_string_double
    kll_sketch_to_string_float schema_of_avro schema_of_variant_agg st_asbinary st_geogfromwkb st_geomfromwkb
    st_setsrid st_srid theta_difference theta_intersection theta_sketch_estimate theta_union to_avro to_protobuf
""")

# Functions of times, by the type that they convert text arguments to: TIMESTAMP, DATE or TIMESTAMP_NTZ, or TIMESTAMP only if a
# unit is given. Formats, units and time zones are not converted.
OF_TIMESTAMP = _words("""
    date_format date_part date_trunc datepart extract hour minute months_between second timestampadd timestampdiff
    unix_micros unix_millis unix_seconds
""")
OF_TIMESTAMP_AND_ZONE = _words("from_utc_timestamp to_utc_timestamp")
OF_DATE = _words("""
    add_months convert_timezone date date_sub day dayname dayofmonth dayofweek dayofyear last_day make_timestamp
    make_timestamp_ltz make_timestamp_ntz month monthname next_day quarter trunc try_make_timestamp try_make_timestamp_ltz
    try_make_timestamp_ntz unix_date weekday weekofyear year
""")
OF_DATE_OR_UNIT = _words("date_add date_diff dateadd datediff")

# Conversions from text to times (without a format they work like CAST), and parsing by a schema that is given as text.
PARSE_TIMESTAMP = _words("timestamp to_timestamp to_timestamp_ltz try_to_timestamp")
PARSE_DATE = _words("to_date to_timestamp_ntz try_to_date")
BY_SCHEMA = _words("from_csv from_json from_xml try_variant_get variant_get")

# Functions that convert their arguments, or the elements of these, to a common type.
UNIFYING = _words("""
    aggregate array array_append array_contains array_except array_insert array_intersect array_position array_prepend
    array_remove array_union arrays_overlap coalesce decode equal_null greatest ifnull least map map_concat
    map_contains_key nullif nvl reduce sequence
""")

# Functions that always return times.
TIMESTAMPS = functions_giving(Type.TIMESTAMPTZ, Type.TIMESTAMPNTZ) | _words("dateadd timestampadd")
DATES = _words("date_from_unix_date make_date next_day try_to_date")

# Tokens that may precede an opening bracket without being functions.
SYNTAX = _words("""
    ! all and any as between bigint binary boolean case char decimal distinct div double else end escape except
    from ilike in int integer interval is like not numeric on or string then timestamp using varchar when
    where || + - * / % & | ^ ~ < > <= >= <> != = == <=> ( , [ -> => :
""")

# All names of Spark's built-in functions. Another function with such a name can only be called with its schema.
BUILT_IN = SCALAR.union(
    RANDOM,
    VOLATILE,
    ORDERED,
    OF_GROUPS,
    AGGREGATE,
    FUNCTIONS,
    SYNONYMS,
    OF_SETS,
    GENERATOR,
    OF_TIMES,
    OF_WINDOWS,
    SUGAR,
    UNKNOWN,
    SYNTAX,
)
