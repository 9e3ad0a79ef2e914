// The same without Effect: hashing a file of 8 MB, read piece by piece, with three algorithms.
// Run: bench run examples/promise-hashing.bench.ts
import { createHash, randomBytes } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defineBenchmarkConfig, defineTask, TaskError } from "effect-bench/promise"

export const config = defineBenchmarkConfig({
  benchmarkSlug: "file-hashing",
  benchmarkName: "Hashing a file",
  iterations: 20,
  participants: [{ name: "sha256" }, { name: "sha512" }, { name: "md5" }],
  scoring: {
    metrics: [
      {
        key: "throughput",
        unit: "MB/s",
        higherIsBetter: true,
        ceiling: 2000,
        weights: { median: 1, p95: 0, p99: 0 }
      }
    ]
  },
  display: {
    metrics: [{ key: "throughput", label: "throughput", unit: "MB/s", direction: "higher-better", decimals: 0 }],
    overview: { defaultMetric: "throughput", defaultLayout: "ranking" }
  }
})

export const task = defineTask(async ({ participant, step, measure, signal }) => {
  const content = randomBytes(8_000_000)
  const directory = await mkdtemp(join(tmpdir(), "bench-"))
  try {
    const file = join(directory, "content")
    await writeFile(file, content, { signal })
    const started = performance.now()
    const digest = await step(
      "hash",
      async ({ signal }) => {
        const hash = createHash(participant.name)
        for await (const chunk of createReadStream(file, { signal })) hash.update(chunk)
        return hash.digest("hex")
      },
      { timeoutMs: 5000 }
    )
    const seconds = (performance.now() - started) / 1000
    if (digest !== createHash(participant.name).update(content).digest("hex")) {
      throw new TaskError("the digest is wrong", { code: "WRONG_DIGEST", data: { digest } })
    }
    measure({ throughput: content.length / 1e6 / seconds })
  } finally {
    await rm(directory, { recursive: true })
  }
})
