"""Types of events, declarations, publishing. Source: spec/platform.md 6.4."""

import uuid

import pytest


@pytest.fixture
def event_type(library):
    """A type with a publisher of its own."""
    descriptor = {"eventType": "T" + uuid.uuid4().hex[:10], "description": "d", "eventTTL": 1,
                  "signed": False, "tmp": False}
    library.post("/pubsub/event-types", descriptor).expect(201)
    library.post("/pubsub/event-types/declare/publisher",
                 {"moduleId": "mod-x-1.0.0", "eventDescriptors": [descriptor]}).expect(201)
    return descriptor


def event(event_type, publisher="mod-x-1.0.0"):
    return {"id": str(uuid.uuid4()), "eventType": event_type["eventType"],
            "eventMetadata": {"tenantId": "t", "eventTTL": 1, "publishedBy": publisher},
            "eventPayload": "{\"a\":1}"}


def states(library, one):
    history = library.get("/pubsub/history", startDate="2020-01-01", endDate="2100-01-01",
                          eventId=one["id"]).expect(200)
    assert history["totalRecords"] == len(history["auditMessages"])
    return sorted((m["state"], m.get("errorMessage", "")) for m in history["auditMessages"])


def test_a_type_of_events_lives_under_its_name(library):
    path = "/pubsub/event-types"
    one = {"eventType": "BOOK_FOUND", "eventTTL": 5, "description": "Found"}
    stored = library.post(path, one).expect(201)
    assert stored == {**one, "signed": False, "tmp": False}
    assert library.get(path + "/BOOK_FOUND").expect(200) == stored
    library.post(path, one).expect(201)  # the same again is fine
    text = library.post(path, {**one, "eventTTL": 6}).expect(400)
    assert text.startswith("Event descriptor for event type 'BOOK_FOUND' already exists, but the "
                           "content is different. Existing event descriptor: ")
    assert library.put(path + "/BOOK_FOUND", {**one, "eventTTL": 6}).expect(200)["eventTTL"] == 6
    listed = library.get(path).expect(200)
    assert listed["totalRecords"] == len(listed["eventDescriptors"]) >= 1
    library.delete(path + "/BOOK_FOUND").expect(204)
    library.delete(path + "/BOOK_FOUND").expect(404)
    assert library.get(path + "/BOOK_FOUND").expect(404) == (
        "Event Descriptor with event type 'BOOK_FOUND' was not found")
    library.post(path, {"eventType": "X"}).expect(422)


def test_a_publisher_speaks_of_known_types_only(library, event_type):
    path = "/pubsub/event-types/declare/publisher"
    unknown = {"moduleId": "mod-y-1.0.0", "eventDescriptors": [{"eventType": "NOPE", "eventTTL": 1}]}
    errors = library.post(path, unknown).expect(400)["errors"]
    assert errors[0]["message"] == "Event type 'NOPE' does not exist"
    other = {"moduleId": "mod-y-1.0.0", "eventDescriptors": [{**event_type, "eventTTL": 9}]}
    message = library.post(path, other).expect(400)["errors"][0]["message"]
    assert "does not match to existing descriptor" in message


def test_declarations_are_listed_and_ended(library, event_type):
    path = "/pubsub/event-types/" + event_type["eventType"]
    library.post("/pubsub/event-types/declare/subscriber",
                 {"moduleId": "mod-z-1.0.0", "subscriptionDefinitions": [
                     {"eventType": event_type["eventType"], "callbackAddress": "/z"}]}).expect(201)
    publishers = library.get(path + "/publishers").expect(200)
    assert [m["moduleId"] for m in publishers["messagingModules"]] == ["mod-x-1.0.0"]
    subscriber = library.get(path + "/subscribers").expect(200)["messagingModules"][0]
    assert (subscriber["moduleRole"], subscriber["subscriberCallback"]) == ("SUBSCRIBER", "/z")
    text = library.delete(path).expect(400)
    assert text == (f"Event type {event_type['eventType']} cannot be deleted. Modules "
                    "[mod-x-1.0.0,mod-z-1.0.0] are registered as publishers or subscribers for "
                    "this event type.")
    library.delete(path + "/publishers", moduleId="mod-x-1.0.0").expect(204)
    library.delete("/pubsub/messaging-modules", moduleId="mod-z-1.0.0",
                   moduleRole="SUBSCRIBER").expect(204)
    assert library.get(path + "/subscribers").expect(200)["totalRecords"] == 0
    library.delete(path).expect(204)


def test_a_subscriber_may_come_before_its_publisher(library):
    library.post("/pubsub/event-types/declare/subscriber",
                 {"moduleId": "mod-z-1.0.0", "subscriptionDefinitions": [
                     {"eventType": "EARLY", "callbackAddress": "/z"}]}).expect(201)
    assert library.get("/pubsub/event-types/EARLY").expect(200)["tmp"] is True
    library.post("/pubsub/event-types", {"eventType": "EARLY", "eventTTL": 7}).expect(201)
    assert library.get("/pubsub/event-types/EARLY").expect(200)["eventTTL"] == 7


def test_what_cannot_be_delivered_is_recorded(library, event_type):
    one = event(event_type)
    library.post("/pubsub/publish", one).expect(204)
    reason = "There is no SUBSCRIBERS registered for event type " + event_type["eventType"]
    assert states(library, one) == [("CREATED", ""), ("PUBLISHED", ""), ("REJECTED", reason)]
    payload = library.get(f"/pubsub/audit-messages/{one['id']}/payload").expect(200)
    assert payload == {"eventId": one["id"], "content": one["eventPayload"]}
    library.get(f"/pubsub/audit-messages/{uuid.uuid4()}/payload").expect(404)


def test_modules_of_this_process_receive(library, event_type):
    own = [m["id"] for m in library.operator.get(
        f"/_/proxy/tenants/{library.tenant}/modules").json if m["id"].startswith("mod-circulation-2")]
    library.post("/pubsub/event-types/declare/subscriber",
                 {"moduleId": own[0], "subscriptionDefinitions": [
                     {"eventType": event_type["eventType"], "callbackAddress": "/c"}]}).expect(201)
    one = event(event_type)
    library.post("/pubsub/publish", one).expect(204)
    assert states(library, one) == [("CREATED", ""), ("DELIVERED", ""), ("PUBLISHED", "")]


def test_only_declared_publishers_publish(library, event_type):
    text = library.post("/pubsub/publish", event(event_type, "mod-other-1.0.0")).expect(400)
    assert text == ("mod-other-1.0.0 is not registered as PUBLISHER for event type "
                    + event_type["eventType"])
    library.post("/pubsub/publish", event({"eventType": "UNHEARD"})).expect(400)


def test_the_history_needs_dates(library):
    text = library.get("/pubsub/history").expect(400)
    assert text == "Start date and End date are required query parameters"
    library.get("/pubsub/history", startDate="x", endDate="y").expect(400)
