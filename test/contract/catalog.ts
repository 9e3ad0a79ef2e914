import { assert, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect } from "effect"
import { Platform } from "../../src/Platform.js"
import { claim, claimed, createRun, failure } from "./support.js"

const oddName = `a|b <x> "q" ü/../%2F`

export const benchmarks = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a new benchmark is named after its slug", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const created = yield* platform.upsertBenchmark("kv", { config: { iterations: 3 } })
      assert.strictEqual(created.slug, "kv")
      assert.strictEqual(created.name, "kv")
      assert.deepStrictEqual(created.config, { iterations: 3 })
      assert.deepStrictEqual(yield* platform.getBenchmark("kv"), created)
    }).pipe(Effect.provide(layer))
  )

  it.effect("upserting again leaves absent fields alone", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const first = yield* platform.upsertBenchmark("kv", { name: "KV", status: "active", config: { a: 1 } })
      const second = yield* platform.upsertBenchmark("kv", { defaultRunConfig: { b: 2 } })
      assert.deepStrictEqual(second, { ...first, defaultRunConfig: { b: 2 } })
      const third = yield* platform.updateBenchmark("kv", { name: "KV store", config: { c: 3 } })
      assert.deepStrictEqual(third, { ...second, name: "KV store", config: { c: 3 } })
    }).pipe(Effect.provide(layer))
  )

  it.effect("an unknown benchmark is not found", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      for (const attempt of [
        platform.getBenchmark("nope"),
        platform.updateBenchmark("nope", { name: "x" }),
        platform.createRun("nope", {}),
        platform.listRuns("nope", {}),
        platform.getRun({ benchmark: "nope", run: "x" })
      ]) {
        assert.strictEqual(yield* failure(attempt), "ResourceNotFound benchmark")
      }
      assert.deepStrictEqual(yield* platform.listBenchmarks({}), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("benchmarks are listed newest first, page by page", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      for (let i = 0; i < 55; i++) yield* platform.upsertBenchmark(`b-${i}`, {})
      yield* platform.updateBenchmark("b-3", { name: "still as old" })
      const slugs = (page: { limit?: number; offset?: number }) =>
        Effect.map(platform.listBenchmarks(page), (items) => items.map((item) => item.slug))
      assert.strictEqual((yield* slugs({})).length, 50)
      assert.deepStrictEqual(yield* slugs({ limit: 3 }), ["b-54", "b-53", "b-52"])
      assert.deepStrictEqual(yield* slugs({ limit: 3, offset: 53 }), ["b-1", "b-0"])
    }).pipe(Effect.provide(layer))
  )
}

