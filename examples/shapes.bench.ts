// One workload, two shapes of load: compressing half a megabyte with eight tasks always in flight, and one every 50 ms.
// Run: bench run examples/shapes.bench.ts, then bench run examples/shapes.bench.ts --shape paced (no queue, lower latency)
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import { Duration, Effect, Record } from "effect"
import { Benchmark, Step, Task } from "effect-bench"

const text = Buffer.from(
  JSON.stringify(
    Array.from({ length: 10_500 }, (_, id) => ({ id, price: (id * 7919) % 10_007, tags: ["new", "sale"] }))
  )
)

interface Codec {
  readonly compress: (input: Buffer) => Promise<Buffer>
  readonly expand: (input: Buffer) => Promise<Buffer>
}

const brotliCompress = promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)

const codecs: { readonly [name: string]: Codec } = {
  gzip: { compress: promisify<Buffer, Buffer>(zlib.gzip), expand: promisify<Buffer, Buffer>(zlib.gunzip) },
  brotli: {
    compress: (input) => brotliCompress(input, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }),
    expand: promisify<Buffer, Buffer>(zlib.brotliDecompress)
  }
}

export default Benchmark.make({
  benchmarkSlug: "compression-burst",
  benchmarkName: "Compression, eight at once",
  iterations: 40,
  concurrency: 8,
  shapes: {
    paced: { slug: "compression-paced", name: "Compression, one every 50 ms", staggerDelayMs: 50 }
  },
  participants: Record.keys(codecs).map((name) => ({ name })),
  scoring: {
    metrics: [
      { key: "compressMs", unit: "ms", ceiling: 200, weights: { median: 0.5, p95: 0.3, p99: 0 } },
      { key: "ratio", higherIsBetter: true, floor: 1, ceiling: 20, weights: { median: 0.2, p95: 0, p99: 0 } }
    ]
  },
  display: {
    metrics: [
      { key: "compressMs", label: "compress", unit: "ms", direction: "lower-better" },
      { key: "ratio", label: "ratio", direction: "higher-better", decimals: 1 }
    ],
    overview: { defaultMetric: "compressMs", defaultLayout: "ranking" }
  },
  task: ({ participant }) =>
    Effect.gen(function* () {
      const { compress, expand } = yield* Record.get(codecs, participant.name)
      const [elapsed, compressed] = yield* Effect.timed(
        Step.run(
          "compress",
          Effect.tryPromise(() => compress(text))
        )
      )
      const expanded = yield* Effect.tryPromise(() => expand(compressed))
      if (!expanded.equals(text)) {
        return yield* new Task.TaskError("the text did not survive compression", { code: "WRONG_TEXT" })
      }
      yield* Task.measure({ compressMs: Duration.toMillis(elapsed), ratio: text.length / compressed.length })
    })
})
