"""What docs/examples offers, used as it stands but for places."""

import re
import shutil
import signal
import socket
import subprocess

import pytest

from site_of_nodes import ROOT, Desk, Load, octavo, postgres

EXAMPLES = ROOT / "docs" / "examples"


def settings_of(unit):
    lines = (EXAMPLES / unit).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and line[0] != "#")


def test_the_unit_starts_a_node_and_stops_it_in_order(cluster, database, tmp_path):
    unit = settings_of("octavo.service")
    config = tmp_path / "octavo.conf"
    text = (EXAMPLES / "octavo.conf").read_text()
    port, admin = postgres.free_port(), postgres.free_port()
    config.write_text(text.replace("0.0.0.0:9130", f"127.0.0.1:{port}")
                      .replace("127.0.0.1:9131", f"127.0.0.1:{admin}"))
    line = unit["ExecStart"].replace("/usr/bin/octavo", octavo.program()) \
                            .replace("/etc/octavo/octavo.conf", str(config)).split()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(20)
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={
            "NOTIFY_SOCKET": str(tmp_path / "notify"),
            "OCTAVO_DATABASE_URL": cluster.url(database)})
        assert unit["Type"] == "notify" and manager.recv(100) == b"READY=1"
        with socket.create_connection(("127.0.0.1", port)):
            pass
        process.send_signal(signal.SIGTERM)
        assert manager.recv(100) == b"STOPPING=1"
        process.stderr.close()
        assert process.wait(int(unit["TimeoutStopSec"])) == 0


@pytest.mark.skipif(not shutil.which("systemd-analyze"),
                    reason="this machine has no systemd to read the unit; the test above starts its command "
                    "and speaks systemd's protocol with it all the same")
def test_systemd_understands_the_unit(tmp_path):
    unit = tmp_path / "octavo.service"
    unit.write_text((EXAMPLES / "octavo.service").read_text()
                    .replace("/usr/bin/octavo", octavo.program()).replace("=octavo", "=root"))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True,
                          check=False)
    assert [line for line in done.stderr.splitlines() if "octavo.service" in line] == []


@pytest.mark.skipif(not shutil.which("dpkg-query"),
                    reason="the image is made of Debian's packages: only Debian can say which holds a library")
def test_the_image_has_every_library_of_the_program():
    text = (EXAMPLES / "Containerfile").read_text()
    packages = set(re.search(r"no-install-recommends \\\n(.*?)&&", text, re.S).group(1)
                   .replace("\\", " ").split())
    needed = subprocess.run(["objdump", "-p", octavo.program()], capture_output=True, text=True,
                            check=True).stdout
    for library in re.findall(r"NEEDED\s+(\S+)", needed):
        if re.match(r"lib(c|m|gcc_s|asan|ubsan|pthread|dl)\.so|ld-linux", library):
            continue
        found = subprocess.run(["dpkg-query", "-S", f"*/{library}"], capture_output=True, text=True,
                               check=True).stdout
        owners = {line.split(":")[0] for line in found.splitlines()}
        assert owners & packages, f"{library} is of {owners}"


def test_nodes_work_through_pgbouncer_in_session_mode(cluster, database, nodes, inputs):
    port = postgres.free_port()
    config = cluster.folder / "pgbouncer.ini"
    config.write_text(f"""[databases]
* = host=127.0.0.1 port={cluster.port}
[pgbouncer]
pool_mode = session
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = trust
auth_file = {cluster.folder}/users
unix_socket_dir =
ignore_startup_parameters = extra_float_digits
""")
    (cluster.folder / "users").write_text(f'"{postgres.ROLE}" ""\n')
    bouncer = subprocess.Popen([shutil.which("pgbouncer") or "/usr/sbin/pgbouncer", "-q",
                                str(config)], stderr=subprocess.DEVNULL, **cluster.as_servant())
    octavo.wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
    both = nodes(cluster.url(database, port=port))
    desk = Desk(both[0].url, inputs).log_in()
    load = Load([desk.beside(node.url) for node in both for _ in range(3)]).wait(60).stop()
    assert load.refused == {} and load.silent == []
    load.must_be_kept(desk)
    for node in both:
        assert node.stop() == 0
    bouncer.terminate()
    bouncer.wait()
