/**
 * The scripted tasks of `vectors/task-record.json`, as tasks of both dialects.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { PromiseTask, PromiseTaskContext } from "../../src/promise.js"
import { TaskError } from "../../src/promise.js"
import * as Step from "../../src/Step.js"
import type { Task } from "../../src/Task.js"
import * as EffectTask from "../../src/Task.js"

export type Op = { readonly op: string; readonly [key: string]: unknown }

export interface Script {
  readonly participant?: string
  readonly phase?: string
  readonly taskIndexStart?: number
  readonly scheduleIndex?: number
  readonly ops: ReadonlyArray<Op>
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const opsOf = (value: unknown): ReadonlyArray<Op> =>
  Array.isArray(value) ? value.filter((op): op is Op => isObject(op) && typeof op["op"] === "string") : []

/** The error that a vector describes. */
export const toError = (description: unknown): unknown => {
  if (!isObject(description)) throw new Error("not an error description")
  const { code, data, errorName, kind, message, step, steps, timeoutMs, value } = description
  const text = typeof message === "string" ? message : ""
  switch (kind) {
    case "value":
      return value
    case "TaskErrorNoOpts":
      return new TaskError(text)
    case "TaskError":
      return Object.assign(new TaskError(text), present({ code, data, steps, step, timeoutMs }))
    default: {
      const error =
        kind === "TypeError" ? new TypeError(text) : kind === "RangeError" ? new RangeError(text) : new Error(text)
      return Object.assign(error, present({ code, data, steps, name: errorName }))
    }
  }
}

const present = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Frame {
  readonly vars: Map<string, unknown>
  readonly context: { readonly taskIndex: number; readonly phase: string | undefined; readonly name: string }
  readonly invocation: number
}

const fill = (value: unknown, frame: Frame): unknown => {
  if (Array.isArray(value)) return value.map((item) => fill(item, frame))
  if (!isObject(value)) return value
  if ("$var" in value) return frame.vars.get(String(value["$var"]))
  if ("$invocation" in value) return frame.invocation
  if ("$ctx" in value) {
    const { name, phase, taskIndex } = frame.context
    return value["$ctx"] === "taskIndex" ? taskIndex : value["$ctx"] === "phase" ? phase : name
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, frame)]))
}

const record = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})

const text = (value: unknown): string => (typeof value === "string" ? value : "")

interface Ended {
  readonly returned: boolean
  readonly value: unknown
}

const fellThrough: Ended = { returned: false, value: undefined }

// -----------------------------------------------------------------------------
// Effect dialect
// -----------------------------------------------------------------------------

type Run = Effect.Effect<Ended, unknown, EffectTask.CurrentTask>

export const effectTask =
  (script: Script): Task<unknown> =>
  (context) => {
    const gates = new Map<string, Deferred.Deferred<void>>()
    const gate = (name: unknown) =>
      Effect.suspend(() => {
        const known = gates.get(text(name))
        if (known !== undefined) return Effect.succeed(known)
        return Effect.map(Deferred.make<void>(), (made) => {
          gates.set(text(name), made)
          return made
        })
      })

    const runAll = (ops: ReadonlyArray<Op>, frame: Frame): Run =>
      Effect.gen(function* () {
        for (const op of ops) {
          const ended = yield* runOne(op, frame)
          if (ended.returned) return ended
        }
        return fellThrough
      })

    const runStep = (op: Op, frame: Frame): Run => {
      let calls = 0
      const body = Effect.suspend(() => runAll(opsOf(op["ops"]), { ...frame, invocation: calls++ }))
      const work = Effect.map(body, (ended) => ended.value)
      const options: Step.StepOptions = record(op["options"])
      return Effect.map(Step.run(text(op["name"]), work, options), (value) => {
        if (typeof op["as"] === "string") frame.vars.set(op["as"], value)
        return fellThrough
      })
    }

    const runOne = (op: Op, frame: Frame): Run => {
      switch (op.op) {
        case "measure":
          return Effect.as(EffectTask.measure(record(fill(op["data"], frame))), fellThrough)
        case "log":
          return Effect.map(EffectTask.CurrentTask, (task) => {
            task.log(text(op["message"]), op["arg"])
            return fellThrough
          })
        case "step":
          return runStep(op, frame)
        case "throw":
          return op["onlyInvocation"] === undefined || op["onlyInvocation"] === frame.invocation
            ? Effect.fail(toError(op["error"]))
            : Effect.succeed(fellThrough)
        case "try":
          return Effect.catchAll(runAll(opsOf(op["ops"]), frame), (error) =>
            Effect.sync(() => {
              if (typeof op["as"] === "string") frame.vars.set(op["as"], messageOf(error))
              return fellThrough
            })
          )
        case "parallel": {
          const branches = Array.isArray(op["branches"]) ? op["branches"] : []
          return Effect.as(
            Effect.forEach(branches, (branch) => runAll(opsOf(branch), frame), { concurrency: "unbounded" }),
            fellThrough
          )
        }
        case "signal":
          return Effect.flatMap(gate(op["gate"]), (it) => Effect.as(Deferred.succeed(it, undefined), fellThrough))
        case "await":
          return Effect.flatMap(gate(op["gate"]), (it) => Effect.as(Deferred.await(it), fellThrough))
        case "wait":
          return Effect.as(Effect.sleep(Number(op["ms"])), fellThrough)
        case "return":
          return Effect.succeed({ returned: true, value: fill(op["value"], frame) })
        default:
          return Effect.dieMessage(`unknown op ${op.op}`)
      }
    }

    const { participant, phase, taskIndex } = context
    const frame: Frame = { vars: new Map(), context: { taskIndex, phase, name: participant.name }, invocation: 0 }
    return Effect.map(runAll(script.ops, frame), (ended) => ended.value)
  }

