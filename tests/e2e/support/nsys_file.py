"""Makes an SQLite file as Nsight Systems exports it from a database of dlkprof: the published schema, filled by queries of our own
views and tables. It shares nothing with `dlkprof export --format nsys-sqlite`."""

import contextlib
import sqlite3

TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, busLocation TEXT NOT NULL,
  isDiscrete INTEGER NOT NULL, l2CacheSize INTEGER NOT NULL, totalMemory INTEGER NOT NULL, memoryBandwidth INTEGER NOT NULL,
  clockRate INTEGER NOT NULL, smCount INTEGER NOT NULL, uuid TEXT, chipName TEXT, computeMajor INTEGER, computeMinor INTEGER,
  threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, maxThreadsPerBlock INTEGER, maxRegistersPerBlock INTEGER,
  maxRegistersPerSm INTEGER, maxShmemPerBlock INTEGER, maxShmemPerBlockOptin INTEGER, maxShmemPerSm INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT NOT NULL,
  numMultiprocessors INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
  registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL,
  blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,
  localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER,
  graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER, qmdBulkReleaseDone INTEGER, graphId INTEGER, clusterX INTEGER,
  clusterY INTEGER, clusterZ INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
  copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL,
  bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
  color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER);
"""
COPY_KINDS = ["", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"]


class NsysFile:
    def __init__(self, database, path):
        self.source = sqlite3.connect(database)
        self.source.row_factory = sqlite3.Row
        self.target = sqlite3.connect(path)
        self.strings = {}
        (self.first,) = self.source.execute("SELECT first_ns FROM about").fetchone()

    def text(self, value):
        if value not in self.strings:
            self.strings[value] = len(self.strings) + 1
        return self.strings[value]

    def put(self, table, **values):
        names, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
        self.target.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(values.values()))

    def write(self):
        self.target.executescript(TABLES)
        self.put("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value="3.25.0")
        self.put("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_790_000_000_000_000_000)
        for write in (self.processes, self.gpus, self.calls, self.kernels, self.copies, self.ranges):
            write()
        self.target.executemany("INSERT INTO StringIds VALUES (?, ?)", [(number, text) for text, number in self.strings.items()])
        self.target.commit()
        self.target.close()
        self.source.close()

    def processes(self):
        for row in self.source.execute(
            "SELECT p.pid, (SELECT group_concat(value, ' ') FROM argument WHERE process = p.id) AS name FROM process p"
        ):
            self.put("PROCESSES", globalPid=row["pid"] << 24, pid=row["pid"], name=row["name"])
        for row in self.source.execute("SELECT d.device, d.ordinal, p.pid, g.sm_count FROM process_device d JOIN process p ON p.id = "
                                       "d.process JOIN device g ON g.id = d.device"):  # fmt: skip
            self.put("TARGET_INFO_CUDA_DEVICE", gpuId=row["device"], cudaId=row["ordinal"], pid=row["pid"], uuid="",
                     numMultiprocessors=row["sm_count"])  # fmt: skip

    def gpus(self):
        for gpu in self.source.execute("SELECT * FROM device"):
            self.put("TARGET_INFO_GPU", vmId=0, id=gpu["id"], name=gpu["name"], busLocation=gpu["pci_bus_id"], isDiscrete=1,
                     l2CacheSize=gpu["l2_bytes"], totalMemory=gpu["memory_bytes"], memoryBandwidth=0,
                     clockRate=gpu["sm_clock_khz"] * 1000, smCount=gpu["sm_count"], chipName=gpu["chip"], computeMajor=gpu["cc_major"],
                     computeMinor=gpu["cc_minor"], threadsPerWarp=gpu["warp_size"],
                     maxWarpsPerSm=gpu["max_threads_per_sm"] // gpu["warp_size"], maxBlocksPerSm=gpu["max_blocks_per_sm"],
                     maxThreadsPerBlock=gpu["max_threads_per_block"], maxRegistersPerBlock=gpu["registers_per_block"],
                     maxRegistersPerSm=gpu["registers_per_sm"], maxShmemPerBlock=gpu["shared_per_block"],
                     maxShmemPerBlockOptin=gpu["shared_per_block_optin"], maxShmemPerSm=gpu["shared_per_sm"])  # fmt: skip

    def calls(self):
        for row in self.source.execute("SELECT c.id, c.start_ns, c.end_ns, s.value AS name, t.tid, p.pid FROM call c JOIN string s ON "
                                       "s.id = c.name JOIN thread t ON t.id = c.thread JOIN process p ON p.id = t.process"):  # fmt: skip
            self.put("CUPTI_ACTIVITY_KIND_RUNTIME", start=row["start_ns"] - self.first, end=row["end_ns"] - self.first, eventClass=1,
                     globalTid=row["pid"] << 24 | row["tid"], correlationId=1000 + row["id"], nameId=self.text(row["name"]),
                     returnValue=0)  # fmt: skip

    def kernels(self):
        rows = self.source.execute(
            "SELECT a.*, c.*, p.pid, f.registers_per_thread, f.static_shared_bytes, f.local_bytes_per_thread, k.mangled, k.name, "
            "k.long_name FROM activity a JOIN config c ON c.id = a.config JOIN kernel k ON k.id = a.kernel JOIN process p ON p.id = "
            "c.process LEFT JOIN function f ON f.process = c.process AND f.number = c.function WHERE a.start_ns IS NOT NULL ORDER BY a.id"
        )  # fmt: skip
        for row in rows:
            self.put("CUPTI_ACTIVITY_KIND_KERNEL", **self.work(row), demangledName=self.text(row["long_name"]),
                     shortName=self.text(row["name"]), mangledName=self.text(row["mangled"]),
                     registersPerThread=row["registers_per_thread"] or 0, gridX=row["grid_x"], gridY=row["grid_y"], gridZ=row["grid_z"],
                     blockX=row["block_x"], blockY=row["block_y"], blockZ=row["block_z"],
                     staticSharedMemory=row["static_shared_bytes"] or 0, dynamicSharedMemory=row["dynamic_shared_bytes"],
                     localMemoryPerThread=row["local_bytes_per_thread"] or 0, localMemoryTotal=0, gridId=0, clusterX=row["cluster_x"],
                     clusterY=row["cluster_y"], clusterZ=row["cluster_z"])  # fmt: skip

    def work(self, row):
        return {"start": row["start_ns"] - self.first, "end": row["end_ns"] - self.first, "deviceId": row["device"], "contextId": 1,
                "streamId": row["stream"], "correlationId": None if row["call"] is None else 1000 + row["call"],
                "globalPid": row["pid"] << 24, "graphNodeId": 7 if row["in_graph"] else None}  # fmt: skip

    def copies(self):
        rows = self.source.execute(
            "SELECT a.*, k.name, k.kind, p.pid FROM activity a JOIN kernel k ON k.id = a.kernel JOIN call c ON c.id = a.call "
            "JOIN thread t ON t.id = c.thread JOIN process p ON p.id = t.process WHERE a.config IS NULL AND a.start_ns IS NOT NULL"
        )  # fmt: skip
        for row in rows:
            if row["kind"] == 1:
                kind = next((i for i, name in enumerate(COPY_KINDS) if name and row["name"] == f"[CUDA memcpy {name}]"), 0)
                self.put("CUPTI_ACTIVITY_KIND_MEMCPY", **self.work(row), bytes=row["bytes"], copyKind=kind)
            else:
                self.put("CUPTI_ACTIVITY_KIND_MEMSET", **self.work(row), bytes=row["bytes"], value=0)

    def ranges(self):
        domains = {}
        for row in self.source.execute("SELECT v.*, r.kind, r.closed FROM ranges v JOIN range r ON r.id = v.range ORDER BY r.id"):
            tid = row["pid"] << 24 | row["tid"]
            if row["domain"] not in domains:
                domains[row["domain"]] = len(domains) if row["domain"] else 0
                if row["domain"]:
                    domains[row["domain"]] = len(domains) + 5
                    self.put(
                        "NVTX_EVENTS", start=0, eventType=75, text=row["domain"], globalTid=tid, domainId=domains[row["domain"]]
                    )
            start = row["start_ns"] - self.first
            end = start + row["duration_ns"] if row["closed"] and row["kind"] != 2 else None
            # As nsys does, text that was registered is in StringIds, and other text in the row.
            in_place = len(row["message"]) % 2 == 0
            self.put("NVTX_EVENTS", start=start, end=end, eventType={0: 59, 1: 60, 2: 34}[row["kind"]], rangeId=row["range"],
                     text=row["message"] if in_place else None, textId=None if in_place else self.text(row["message"]), globalTid=tid,
                     domainId=domains[row["domain"]])  # fmt: skip


def make_nsys_file(database, path):
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    NsysFile(database, path).write()
