#!/usr/bin/env node
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { main } from "./cli/main.js"
import { withoutColours } from "./cli/plainConsole.js"
import { lines } from "./cli/text.js"

const signals = { SIGINT: 130, SIGTERM: 143 } as const

const say = (text: string): void => {
  process.stderr.write(`${lines(text)}\n`)
}

// A reader that has seen enough (`bench results | head`) closes the pipe: that is not a failure of the command, and what
// a task prints must not end its run.
process.stdout.on("error", () => {})
process.stderr.on("error", () => {})

let failed = false

/** Ends the process once what was written to stdout has left it, or is known to be lost. */
const exit = (code: number): void => {
  process.stdout.write("", () => {
    const error: NodeJS.ErrnoException | null = process.stdout.errored
    const lost = error !== null && error.code !== "EPIPE"
    if (lost) say(`stdout could not be written: ${error.message}`)
    process.exit(code === 0 && (failed || lost) ? 1 : code)
  })
}

// Help is generated with colours whatever it is written to.
const plain = !process.stdout.isTTY || (process.env["NO_COLOR"] ?? "") !== ""
const program = main(process.argv.slice(2))
const fiber = Effect.runFork(plain ? Effect.withConsole(program, withoutColours) : program)

// A fiber that waits for a promise does not keep the process alive; it would end as if all were done.
const keepAlive = setInterval(() => {}, 2 ** 31 - 1)

let endingWith: number | undefined = undefined

const interrupt = (code: number): void => {
  endingWith = code
  fiber.unsafeInterruptAsFork(fiber.id())
}

for (const [signal, code] of Object.entries(signals)) {
  process.on(signal, () => (endingWith === undefined ? interrupt(code) : process.exit(code)))
}

// A bench file left it unhandled, perhaps in the background: what was measured is stored, as when interrupted.
process.on("uncaughtException", (error: unknown) => {
  failed = true
  say(`Unhandled ${Cause.pretty(Cause.die(error))}`)
  if (endingWith === undefined) interrupt(1)
})

fiber.addObserver((result) => {
  clearInterval(keepAlive)
  if (Exit.isSuccess(result)) return exit(result.value)
  if (!Cause.isInterruptedOnly(result.cause)) say(Cause.pretty(result.cause))
  exit(endingWith ?? 1)
})
