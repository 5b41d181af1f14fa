"""Many callers at once: rights change, tenants come and go, nobody sees half of anything."""

import random
import threading
import time
import uuid

from octavo import Client, Library

SECONDS = 3


def work_of(library, user):
    grants = f"/perms/users/{user.user_id}/permissions"
    name = "users.item.get"
    return [
        (lambda c: user.with_headers({}).get("/groups"), (200,)),
        (lambda c: c.post(grants + "?indexField=userId", {"permissionName": name}), (200, 422)),
        (lambda c: c.delete(f"{grants}/{name}?indexField=userId"), (204, 400)),
        (lambda c: c.post("/users", {"username": uuid.uuid4().hex, "active": True}), (201,)),
        (lambda c: Client(c.server, c.tenant).post(
            "/authn/login-with-expiry", {"username": user.username, "password": "secret"}), (201,)),
        (lambda c: c.get("/perms/permissions", length=100), (200,)),
        (lambda c: c.get(f"/_/proxy/tenants/{c.tenant}/modules", full="true"), (200,)),
    ]


def test_rights_and_tenants_change_under_load(server, library):
    users = [library.user(["usergroups.collection.get"]) for _ in range(3)]
    end = time.monotonic() + SECONDS
    wrong = []

    def use(number):
        chance = random.Random(number)
        client = library.with_headers({})
        work = work_of(library, users[number % len(users)])
        while time.monotonic() < end:
            step, statuses = chance.choice(work)
            answer = step(client)
            if answer.status not in statuses:
                wrong.append((answer.status, answer.text[:200]))

    def make_tenants():
        operator = Library(server, "diku").login()
        while time.monotonic() < end:
            one = "t" + uuid.uuid4().hex[:8]
            steps = [operator.post("/_/proxy/tenants", {"id": one, "name": one}),
                     operator.post(f"/_/proxy/tenants/{one}/install",
                                   [{"id": "mod-login", "action": "enable"}]),
                     operator.delete("/_/proxy/tenants/" + one)]
            if [s.status for s in steps] != [201, 200, 204]:
                wrong.append([(s.status, s.text[:200]) for s in steps])

    threads = [threading.Thread(target=use, args=(n,)) for n in range(6)]
    threads.append(threading.Thread(target=make_tenants))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
