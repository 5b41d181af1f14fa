"""No query of the published plans or of FOLIO's front end may scan (decision 55): the statements
that the server logs for each are explained by the database they ran on."""

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


class SqlitePlans:
    def __init__(self, store):
        self.database = sqlite3.connect(f"file:{store[1]}/diku.db?mode=ro", uri=True)

    def of(self, sql):
        """The steps of the database's plan; which parameter is which does not matter."""
        numbered = re.sub(r"\$(\d+)", r"?\1", sql)
        return [row[3] for row in self.database.execute("explain query plan " + numbered,
                                                        [None] * parameters_of(sql))]

    def close(self):
        self.database.close()


class PostgresPlans:
    """With reading whole tables made dear: where it is done all the same no index serves."""

    def __init__(self, store):
        self.url = store[1]
        self.schemas = ", ".join(postgres.psql(
            self.url, "select table_schema from information_schema.tables"
            " where table_name in ('item', 'okapi_tenant') order by table_name").split())

    def of(self, sql):
        sql = re.sub(r"^declare \w+ no scroll cursor for ", "", sql)
        if not re.match(r"select|with|insert|update|delete", sql):
            return []
        nothing = ", ".join(["null"] * parameters_of(sql))
        plan = postgres.psql(self.url, f"""
            set search_path to {self.schemas}; set enable_seqscan = off;
            set plan_cache_mode = force_generic_plan;
            prepare asked as {sql};
            explain (costs off) execute asked{f"({nothing})" if nothing else ""};""")
        return [line.strip(" ->") for line in plan.splitlines()]

    def close(self):
        pass


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
