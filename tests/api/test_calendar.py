"""Opening hours. Source: spec/circulation.md 7.5."""

import uuid

import pytest


def new_id():
    return str(uuid.uuid4())


@pytest.fixture
def point():
    return new_id()


def hours(day, start, end, end_day=None):
    return {"startDay": day, "startTime": start, "endDay": end_day or day, "endTime": end}


def calendar(point, **members):
    return {"name": "Year", "startDate": "2024-01-01", "endDate": "2024-12-31",
            "assignments": [point], "normalHours": [hours("MONDAY", "09:00", "17:00")],
            "exceptions": [], **members}


def closed(day, **members):
    return {"date": day, "allDay": True, "open": False, "exceptional": False, "openings": [],
            **members}


def around(library, point, day):
    path = f"/calendar/dates/{point}/surrounding-openings"
    return library.get(path, date=day).expect(200)["openings"]


def codes(answer, status=400):
    body = answer.expect(status)
    assert body["status"] == status and body["timestamp"]
    return [e["code"] for e in body["errors"]]


def post(library, point, **members):
    return library.post("/calendar/calendars", calendar(point, **members))


def test_the_days_around_a_date_are_the_nearest_open_ones(library, point):
    post(library, point).expect(201)
    before, day, after = around(library, point, "2024-01-10")
    assert before == {"date": "2024-01-08", "allDay": False, "open": True, "exceptional": False,
                      "openings": [{"startTime": "09:00:00", "endTime": "17:00:00"}]}
    assert day == closed("2024-01-10")
    assert after["date"] == "2024-01-15"


def test_without_calendar_everything_is_closed(library, point):
    assert around(library, point, "2024-02-29") == [
        closed("2024-02-28"), closed("2024-02-29"), closed("2024-03-01")]


def test_the_neighbours_may_stand_in_other_calendars(library, point):
    post(library, point).expect(201)
    post(library, point, startDate="2026-01-01", endDate="2026-12-31").expect(201)
    before, day, after = around(library, point, "2025-06-01")
    assert (before["date"], day["open"], after["date"]) == ("2024-12-30", False, "2026-01-05")


def test_an_opening_over_midnight_is_cut_at_it(library, point):
    post(library, point, normalHours=[hours("SATURDAY", "20:00", "02:00", "SUNDAY")]).expect(201)
    before, day, _ = around(library, point, "2024-01-07")
    assert before["openings"] == [{"startTime": "20:00:00", "endTime": "23:59:00"}]
    assert day["openings"] == [{"startTime": "00:00:00", "endTime": "02:00:00"}]


def test_an_opening_to_an_earlier_time_of_its_day_goes_around_the_week(library, point):
    post(library, point, normalHours=[hours("MONDAY", "12:00", "08:00")]).expect(201)
    _, monday, tuesday = around(library, point, "2024-01-08")
    assert monday["openings"] == [{"startTime": "00:00:00", "endTime": "08:00:00"},
                                  {"startTime": "12:00:00", "endTime": "23:59:00"}]
    assert tuesday["allDay"] is True and tuesday["open"] is True


def test_exceptions_replace_the_weekly_hours(library, point):
    post(library, point, exceptions=[
        {"name": "Party", "startDate": "2024-01-09", "endDate": "2024-01-09",
         "openings": [{"startDate": "2024-01-09", "startTime": "10:00",
                       "endDate": "2024-01-09", "endTime": "12:00"}]},
        {"name": "Holiday", "startDate": "2024-01-15", "endDate": "2024-01-16",
         "openings": []}]).expect(201)
    _, day, after = around(library, point, "2024-01-09")
    assert day["exceptionName"] == "Party" and day["open"] is True
    assert after["date"] == "2024-01-22"
    _, holiday, _ = around(library, point, "2024-01-15")
    assert holiday == closed("2024-01-15", exceptional=True, exceptionName="Holiday")


def test_all_openings_of_a_range(library, point):
    post(library, point, exceptions=[{"name": "H", "startDate": "2024-01-15",
                                      "endDate": "2024-01-15", "openings": []}]).expect(201)
    path = f"/calendar/dates/{point}/all-openings"
    query = {"startDate": "2023-12-25", "endDate": "2024-01-16", "includeClosed": "false"}
    body = library.get(path, **query).expect(200)
    assert [d["date"] for d in body["dates"]] == ["2024-01-01", "2024-01-08", "2024-01-15"]
    assert body["totalRecords"] == 3
    body = library.get(path, **{**query, "includeClosed": "true"}, offset=6, limit=3).expect(200)
    assert [(d["date"], d["open"]) for d in body["dates"]] == [
        ("2023-12-31", False), ("2024-01-01", True), ("2024-01-02", False)]
    assert body["totalRecords"] == 23
    body = library.get(path, startDate="2024-02-01", endDate="2024-01-01").expect(200)
    assert body == {"dates": [], "totalRecords": 0}
    assert codes(library.get(path, startDate="x", endDate="y")) == ["invalidParameter"]


