/**
 * A scope that costs nothing until something is acquired in it.
 */
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Pipeable from "effect/Pipeable"
import * as Scope from "effect/Scope"

type Finalizers = Map<object, Scope.Scope.Finalizer>

type State =
  | { readonly _tag: "Open"; readonly finalizers: Finalizers }
  | { readonly _tag: "Closed"; readonly exit: Exit.Exit<unknown, unknown> }

export class LazyScope extends Pipeable.Class() implements Scope.Scope {
  readonly [Scope.ScopeTypeId]: Scope.ScopeTypeId = Scope.ScopeTypeId
  readonly strategy = ExecutionStrategy.sequential
  private opened: State | undefined = undefined

  /** Where the scopes of effect have theirs: `Effect.forkIn` takes no other way to a scope. */
  get state(): State {
    return (this.opened ??= { _tag: "Open", finalizers: new Map() })
  }

  fork(strategy: ExecutionStrategy.ExecutionStrategy): Effect.Effect<Scope.Scope.Closeable> {
    return Effect.flatMap(Scope.make(strategy), (child) => {
      const { state } = this
      if (state._tag === "Closed") return Effect.as(Scope.close(child, state.exit), child)
      const key = {}
      state.finalizers.set(key, (exit) => Scope.close(child, exit))
      const forget = Effect.sync(() => state.finalizers.delete(key))
      return Effect.as(Scope.addFinalizer(child, forget), child)
    })
  }

  addFinalizer(finalizer: Scope.Scope.Finalizer): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { state } = this
      if (state._tag === "Closed") return Effect.asVoid(finalizer(state.exit))
      state.finalizers.set({}, finalizer)
      return Effect.void
    })
  }

  /** Runs the finalizers; undefined when there are none. What is acquired afterwards is released at once. */
  close(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    const before = this.opened
    this.opened = { _tag: "Closed", exit }
    if (before === undefined || before._tag === "Closed" || before.finalizers.size === 0) return undefined
    const finalizers = Array.from(before.finalizers.values()).reverse()
    return Effect.flatMap(
      Effect.forEach(finalizers, (finalizer) => Effect.exit(finalizer(exit))),
      (exits) => Option.getOrElse(Option.map(Exit.all(exits), Exit.asVoid), () => Exit.void)
    )
  }
}
