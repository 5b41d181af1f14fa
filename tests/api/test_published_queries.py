"""No query of the published plans or of FOLIO's front end may scan (decision 55): the statements
that the server logs for each are explained by the database they ran on. Sorted lists go the shorter
way: along the index of their order, or by all matches."""

import json
import re
import sqlite3

import pytest

import floor
import octavo
import postgres
import published_queries

# Tables whose size has nothing to do with how many titles and patrons there are.
SMALL = re.compile(r"okapi_tenant|config_data|circulation_settings|permissions|tags|owners|feefines"
                   r"|addresstype|groups|departments|loc\w+|location|service_point|holdings_records_source|\w+_types?"
                   r"|\w+_policy|\w+_status|\w+_format|\w+_relationship|\w+_term|mode_of_issuance"
                   r"|statistical_code|subject_source|part|json_each")
# Indexes of a property with few values: each leads to a good part of the table.
DULL = r"status|action|\w+_status|\w+_action|\w*type|request_level|is_\w+|source"
CURSOR = re.compile(r"^declare \w+ no scroll cursor for ")


class SqlitePlans:
    def __init__(self, store):
        self.database = sqlite3.connect(f"file:{store[1]}/diku.db?mode=ro", uri=True)

    def of(self, sql, _values=None):
        """The steps of the database's plan; which parameter is which does not matter."""
        numbered = re.sub(r"\$(\d+)", r"?\1", sql)
        return [row[3] for row in self.database.execute("explain query plan " + numbered,
                                                        [None] * parameters_of(sql))]

    def rows_read(self, sql, values):
        return 0  # it does not tell

    def close(self):
        self.database.close()


class PostgresPlans:
    """With reading whole tables made dear: where it is done all the same no index serves."""

    def __init__(self, store):
        self.url = store[1]
        self.schemas = ", ".join(postgres.psql(
            self.url, "select table_schema from information_schema.tables"
            " where table_name in ('item', 'okapi_tenant') order by table_name").split())

    def of(self, sql, values=None):
        """For these values, or for any."""
        sql = CURSOR.sub("", sql)
        if not re.match(r"select|with|insert|update|delete", sql):
            return []
        count = parameters_of(sql)
        asked = ", ".join(values_in(values)[:count] if values else ["null"] * count)
        plan = postgres.psql(self.url, f"""
            set search_path to {self.schemas}; set enable_seqscan = off;
            set plan_cache_mode = {"force_custom_plan" if values else "force_generic_plan"};
            prepare asked as {sql};
            explain (costs off) execute asked{f"({asked})" if asked else ""};""")
        return [line.strip(" ->") for line in plan.splitlines()]

    def rows_read(self, sql, values):
        """Of tables and indexes, when the statement runs with these values."""
        plan = json.loads(postgres.psql(self.url, f"""
            set search_path to {self.schemas}; set enable_seqscan = off;
            prepare asked as {CURSOR.sub("", sql)};
            explain (analyze, costs off, timing off, format json)
            execute asked({", ".join(values_in(values)[:parameters_of(sql)])});"""))
        return rows_below(plan[0]["Plan"])

    def close(self):
        pass


def rows_below(step):
    rows = step["Actual Rows"] + sum(step.get(f"Rows Removed by {what}", 0)
                                     for what in ("Filter", "Index Recheck"))
    # A bitmap's entries are the rows that are read by it.
    reads = "Relation Name" in step or "Index Name" in step
    own = rows * step["Actual Loops"] if reads and "Bitmap Heap" not in step["Node Type"] else 0
    return own + sum(map(rows_below, step.get("Plans", [])))


def values_in(logged):
    return re.findall(r"'(?:[^']|'')*'|\S+", logged)


def parameters_of(sql):
    return max([int(n) for n in re.findall(r"\$(\d+)", sql)], default=0)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    store = floor.make_library(tmp_path_factory.mktemp("tiny"))
    server = octavo.Server(["--log.level=debug"], store)
    server.start()
    library = octavo.Library(server, "diku").login()
    library.plans = PostgresPlans(store) if postgres.is_wanted() else SqlitePlans(store)
    yield library
    library.plans.close()
    server.close()
    floor.drop_library(store)


def complaint(sql, step):
    """What is wrong with a step of a statement's plan; "" if nothing is."""
    whole = re.match(r"Seq Scan on (\w+)", step)
    if whole and not SMALL.fullmatch(whole.group(1)):
        return "reads a table that grows"
    scan = re.fullmatch(r"SCAN (\w+)( USING (?:COVERING )?INDEX (\w+))?", step)
    if scan and not SMALL.fullmatch(scan.group(1)):
        # A list of all is a walk that ends with the page; a partial index holds what is asked for.
        is_walk = " where " not in sql or " indexed by " in sql or "_key_" in (scan.group(3) or "")
        return "" if scan.group(2) and is_walk else "walks a table that grows"
    search = re.fullmatch(rf"SEARCH (\w+) USING (COVERING )?INDEX \w+ \(({DULL})=\?\)", step)
    if search and not SMALL.fullmatch(search.group(1)) and re.search(r'_id"? (= \$|in )', sql):
        return "goes by what many records have"
    return ""