// -----------------------------------------------------------------------------
// Promise dialect
// -----------------------------------------------------------------------------

class Gate {
  readonly opened: Promise<void>
  open: () => void = () => {}

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve
    })
  }
}

export const promiseTask =
  (script: Script): PromiseTask =>
  async ({ log, measure, participant, phase, step, taskIndex }: PromiseTaskContext) => {
    const gates = new Map<string, Gate>()
    const gate = (name: unknown): Gate => {
      const made = gates.get(text(name)) ?? new Gate()
      gates.set(text(name), made)
      return made
    }

    const runAll = async (ops: ReadonlyArray<Op>, frame: Frame): Promise<Ended> => {
      for (const op of ops) {
        const ended = await runOne(op, frame)
        if (ended.returned) return ended
      }
      return fellThrough
    }

    const runStep = async (op: Op, frame: Frame): Promise<Ended> => {
      let calls = 0
      const body = async () => (await runAll(opsOf(op["ops"]), { ...frame, invocation: calls++ })).value
      const options: Step.StepOptions = record(op["options"])
      const value = await step(text(op["name"]), body, options)
      if (typeof op["as"] === "string") frame.vars.set(op["as"], value)
      return fellThrough
    }

    const runOne = async (op: Op, frame: Frame): Promise<Ended> => {
      switch (op.op) {
        case "measure":
          measure(record(fill(op["data"], frame)))
          return fellThrough
        case "log":
          log(text(op["message"]), op["arg"])
          return fellThrough
        case "step":
          return runStep(op, frame)
        case "throw":
          if (op["onlyInvocation"] === undefined || op["onlyInvocation"] === frame.invocation)
            throw toError(op["error"])
          return fellThrough
        case "try":
          try {
            return await runAll(opsOf(op["ops"]), frame)
          } catch (error) {
            if (typeof op["as"] === "string") frame.vars.set(op["as"], messageOf(error))
            return fellThrough
          }
        case "parallel": {
          const branches = Array.isArray(op["branches"]) ? op["branches"] : []
          await Promise.all(branches.map((branch) => runAll(opsOf(branch), frame)))
          return fellThrough
        }
        case "signal":
          gate(op["gate"]).open()
          return fellThrough
        case "await":
          await gate(op["gate"]).opened
          return fellThrough
        case "wait":
          await new Promise((resolve) => setTimeout(resolve, Number(op["ms"])))
          return fellThrough
        case "return":
          return { returned: true, value: fill(op["value"], frame) }
        default:
          throw new Error(`unknown op ${op.op}`)
      }
    }

    const frame: Frame = { vars: new Map(), context: { taskIndex, phase, name: participant.name }, invocation: 0 }
    return (await runAll(script.ops, frame)).value
  }
