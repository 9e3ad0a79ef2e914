/**
 * The context of a task or step: the surrounding one with the task's two services laid over it.
 *
 * One is made per task and per step, so it does not copy the services around it. It equals no other context: setting a
 * fiber's context compares the new one with the old, and comparing entry by entry would cost more than setting it.
 */
import * as Context from "effect/Context"
import * as Equal from "effect/Equal"
import * as Hash from "effect/Hash"
import * as Scope from "effect/Scope"
import type { TaskContext } from "../Task.js"
import { CurrentTask } from "../Task.js"

const taskKey = CurrentTask.key
const scopeKey = Scope.Scope.key

/** The services around a task with {@link CurrentTask} and the task's scope replaced. Reads like a map; cannot be changed. */
class TaskServicesMap implements ReadonlyMap<string, unknown> {
  constructor(
    readonly around: ReadonlyMap<string, unknown>,
    readonly task: TaskContext,
    readonly scope: unknown
  ) {}

  get(key: string): unknown {
    return key === taskKey ? this.task : key === scopeKey ? this.scope : this.around.get(key)
  }

  has(key: string): boolean {
    return key === taskKey || key === scopeKey || this.around.has(key)
  }

  get size(): number {
    return this.around.size + (this.around.has(taskKey) ? 0 : 1) + (this.around.has(scopeKey) ? 0 : 1)
  }

  *entries(): MapIterator<[string, unknown]> {
    for (const [key, service] of this.around) {
      if (key !== taskKey && key !== scopeKey) yield [key, service]
    }
    yield [scopeKey, this.scope]
    yield [taskKey, this.task]
  }

  *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key
  }

  *values(): MapIterator<unknown> {
    for (const [, service] of this.entries()) yield service
  }

  [Symbol.iterator](): MapIterator<[string, unknown]> {
    return this.entries()
  }

  forEach(visit: (service: unknown, key: string, map: ReadonlyMap<string, unknown>) => void): void {
    for (const [key, service] of this.entries()) visit(service, key, this)
  }
}

/** What contexts are made of, but for how they compare. */
const proto: object = Object.create(Object.getPrototypeOf(Context.empty()), {
  [Equal.symbol]: {
    value(this: unknown, that: unknown): boolean {
      return this === that
    }
  },
  [Hash.symbol]: { value: (): number => 0 }
})

const fromMap = (unsafeMap: TaskServicesMap): Context.Context<never> => {
  const context = Object.create(proto)
  context.unsafeMap = unsafeMap
  return context
}

/** The context that a task runs in. Lanes that share a fiber follow one another: a task replaces the one before it. */
export const ofTask = (
  context: Context.Context<never>,
  task: TaskContext,
  scope: Scope.Scope
): Context.Context<never> => {
  const services: unknown = context.unsafeMap
  const around = services instanceof TaskServicesMap ? services.around : context.unsafeMap
  return fromMap(new TaskServicesMap(around, task, scope))
}

/** The context that a step runs in: that of its task, measuring into the step. */
export const ofStep = (outside: Context.Context<never>, step: TaskContext): Context.Context<never> => {
  const services: unknown = outside.unsafeMap
  return services instanceof TaskServicesMap
    ? fromMap(new TaskServicesMap(services.around, step, services.scope))
    : Context.add(outside, CurrentTask, step)
}
