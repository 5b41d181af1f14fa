"""Users and what belongs to them. Source: spec/platform.md 4, 8."""

import base64
import uuid

import octavo


def new_id():
    return str(uuid.uuid4())


def name():
    return "u" + uuid.uuid4().hex[:12]


def make(library, **members):
    return library.post("/users", {"username": name(), **members}).expect(201)


def error_of(answer, status=422):
    return answer.expect(status)["errors"][0]


# Records ------------------------------------------------------------------------------------------


def test_a_user_is_stored_and_found(library):
    user = make(library, barcode="b" + name(), personal={"lastName": "Ångström"})
    assert library.get("/users/" + user["id"]).expect(200)["barcode"] == user["barcode"]
    found = library.get("/users", query='personal.lastName=="angstrom"').expect(200)
    assert [u["id"] for u in found["users"]] == [user["id"]]
    assert found["totalRecords"] == found["resultInfo"]["totalRecords"] == 1


def test_names_and_barcodes_are_unique_whatever_their_case(library):
    user = make(library, barcode="B" + name())
    error = error_of(library.post("/users", {"username": user["username"].upper()}))
    assert error["message"] == "User with this username already exists"
    assert error["parameters"] == [{"key": "username", "value": user["username"].upper()}]
    error = error_of(library.post("/users", {"barcode": user["barcode"].lower()}))
    assert error["message"] == "This barcode has already been taken"
    error = error_of(library.post("/users", {"id": user["id"]}))
    assert error["message"] == "User with this id already exists"


def test_taken_names_are_told_as_text_when_a_user_is_changed(library):
    one, two = make(library), make(library)
    two["username"] = one["username"]
    answer = library.put("/users/" + two["id"], two)
    assert answer.expect(400) == "User with this username already exists"


def test_users_without_barcode_do_not_collide(library):
    make(library)
    make(library)


def test_blanks_around_a_new_name_go(library):
    assert make(library, username="  spaced ")["username"] == "spaced"


def test_a_person_needs_a_last_name(library):
    error = error_of(library.post("/users", {"personal": {"firstName": "A"}}))
    assert error["parameters"][0]["key"] == "personal.lastName"


def test_an_unknown_group_is_refused(library):
    group = new_id()
    answer = library.post("/users", {"patronGroup": group})
    assert answer.expect(400) == f"Cannot add {group}. Patron group not found"


def test_an_unknown_department_is_refused(library):
    user = make(library)
    assert "departments" in error_of(library.post("/users", {"departments": [new_id()]}))["message"]
    library.put("/users/" + user["id"], {**user, "departments": [new_id()]}).expect(400)


def test_one_address_of_a_kind_and_only_known_kinds(library):
    home = library.get("/addresstypes", query="addressType==Home").json["addressTypes"][0]["id"]
    person = {"lastName": "A", "addresses": [{"addressTypeId": home}, {"addressTypeId": home}]}
    answer = library.post("/users", {"personal": person})
    assert answer.expect(400) == "Users are limited to one address per addresstype"
    person["addresses"] = [{"addressTypeId": new_id()}]
    answer = library.post("/users", {"personal": person})
    assert answer.expect(400) == "You cannot add addresses with non-existent address types"
    user = make(library)
    answer = library.put("/users/" + user["id"], {**user, "personal": person})
    assert answer.expect(400) == "All addresses types defined for users must be existing"


def test_the_id_of_a_user_stays(library):
    user = make(library)
    answer = library.put("/users/" + user["id"], {**user, "id": new_id()})
    assert answer.expect(400) == "You cannot change the value of the id field"


def test_an_unknown_user_is_told_by_its_id(library):
    unknown = new_id()
    assert library.put("/users/" + unknown, {"id": unknown}).expect(404) == unknown
    assert library.get("/users/" + unknown).expect(404) == unknown
    assert library.delete("/users/" + unknown).expect(404) == unknown


def test_the_date_of_making_stays(library):
    user = make(library)
    library.put("/users/" + user["id"], {**user, "createdDate": "1999-01-01"}).expect(204)
    changed = library.get("/users/" + user["id"]).json
    assert changed["createdDate"] == user["createdDate"]


def test_users_go_by_query_and_never_without_one(library):
    user = make(library)
    answer = library.delete("/users")
    assert answer.expect(400) == "Expected CQL but query parameter is empty"
    library.delete("/users", query=f"username=={user['username']}").expect(204)
    library.get("/users/" + user["id"]).expect(404)


# Searching ----------------------------------------------------------------------------------------


def test_keywords_find_beginnings_of_names_and_barcodes(library):
    mark = name()
    user = make(library, barcode=mark, personal={"lastName": "Zwiebel", "firstName": "Ümit"})
    for words in (mark[:8] + "*", "zwie*", "umit", f"zwiebel {mark}"):
        found = library.get("/users", query=f'keywords="{words}"').expect(200)
        assert user["id"] in [u["id"] for u in found["users"]], words