def test_calendars_are_found_by_service_point_and_time(library, point):
    one = post(library, point).expect(201)["id"]

    def found(**query):
        body = library.get("/calendar/calendars", servicePointId=point, **query).expect(200)
        assert body["totalRecords"] == len(body["calendars"])
        return [c["id"] for c in body["calendars"]]

    assert found() == found(startDate="2024-12-31") == found(endDate="2024-01-01") == [one]
    assert found(startDate="2025-01-01") == []
    assert library.get("/calendar/calendars", servicePointId=new_id()).json["totalRecords"] == 0


def test_a_calendar_is_changed_and_removed(library, point):
    one = post(library, point).expect(201)
    path = "/calendar/calendars/" + one["id"]
    assert library.put(path, {**one, "name": "New"}).expect(200)["name"] == "New"
    assert library.get(path).expect(200)["name"] == "New"
    library.delete(path).expect(204)
    assert codes(library.get(path), 404) == ["calendarNotFound"]
    assert around(library, point, "2024-01-08")[1]["open"] is False


def test_many_are_removed_together_or_not_at_all(library, point):
    one = post(library, point).expect(201)["id"]
    path = "/calendar/calendars"
    missing = new_id()
    body = library.call("DELETE", f"{path}?id={one}&id={missing}").expect(404)
    assert body["errors"][0]["data"] == {"notFound": [missing]}
    library.get(f"{path}/{one}").expect(200)
    library.call("DELETE", f"{path}?id={one}").expect(204)
    assert codes(library.delete(path)) == ["invalidParameter"]


# What a calendar must be --------------------------------------------------------------------------


def test_two_calendars_of_a_service_point_do_not_overlap(library, point):
    post(library, point).expect(201)
    answer = post(library, point, startDate="2024-12-31", endDate="2025-01-31")
    assert codes(answer, 409) == ["calendarDateOverlap"]
    error = answer.json["errors"][0]
    assert error["data"] == {"conflictingServicePointIds": [point]}
    assert error["message"] == ("This calendar overlaps with another calendar (“Year” from Jan 1, "
                                "2024 to Dec 31, 2024)")
    post(library, new_id()).expect(201)


def test_all_failures_come_at_once(library, point):
    answer = post(library, point, name=" ", startDate="2025-01-01")
    assert codes(answer) == ["calendarNoName", "calendarInvalidDateRange"]


def test_openings_of_a_week_do_not_overlap(library, point):
    both = [hours("MONDAY", "09:00", "12:00"), hours("SUNDAY", "20:00", "09:00", "MONDAY")]
    answer = post(library, point, normalHours=both)
    assert codes(answer) == ["calendarInvalidNormalOpenings"]
    assert "Mon 9:00 AM - Mon 12:00 PM" in answer.json["errors"][0]["message"]
    post(library, point, normalHours=[hours("MONDAY", "09:00", "12:00"),
                                      hours("MONDAY", "12:01", "14:00")]).expect(201)


def test_exceptions_are_checked(library, point):
    def exception(start, end, openings=(), label="E"):
        return {"name": label, "startDate": start, "endDate": end, "openings": list(openings)}

    def refused(*exceptions):
        return codes(post(library, point, exceptions=list(exceptions)))

    opening = {"startDate": "2024-02-01", "startTime": "09:00", "endDate": "2024-02-01",
               "endTime": "10:00"}
    assert refused(exception("2024-02-01", "2024-02-02", label=" ")) == [
        "calendarInvalidExceptionName"]
    assert refused(exception("2024-02-02", "2024-02-01")) == [
        "calendarInvalidExceptionDateOrder"]
    assert refused(exception("2023-02-01", "2024-02-01")) == [
        "calendarInvalidExceptionDateBoundary"]
    assert refused(exception("2024-02-01", "2024-02-03"), exception("2024-02-03", "2024-02-04")
                   ) == ["calendarInvalidExceptions"]
    assert refused(exception("2024-02-02", "2024-02-03", [opening])) == [
        "calendarInvalidExceptionOpeningBoundary"]
    assert refused(exception("2024-02-01", "2024-02-03", [opening, opening])) == [
        "calendarInvalidExceptionOpenings"]


def test_what_is_no_calendar_is_refused(library, point):
    assert codes(library.call("POST", "/calendar/calendars", data=b"{")) == ["invalidParameter"]
    assert codes(post(library, point, startDate="soon")) == ["invalidParameter"]
    assert codes(post(library, point, normalHours=[hours("MONDAY", "25:00", "26:00")])) == [
        "invalidParameter"]
    assert codes(library.get("/calendar/calendars/x")) == ["invalidParameter"]
