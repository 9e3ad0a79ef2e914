/**
 * A scope that costs nothing until something is acquired in it.
 */
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import type * as Exit from "effect/Exit"
import * as Pipeable from "effect/Pipeable"
import * as Scope from "effect/Scope"

export class LazyScope extends Pipeable.Class() implements Scope.Scope {
  readonly [Scope.ScopeTypeId]: Scope.ScopeTypeId = Scope.ScopeTypeId
  readonly strategy = ExecutionStrategy.sequential
  private scope: Scope.CloseableScope | undefined = undefined
  private closedWith: Exit.Exit<unknown, unknown> | undefined = undefined

  fork(strategy: ExecutionStrategy.ExecutionStrategy): Effect.Effect<Scope.Scope.Closeable> {
    return Effect.flatMap(this.open(), (scope) => Scope.fork(scope, strategy))
  }

  addFinalizer(finalizer: Scope.Scope.Finalizer): Effect.Effect<void> {
    return Effect.flatMap(this.open(), (scope) => Scope.addFinalizerExit(scope, finalizer))
  }

  /** Runs the finalizers; undefined when nothing was acquired. What is acquired afterwards is released at once. */
  close(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    this.closedWith = exit
    return this.scope === undefined ? undefined : Scope.close(this.scope, exit)
  }

  private open(): Effect.Effect<Scope.CloseableScope> {
    return Effect.suspend(() =>
      this.scope === undefined
        ? Effect.flatMap(Scope.make(), (made) => {
            const scope = (this.scope ??= made)
            return this.closedWith === undefined
              ? Effect.succeed(scope)
              : Effect.as(Scope.close(scope, this.closedWith), scope)
          })
        : Effect.succeed(this.scope)
    )
  }
}