def test_users_are_found_and_sorted_by_their_groups_name(library):
    mark = name()
    for group in ("zz" + mark, "aa" + mark):
        made = library.post("/groups", {"group": group}).expect(201)
        make(library, patronGroup=made["id"], externalSystemId=group)
    query = f'patronGroup.group=="*{mark}" sortby patronGroup.group'
    found = library.get("/users", query=query).expect(200)["users"]
    assert [u["externalSystemId"] for u in found] == ["aa" + mark, "zz" + mark]


def test_looking_up_a_barcode_reads_one_row(library):
    user = make(library, barcode="x" + name())
    answer = library.get("/users", query=f'barcode=="{user["barcode"]}"')
    assert answer.expect(200)["totalRecords"] == 1
    assert answer.cost("rows") <= 2


# Groups, departments, address types, proxies ------------------------------------------------------


def test_a_group_in_use_stays(library):
    group = library.post("/groups", {"group": name()}).expect(201)
    user = make(library, patronGroup=group["id"])
    text = library.delete("/groups/" + group["id"]).expect(400)
    assert "still referenced from table users" in text
    library.delete("/users/" + user["id"]).expect(204)
    library.delete("/groups/" + group["id"]).expect(204)


def test_departments_count_their_users(library):
    one = library.post("/departments", {"name": name(), "code": name()}).expect(201)
    make(library, departments=[one["id"]])
    assert library.get("/departments/" + one["id"]).json["usageNumber"] == 1
    library.delete("/departments/" + one["id"]).expect(400)
    error = error_of(library.post("/departments", {"name": one["name"], "code": name()}))
    assert error["message"] == "Department with this name already exists"
    error = error_of(library.post("/departments", {"name": name(), "code": one["code"]}))
    assert error["message"] == "Department with this code already exists"


def test_an_address_type_in_use_stays(library):
    kind = library.post("/addresstypes", {"addressType": name()}).expect(201)["id"]
    user = make(library, personal={"lastName": "A", "addresses": [{"addressTypeId": kind}]})
    answer = library.delete("/addresstypes/" + kind)
    assert answer.expect(400) == f"Cannot remove address type '{kind}' as it is being used"
    library.delete("/users/" + user["id"]).expect(204)
    library.delete("/addresstypes/" + kind).expect(204)


def test_a_pair_of_sponsor_and_proxy_exists_once(library):
    pair = {"userId": make(library)["id"], "proxyUserId": make(library)["id"]}
    library.post("/proxiesfor", pair).expect(201)
    error = error_of(library.post("/proxiesfor", pair))
    assert error["message"] == "Proxy relationship already exists"
    assert error["parameters"][0]["key"] == "proxyFor"


# PINs, tenants ------------------------------------------------------------------------------------


def test_a_pin_is_checked_replaced_and_removed(library):
    user = make(library)["id"]
    library.post("/patron-pin", {"id": user, "pin": "1234"}).expect(201)
    library.post("/patron-pin/verify", {"id": user, "pin": "1234"}).expect(200)
    library.post("/patron-pin/verify", {"id": user, "pin": "4321"}).expect(422)
    library.post("/patron-pin", {"id": user, "pin": "9"}).expect(201)
    library.post("/patron-pin/verify", {"id": user, "pin": "9"}).expect(200)
    library.call("DELETE", "/patron-pin", {"id": user}).expect(200)
    library.post("/patron-pin/verify", {"id": user, "pin": "9"}).expect(422)


def test_nobody_belongs_to_other_tenants(library):
    answer = library.get("/user-tenants", userId=new_id()).expect(200)
    assert answer == {"userTenants": [], "totalRecords": 0}


def test_homes_of_users_are_kept_and_found(library):
    one = {"userId": new_id(), "tenantId": "t1", "username": "Someone"}
    library.post("/user-tenants", one).expect(201)
    assert library.get("/user-tenants", username="someone").json["totalRecords"] == 1
    assert library.get("/user-tenants", userId=one["userId"], tenantId="t2").json[
        "totalRecords"] == 0
    library.delete("/user-tenants", tenantId="t1").expect(204)
    assert library.get("/user-tenants", username="someone").json["totalRecords"] == 0


# Staging users ------------------------------------------------------------------------------------


def register(library, **members):
    return library.post("/staging-users", {
        "generalInfo": {"firstName": "Ada", "lastName": "L"},
        "contactInfo": {"email": "ada@example.org"},
        "addressInfo": {"addressLine0": "Street 1", "city": "Town"}, **members}).expect(201)


