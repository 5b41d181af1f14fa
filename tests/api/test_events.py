"""Events on Kafka: shapes, and that none is lost when Kafka or the server goes away.
Source: spec/interop.md 6, spec/engineering.md 9.7."""

import signal
import uuid

import pytest
import requests

from mock_kafka import MockKafka
from octavo import Library, wait_until


@pytest.fixture
def kafka():
    one = MockKafka()
    one.create("test.diku.inventory.material-type", "test.Default.diku.USER_CREATED",
               "test.Default.diku.USER_UPDATED", "test.diku.circulation.loan")
    yield one
    one.close()


@pytest.fixture
def served(kafka, own_server):
    return own_server(f"--kafka.brokers={kafka.brokers}", "--kafka.environment=test")


def metric(server, name):
    text = requests.get(server.admin_url + "/metrics", timeout=10).text
    for line in text.splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise AssertionError(f"no metric {name}")


def new_type(library, name=None):
    name = name or uuid.uuid4().hex
    return library.post("/material-types", {"name": name, "source": "local"}).expect(201)


def ids_of(messages):
    return [value["new"]["id"] for _, value in messages if "new" in value]


def has_all(records):
    wanted = {record["id"] for record in records}
    return lambda messages: wanted <= set(ids_of(messages))


def test_changes_of_inventory_records_are_events(served, kafka):
    library = Library(served, "diku").login()
    record = new_type(library)
    library.put(f"/material-types/{record['id']}", {**record, "name": record["name"] + "s"}
                ).expect(204)
    library.delete(f"/material-types/{record['id']}").expect(204)

    def mine(messages):
        return [value for key, value in messages if key == record["id"]]

    messages = kafka.read("test.diku.inventory.material-type",
                          enough=lambda found: len(mine(found)) == 3)
    created, updated, deleted = mine(messages)
    assert created["type"] == "CREATE" and created["tenant"] == "diku"
    assert created["new"]["name"] == record["name"] and "old" not in created
    assert isinstance(created["eventTs"], int) and uuid.UUID(created["eventId"])
    assert updated["type"] == "UPDATE"
    assert updated["old"]["name"] == record["name"]
    assert updated["new"]["name"] == record["name"] + "s"
    assert deleted["type"] == "DELETE" and "new" not in deleted


def test_users_are_announced_as_consortia_expect(served, kafka):
    library = Library(served, "diku").login()
    user = {"id": str(uuid.uuid4()), "username": "jane", "active": True, "barcode": "77",
            "personal": {"lastName": "Doe", "firstName": "Jane"}}
    library.post("/users", user).expect(201)
    messages = kafka.read("test.Default.diku.USER_CREATED",
                          enough=lambda found: any(key == user["id"] for key, _ in found))
    value = [value for key, value in messages if key == user["id"]][-1]
    assert value["action"] == "Create" and value["tenantId"] == "diku"
    assert value["userDto"] == {"id": user["id"], "username": "jane", "active": True,
                                "barcode": "77", "personal": {"lastName": "Doe"}}


def test_a_killed_server_loses_no_event(served, kafka):
    kafka.down()
    library = Library(served, "diku").login()
    records = [new_type(library) for _ in range(20)]
    served.process.send_signal(signal.SIGKILL)
    served.process.wait(10)
    kafka.up()
    served.start()
    messages = kafka.read("test.diku.inventory.material-type", wait_s=15,
                          enough=has_all(records))
    assert has_all(records)(messages)
    # In the order of writing; what comes twice comes after.
    seen = list(dict.fromkeys(i for i in ids_of(messages) if i in {r["id"] for r in records}))
    assert seen == [record["id"] for record in records]


def test_stopping_sends_what_is_written(served, kafka):
    library = Library(served, "diku").login()
    records = [new_type(library) for _ in range(20)]
    assert served.stop() == 0
    assert has_all(records)(kafka.read("test.diku.inventory.material-type", wait_s=5,
                                       enough=has_all(records)))


def test_with_kafka_down_requests_go_on_and_figures_tell(served, kafka):
    kafka.down()
    library = Library(served, "diku").login()
    records = [new_type(library) for _ in range(3)]
    wait_until(lambda: metric(served, "octavo_kafka_up") == 0)
    assert metric(served, "octavo_outbox_pending") >= 3
    assert metric(served, "octavo_outbox_oldest_seconds") > 0
    kafka.up()
    wait_until(lambda: metric(served, "octavo_outbox_pending") == 0, 30)
    assert metric(served, "octavo_kafka_up") == 1
    assert has_all(records)(kafka.read("test.diku.inventory.material-type",
                                       enough=has_all(records)))


def test_without_kafka_nothing_waits(server, operator):
    new_type(operator)
    wait_until(lambda: metric(server, "octavo_outbox_pending") == 0)


def test_operators_see_the_outbox_and_its_dead_letters(served, kafka):
    kafka.down()
    library = Library(served, "diku").login()
    new_type(library)
    wait_until(lambda: library.get("/octavo/ops/outbox").expect(200)["kafka"] == "down")
    shown = library.get("/octavo/ops/outbox").expect(200)
    assert shown["pending"] >= 1 and shown["dead"] == []
    assert "inventory.material-type" in [topic["topic"] for topic in shown["topics"]]
    assert library.post("/octavo/ops/outbox/7/retry").status == 404
    assert library.delete("/octavo/ops/outbox/7").status == 404
    nobody = library.user()
    assert nobody.get("/octavo/ops/outbox").status == 403


def test_a_refused_event_can_be_sent_again(served, kafka):
    library = Library(served, "diku").login()
    kafka.refuse_next()
    record = new_type(library)
    wait_until(lambda: library.get("/octavo/ops/outbox").expect(200)["dead"])
    letter = library.get("/octavo/ops/outbox").expect(200)["dead"][0]
    assert letter["topic"] == "inventory.material-type" and letter["reader"] == "sink"
    assert "too large" in letter["error"]
    library.post(f"/octavo/ops/outbox/{letter['seq']}/retry").expect(204)
    assert has_all([record])(kafka.read("test.diku.inventory.material-type",
                                        enough=has_all([record])))
    assert library.get("/octavo/ops/outbox").expect(200)["dead"] == []
