"""An ordinary stop under load cuts nobody off; clients that vanish leave nothing behind."""

import json
import socket
import time
import uuid


def test_a_stopping_server_answers_what_it_took_on(desk, load):
    work = load(desk).wait()
    time.sleep(1.5)
    assert desk.terminate() == 0
    work.stop()
    assert work.wrong == []
    desk.start().log_in()
    work.must_be_kept()
    # A call without answer was never begun: its item is as the last answer said.
    for item in work.unknown & work.confirmed.keys():
        assert desk.item(item)["status"]["name"] == work.confirmed[item]


def test_a_stop_without_load_is_quick(desk):
    begun = time.monotonic()
    assert desk.terminate() == 0
    assert time.monotonic() - begun < 20  # an idle client would be waited for for thirty


def request_text(desk, item, user):
    body = json.dumps({"itemBarcode": item, "userBarcode": user, "id": str(uuid.uuid4()),
                       "servicePointId": desk.service_point()})
    head = (f"POST /circulation/check-out-by-barcode HTTP/1.1\r\nhost: localhost\r\n"
            f"x-okapi-tenant: diku\r\nx-okapi-token: {desk.headers['x-okapi-token']}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n")
    return (head + body).encode()


def send_and_vanish(desk, data):
    with socket.create_connection(("127.0.0.1", desk.port), timeout=10) as connection:
        connection.sendall(data)
        # Reset instead of an orderly end: the client's machine went away.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                              b"\x01\x00\x00\x00\x00\x00\x00\x00")


def test_half_a_request_does_nothing(desk):
    items, users = desk.inputs("available.csv"), desk.inputs("user_barcodes.csv")
    for n in range(30):
        whole = request_text(desk, items[n], users[n])
        send_and_vanish(desk, whole[:len(whole) * (n + 1) // 31])
    time.sleep(0.3)
    for n in range(30):
        assert desk.item(items[n])["status"]["name"] == "Available"
    desk.must_be_whole()


def is_whole(desk, barcode):
    item = desk.item(barcode)
    loans = desk.open_loans_of(item["id"])
    return item["status"]["name"] == ("Checked out" if loans else "Available")


def test_a_client_that_does_not_wait_for_the_answer_does_no_harm(desk):
    items, users = desk.inputs("available.csv"), desk.inputs("user_barcodes.csv")
    for n in range(30):
        send_and_vanish(desk, request_text(desk, items[n], users[n]))
    # The last of them may be at work still.
    deadline = time.monotonic() + 60
    while not all(is_whole(desk, items[n]) for n in range(30)):
        assert time.monotonic() < deadline
    assert desk.check_out(items[40], users[40]).status_code == 201
    desk.must_be_whole()


def test_a_client_that_reads_nothing_stops_nobody(desk):
    token = desk.headers["x-okapi-token"]
    slow = [socket.create_connection(("127.0.0.1", desk.port), timeout=10) for _ in range(20)]
    for connection in slow:
        connection.sendall((f"GET /item-storage/items?limit=100000 HTTP/1.1\r\nhost: localhost\r\n"
                            f"x-okapi-tenant: diku\r\nx-okapi-token: {token}\r\n\r\n").encode())
    items, users = desk.inputs("available.csv"), desk.inputs("user_barcodes.csv")
    for n in range(20):
        assert desk.check_out(items[n], users[n]).status_code == 201
    for connection in slow:
        connection.close()
    assert desk.terminate() == 0