def test_registered_people_get_an_id_and_a_tier(library):
    one = register(library)
    assert one["status"] == "TIER-1" and one["isEmailVerified"] is False
    changed = {**one, "isEmailVerified": True,
               "contactInfo": {"email": "other@example.org", "phone": "1"}}
    after = library.put("/staging-users/" + one["externalSystemId"], changed).expect(200)
    assert after["isEmailVerified"] is True and after["contactInfo"]["phone"] == "1"
    assert after["contactInfo"]["email"] == "ada@example.org"
    answer = library.put("/staging-users/" + new_id(), changed)
    assert answer.expect(404) == "No matching user found for update."


def test_registered_people_become_users(library):
    library.post("/groups", {"group": "Remote Non-circulating", "expirationOffsetInDays": 10})
    one = register(library)
    answer = library.put(f"/staging-users/{one['id']}/mergeOrCreateUser").expect(200)
    user = library.get("/users/" + answer["userId"]).json
    assert user["active"] is True and user["personal"]["lastName"] == "L"
    assert user["personal"]["addresses"][0]["primaryAddress"] is True
    assert user["expirationDate"] > user["enrollmentDate"]
    assert library.get("/staging-users").json["totalRecords"] == 0 or one["id"] not in [
        s["id"] for s in library.get("/staging-users").json["staging_users"]]
    library.put(f"/staging-users/{new_id()}/mergeOrCreateUser").expect(404)


def test_registered_people_merge_into_users(library):
    one, user = register(library), make(library, personal={"lastName": "Old"})
    library.put(f"/staging-users/{one['id']}/mergeOrCreateUser?userId={user['id']}").expect(200)
    assert library.get("/users/" + user["id"]).json["personal"]["lastName"] == "L"


# Custom fields ------------------------------------------------------------------------------------


def field(library, label, kind="TEXTBOX_SHORT", **members):
    return library.post("/custom-fields", {"name": label, "type": kind, "entityType": "user",
                                           **members}).expect(201)


def select(*values, multiple=False):
    return {"selectField": {"multiSelect": multiple,
                            "options": {"values": [{"value": v} for v in values]}}}


def test_values_are_named_after_their_field(fresh_library):
    assert field(fresh_library, "Patron's type 2")["refId"] == "patronsType"
    assert field(fresh_library, "patrons type")["refId"] == "patronsType_2"
    assert field(fresh_library, "Größe")["refId"] == "groe"
    label = "漢字"
    coded = base64.b64encode(label.encode()).decode().rstrip("=")
    assert field(fresh_library, label)["refId"] == coded


def test_definitions_are_checked(library):
    def refused(kind, **members):
        body = {"name": "n", "type": kind, "entityType": "user", **members}
        return error_of(library.post("/custom-fields", body))["message"]

    assert refused("TEXTBOX_SHORT", helpText="x" * 101) == (
        "The 'helpText' length cannot be more than 100")
    assert refused("RADIO_BUTTON", **select(*"abcdef")) == (
        "The options amount should be in range 1 - 5")
    assert refused("RADIO_BUTTON", **select("a", "a")) == "Option values should be unique"
    assert refused("SINGLE_SELECT_DROPDOWN") == "The 'selectField' property should be defined"
    assert refused("MULTI_SELECT_DROPDOWN", **select("a")) == (
        "The 'multiSelect' property should be 'true'")
    assert refused("SINGLE_CHECKBOX", **select("a")).startswith("Attribute selectField is not")


def test_values_must_fit_their_definition(fresh_library):
    library = fresh_library
    field(library, "choice", "SINGLE_SELECT_DROPDOWN", **select("a", "b"))
    field(library, "check", "SINGLE_CHECKBOX", checkboxField={})
    field(library, "born", "DATE_PICKER")
    field(library, "mail", textField={"fieldFormat": "EMAIL"})
    field(library, "short")

    def refused(**values):
        return error_of(library.post("/users", {"customFields": values}))["message"]

    assert refused(other="x") == "Custom field with refId other is not found"
    assert refused(choice="opt_7") == (
        "Field choice can only have following values: [opt_0, opt_1]")
    assert refused(check="yes") == "Field with type SINGLE_CHECKBOX must be a boolean"
    assert refused(born="tomorrow") == "Invalid date format: tomorrow"
    assert refused(mail="at home") == "Invalid Email format: at home"
    assert refused(short="x" * 151) == "Maximum length of the value is 150"
    assert refused(short=1) == "Field with type TEXTBOX_SHORT must be a string"
    user = make(library, customFields={"choice": "opt_0", "check": True, "short": "",
                                       "born": "2000-02-29", "mail": "a.b@example.org"})
    assert "short" not in user["customFields"]
    found = library.get("/users", query='customFields.choice=="opt_0"').expect(200)
    assert found["totalRecords"] == 1