export const runs = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a new run is planned, and so are its participants", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const benchmark = yield* platform.upsertBenchmark("kv", {})
      const created = yield* platform.createRun("kv", {
        runKey: "key",
        name: "nightly",
        config: { groupBy: "round" },
        participants: [
          { slug: "zeta", label: "Zeta", provider: "z", totalTasks: 5, workerCount: 2, config: { x: 1 } },
          { slug: "alpha", totalTasks: 7 }
        ]
      })
      assert.isString(created.organizationSlug)
      const { createdAt, id, updatedAt, ...run } = created.run
      assert.isString(id)
      assert.strictEqual(new Date(createdAt).toISOString(), createdAt)
      assert.strictEqual(updatedAt, createdAt)
      assert.deepStrictEqual(run, {
        benchmarkId: benchmark.id,
        benchmarkSlug: "kv",
        name: "nightly",
        status: "planned",
        runKey: "key",
        totalTasks: 12,
        participantSized: true,
        workerCount: 3,
        config: { groupBy: "round" }
      })
      const [zeta, alpha] = created.participants
      assert.deepStrictEqual(zeta, {
        id: zeta?.id ?? "",
        benchmarkId: benchmark.id,
        runId: id,
        slug: "zeta",
        label: "Zeta",
        provider: "z",
        status: "planned",
        totalTasks: 5,
        workerCount: 2,
        config: { x: 1 }
      })
      assert.strictEqual(alpha?.slug, "alpha")
      assert.strictEqual(alpha?.workerCount, 1)
      const ref = { benchmark: "kv", run: id }
      assert.deepStrictEqual(yield* platform.getRun(ref), created.run)
      assert.deepStrictEqual(yield* platform.listParticipants(ref), created.participants)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a declared total is the run's, and each participant's that declares none", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      yield* platform.upsertBenchmark("kv", {})
      const { participants, run } = yield* platform.createRun("kv", {
        totalTasks: 100,
        workerCount: 4,
        participants: [{ slug: "alpha" }, { slug: "beta", totalTasks: 30 }]
      })
      assert.strictEqual(run.totalTasks, 100)
      assert.strictEqual(run.participantSized, false)
      assert.strictEqual(run.workerCount, 4)
      assert.deepStrictEqual(
        participants.map((participant) => participant.totalTasks),
        [100, 30]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("a run without participants stays planned", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({})
      const run = yield* Effect.flatMap(Platform, (platform) => platform.getRun(ref))
      assert.strictEqual(run.status, "planned")
      assert.strictEqual(run.totalTasks, 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("the same run key returns the same run and adds missing participants", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      yield* platform.upsertBenchmark("kv", {})
      yield* platform.upsertBenchmark("other", {})
      const first = yield* platform.createRun("kv", {
        runKey: "k",
        name: "first",
        participants: [{ slug: "alpha", totalTasks: 3, label: "A" }]
      })
      const second = yield* platform.createRun("kv", {
        runKey: "k",
        name: "second",
        participants: [
          { slug: "beta", totalTasks: 4 },
          { slug: "alpha", totalTasks: 9, label: "B" }
        ]
      })
      assert.strictEqual(second.run.id, first.run.id)
      assert.strictEqual(second.run.name, "first")
      assert.strictEqual(second.run.totalTasks, 7)
      assert.deepStrictEqual(second.participants[0], first.participants[0])
      assert.deepStrictEqual(
        second.participants.map((participant) => participant.slug),
        ["alpha", "beta"]
      )
      const elsewhere = yield* platform.createRun("other", { runKey: "k" })
      assert.notStrictEqual(elsewhere.run.id, first.run.id)
      const keyless = yield* Effect.all([platform.createRun("kv", {}), platform.createRun("kv", {})])
      assert.strictEqual(new Set([...keyless.map((created) => created.run.id), first.run.id]).size, 3)
    }).pipe(Effect.provide(layer))
  )

  it.effect("many creators with one key get one run", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      yield* platform.upsertBenchmark("kv", {})
      const created = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => i),
        (i) => platform.createRun("kv", { runKey: "k", participants: [{ slug: "shared" }, { slug: `own-${i}` }] }),
        { concurrency: 20 }
      )
      const ids = new Set(created.map(({ run }) => run.id))
      assert.strictEqual(ids.size, 1)
      const [id = ""] = ids
      assert.strictEqual((yield* platform.listParticipants({ benchmark: "kv", run: id })).length, 21)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a participant named twice is refused, and no run created", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      yield* platform.upsertBenchmark("kv", {})
      assert.strictEqual(
        yield* failure(platform.createRun("kv", { participants: [{ slug: "a" }, { slug: "b" }, { slug: "a" }] })),
        `InvalidRequest participants[2].slug must be unique (got "a" again)`
      )
      assert.deepStrictEqual(yield* platform.listRuns("kv", {}), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("runs created in the same millisecond are listed newest first", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const slugs = ["one", "two"]
      for (const slug of slugs) yield* platform.upsertBenchmark(slug, {})
      const created: Array<readonly [benchmark: string, id: string]> = []
      for (let i = 0; i < 60; i++) {
        const slug = slugs[i % 2] ?? ""
        const { run } = yield* platform.createRun(slug, { name: `${i}` })
        created.unshift([slug, run.id])
      }
      const all = yield* platform.listAllRuns({ limit: 100 })
      assert.deepStrictEqual(
        all.map((run) => [run.benchmarkSlug, run.id]),
        created.map(([slug, id]) => [slug, id])
      )
      assert.deepStrictEqual(yield* platform.listAllRuns({}), all.slice(0, 50))
      assert.deepStrictEqual(yield* platform.listAllRuns({ limit: 7, offset: 50 }), all.slice(50, 57))
      assert.deepStrictEqual(
        (yield* platform.listRuns("two", { limit: 5, offset: 1 })).map((run) => run.name),
        ["57", "55", "53", "51", "49"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("a run is found under its own benchmark only", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const ref = yield* createRun({ alpha: { totalTasks: 1 } })
      yield* platform.upsertBenchmark("other", {})
      const elsewhere = { ...ref, benchmark: "other" }
      const unknown = { ...ref, run: "00000000-0000-4000-8000-000000000000" }
      for (const wrong of [elsewhere, unknown]) {
        const participant = { ...wrong, participant: "alpha" }
        for (const attempt of [
          platform.getRun(wrong),
          platform.updateRun(wrong, { status: "failed" }),
          platform.listParticipants(wrong),
          platform.upsertParticipant(participant, {}),
          platform.getParticipant(participant),
          platform.planWorkers(participant, {}),
          platform.claimWorker(participant, {}),
          platform.runResults(wrong),
          platform.iterations(wrong, {}),
          platform.getSummary(wrong),
          platform.runProgress(wrong),
          platform.taskBuckets(wrong, {}),
          platform.runTimeline(wrong, {}),
          platform.runImports(wrong),
          platform.listRunArtifacts(wrong),
          platform.updateParticipant(participant, {}),
          platform.participantLogs(participant, {})
        ]) {
          assert.strictEqual(yield* failure(attempt), "ResourceNotFound run")
        }
      }
      assert.strictEqual((yield* platform.getRun(ref)).status, "planned")
    }).pipe(Effect.provide(layer))
  )

  it.effect("updating a run sets what is given", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const ref = yield* createRun({ alpha: { totalTasks: 1 } })
      const before = yield* platform.getRun(ref)
      const configured = yield* platform.updateRun(ref, { config: { a: 1 } })
      assert.deepStrictEqual(configured, { ...before, config: { a: 1 }, updatedAt: configured.updatedAt })
      const failed = yield* platform.updateRun(ref, { status: "failed" })
      assert.strictEqual(failed.status, "failed")
      assert.deepStrictEqual(failed.config, { a: 1 })
      assert.deepStrictEqual(yield* platform.getRun(ref), failed)
    }).pipe(Effect.provide(layer))
  )
}

