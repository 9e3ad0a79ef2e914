/** How a run says that it is scored and shown. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Display, ScoringConfig } from "../../Config.js"
import { BenchmarkConfig } from "../../Config.js"

export interface Manifest {
  readonly display: Display | undefined
  readonly scoring: ScoringConfig | undefined
}

/** What of it can be followed; a display and a scoring that contradict each other are both taken as they are. */
export const manifest = (stored: { readonly display: unknown; readonly scoring: unknown }): Manifest => {
  const { display, scoring } = stored
  return (
    decode({ display, scoring }) ?? {
      display: decode({ display })?.display,
      scoring: decode({ scoring })?.scoring
    }
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeConfig = Schema.decodeUnknownOption(BenchmarkConfig)

/** The rest of the config is made up: it does not matter here whether there is more to it. */
const decode = (sections: { readonly display?: unknown; readonly scoring?: unknown }): Manifest | undefined => {
  const given = Object.entries(sections).filter(([, section]) => section !== undefined && section !== null)
  const config = decodeConfig({
    benchmarkSlug: "stored",
    benchmarkName: "stored",
    participants: [{ name: "stored" }],
    onScore: () => [],
    ...Object.fromEntries(given)
  })
  return Option.getOrUndefined(Option.map(config, ({ display, scoring }) => ({ display, scoring })))
}
