/**
 * Keeping tasks apart although many of them run on one fiber.
 *
 * A fiber per task would cost more than everything else the harness does. Sharing one means that what belongs to a
 * fiber must not leak from a task into the next: changed fiber refs are put back, forked children are interrupted.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import { hasProperty } from "effect/Predicate"

type RuntimeFiber = Fiber.RuntimeFiber<unknown, unknown>

const isFiber = (value: unknown): value is RuntimeFiber => Fiber.isFiber(value) && Fiber.isRuntimeFiber(value)

const none: ReadonlyArray<RuntimeFiber> = []

/**
 * The running children of a fiber. Asking a fiber for its children costs a message to itself, so the set is looked at
 * directly where the runtime shows one.
 */
export const childrenOf = (fiber: RuntimeFiber): ReadonlyArray<RuntimeFiber> => {
  if (!("_children" in fiber) || !(fiber._children instanceof Set) || fiber._children.size === 0) return none
  return Array.from(fiber._children).filter(isFiber)
}

/** Interrupts what was forked on this fiber since `before` and waits until it has ended. */
export const interruptChildren = (
  fiber: RuntimeFiber,
  before: ReadonlyArray<RuntimeFiber>
): Effect.Effect<void> | undefined => {
  const children = childrenOf(fiber)
  if (children.length === 0) return undefined
  const added = children.filter((child) => !before.includes(child))
  return added.length === 0 ? undefined : Fiber.interruptAll(added)
}

/**
 * Sets a fiber's context from within that fiber. Gives the effect that does it where the runtime does not let it be done
 * at once, which saves three turns of its loop.
 */
export const setContext = (fiber: RuntimeFiber, context: Context.Context<never>): Effect.Effect<void> | undefined => {
  if ("setFiberRef" in fiber && typeof fiber.setFiberRef === "function") {
    fiber.setFiberRef(FiberRef.currentContext, context)
    return undefined
  }
  return FiberRef.set(FiberRef.currentContext, context)
}

/**
 * Takes a fiber back to the context, and the refs, that it had before {@link setContext}. When nothing else has changed
 * since, its earlier refs are put back whole, which spares making new ones.
 */
export const leaveContext = (
  fiber: RuntimeFiber,
  before: FiberRefs.FiberRefs,
  inside: FiberRefs.FiberRefs,
  outside: Context.Context<never>
): Effect.Effect<void> | undefined => {
  if (currentRefs(fiber) === inside && "setFiberRefs" in fiber && typeof fiber.setFiberRefs === "function") {
    fiber.setFiberRefs(before)
    return undefined
  }
  return setContext(fiber, outside)
}

/** A fiber's refs as they are, without the copy that asking for them makes, where the runtime shows them. */
export const currentRefs = (fiber: RuntimeFiber): FiberRefs.FiberRefs =>
  "_fiberRefs" in fiber && isFiberRefs(fiber._fiberRefs) ? fiber._fiberRefs : fiber.getFiberRefs()

const isFiberRefs = (value: unknown): value is FiberRefs.FiberRefs => hasProperty(value, FiberRefs.FiberRefsSym)

/** What is not a task's to leave behind: resetting the cause would make an interrupted fiber go on. */
const ownedByRuntime: ReadonlySet<unknown> = new Set<unknown>([
  FiberRef.currentContext,
  FiberRef.currentRuntimeFlags,
  FiberRef.interruptedCause
])

/** Puts back every fiber ref that a task can change and that differs from `before`; undefined when none does. */
export const restoreFiberRefs = (
  before: FiberRefs.FiberRefs,
  after: FiberRefs.FiberRefs
): Effect.Effect<void> | undefined => {
  if (before === after) return undefined
  const changes: Array<Effect.Effect<void>> = []
  let common = 0
  for (const [ref, stack] of after.locals) {
    const was = before.locals.get(ref)
    if (was !== undefined) common++
    if (was !== undefined && was[0][1] === stack[0][1]) continue
    if (ownedByRuntime.has(ref)) continue
    changes.push(was === undefined ? FiberRef.reset(ref) : FiberRef.set(ref, was[0][1]))
  }
  if (common < before.locals.size) {
    for (const [ref, stack] of before.locals) {
      if (!after.locals.has(ref) && !ownedByRuntime.has(ref)) changes.push(FiberRef.set(ref, stack[0][1]))
    }
  }
  return changes.length === 0 ? undefined : Effect.all(changes, { discard: true })
}
