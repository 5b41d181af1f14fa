"""What tests of circulation share: a library with shelves, policies, rules, items and patrons."""

import itertools
import uuid

_numbers = itertools.count(1)


def new_id():
    return str(uuid.uuid4())


def unique(word):
    return f"{word}{next(_numbers)}{uuid.uuid4().hex[:6]}"


class Circulation:
    """Makes records as tests need them; ids of the usual ones are attributes."""

    def __init__(self, library):
        self.api = library
        self.desk = self.service_point("desk")
        self.other_desk = self.service_point("other")
        self.institution = self.make("/location-units/institutions", name=unique("inst"), code=unique("I"))
        self.campus = self.make("/location-units/campuses", name=unique("campus"), code=unique("C"),
                                institutionId=self.institution)
        self.library_id = self.make("/location-units/libraries", name=unique("lib"), code=unique("L"),
                                    campusId=self.campus)
        self.location = self.new_location(self.desk)
        self.book = self.make("/material-types", name=unique("book"))
        self.dvd = self.make("/material-types", name=unique("dvd"))
        self.can_circulate = self.make("/loan-types", name=unique("can circulate"))
        self.reading_room = self.make("/loan-types", name=unique("reading room"))
        self.students = self.make("/groups", group=unique("students"))
        self.staff = self.make("/groups", group=unique("staff"))
        self.instance_type = self.make("/instance-types", name=unique("text"), code=unique("txt"),
                                       source="local")
        source = library.get("/holdings-sources", query='name=="FOLIO"').json["holdingsRecordsSources"]
        self.source = source[0]["id"] if source else self.make("/holdings-sources", name="FOLIO")
        self.loan_policy = self.new_loan_policy()
        self.request_policy = self.make("/request-policy-storage/request-policies", name=unique("rp"),
                                        requestTypes=["Hold", "Page", "Recall"])
        self.notice_policy = self.make("/patron-notice-policy-storage/patron-notice-policies",
                                       name=unique("np"), active=True)
        self.overdue_policy = self.make("/overdue-fines-policies", name=unique("op"))
        self.lost_policy = self.make("/lost-item-fees-policies", name=unique("lp"))
        self.set_rules()

    def make(self, path, **members):
        body = {"id": new_id(), **members}
        return self.api.post(path, body).expect(201)["id"]

    def service_point(self, name, **members):
        name = unique(name)
        return self.make("/service-points", **{"name": name, "code": name, "discoveryDisplayName": name,
                                               "pickupLocation": True,
                                               "holdShelfExpiryPeriod": {"duration": 3, "intervalId": "Days"},
                                               **members})

    def new_location(self, primary, **members):
        return self.make("/locations", **{"name": unique("loc"), "code": unique("LC"), "isActive": True,
                                          "institutionId": self.institution, "campusId": self.campus,
                                          "libraryId": self.library_id, "primaryServicePoint": primary,
                                          "servicePointIds": [primary], **members})

    def new_loan_policy(self, loans=None, **members):
        policy = {"name": unique("policy"), "loanable": True, "renewable": True,
                  "loansPolicy": {"profileId": "Rolling",
                                  "period": {"duration": 3, "intervalId": "Weeks"},
                                  "closedLibraryDueDateManagementId": "CURRENT_DUE_DATE_TIME",
                                  **(loans or {})},
                  "renewalsPolicy": {"numberAllowed": 3, "renewFromId": "SYSTEM_DATE"}}
        policy.update(members)
        return self.make("/loan-policy-storage/loan-policies", **policy)

    def policies(self, loan=None, notice=None, overdue=None, lost=None, request=None):
        return (f"l {loan or self.loan_policy} r {request or self.request_policy} "
                f"n {notice or self.notice_policy} o {overdue or self.overdue_policy} "
                f"i {lost or self.lost_policy}")

    def set_rules(self, *lines, **fallback):
        self.put_rules(*lines, **fallback)

    def wait_for_news(self):
        """Where there are several nodes: until what was changed counts on all of them."""

    def put_rules(self, *lines, **fallback):
        text = ["priority: t, s, c, b, a, m, g", f"fallback-policy: {self.policies(**fallback)}", *lines]
        self.api.put("/circulation/rules", {"rulesAsText": "\n".join(text)}).expect(204)

    def instance(self, **members):
        return self.make("/instance-storage/instances", **{"title": unique("Title "), "source": "FOLIO",
                                                           "instanceTypeId": self.instance_type, **members})

    def item(self, status="Available", location=None, instance=None, **members):
        instance = instance or self.instance(contributors=[])
        holding = self.make("/holdings-storage/holdings", instanceId=instance,
                            sourceId=self.source, permanentLocationId=location or self.location)
        body = {"id": new_id(), "barcode": unique("i"), "holdingsRecordId": holding,
                "status": {"name": status}, "materialTypeId": self.book,
                "permanentLoanTypeId": self.can_circulate, **members}
        item = self.api.post("/item-storage/items", body).expect(201)
        item["instanceId"] = instance
        return item

    def patron(self, **members):
        body = {"id": new_id(), "username": unique("u"), "barcode": unique("p"), "active": True,
                "patronGroup": self.students, "personal": {"lastName": unique("Last"), "firstName": "First"},
                **members}
        return self.api.post("/users", {k: v for k, v in body.items() if v is not None}).expect(201)

    def check_out(self, item, patron, api=None, **members):
        return (api or self.api).post("/circulation/check-out-by-barcode",
                                      {"itemBarcode": item["barcode"], "userBarcode": patron["barcode"],
                                       "servicePointId": self.desk, **members})

    def check_in(self, item, service_point=None, date="2026-05-01T10:00:00Z", api=None, **members):
        return (api or self.api).post("/circulation/check-in-by-barcode",
                                      {"itemBarcode": item["barcode"], "checkInDate": date,
                                       "servicePointId": service_point or self.desk, **members})

    def request(self, item, patron, kind="Hold", status="Open - Not yet filled", position=1, **members):
        """A request as storage keeps it."""
        return self.api.post("/request-storage/requests", {
            "id": new_id(), "requestLevel": "Item", "requestType": kind, "requesterId": patron["id"],
            "requestDate": "2026-01-01T10:00:00Z", "itemId": item["id"], "instanceId": item["instanceId"],
            "holdingsRecordId": item["holdingsRecordId"], "status": status, "position": position,
            "fulfillmentPreference": "Hold Shelf", "pickupServicePointId": self.desk, **members}).expect(201)

    def status_of(self, item):
        return self.api.get(f"/item-storage/items/{item['id']}").json["status"]["name"]

    def stored_loan(self, loan_id):
        return self.api.get(f"/loan-storage/loans/{loan_id}").json

    def stored_request(self, request):
        return self.api.get(f"/request-storage/requests/{request['id']}").json

    def override_user(self, *names):
        return self.api.user(permissions=["circulation.check-out-by-barcode.post",
                                          *[f"circulation.override-{n}" for n in names]])


