"""dlkprof mcp: a scripted conversation, as the Model Context Protocol has it, a message a line."""

import json
import sqlite3
import subprocess
import time

from harness import BUILD, DLKPROF, SOURCE, EndToEndTest
from nsys_file import TABLES

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
TEN_MB = 10 << 20


class McpTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.database = self.folder / "cifar10_b512_dldb.sqlite"
        done = self.run_command(BUILD / "bin/capture_database", self.database, SOURCE / "samples/captures/cifar10_b512.dlkcap")
        self.assertEqual(0, done.code, done.stderr)
        self.capture = SOURCE / "samples/captures/cifar10_b4.dlkcap"
        self._next = 0

    def serve(self, *files):
        server = subprocess.Popen([str(DLKPROF), "mcp", *map(str, files)], cwd=self.folder, env=self.environment(), text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        self.addCleanup(self._end, server)
        return server

    def _end(self, server):
        server.stdin.close()
        self.assertEqual(0, server.wait(timeout=30), server.stderr.read())
        for stream in (server.stdout, server.stderr):
            stream.close()

    def send(self, server, message):
        server.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        server.stdin.flush()

    def request(self, method, params=None):
        self._next += 1
        return {"jsonrpc": "2.0", "id": self._next, "method": method} | ({"params": params} if params is not None else {})

    def ask(self, server, method, params=None):
        asked = self.request(method, params)
        self.send(server, asked)
        answer = json.loads(server.stdout.readline())
        self.assertEqual(("2.0", asked["id"]), (answer["jsonrpc"], answer["id"]))
        return answer

    def call(self, server, tool, **arguments):
        result = self.ask(server, "tools/call", {"name": tool, "arguments": arguments})["result"]
        (content,) = result["content"]
        self.assertEqual("text", content["type"])
        return result, content["text"]

    def query(self, server, sql, **arguments):
        result, text = self.call(server, "query", sql=sql, **arguments)
        if result["isError"]:
            self.assertNotIn("structuredContent", result)
            return text
        self.assertEqual(json.loads(text), result["structuredContent"])
        return result["structuredContent"]

    def started(self, *files):
        server = self.serve(*files)
        result = self.ask(
            server,
            "initialize",
            {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
        )["result"]
        self.assertEqual(("2025-03-26", {"tools": {}}, "dlkprof"),
                         (result["protocolVersion"], result["capabilities"], result["serverInfo"]["name"]))  # fmt: skip
        self.send(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        return server

    def test_a_conversation(self):
        server = self.started(self.database, self.capture)
        self.assertEqual({}, self.ask(server, "ping")["result"])
        tools = self.ask(server, "tools/list")["result"]["tools"]
        self.assertEqual(["report", "findings", "compare", "query", "schema"], [tool["name"] for tool in tools])
        for tool in tools:
            self.assertTrue(tool["description"])
            self.assertEqual("object", tool["inputSchema"]["type"])
        result, text = self.call(server, "report", run="cifar10_b512")
        self.assertFalse(result["isError"])
        self.assertEqual(self.report(self.database, "--format=markdown").stdout, text)
        _, text = self.call(server, "report", run="cifar10_b512", report="kernel", format="csv", top=3)
        self.assertEqual(
            self.report(self.database, "--reports=kernel", "--format=csv", "--top=3").stdout, text.replace("\r\n", "\n")
        )
        result, text = self.call(server, "findings", run="cifar10_b4")
        self.assertEqual("dlkprof/findings/1", result["structuredContent"]["schema"])
        self.assertEqual(self.report(self.capture, "--reports=findings", "--format=json").stdout, text)
        result, text = self.call(server, "compare", base="cifar10_b4", other="cifar10_b512")
        done = self.dlkprof("compare", self.capture, self.database, "--format=json")
        self.assertEqual(json.loads(done.stdout), result["structuredContent"])
        self.assertIn("cifar10_b512", text)
        _, text = self.call(server, "schema")
        self.assertIn("### op_kernels", text)

    def test_queries_read(self):
        server = self.started(self.database, self.capture)
        direct = sqlite3.connect(self.database)
        self.addCleanup(direct.close)
        sql = "SELECT op_name, gpu_total_ns, tc_source FROM detail ORDER BY gpu_total_ns DESC LIMIT 5"
        answer = self.query(server, sql, run="cifar10_b512")
        self.assertEqual([list(row) for row in direct.execute(sql)], answer["rows"])
        self.assertEqual((["op_name", "gpu_total_ns", "tc_source"], False), (answer["columns"], answer["cut"]))
        for view in [row[0] for row in direct.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]:
            count = direct.execute(f"SELECT count(*) FROM {view}").fetchone()[0]
            self.assertEqual([[count]], self.query(server, f"SELECT count(*) FROM {view};", run="cifar10_b512")["rows"], view)
        # A capture's database is made for it, and goes with the server.
        self.assertEqual([[20]], self.query(server, "SELECT total_iterations - 1 FROM summary", run="cifar10_b4")["rows"])

    def test_what_does_not_read_is_refused(self):
        server = self.started(self.database)
        before = self.database.read_bytes()
        for sql in ("DELETE FROM op", "UPDATE op SET name = 'x'", "INSERT INTO about VALUES (1, '', 0, 0, 0)", "DROP TABLE op",
                    "CREATE TABLE t (a)", "CREATE TEMP TABLE t AS SELECT 1", "ATTACH 'other.sqlite' AS other", "PRAGMA query_only = OFF",
                    "PRAGMA user_version", "VACUUM INTO 'copy.sqlite'", "BEGIN", "SELECT 1; DELETE FROM op", "SELECT load_extension('x')",
                    "REINDEX", "", ";", "-- nothing", "SELECT no_such_column FROM op", "nonsense"):  # fmt: skip
            said = self.query(server, sql)
            self.assertIsInstance(said, str, sql)
            self.assertIn("query", said)
        self.assertEqual(before, self.database.read_bytes())
        self.assertEqual([self.database.name], sorted(path.name for path in self.folder.iterdir()))

    def test_long_answers_are_cut_with_a_note(self):
        server = self.started(self.database)
        answer = self.query(server, "SELECT a.message, b.message FROM ranges a, ranges b")
        self.assertTrue(answer["cut"])
        self.assertIn(f"cut after {len(answer['rows'])} rows", answer["note"])
        self.assertGreater(len(json.dumps(answer)), TEN_MB // 4)
        self.assertLess(len(json.dumps(answer)), TEN_MB)
        self.assertEqual([[1]], self.query(server, "SELECT 1")["rows"])

    def test_data_that_is_too_long_is_left_out_with_a_note(self):
        path = self.folder / "many.sqlite"
        connection = sqlite3.connect(path)
        connection.executescript(TABLES)
        with connection:
            connection.execute("INSERT INTO StringIds VALUES (1, 'cuLaunchKernel')")
            for i in range(6000):
                start = 1000 * i
                connection.execute("INSERT INTO StringIds VALUES (?, ?)", (i + 2, f"kernel{i}"))  # none repeats: one iteration
                connection.execute("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (?, ?, 59, ?, 16777217)",
                                   (start, start + 900, f"{i} {'x' * 500}"))  # fmt: skip
                connection.execute(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 1, 16777217, ?, 1, 0, NULL)",
                    (start + 10, start + 20, i),
                )
                connection.execute(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, "
                    "shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
                    "localMemoryPerThread, localMemoryTotal, gridId) VALUES (?, ?, 0, 1, 7, ?, 16777216, ?, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0)",
                    (start + 100, start + 200, i, i + 2))  # fmt: skip
        connection.close()
        done = self.dlkprof("compare", path, path, "--format=json")
        self.assertGreater(len(done.stdout), TEN_MB)
        server = self.started(path)
        result, text = self.call(server, "compare", base="many", other="many")
        self.assertNotIn("structuredContent", result)
        self.assertIn("left out", text)
        self.assertLess(len(json.dumps(result)), TEN_MB)
        result, text = self.call(server, "report", run="many", report="detail", format="json")
        self.assertTrue(
            text.endswith("\n(cut after 10 MB: ask for fewer rows with top, or for less with a query)\n"), text[-200:]
        )
        self.assertLess(len(text.encode()), TEN_MB + 200)

    def test_long_queries_end(self):
        server = self.started(self.database)
        start = time.monotonic()
        said = self.query(server, ENDLESS)
        self.assertIn("longer than 10 s", said)
        self.assertLess(9.5, time.monotonic() - start)
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual([[1]], self.query(server, "SELECT 1")["rows"])

    def test_a_query_is_cancelled(self):
        server = self.started(self.database)
        start = time.monotonic()
        endless = self.request("tools/call", {"name": "query", "arguments": {"sql": ENDLESS}})
        self.send(server, endless)
        time.sleep(0.3)
        waiting = self.request("ping")
        self.send(server, waiting)  # comes in between, and is answered after
        self.send(server, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "another"}})
        self.send(
            server,
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": endless["id"], "reason": "enough"}},
        )
        self.assertEqual({"jsonrpc": "2.0", "id": waiting["id"], "result": {}}, json.loads(server.stdout.readline()))
        self.assertLess(time.monotonic() - start, 8)

    def test_a_request_that_waits_is_cancelled(self):
        server = self.started(self.database)
        endless, waits, last = (
            self.request("tools/call", {"name": "query", "arguments": {"sql": sql}}) for sql in (ENDLESS, "SELECT 2", "SELECT 3")
        )
        for asked in (endless, waits, last):
            self.send(server, asked)
        for asked in (waits, endless):
            self.send(server, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked["id"]}})
        answer = json.loads(server.stdout.readline())
        self.assertEqual((last["id"], [[3]]), (answer["id"], answer["result"]["structuredContent"]["rows"]))

    def test_mistakes_are_told(self):
        server = self.started(self.database, self.capture)
        for line, code in (("{", -32700), ("[]", -32600), ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
                           ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600), ("7", -32600),
                           ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ' + "[" * 100000, -32600)):  # fmt: skip
            self.send(server, line)
            answer = json.loads(server.stdout.readline())
            self.assertEqual((None, code), (answer["id"], answer["error"]["code"]), line)
        self.send(server, '{"jsonrpc": "2.0", "id": 1, "method": "' + "x" * (17 << 20) + '"}')
        self.assertIn("longer than 16 MB", json.loads(server.stdout.readline())["error"]["message"])
        self.assertEqual(-32601, self.ask(server, "resources/list")["error"]["code"])
        self.assertEqual(-32602, self.ask(server, "tools/call", {"name": "rm"})["error"]["code"])
        self.assertEqual(-32602, self.ask(server, "tools/call", {})["error"]["code"])
        self.assertEqual(-32602, self.ask(server, "tools/call", [])["error"]["code"])
        for tool, arguments, said in (
            ("report", {"run": "elsewhere"}, "there is no run elsewhere"), ("report", {}, "no run is named"),
            ("report", {"run": "cifar10_b4", "report": "nothing"}, "there is no report"), ("report", {"run": 7}, "no text"),
            ("report", {"run": "cifar10_b4", "report": "detail", "top": -1}, "whole number"), ("query", {"run": "cifar10_b4"}, "missing"),
            ("report", {"run": "cifar10_b4", "report": "detail", "columns": ["nothing"]}, "column"),
            ("report", {"run": "/etc/passwd"}, "there is no run"), ("compare", {"base": "cifar10_b4"}, "missing"),
        ):  # fmt: skip
            result, text = self.call(server, tool, **arguments)
            self.assertTrue(result["isError"])
            self.assertIn(said, text)

    def test_without_runs_paths_are_named(self):
        server = self.started()
        self.assertEqual([[20]], self.query(server, "SELECT total_iterations - 1 FROM summary", run=str(self.database))["rows"])
        result, text = self.call(server, "report", run="/no/such.dlkcap")
        self.assertTrue(result["isError"])
        self.assertIn("there is no file", text)

    def test_a_changed_view_is_not_run(self):
        connection = sqlite3.connect(self.database)
        with connection:
            connection.execute("DROP VIEW detail")
            connection.execute(f"CREATE VIEW detail AS {ENDLESS}")
        connection.close()
        server = self.started(self.database)
        self.assertIn("view detail is not as written", self.query(server, "SELECT * FROM detail"))
