/**
 * What the statistics of 100 000 samples cost, each as a multiple of the time that sorting the samples takes: medians over
 * rounds in which everything is done once, so that what else the machine does meets all alike.
 *
 *   npm run bench:statistics                  # 100 000 samples
 *   npm run bench:statistics -- 1000          # another number
 *   npm run bench:statistics -- 1000 --naive  # also what resampling every sample would take
 */
import { Array as Arr, Either } from "effect"
import * as ChangePoints from "../src/ChangePoints.js"
import * as Diagnostics from "../src/Diagnostics.js"
import * as Histogram from "../src/Histogram.js"
import * as Inference from "../src/Inference.js"
import * as Statistics from "../src/Statistics.js"

const count = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 100_000)
const isNaive = process.argv.includes("--naive")
const rounds = 7

/** Latencies with a long tail: log-normal, by a linear congruential generator and the sum of twelve. */
const latencies = (seed: number, median: number): Float64Array => {
  let state = seed >>> 0
  const uniform = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return Float64Array.from({ length: count }, () => {
    let normal = -6
    for (let i = 0; i < 12; i++) normal += uniform()
    return median * Math.exp(0.5 * normal)
  })
}

const [before, after] = [latencies(1, 20), latencies(2, 21)]
const [first, second] = [before.slice().sort(), after.slice().sort()]
const half = Histogram.make()
for (const sample of before) half.add(sample)
const series = Array.from(before.subarray(0, 100))

/** The textbook bootstrap: as many samples are drawn as there are, then sorted. */
const naive = (): number => {
  const resample = new Float64Array(count)
  let state = 1
  let sum = 0
  for (let i = 0; i < 10_000; i++) {
    for (let j = 0; j < count; j++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      resample[j] = first[Math.floor((state / 2 ** 32) * count)] ?? 0
    }
    sum += Statistics.median(resample.sort()) ?? 0
  }
  return sum
}

const subjects: ReadonlyArray<readonly [name: string, run: () => unknown]> = [
  ["sort the samples", () => before.slice().sort()],
  ["summary of sorted samples", () => Statistics.summaryOfSorted(first)],
  ["interval of the median, 10 000 resamples", () => Inference.percentileInterval(first, 50)],
  ["interval of the p95", () => Inference.percentileInterval(first, 95)],
  ["interval of the ratio of medians", () => Inference.ratioInterval(first, second, 50)],
  ["interval of the mean", () => Inference.meanInterval(first)],
  ["interval of the ratio of means", () => Inference.meanRatioInterval(first, second)],
  ["Mann-Whitney U", () => Inference.mannWhitney(first, second)],
  ["Cliff's delta with interval", () => Inference.cliffsDeltaInterval(first, second)],
  ["Hodges-Lehmann shift with interval", () => Inference.hodgesLehmann(first, second)],
  ["outliers", () => Diagnostics.outliers(first)],
  ["outliers by deviation", () => Diagnostics.outliersByDeviation(first)],
  ["trend", () => Diagnostics.trend(before)],
  [
    "count in a histogram",
    () => {
      const histogram = Histogram.make()
      for (const sample of before) histogram.add(sample)
      return histogram
    }
  ],
  ["merge two histograms", () => Either.getOrThrow(Histogram.merge(half, half))],
  ["p99 of a histogram", () => half.percentile(99)],
  ["change points of 100 values", () => ChangePoints.changePoints(series)],
  ...(isNaive ? [["interval of the median, every sample drawn", naive] as const] : [])
]

const timeOf = (run: () => unknown): number => {
  const since = performance.now()
  run()
  return performance.now() - since
}

const medianOf = (times: ReadonlyArray<number>): number => Statistics.median([...times].sort((a, b) => a - b)) ?? 0

for (const [, run] of isNaive ? subjects.slice(0, -1) : subjects) run()
const times = Arr.makeBy(isNaive ? 1 : rounds, () => subjects.map(([, run]) => timeOf(run)))
const medians = subjects.map((_, i) => medianOf(times.map((round) => round[i] ?? 0)))
const unit = medians[0] ?? 1
console.log(
  `${count} samples, ${times.length} rounds, Node.js ${process.version}; sorting takes ${unit.toFixed(2)} ms\n`
)
subjects.forEach(([name], i) => {
  const time = medians[i] ?? 0
  console.log(`${name.padEnd(46)} ${(time / unit).toFixed(3).padStart(10)} ×  ${time.toFixed(3).padStart(12)} ms`)
})