def errors_of(answer, status=422):
    return answer.expect(status)["errors"]


def messages_of(answer, status=422):
    return [e["message"] for e in errors_of(answer, status)]


def request_body(world, item, patron, kind="Hold", **members):
    """A request as staff clients send it."""
    body = {"id": new_id(), "requestLevel": "Item", "requestType": kind, "requesterId": patron["id"],
            "requestDate": "2026-01-01T10:00:00Z", "itemId": item["id"], "instanceId": item["instanceId"],
            "holdingsRecordId": item["holdingsRecordId"], "fulfillmentPreference": "Hold Shelf",
            "pickupServicePointId": world.desk, **members}
    return {name: value for name, value in body.items() if value is not None}


def place(world, item, patron, kind="Hold", api=None, **members):
    return (api or world.api).post("/circulation/requests", request_body(world, item, patron, kind, **members))


def title_body(world, instance, patron, kind="Hold", **members):
    body = {"id": new_id(), "requestLevel": "Title", "requestType": kind, "requesterId": patron["id"],
            "requestDate": "2026-01-01T10:00:00Z", "instanceId": instance,
            "fulfillmentPreference": "Hold Shelf", "pickupServicePointId": world.desk, **members}
    return {name: value for name, value in body.items() if value is not None}


def place_title(world, instance, patron, kind="Hold", api=None, **members):
    return (api or world.api).post("/circulation/requests", title_body(world, instance, patron, kind, **members))


def positions(world, item):
    """Open requests of the item, (id, position) in their order."""
    found = world.api.get(f"/circulation/requests/queue/item/{item['id']}").expect(200)
    return [(one["id"], one["position"]) for one in found["requests"]]
