/**
 * What `bench run` says while it runs, on stderr: stable lines, one when a participant starts and one when it ends.
 */
import * as Participant from "../Participant.js"
import type { RunEvent } from "../RunEvent.js"
import { taskLine } from "./taskLine.js"
import { oneLine, plural } from "./text.js"

export interface ProgressOptions {
  readonly write: (line: string) => void
  readonly quiet: boolean
  readonly verbose: boolean
}

export class Progress {
  started = false
  runId: string | undefined = undefined
  /** Tasks recorded so far, of all participants. */
  done = 0
  total = 0

  constructor(private readonly options: ProgressOptions) {}

  readonly listener = (event: RunEvent): void => {
    switch (event._tag) {
      case "RunStarted":
        return this.onStart(event)
      case "ParticipantStarted":
        if (event.total > 0) this.say(`  ${oneLine(event.participant)}: ${plural(event.total, "task")}`)
        return
      case "TaskCompleted":
        this.done++
        if (this.options.verbose) {
          this.say(oneLine(taskLine(event.participant, event.record, event.total)))
        }
        return
      case "ParticipantCompleted":
        if (event.total > 0) {
          this.say(`  ${oneLine(event.participant)}: ${event.done}/${event.total} done, ${event.errors} failed`)
        }
        return
      case "Warning":
        this.options.write(`warning: ${oneLine(event.message)}`)
        return
      case "TaskStarted":
      case "RunCompleted":
        return
    }
  }

  private onStart(event: Extract<RunEvent, { readonly _tag: "RunStarted" }>): void {
    this.started = true
    this.runId = event.runId
    this.total = event.participants.length * event.tasksPerParticipant
    for (const skipped of event.skipped) this.options.write(oneLine(Participant.skipMessage(skipped)))
    this.say(
      `Running ${oneLine(event.benchmarkName)} (${event.benchmarkSlug}): ${plural(event.participants.length, "participant")}, ${plural(event.tasksPerParticipant, "task")} each`
    )
  }

  private say(line: string): void {
    if (!this.options.quiet) this.options.write(line)
  }
}