def test_no_published_query_scans(library):
    values = published_queries.values_of(library)
    _, later = published_queries.front_end()
    wrong, missing, plans = [], set(), {}
    for query in published_queries.queries():
        answer = library.call(query.method, query.path, query=query.filled(values), limit=10)
        if answer.status == 404:
            missing.add(query.path)
            continue
        if answer.status != 200:
            wrong.append(f"{query.path} {query.text}: {answer.status} {answer.text[:200]}")
        for sql, _ in floor.logged_of(library.server, answer.headers["x-okapi-request-id"]):
            plans[sql] = plans.get(sql) or library.plans.of(sql)
            wrong += [f"{query.path} {query.text}\n    {sql}\n    {step}: {complaint(sql, step)}"
                      for step in plans[sql] if complaint(sql, step)]
    assert not wrong, "\n".join(wrong)
    assert missing == later, sorted(missing ^ later)


# A fifth of the items is on loan: 400 of them are met after twice as many as there are of them.
FEW = [("status.name==\"Checked out\" sortby barcode", 0, 400),
       ("status.name==\"Checked out\" sortby barcode/sort.descending", 0, 400),
       ("status.name==\"Checked out\" sortby hrid title", 0, 400),
       ("status.name==\"Checked out\" sortby barcode", 350, 50),
       ("status.name==\"Checked out\" sortby barcode", 0, 5000),
       ("status.name==\"Check*\" sortby barcode", 0, 400),
       ("status.name==\"Check*\"", 0, 400),
       ("status.name==(\"Checked out\" or \"Missing\")", 0, 400),
       ("status.name==\"Checked out\" and hrid==it* sortby barcode", 0, 400),
       ("status.name==\"Checked out\" not barcode==\"12*\" sortby barcode", 0, 400)]


def logged_whole(library, answer):
    """The statements of a request, when all are in the log: the line about the request is its last."""
    request = answer.headers["x-okapi-request-id"]
    octavo.wait_until(lambda: any(f" req={request} " in line and "statement: " not in line
                                  for line in list(library.server.log)))
    return floor.logged_of(library.server, request)


def page_of(library, path, **query):
    """The statement that found the page, and its values."""
    answer = library.call("GET", path, query=query.pop("query"), **query)
    assert answer.status == 200, answer.text
    statements = [pair for pair in logged_whole(library, answer)
                  if re.search(r" order by .* limit \$\d+ offset", pair[0])]
    assert statements, "no page was read"
    return statements[0]


def indexes_of(steps):
    return set(re.findall(r"(?:using|INDEX|Bitmap Index Scan on) ([a-z]\w+)", "\n".join(steps)))


def sorts(steps):
    return any(re.match(r"Sort$|Incremental Sort$|USE TEMP B-TREE FOR ORDER BY", one)
               for one in steps)


@pytest.mark.parametrize("query, offset, limit", FEW)
def test_few_matches_are_collected_and_sorted(library, query, offset, limit):
    sql, values = page_of(library, "/item-storage/items", query=query, offset=offset, limit=limit)
    steps = library.plans.of(sql, values)
    assert indexes_of(steps) == {"item_status_idx"} and sorts(steps), "\n".join([sql, *steps])
    on_loan = library.get("/item-storage/items", query='status.name=="Checked out"',
                          limit=0).json["totalRecords"]
    assert library.plans.rows_read(sql, values) <= on_loan


# Most items are on the shelf: the first ones of any order are soon found.
@pytest.mark.parametrize("query, index", [
    ("status.name==Available sortby barcode", "item_barcode_unique"),
    ("status.name==Available sortby barcode/sort.descending", "item_barcode_unique"),
    ("status.name==Avail* and hrid==it* sortby barcode", "item_barcode_unique"),
    ("status.name==(Available or Missing)", "item_id_key"),
    ("barcode==1* and status.name==Available sortby barcode", "item_barcode_unique"),
    ("barcode==1* sortby barcode", "item_barcode_unique")])
def test_many_matches_are_met_on_the_way_along_the_order(library, query, index):
    sql, values = page_of(library, "/item-storage/items", query=query, limit=10)
    if postgres.is_wanted():  # the other one sorts up to 10,000
        steps = library.plans.of(sql, values)
        assert indexes_of(steps) == {index}, "\n".join([sql, *steps])
    assert library.plans.rows_read(sql, values) <= 40


def test_what_few_records_have_is_found_without_counting_first(library):
    values = published_queries.values_of(library)
    for query in (f"holdingsRecordId=={values['holdings']} sortby barcode",
                  f"barcode==({values['item-barcode']} or 1) and status.name==Available sortby hrid"):
        answer = library.get("/item-storage/items", query=query, limit=10)
        logged = logged_whole(library, answer)
        assert len([sql for sql, _ in logged if '"item"' in sql]) == 1, logged
