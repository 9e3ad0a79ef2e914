import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** A variable of the environment, trimmed; a blank one counts as unset. */
export const setting = (name: string): Effect.Effect<string | undefined> =>
  Effect.map(secret(name), (value) => value && Redacted.value(value))

/** Like {@link setting} for what must not be shown. */
export const secret = (name: string): Effect.Effect<Redacted.Redacted | undefined> =>
  Config.redacted(name).pipe(
    Effect.map(trimmed),
    Effect.orElseSucceed(() => undefined)
  )

/** A secret without blanks around it; undefined when nothing is left. */
export const trimmed = (value: Redacted.Redacted): Redacted.Redacted | undefined => {
  const text = Redacted.value(value).trim()
  return text === "" ? undefined : Redacted.make(text)
}
