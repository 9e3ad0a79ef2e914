#!/usr/bin/env node
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { main } from "./cli/main.js"
import { withoutColours } from "./cli/plainConsole.js"

const signals = { SIGINT: 130, SIGTERM: 143 } as const

// A reader that has seen enough (`bench results | head`) closes the pipe: that is not a failure of the command.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1)
})

/** Ends the process once what was written to stdout has left it. */
const exit = (code: number): void => {
  process.exitCode = code
  process.stdout.write("", () => process.exit(code))
}

// Help is generated with colours whatever it is written to.
const plain = !process.stdout.isTTY || (process.env["NO_COLOR"] ?? "") !== ""
const program = main(process.argv.slice(2))
const fiber = Effect.runFork(plain ? Effect.withConsole(program, withoutColours) : program)

let interruptedBy: number | undefined = undefined

for (const [signal, code] of Object.entries(signals)) {
  process.on(signal, () => {
    if (interruptedBy !== undefined) process.exit(code)
    interruptedBy = code
    fiber.unsafeInterruptAsFork(fiber.id())
  })
}

fiber.addObserver((result) => {
  if (Exit.isSuccess(result)) return exit(result.value)
  if (!Cause.isInterruptedOnly(result.cause)) process.stderr.write(`${Cause.pretty(result.cause)}\n`)
  exit(interruptedBy ?? 1)
})
