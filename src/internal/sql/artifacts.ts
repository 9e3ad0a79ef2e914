import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Artifacts } from "../../Artifacts.js"
import type { ArtifactInput, Platform, RunRef, WorkerRef } from "../../Platform.js"
import { Artifact, ResourceNotFound } from "../../Platform.js"
import { safeFileName } from "../artifacts/keys.js"
import type { Issue } from "../platform/validation.js"
import { nonEmpty, refuse } from "../platform/validation.js"
import type { Attempts } from "./attempts.js"
import type { Database } from "./database.js"
import { newId, now } from "./database.js"
import type { Lookups } from "./lookups.js"
import { JsonColumn } from "./lookups.js"
import type { Organization } from "./organizations.js"
import { encodeJson } from "./requests.js"

type Operations = Pick<
  Platform["Type"],
  "createArtifact" | "uploadArtifact" | "listRunArtifacts" | "listWorkerArtifacts" | "getArtifact" | "downloadArtifact"
>

/** What workers leave: a row here, the bytes in a storage. */
export const make = (
  database: Database,
  organization: Organization,
  find: Lookups,
  attempts: Attempts,
  storage: Artifacts["Type"]
): Operations => {
  const { read, sql, write } = database

  const selectArtifacts = sql`
    SELECT a.id, r.benchmark_id AS "benchmarkId", a.run_id AS "runId", w.participant_id AS "participantId",
      p.slug AS "participantSlug", a.worker_id AS "workerId", w.worker_index AS "workerIndex",
      a.attempt_id AS "attemptId", a.kind, a.name, a.content_type AS "contentType", a.metadata,
      a.object_key AS "objectKey", a.created_at AS "createdAt"
    FROM artifacts a JOIN workers w ON w.id = a.worker_id JOIN participants p ON p.id = w.participant_id
      JOIN runs r ON r.id = a.run_id AND r.pruned_at IS NULL`

  const findOfRun = SqlSchema.findAll({
    Request: Schema.String,
    Result: ArtifactRow,
    execute: (runId) => sql`${selectArtifacts} WHERE a.run_id = ${runId} ORDER BY a.created_at DESC, a.seq DESC`
  })

  const findOfWorker = SqlSchema.findAll({
    Request: Schema.String,
    Result: ArtifactRow,
    execute: (workerId) => sql`${selectArtifacts} WHERE a.worker_id = ${workerId}
      ORDER BY a.created_at DESC, a.seq DESC`
  })

  const findOne = SqlSchema.findOne({
    Request: Schema.Struct({ runId: Schema.String, id: Schema.String }),
    Result: ArtifactRow,
    execute: ({ id, runId }) => sql`${selectArtifacts} WHERE a.id = ${id} AND a.run_id = ${runId}
      AND r.organization_id = ${organization.id}`
  })
  const findArtifact = Effect.fnUntraced(function* (runId: string, id: string) {
    const found = yield* findOne({ runId, id })
    return yield* Option.match(found, {
      onNone: () => Effect.fail(new ResourceNotFound({ resource: "artifact", id })),
      onSome: Effect.succeed
    })
  })

  const insert = Effect.fnUntraced(function* (ref: WorkerRef, input: ArtifactInput) {
    const metadata = yield* encodeJson("metadata", input.metadata)
    const worker = yield* attempts.lockWorker(ref)
    const attempt = yield* attempts.latest(worker, input.attemptId)
    const id = yield* newId
    const fileName = safeFileName(input.name ?? input.kind)
    yield* sql`INSERT INTO artifacts ${sql.insert({
      id,
      run_id: worker.runId,
      worker_id: worker.id,
      attempt_id: attempt.id,
      kind: input.kind,
      name: input.name ?? null,
      content_type: input.contentType ?? null,
      metadata,
      object_key: [organization.id, worker.runId, worker.id, id, fileName].join("/"),
      created_at: yield* now
    })}`
    return yield* findArtifact(worker.runId, id)
  })

  return {
    createArtifact: (ref, input) =>
      Effect.gen(function* () {
        yield* refuse(artifactIssues(input))
        const artifact = yield* insert(ref, input)
        const { objectKey } = artifact
        const { expiresAt, url } = yield* storage.prepareUpload({
          objectKey,
          contentType: artifact.contentType ?? undefined
        })
        return { artifact, artifactId: artifact.id, uploadUrl: url, uploadUrlExpiresAt: expiresAt, objectKey }
      }).pipe((queries) => write("createArtifact", queries)),

    uploadArtifact: Effect.fnUntraced(function* ({ artifact: { id, runId } }, content) {
      const { objectKey } = yield* read("uploadArtifact", findArtifact(runId, id))
      yield* storage.write(objectKey, content)
    }),

    listRunArtifacts: (ref) =>
      read(
        "listRunArtifacts",
        Effect.flatMap(find.run(ref), (run) => findOfRun(run.id))
      ),

    listWorkerArtifacts: (ref) =>
      read(
        "listWorkerArtifacts",
        Effect.flatMap(find.worker(ref), (worker) => findOfWorker(worker.id))
      ),

    getArtifact: Effect.fnUntraced(function* (ref: RunRef, id: string) {
      const artifact = yield* read(
        "getArtifact",
        Effect.flatMap(find.run(ref), (run) => findArtifact(run.id, id))
      )
      const { expiresAt, url } = yield* storage.prepareDownload({
        objectKey: artifact.objectKey,
        contentType: artifact.contentType ?? undefined,
        fileName: safeFileName(artifact.name ?? artifact.kind)
      })
      return { artifact, downloadUrl: url, downloadUrlExpiresAt: expiresAt }
    }),

    downloadArtifact: ({ artifact: { id, runId } }) =>
      read("downloadArtifact", findArtifact(runId, id)).pipe(
        Effect.map(({ objectKey }) => storage.read(objectKey)),
        Stream.unwrap,
        Stream.catchTag("ResourceNotFound", () => Stream.fail(new ResourceNotFound({ resource: "artifact", id })))
      )
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const artifactIssues = ({ contentType, kind, name }: ArtifactInput): ReadonlyArray<Issue> => [
  ...nonEmpty("kind", kind),
  ...nonEmpty("name", name),
  ...withoutNul("kind", kind),
  ...withoutNul("name", name),
  ...(typeof contentType === "string" && !/^[\x20-\x7e]*$/.test(contentType)
    ? [{ field: "contentType", message: "must be printable ASCII" }]
    : [])
]

// No file can be called so, and PostgreSQL stores no such text.
const withoutNul = (field: string, value: string | null | undefined): ReadonlyArray<Issue> =>
  value?.includes("\u0000") === true ? [{ field, message: "must not contain the character NUL" }] : []

const ArtifactRow = Schema.Struct({ ...Artifact.fields, metadata: JsonColumn })