def test_a_removed_field_leaves_the_users(fresh_library):
    library = fresh_library
    one, two = field(library, "one"), field(library, "two")
    user = make(library, customFields={"one": "1", "two": "2"})
    stats = library.get(f"/custom-fields/{one['id']}/stats").expect(200)
    assert stats == {"fieldId": one["id"], "entityType": "user", "count": 1}
    library.delete("/custom-fields/" + one["id"]).expect(204)
    assert library.get("/users/" + user["id"]).json["customFields"] == {"two": "2"}
    listed = library.get("/custom-fields").json["customFields"]
    assert [f["id"] for f in listed] == [two["id"]]


def test_a_removed_option_becomes_the_default(fresh_library):
    library = fresh_library
    one = field(library, "choice", "SINGLE_SELECT_DROPDOWN", **select("a", "b"))
    user = make(library, customFields={"choice": "opt_0"})
    path = f"/custom-fields/{one['id']}/options/opt_0/stats"
    assert library.get(path).expect(200)["count"] == 1
    one["selectField"]["options"]["values"] = [{"id": "opt_1", "value": "b", "default": True}]
    library.put("/custom-fields/" + one["id"], one).expect(204)
    assert library.get("/users/" + user["id"]).json["customFields"] == {"choice": "opt_1"}


def test_many_users_are_cleaned_by_and_by(fresh_library):
    library = fresh_library
    one = field(library, "tag")
    for _ in range(130):
        make(library, customFields={"tag": "x"})
    library.delete("/custom-fields/" + one["id"]).expect(204)
    octavo.wait_until(lambda: library.get("/users", query="customFields=tag", limit=0)
                      .json["totalRecords"] == 0)


def test_the_list_of_fields_is_put_in_order(fresh_library):
    library = fresh_library
    one, two = field(library, "one"), field(library, "two")
    body = {"entityType": "user",
            "customFields": [two, {"name": "three", "type": "TEXTBOX_LONG", "entityType": "user"}]}
    library.put("/custom-fields", body).expect(204)
    listed = library.get("/custom-fields").json["customFields"]
    assert [(f["name"], f["order"]) for f in listed] == [("two", 1), ("three", 2)]
    assert one["id"] not in [f["id"] for f in listed]


def test_kind_and_name_of_values_do_not_change(library):
    one = field(library, "kind" + name())
    changed = {**one, "type": "TEXTBOX_LONG"}
    text = error_of(library.put("/custom-fields/" + one["id"], changed))["message"]
    assert text.startswith("The type of the custom field can not be changed: newType = TEXTBOX_L")
    library.put("/custom-fields/" + one["id"], {**one, "name": "new", "refId": "x"}).expect(204)
    assert library.get("/custom-fields/" + one["id"]).json["refId"] == one["refId"]


# Settings, pictures -------------------------------------------------------------------------------


def test_settings_have_unique_keys_and_versions(library):
    one = library.post("/user/settings", {"scope": "mod-users", "key": name(),
                                          "value": {"a": 1}}).expect(201)
    again = {"scope": "mod-users", "key": one["key"].upper(), "value": 1}
    library.post("/user/settings", again).expect(422)
    stored = library.get("/user/settings/" + one["id"]).expect(200)
    library.put("/user/settings/" + one["id"], {**stored, "value": 2}).expect(204)
    library.put("/user/settings/" + one["id"], {**stored, "value": 3}).expect(409)


PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 200


def picture(library, method, path="", data=PNG):
    return library.call(method, "/users/profile-picture" + path, data=data,
                        headers={"content-type": "application/octet-stream"})


def test_pictures_are_off_until_a_library_wants_them(fresh_library):
    library = fresh_library
    text = picture(library, "POST").expect(500)
    assert text == f"Profile picture feature is not enabled for tenant {library.tenant}"


def test_a_picture_is_kept_encrypted_and_given_back(fresh_library):
    library = fresh_library
    config = library.get("/users/configurations/entry").expect(200)
    path = "/users/configurations/entry/" + config["id"]
    library.put(path, {**config, "enabled": True, "encryptionKey": "other"}).expect(400)
    library.put(path, {**config, "enabled": True, "maxFileSize": 11}).expect(500)
    library.put(path, {**config, "enabled": True}).expect(204)
    one = picture(library, "POST").expect(201)["id"]
    got = library.get("/users/profile-picture/" + one).expect(200)
    assert base64.b64decode(got["profile_picture_blob"]) == PNG
    assert "type-[PNG" in picture(library, "PUT", "/" + one, b"GIF89a").expect(500)
    picture(library, "PUT", "/" + one, PNG + b"1").expect(200)
    picture(library, "PUT", "/" + new_id()).expect(404)
    picture(library, "DELETE", "/" + one, None).expect(204)
    unknown = library.get("/users/profile-picture/" + one)
    assert unknown.expect(404) == f"No profile picture found for id {one}"
