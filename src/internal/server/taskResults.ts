/**
 * Batches of results as they arrive. There are many, and large: what fits is recognised by hand, and only what does not is
 * given to the schema, which says why.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { StepRecord, TaskRecord } from "../../Record.js"
import { body } from "../http/endpoint.js"
import { InvalidRequest } from "../platform/errors.js"
import { maxBatchRecords, maxRecordSteps } from "../platform/limits.js"
import { TaskResultsInput } from "../platform/requests.js"
import type { Issue } from "../platform/validation.js"
import { bounded, issuesOf } from "../platform/validation.js"
import { BodyRefused, malformed, tooDeep } from "./answers.js"
import { isTooDeep } from "./payloads.js"

/**
 * A batch out of JSON. What is too much is refused as such, whatever else is wrong with it; else the schema says why it is
 * refused. Fields that nobody knows are left where they are.
 */
export const decode = (json: unknown): Either.Either<TaskResultsInput, InvalidRequest | BodyRefused> => {
  if (isTaskResults(json)) return Either.right(json)
  const tooMuch = excess(json)
  if (tooMuch.length > 0) return Either.left(new InvalidRequest({ issues: bounded(tooMuch) }))
  const looked = beginning(json)
  if (isTooDeep(looked)) return Either.left(tooDeep)
  return Either.mapLeft(
    decodeBySchema(looked),
    (error) => new BodyRefused({ status: 400, ...malformed(issuesOf(error)) })
  )
}

/** Whether a value out of JSON is what the schema of a batch accepts. */
export const isTaskResults = (value: unknown): value is TaskResultsInput =>
  isObject(value) &&
  value["type"] === "task_results" &&
  typeof value["attemptId"] === "string" &&
  isCount(value["sequenceNumber"]) &&
  typeof value["isFinal"] === "boolean" &&
  isArrayOf(value["records"], isTaskRecord)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isCount = (value: unknown): boolean => typeof value === "number" && Number.isSafeInteger(value) && value >= 0

const isTextOrNothing = (value: unknown): boolean => typeof value === "string" || value === undefined || value === null

const isNumberOrNothing = (value: unknown): boolean =>
  typeof value === "number" || value === undefined || value === null

const isDataOrNothing = (value: unknown): boolean => value === undefined || value === null || isObject(value)

const isArrayOf = <A>(value: unknown, is: (item: unknown) => item is A): value is ReadonlyArray<A> => {
  if (!Array.isArray(value)) return false
  for (let i = 0; i < value.length; i++) {
    if (!is(value[i])) return false
  }
  return true
}

const isTaskRecord = (value: unknown): value is TaskRecord =>
  isObject(value) &&
  isCount(value["taskIndex"]) &&
  typeof value["status"] === "string" &&
  isTextOrNothing(value["startedAt"]) &&
  isTextOrNothing(value["completedAt"]) &&
  isNumberOrNothing(value["latencyMs"]) &&
  isNumberOrNothing(value["firstCommandMs"]) &&
  isTextOrNothing(value["errorCode"]) &&
  isDataOrNothing(value["data"]) &&
  (value["steps"] === undefined || value["steps"] === null || isArrayOf(value["steps"], isStepRecord))

const isStepRecord = (value: unknown): value is StepRecord =>
  isObject(value) &&
  typeof value["name"] === "string" &&
  typeof value["status"] === "string" &&
  isTextOrNothing(value["startedAt"]) &&
  isTextOrNothing(value["completedAt"]) &&
  isNumberOrNothing(value["latencyMs"]) &&
  isTextOrNothing(value["errorCode"]) &&
  isDataOrNothing(value["data"])

const decodeBySchema = Schema.decodeUnknownEither(body("TaskResultsInput", TaskResultsInput))

/** What is more than a batch may hold: finding all that is wrong with it would take long. */
const excess = (json: unknown): ReadonlyArray<Issue> => {
  if (!isObject(json) || !Array.isArray(json["records"])) return []
  const records: ReadonlyArray<unknown> = json["records"]
  if (records.length > maxBatchRecords) {
    return [{ field: "records", message: `must be at most ${maxBatchRecords} (got ${records.length})` }]
  }
  return records.flatMap((record, index) =>
    isObject(record) && Array.isArray(record["steps"]) && record["steps"].length > maxRecordSteps
      ? [{ field: `records[${index}].steps`, message: `must be at most ${maxRecordSteps}` }]
      : []
  )
}

/** How many records and steps are looked into once they do not fit. */
const maxUnfit = 100

/** The batch without the records that follow on the last one that is looked into. */
const beginning = (json: unknown): unknown => {
  if (!isObject(json) || !Array.isArray(json["records"])) return json
  const records: ReadonlyArray<unknown> = json["records"]
  let unfit = 0
  const end = records.findIndex((record) => {
    if (isTaskRecord(record)) return false
    unfit += 1 + (isObject(record) && Array.isArray(record["steps"]) ? record["steps"].length : 0)
    return unfit >= maxUnfit
  })
  return end === -1 ? json : { ...json, records: records.slice(0, end + 1) }
}
