"""`dlkprof view`: the page as a file, and from a server, without a browser."""

import http.client
import json
import os
import re
import socket
import sqlite3
import stat
import time
import urllib.parse

from harness import DLKPROF, SOURCE, EndToEndTest
from pages import MAIN, make_database, make_hostile, view

MOST_BYTES = 20_000_000


class ServeTest(EndToEndTest):
    """The same page from a server."""

    def setUp(self):
        super().setUp()
        self.places = self.folder / "tmp"
        self.places.mkdir()

    def serve(self, *files):
        """The address of the page; the server ends with the test."""
        server = self.start([DLKPROF, "view", "--serve", "--no-open", *files], env={"TMPDIR": str(self.places)})
        self.addCleanup(self.end, server)
        address = server.stdout.readline().strip()
        self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        return urllib.parse.urlsplit(address)

    def end(self, server):
        server.terminate()
        server.communicate(timeout=10)

    def request(self, address, method="GET", path=None, body=None, timeout=30, **fields):
        """Status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=timeout)
        try:
            connection.request(method, address.path if path is None else path, body, fields)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def ask(self, address, sql, timeout=30, run=0, **fields):
        body = json.dumps({"run": run, "sql": sql})
        return self.request(
            address, "POST", address.path + "sql", body, timeout, **({"Content-Type": "application/json"} | fields)
        )

    def test_who_has_the_address_gets_page_and_answers(self):
        database = make_database(self.folder, "cifar10_b4")
        address = self.serve(database, make_database(self.folder, "cifar10_b512"))
        status, page = self.request(address)
        self.assertEqual(200, status)
        self.assertIn("connect-src 'self'", page)
        self.assertNotIn('id="run-0"', page)
        status, answer = self.ask(address, "SELECT op_id, gpu_total_ns FROM detail ORDER BY 1")
        connection = sqlite3.connect(database)
        expected = [list(row) for row in connection.execute("SELECT op_id, gpu_total_ns FROM detail ORDER BY 1")]
        connection.close()
        self.assertEqual((200, expected), (status, json.loads(answer)["rows"]))
        self.assertEqual(200, self.ask(address, "SELECT count(*) FROM main.detail JOIN run1.detail USING (op_id)")[0])
        self.assertEqual([], list(self.places.iterdir()))  # nothing of it is on the disk any more

    def test_others_are_refused(self):
        address = self.serve(SOURCE / "samples/captures/cifar10_b4.dlkcap")
        token = address.path.strip("/")
        other = token[:-1] + ("1" if token[-1] == "0" else "0")
        for path in ("/", "/sql", f"/{other}/x/", f"/{token}", f"/{token}x/", f"/{'0' * 32}/", "/../" + token + "/"):
            self.assertEqual(403, self.request(address, path=path)[0], path)
        for host in ("evil.example", "evil.example:80", f"127.0.0.1.evil.example:{address.port}", ""):
            self.assertEqual(403, self.request(address, Host=host)[0], host)
        self.assertEqual(200, self.request(address, Host="localhost:1234")[0])  # through ssh -L
        site, origin = "Sec-Fetch-Site", "Origin"
        for fields in ({site: "cross-site"}, {site: "same-site"}, {origin: "http://evil.example"}, {origin: "null"}):
            self.assertEqual(403, self.ask(address, "SELECT 1", **fields)[0], fields)
        self.assertEqual(400, self.ask(address, "SELECT 1", **{"Content-Type": "text/plain"})[0])
        for method in ("PUT", "DELETE", "OPTIONS", "HEAD"):
            self.assertEqual(405, self.request(address, method)[0], method)
        self.assertEqual(405, self.request(address, path=address.path + "sql")[0])
        self.assertEqual(404, self.request(address, path=address.path + "etc/passwd")[0])

    def test_only_reading_is_answered(self):
        address = self.serve(SOURCE / "samples/captures/cifar10_b4.dlkcap")
        for sql in ("DELETE FROM op", "ATTACH '/etc/passwd' AS x", "PRAGMA query_only = OFF", "CREATE TABLE x (y)",
                    "VACUUM INTO '/tmp/x'", "SELECT load_extension('x')", "SELECT 1; DELETE FROM op", "",
                    "SELECT writefile('/tmp/x', 'y')", "SELECT readfile('/etc/passwd')"):  # fmt: skip
            status, answer = self.ask(address, sql)
            self.assertEqual(400, status, sql)
            self.assertNotIn("/tmp", json.loads(answer)["error"])
        self.assertEqual(200, self.ask(address, "SELECT 1")[0])

    def test_a_question_without_end_ends_when_nobody_waits(self):
        address = self.serve(SOURCE / "samples/captures/cifar10_b4.dlkcap")
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        with self.assertRaises(TimeoutError):
            self.ask(address, endless, timeout=1)
        self.assertEqual(200, self.ask(address, "SELECT 1", timeout=5)[0])

    def test_nonsense_does_not_end_it(self):
        address = self.serve(SOURCE / "samples/captures/cifar10_b4.dlkcap")
        for sent in (b"nonsense\r\n\r\n", b"\0" * 20000, b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b""):
            with socket.create_connection(("127.0.0.1", address.port), timeout=10) as one:
                one.sendall(sent)
                one.shutdown(socket.SHUT_WR)
                while one.recv(65536):
                    pass
        waiting = [socket.create_connection(("127.0.0.1", address.port)) for _ in range(8)]  # that never say anything
        self.assertEqual(200, self.request(address)[0])
        for one in waiting:
            one.close()

    def test_a_hostile_database_is_only_cells(self):
        database = make_database(self.folder, "cifar10_b4")
        make_hostile(database)
        connection = sqlite3.connect(database)
        with connection:
            connection.execute("DROP VIEW detail")
            endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS op_id FROM n"
            connection.execute(f"CREATE VIEW detail AS {endless}")
        connection.close()
        address = self.serve(database)
        status, answer = self.ask(address, "SELECT count(*) FROM detail")
        self.assertEqual((200, [[268]]), (status, json.loads(answer)["rows"]))
        self.assertEqual(400, self.ask(address, "SELECT * FROM more")[0])


class PageTest(EndToEndTest):
    """The file itself."""

    def setUp(self):
        super().setUp()
        self.capture_file = SOURCE / f"samples/captures/{MAIN}.dlkcap"

    def test_it_is_private_small_and_asks_nothing_of_anybody(self):
        view(self.folder, self.capture_file)
        page = self.folder / f"{MAIN}.html"
        self.assertEqual(0o600, stat.S_IMODE(page.stat().st_mode))
        text = page.read_text(encoding="utf-8")
        self.assertLessEqual(len(text), MOST_BYTES)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        self.assertIn("default-src 'none'", policy)
        self.assertIn("connect-src 'none'", policy)
        self.assertNotIn("unsafe-inline", policy)
        self.assertNotIn("'unsafe-eval'", policy)
        self.assertEqual([], re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?!data:)[^\"]*\"", text))

    def test_the_same_run_gives_the_same_page(self):
        database = make_database(self.folder, MAIN)
        view(self.folder, database, "--base_name", "first")
        view(self.folder, database, "--base_name", "second")
        self.assertEqual((self.folder / "first.html").read_bytes(), (self.folder / "second.html").read_bytes())

    def test_a_page_that_is_there_is_not_replaced_unasked(self):
        page = self.folder / f"{MAIN}.html"
        page.write_text("mine", encoding="utf-8")
        refused = self.dlkprof("view", "--no-open", self.capture_file, "--output_path", self.folder)
        self.assertEqual(2, refused.code)
        self.assertIn("--force", refused.stderr)
        self.assertEqual("mine", page.read_text(encoding="utf-8"))
        self.assertEqual(0, self.dlkprof("view", "--no-open", "-f", self.capture_file, "--output_path", self.folder).code)
        self.assertNotEqual("mine", page.read_text(encoding="utf-8"))

    def test_what_is_no_run_is_refused(self):
        other = self.folder / "other.sqlite"
        connection = sqlite3.connect(other)
        connection.execute("CREATE TABLE t (x)")
        connection.close()
        for words, code in (([other], 1), ([self.folder / "none.dlkcap"], 1), ([], 2), ([self.capture_file] * 9, 2)):
            done = self.dlkprof("view", "--no-open", "--output_path", self.folder, *words)
            self.assertEqual(code, done.code, done.stderr)
        self.assertEqual([], list(self.folder.glob("*.html")))

    def test_the_run_that_lacks_a_kind_is_named(self):
        other = SOURCE / "samples/captures/cifar10_b4.dlkcap"
        for runs in ([self.capture_file, other], [other]):
            done = self.dlkprof("view", "--no-open", "--output_path", self.folder, "--iter_kind=decode", *runs)
            self.assertEqual(2, done.code, done.stderr)
            named = f"{runs[0]}: " if len(runs) > 1 else ""
            self.assertIn(f"{named}--iter_kind: there are no iterations of kind decode", done.stderr)

    def test_it_is_opened_where_there_is_a_screen(self):
        browser = self.folder / "xdg-open"
        opened = self.folder / "opened"
        browser.write_text(f'#!/bin/sh\necho "$1" >{opened}.new && mv {opened}.new {opened}\n', encoding="utf-8")
        browser.chmod(0o755)
        path = {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        words = ["view", "-f", self.capture_file, "--output_path", self.folder]
        for env, more in ((path, []), (path | {"DISPLAY": ":0"}, ["--no-open"])):
            self.assertNotIn("opened", self.dlkprof(*words, *more, env=env).stderr)
        self.assertIn("opened", self.dlkprof(*words, env=path | {"DISPLAY": ":0"}).stderr)
        end = time.monotonic() + 10
        while not opened.exists() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(f"{self.folder}/{MAIN}.html\n", opened.read_text(encoding="utf-8"))

    def test_nothing_is_left_in_the_temporary_folder(self):
        places = self.folder / "tmp"
        places.mkdir()
        done = self.dlkprof("view", "--no-open", "--output_path", self.folder, self.capture_file, env={"TMPDIR": str(places)})
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual([], list(places.iterdir()))