export const participants = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a participant is created, then updated where fields are given", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 } })
      const ref = { ...run, participant: "beta" }
      assert.strictEqual(yield* failure(platform.getParticipant(ref)), "ResourceNotFound participant")
      const created = yield* platform.upsertParticipant(ref, { label: "Beta", totalTasks: 4 })
      const updated = yield* platform.upsertParticipant(ref, { provider: "b", workerCount: 2, config: { z: 0 } })
      assert.deepStrictEqual(updated, { ...created, provider: "b", workerCount: 2, config: { z: 0 } })
      assert.deepStrictEqual(yield* platform.getParticipant(ref), updated)
      assert.deepStrictEqual(
        (yield* platform.listParticipants(run)).map((participant) => participant.slug),
        ["alpha", "beta"]
      )
      assert.strictEqual((yield* platform.getRun(run)).totalTasks, 5)
    }).pipe(Effect.provide(layer))
  )

  it.effect("planned tasks can no longer change", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 4 } })
      const ref = { ...run, participant: "alpha" }
      yield* platform.upsertParticipant(ref, { totalTasks: 6 })
      yield* platform.planWorkers(ref, { workerCount: 3 })
      assert.strictEqual(
        yield* failure(platform.upsertParticipant(ref, { totalTasks: 7 })),
        "ResourceConflict AlreadyPlanned"
      )
      const same = yield* platform.upsertParticipant(ref, { totalTasks: 6, workerCount: 1, label: "A" })
      assert.strictEqual(same.label, "A")
      assert.strictEqual(same.workerCount, 3)
    }).pipe(Effect.provide(layer))
  )

  it.effect("any name is a participant's slug", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const names = [oddName, "...", "%", "?a=b&c#d", " spaced ", "日本語", "a/b"]
      const run = yield* createRun(Object.fromEntries(names.map((name) => [name, { totalTasks: 1 }])))
      assert.deepStrictEqual(
        (yield* platform.listParticipants(run)).map((participant) => participant.slug),
        names
      )
      for (const name of names) {
        const ref = { ...run, participant: name }
        assert.strictEqual((yield* platform.upsertParticipant(ref, { label: name })).label, name)
        const { assignment, attemptId, worker } = yield* claim(ref)
        assert.strictEqual(assignment.participantSlug, name)
        assert.strictEqual((yield* platform.listWorkers(ref)).length, 1)
        yield* platform.heartbeat(worker, { attemptId })
        yield* platform.sendTaskResults(worker, {
          type: "task_results",
          attemptId,
          sequenceNumber: 0,
          isFinal: true,
          records: [{ taskIndex: 0, status: "success" }]
        })
        yield* platform.completeWorker(worker, { attemptId })
        assert.strictEqual((yield* platform.getParticipant(ref)).status, "completed")
        assert.strictEqual((yield* platform.getWorker(worker)).status, "completed")
        const stored = yield* platform.iterations(run, { participant: name })
        assert.deepStrictEqual(
          stored.map((iteration) => iteration.participantSlug),
          [name]
        )
      }
      assert.strictEqual((yield* platform.getRun(run)).status, "completed")
      assert.deepStrictEqual(
        (yield* platform.runResults(run)).participants.map((participant) => participant.participantSlug),
        names
      )
    }).pipe(Effect.provide(layer))
  )
}

