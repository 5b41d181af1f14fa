"""Every route of the program: no token, a token of another tenant, a missing permission.

Source: decision 69. The program's own route table names the routes; what it says is compared with
FOLIO's list where that lies beside the repository.
"""

import csv
import io
import re
import subprocess

import pytest
import requests

from octavo import ROOT, Client, program

FOLIO_ROUTES = ROOT.parent / "shared" / "folio" / "routes.csv"
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


@pytest.mark.skipif(not FOLIO_ROUTES.exists(), reason="FOLIO's route list is not beside the repository")
def test_routes_are_guarded_by_the_permissions_of_folio():
    def key(route):
        return (route["module"], route["method"],
                re.sub(r"\{[^}]*\}", "{}", route["path"]).rstrip("*"))

    with open(FOLIO_ROUTES, newline="") as file:
        folio = {key(r): r["permissionsRequired"].split()
                 for r in csv.DictReader(file) if not r["interface"].startswith("_")}
    differences = []
    # Not compared: what FOLIO leaves open, and the empty lists that stand in for missing modules.
    for route in (r for r in routes() if r["module"] != "octavo"):
        wanted = folio.get(key(route))
        if wanted and sorted(wanted) != sorted(route["permissionsRequired"].split()):
            differences.append(f"{route['module']} {route['method']} {route['path']}: "
                               f"{route['permissionsRequired']} instead of {' '.join(wanted)}")
    assert differences == []
