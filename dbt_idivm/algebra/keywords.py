"""Keywords of the grammars that parse our SQL: a name that is one of them is quoted.

Which words an engine reserves depends on the position, on settings and on its version. Delta's parser, which reads every
statement before Spark's does, has keywords of its own: DESCRIBE HISTORY shop.history LIMIT 1 does not parse. So all keywords are
quoted, except a few that are common column names and have no special meaning where a name is expected. Tests check both with the
parsers.
"""

from __future__ import annotations

from sqlglot.tokens import Tokenizer


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPARK = _words("""
    add after aggregate all alter always analyze and anti any any_value archive array as asc at atomic authorization begin
    between bigint binary binding boolean both bucket buckets by byte cache call called cascade case cast catalog catalogs
    change char character check clear cluster clustered codegen collate collation collection column columns comment commit
    compact compactions compensation compute concatenate condition constraint contains continue cost create cross cube
    current current_date current_time current_timestamp current_user data database databases date date_add date_diff dateadd
    datediff day dayofyear days dbproperties dec decimal declare default defined definer delay delete delimited desc
    describe deterministic dfs directories directory distinct distribute div do double drop else elseif end enforced escape
    escaped evolution except exchange exclude execute exists exit explain export extend extended external extract false
    fetch fields fileformat filter first float flow following for foreign format formatted found from full function
    functions generated geography geometry global grant group grouping handler having hour hours identifier identity if
    ignore ilike immediate import in include increment index indexes inner inpath input inputformat insert int integer
    intersect interval into invoker is items iterate join json key keys language last lateral lazy leading leave left level
    like limit lines list load local location lock locks logical long loop macro map matched materialized max merge
    microsecond microseconds millisecond milliseconds minus minute minutes modifies month months msck name namespace
    namespaces nanosecond nanoseconds natural no none norely not null nulls numeric of offset on only option options or
    order out outer outputformat over overlaps overlay overwrite partition partitioned partitions percent pivot placing
    position preceding primary principals procedure procedures properties purge quarter query range reads real recordreader
    recordwriter recover recursion recursive reduce references refresh regexp rely rename repair repeat repeatable replace
    reset respect restrict return returns revoke right rlike role roles rollback rollup row rows schema schemas second
    seconds security select semi separated serde serdeproperties session_user set sets short show single skewed smallint
    some sort sorted source specific sql sqlexception sqlstate start statistics stored stratify stream streaming string
    struct substr substring sync system_time system_version table tables tablesample target tblproperties temp temporary
    terminated then time timediff timestamp timestamp_ltz timestamp_ntz timestampadd timestampdiff tinyint to touch trailing
    transaction transactions transform trim true truncate try_cast type unarchive unbounded uncache union unique unknown
    unlock unpivot unset until update use user using value values var varchar variable variant version view views void
    watermark week weeks when where while window with within without x year years zone
""")

DELTA = _words("""
    apply clone convert delta detail dry feature generate history iceberg_compat_version inventory lite optimize reorg
    restore retain run shallow uniform upgrade vacuum zorder
""")

_HARMLESS = frozenset({"change", "cost", "key", "keys", "name", "source", "value", "x"})
KEYWORDS = (SPARK | DELTA | {word.lower() for word in Tokenizer.KEYWORDS}) - _HARMLESS