export const rollUp = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("the first claim starts participant and run", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 2 }, beta: { totalTasks: 2 } })
      const alpha = { ...run, participant: "alpha" }
      yield* platform.planWorkers(alpha, {})
      assert.strictEqual((yield* platform.getRun(run)).status, "planned")
      yield* claim(alpha)
      assert.strictEqual((yield* platform.getRun(run)).status, "in_progress")
      assert.deepStrictEqual(
        (yield* platform.listParticipants(run)).map((participant) => participant.status),
        ["in_progress", "planned"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("a participant ends with its last worker, failed if any failed", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 3 } })
      const alpha = { ...run, participant: "alpha" }
      const workers = yield* Effect.forEach([0, 1, 2], () => claim(alpha, 3))
      const statuses: Array<string> = []
      for (const [index, { attemptId, worker }] of workers.entries()) {
        yield* index === 1
          ? platform.failWorker(worker, { attemptId, errorCode: "BOOM", errorMessage: "it broke" })
          : platform.completeWorker(worker, { attemptId })
        statuses.push((yield* platform.getParticipant(alpha)).status, (yield* platform.getRun(run)).status)
      }
      assert.deepStrictEqual(statuses, ["in_progress", "in_progress", "in_progress", "in_progress", "failed", "failed"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("workers that end at once end their participants and the run", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 8 }, beta: { totalTasks: 8 } })
      const claims = yield* Effect.forEach(
        ["alpha", "beta"].flatMap((participant) => Array.from({ length: 8 }, () => ({ ...run, participant }))),
        (ref) => claim(ref, 8)
      )
      yield* Effect.forEach(claims, ({ attemptId, worker }) => platform.completeWorker(worker, { attemptId }), {
        concurrency: 16,
        discard: true
      })
      assert.deepStrictEqual(
        (yield* platform.listParticipants(run)).map((participant) => participant.status),
        ["completed", "completed"]
      )
      assert.strictEqual((yield* platform.getRun(run)).status, "completed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("a run waits for participants that are not planned yet", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 }, beta: { totalTasks: 1 } })
      for (const [participant, expected] of [
        ["alpha", "in_progress"],
        ["beta", "completed"]
      ] as const) {
        const { attemptId, worker } = yield* claim({ ...run, participant })
        yield* platform.completeWorker(worker, { attemptId })
        assert.strictEqual((yield* platform.getParticipant({ ...run, participant })).status, "completed")
        assert.strictEqual((yield* platform.getRun(run)).status, expected)
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("a participant that joins an ended run reopens it", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const first = yield* claimed(1)
      yield* platform.completeWorker(first.worker, { attemptId: first.attemptId })
      assert.strictEqual((yield* platform.getRun(first.run)).status, "completed")
      yield* platform.upsertParticipant({ ...first.run, participant: "late" }, { totalTasks: 1 })
      assert.strictEqual((yield* platform.getRun(first.run)).status, "in_progress")
      const late = yield* claim({ ...first.run, participant: "late" })
      yield* platform.failWorker(late.worker, { attemptId: late.attemptId })
      assert.strictEqual((yield* platform.getRun(first.run)).status, "failed")
    }).pipe(Effect.provide(layer))
  )
}
