"""Every route of the program: no token, a token of another tenant, a missing permission.

Source: decision 69. The program's own route table names the routes; what each needs is compared with
tests/data/permissions.txt, and that with FOLIO's list where it lies beside the repository.
"""

import csv
import io
import re
import subprocess

import pytest
import requests

from octavo import ROOT, Client, program

PERMISSIONS = ROOT / "tests" / "data" / "permissions.txt"
FOLIO_ROUTES = ROOT.parent / "shared" / "folio" / "routes.csv"
# FOLIO lets everybody in here.
STRICTER = {("mod-inventory", "DELETE", "/inventory/instances/{}/mark-deleted")}
SOME_ID = "11111111-1111-4111-8111-111111111111"


def routes():
    text = subprocess.run([program(), "routes", "--format", "csv"], capture_output=True,
                          text=True, check=True, timeout=60).stdout
    return list(csv.DictReader(io.StringIO(text)))


def concrete(path):
    return re.sub(r"\{[^}]*\}", SOME_ID, path).replace("*", "x")


@pytest.fixture(scope="module")
def guarded():
    return [r for r in routes() if r["permissionsRequired"]]


def ask(client, session, route):
    headers = {"x-okapi-tenant": client.tenant}
    if client.token:
        headers["x-okapi-token"] = client.token
    return session.request(route["method"], client.server.url + concrete(route["path"]),
                           headers=headers, timeout=30)


def complaints(client, guarded, judge):
    """All routes are asked before anything is judged: the list of failures is the result."""
    found = []
    with requests.Session() as session:
        for route in guarded:
            answer = ask(client, session, route)
            if not judge(route, answer):
                found.append(f"{route['method']} {route['path']}: {answer.status_code} "
                             f"{answer.text[:120]}")
    return found


def test_the_program_has_routes(guarded):
    assert len(guarded) > 100


def test_no_guarded_route_answers_without_a_token(library, guarded):
    def refuses(route, answer):
        names = ", ".join(route["permissionsRequired"].split())
        return answer.status_code == 400 and answer.text == (
            "Token missing, access requires permission: " + names)

    assert complaints(library.anybody, guarded, refuses) == []


def test_no_guarded_route_answers_to_another_tenants_token(library, operator, guarded):
    stranger = Client(library.server, library.tenant, operator.token)
    assert complaints(stranger, guarded,
                      lambda route, answer: (answer.status_code, answer.text) ==
                      (403, "Invalid token")) == []


def test_no_route_of_another_library_is_reached_by_its_name_in_the_path(library, operator, guarded):
    """/_/invoke/tenant/{id}/...: the token must be of that tenant."""
    found = []
    with requests.Session() as session:
        for route in guarded:
            answer = session.request(
                route["method"], f"{library.server.url}/_/invoke/tenant/{library.tenant}"
                + concrete(route["path"]), timeout=30,
                headers={"x-okapi-tenant": operator.tenant, "x-okapi-token": operator.token})
            if (answer.status_code, answer.text) != (403, "Invalid token"):
                found.append((route["method"], route["path"], answer.status_code))
    assert found == []


def test_every_guarded_route_names_the_permission_that_is_missing(library, guarded):
    nobody = library.user([])
    # Users of a tenant may look at what it has enabled, and at the version.
    free = {"/_/version"}

    def refuses(route, answer):
        first = route["permissionsRequired"].split()[0]
        return route["path"] in free or (
            answer.status_code == 403 and answer.text ==
            f"Access for user '{nobody.username}' ({nobody.user_id}) requires permission: {first}")

    assert complaints(nobody, guarded, refuses) == []


def key(route):
    return route["module"], route["method"], re.sub(r"\{[^}]*\}", "{}", route["path"])


def needs(route):
    return "+".join(sorted(route["permissionsRequired"].split())) or "-"


def agreed():
    """(module, method, path): permissions, as the data file has it."""
    found, module = {}, None
    for line in PERMISSIONS.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if len(words) == 1:
            module = words[0]
        elif words and words[0].startswith("/"):
            for method, permissions in zip(words[1::2], words[2::2]):
                found[module, method, words[0]] = permissions
    return found


def test_every_route_needs_what_was_agreed():
    """A new route belongs into tests/data/permissions.txt, and a look at what it gives away."""
    have, wanted = {key(r): needs(r) for r in routes() if r["module"] != "octavo"}, agreed()
    assert [f"{k}: {v} instead of {wanted.get(k)}" for k, v in have.items() if wanted.get(k) != v] == []
    assert sorted(wanted.keys() - have.keys()) == []


def test_routes_of_our_own_are_open_only_where_they_give_nothing_away():
    open_ones = {"/octavo/health/live", "/octavo/health/ready", "/octavo/version"}
    for route in (r for r in routes() if r["module"] == "octavo"):
        if route["path"].startswith("/octavo/") and route["path"] not in open_ones:
            assert all(p.startswith("octavo.") for p in route["permissionsRequired"].split()) \
                and route["permissionsRequired"], route
        else:
            assert route["method"] == "GET", route  # among them empty lists of missing modules


@pytest.mark.skipif(not FOLIO_ROUTES.exists(),
                    reason="FOLIO's route list is not beside the repository; the agreed names are "
                    "compared with the program all the same")
def test_what_was_agreed_is_what_folio_asks_for():
    with open(FOLIO_ROUTES, newline="", encoding="utf-8") as file:
        folio = {(r["module"], r["method"], key(r)[2].rstrip("*")): needs(r)
                 for r in csv.DictReader(file) if not r["interface"].startswith("_")}
    differences = []
    for (module, method, path), permissions in agreed().items():
        theirs = folio.get((module, method, path.rstrip("*")), permissions)
        if theirs != permissions and (module, method, path) not in STRICTER:
            differences.append(f"{module} {method} {path}: {permissions} instead of {theirs}")
    assert differences == []
