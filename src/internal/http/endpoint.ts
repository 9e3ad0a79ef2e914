/** What the endpoints of a platform have in common. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { TaskResultsInput } from "../platform/requests.js"

export const benchmarkPath = Schema.Struct({ benchmark: Schema.String })
export const runPath = Schema.Struct({ ...benchmarkPath.fields, run: Schema.String })
export const participantPath = Schema.Struct({ ...runPath.fields, participant: Schema.String })
export const workerPath = Schema.Struct({ ...participantPath.fields, worker: Schema.String })

export const benchmarkRoute = "/benchmarks/:benchmark"
export const runRoute = `${benchmarkRoute}/runs/:run`
export const participantRoute = `${runRoute}/participants/:participant`
export const workerRoute = `${participantRoute}/workers/:worker`

/** The body of a request: every field that does not fit is named, not only the first. */
export const body = <A, I>(identifier: string, schema: Schema.Schema<A, I>): Schema.Schema<A, I> =>
  schema.annotations({ identifier, parseOptions: { errors: "all" } })

export const items = <A, I>(schema: Schema.Schema<A, I>) => Schema.Struct({ items: Schema.Array(schema) })

const TaskResultsAnswer = Schema.Struct({
  accepted: Schema.Int,
  eventBatchId: Schema.String,
  duplicate: Schema.optionalWith(Schema.Boolean, { default: () => false })
}).annotations(HttpApiSchema.annotations({ status: 202 }))

/** On its own, since a client sends it with another payload schema. */
export const sendTaskResults = HttpApiEndpoint.post("sendTaskResults", `${workerRoute}/events`)
  .setPath(workerPath)
  .setPayload(body("TaskResultsInput", TaskResultsInput))
  .addSuccess(TaskResultsAnswer)
