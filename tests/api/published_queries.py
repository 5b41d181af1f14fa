"""The queries of the published load plans and of FOLIO's front end, with values to send them with.

    queries()         all of them, as Query
    values_of(lib)    records of a library of the recipes for the placeholders
    query.filled(v)   the text to send
"""

import json
import re
import typing
import urllib.parse

import octavo

LIST = octavo.ROOT / "tests" / "data" / "published_queries.tsv"
PLANS = octavo.ROOT / "bench" / "workloads"
PLACE = re.compile(r"\$[{\[][^}]*\}|\{[a-z-]+\}")
# What a plan's variable stands for, by a part of its name; the first that fits.
KINDS = [("user_?barcode", "user-barcode"), ("barcode", "item-barcode"), ("patron_?group", "group"),
         ("service_?point", "service-point"), ("loan", "loan"), ("instance_name", "word"),
         ("hrid", "word"), ("name", "word"), ("holding", "holdings"), ("instance", "instance"),
         ("item", "item"), ("user|uuid|requester", "user"), ("id", "id")]


class Query(typing.NamedTuple):
    method: str
    path: str
    text: str

    def filled(self, values):
        def value(match):
            name = re.sub(r"^\$?[{\[]+|\}$", "", match.group())
            kinds = [k for part, k in KINDS if re.search(part, name, re.IGNORECASE)]
            return values[name if name in values else kinds[0] if kinds else "word"]
        return PLACE.sub(value, self.text)


def front_end():
    """(queries, paths that are not built yet)"""
    lines = [line.rstrip("\n").split("\t") for line in LIST.read_text().splitlines()
             if line and not line.startswith("#")]
    return ([Query(*line) for line in lines if line[0] != "later"],
            {line[1] for line in lines if line[0] == "later"})


def _requests(part):
    if isinstance(part, list):
        for one in part:
            yield from _requests(one)
    elif isinstance(part, dict):
        if isinstance(part.get("path"), str) and part.get("method") in ("GET", "DELETE"):
            yield part
        for one in part.values():
            yield from _requests(one)


def _texts(request):
    """The CQL queries of a plan's request, decoded."""
    pairs = [tuple(pair) for pair in request.get("query") or []]
    _, _, rest = request["path"].partition("?")
    for pair in rest.split("&"):
        name, _, value = pair.partition("=")
        pairs.append((name, urllib.parse.unquote_plus(value)))
    return [value for name, value in pairs if name == "query"]


def plans():
    for file in sorted(PLANS.glob("*.json")):
        for request in _requests(json.loads(file.read_text())):
            for text in _texts(request):
                yield Query(request["method"], request["path"].partition("?")[0], text)


def queries():
    """Each once, however a plan calls its variables."""
    seen = {}
    for query in [*front_end()[0], *plans()]:
        shape = re.sub(r"\s+", " ", PLACE.sub("?", query.text)).strip()
        seen.setdefault((query.method, query.path, shape), query)
    return list(seen.values())


def values_of(library):
    """Of a library that a recipe made: records that hang together."""
    loan = library.get("/loan-storage/loans", query="status.name==Open", limit=1).json["loans"][0]
    user = library.get(f"/users/{loan['userId']}").json
    item = library.get(f"/item-storage/items/{loan['itemId']}").json
    holdings = library.get(f"/holdings-storage/holdings/{item['holdingsRecordId']}").json
    point = library.get("/service-points", limit=1).json["servicepoints"][0]
    return {"user": user["id"], "user-barcode": user["barcode"], "group": user["patronGroup"],
            "item": item["id"], "item-barcode": item["barcode"], "holdings": holdings["id"],
            "instance": holdings["instanceId"], "loan": loan["id"], "service-point": point["id"],
            "id": "0bab56e5-1ab6-4ac2-afdf-8b2df0434378", "word": "emma"}
