"""The statements of one check-out as the server logs them: what bench/floor.txt is made of.

    python3 tests/api/floor.py > bench/floor.txt
    tests/postgres.py python3 tests/api/floor.py > bench/floor-postgres.txt

makes a library of the recipe tiny, lends an item in it with log.level=debug (a debug build) and
writes the statements with their values, the way `octavo bench floor` reads them.
"""

import csv
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import octavo  # noqa: E402
import postgres  # noqa: E402

ABOUT = """\
# One check-out: the statements whose cost on bare SQLite is a part of the floor F (octavo bench floor).
"""
ABOUT_POSTGRES = """\
# One check-out on PostgreSQL: what pgbench runs beside it (octavo bench floor --database).
"""
HEAD = """\
# Made by tests/api/floor.py from what a debug build logs; tests/api/test_floor.py compares.
#
#   pick NAME SQL           records to choose from; those of the first pick serve once each
#   do SQL -- value value   a statement, and its $1, $2 ...:
#     'text'  7  null       as they stand
#     NAME.COLUMN           of the record picked for this pass
#     new:NAME              a new id, the same within one pass
#     now+MS                milliseconds from now
#     doc:BYTES             a document of that length
"""
PICKS = [
    ("item", "SELECT id, barcode FROM item WHERE status = 'available'"),
    ("user", "SELECT id, barcode FROM users WHERE barcode IS NOT NULL"),
]
UUID = re.compile(r"'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'")
DAY_MS = 86_400_000


def kept_file():
    return "floor-postgres.txt" if postgres.is_wanted() else "floor.txt"


def make_library(folder):
    """The words of a command line that say where it is."""
    line = [octavo.program(), "bench", "data", "make", "--recipe", "tiny", "--data", str(folder)]
    store = ["--data", str(folder)]
    if postgres.is_wanted():
        store = ["--database", postgres.new_database()]
        line += store
    subprocess.run(line, check=True, capture_output=True, timeout=120)
    return store


def drop_library(store):
    if postgres.is_wanted():
        postgres.drop_database(store[1])
        postgres.drop_database(store[1], suffix="_prepared")


def first_line(folder, file):
    with open(pathlib.Path(folder) / "inputs" / file) as lines:
        return next(csv.reader(lines))[0].split(";")[0]


def lend(server, folder):
    """Lends one item twice over, so that nothing is new to the caches the second time."""
    library = octavo.Library(server, "diku").login()
    with open(pathlib.Path(folder) / "inputs" / "available.csv") as lines:
        items = [row[0] for row in list(csv.reader(lines))[:2]]
    user = first_line(folder, "user_barcodes.csv")
    for item in items:
        body = {"itemBarcode": item, "userBarcode": user,
                "servicePointId": first_line(folder, "service_point.csv")}
        loan = library.post("/circulation/check-out-by-barcode", body).expect(201)
    return loan, user


def logged(server):
    """The log lines of the last check-out's statements, as pairs of SQL and values."""
    end = time.monotonic() + 10
    while sum("check-out-by-barcode 201" in line for line in server.log) < 2:
        assert time.monotonic() < end, "the check-outs were not logged"
        time.sleep(0.05)
    last = [re.search(r" req=(\S+)", line).group(1) for line in server.log
            if "check-out-by-barcode 201" in line][-1]
    return logged_of(server, last)


def logged_of(server, request_id):
    """The statements of a request that log.level=debug has logged, as pairs of SQL and values."""
    lines = [re.search(r'msg="statement: (.*)"$', line.rstrip()) for line in server.log
             if f" req={request_id} " in line]
    texts = [re.sub(r"\\(.)", r"\1", found.group(1)) for found in lines if found]
    return [text.rsplit(" --", 1) for text in texts]


def named(values, names, now):
    """The values of a statement by what they are instead of what they were."""
    def number(match):
        n = int(match.group())
        if abs(n - now) > 20 * 365 * DAY_MS:
            return match.group()
        return "now+0" if n < now + DAY_MS else f"now+{(n - now) // DAY_MS * DAY_MS}"

    def text(match):
        return names.get(match.group()) or match.group()

    for found in UUID.findall(values):
        names.setdefault(found, f"new:{len(names)}")
    return re.sub(r"\b\d{13}\b", number, re.sub(r"'[^']*'", text, values))


def statements(server, folder):
    loan, user = lend(server, folder)
    names = {f"'{loan['item']['barcode']}'": "item.barcode", f"'{loan['itemId']}'": "item.id",
             f"'{user}'": "user.barcode", f"'{loan['userId']}'": "user.id",
             f"'{loan['checkoutServicePointId']}'": None, f"'{loan['loanPolicyId']}'": None}
    now = int(time.time() * 1000)
    return [f"do {sql} --{named(values, names, now)}" for sql, values in logged(server)]


def floor_text(folder):
    store = make_library(folder)
    server = octavo.Server(["--log.level=debug"], store)
    try:
        lines = statements(server.start(), folder)
    finally:
        server.close()
        drop_library(store)
    about = ABOUT_POSTGRES if postgres.is_wanted() else ABOUT
    return about + HEAD + "\n".join([f"pick {name} {sql}" for name, sql in PICKS] + lines) + "\n"


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory(prefix="octavo-floor-") as folder:
        print(floor_text(folder), end="")
