/**
 * Benchmarks written with async functions instead of effects, on the same engine; and the platform as promises.
 *
 * ```ts
 * import { defineBenchmarkConfig, defineTask } from "effect-bench/promise"
 *
 * export const config = defineBenchmarkConfig({
 *   benchmarkSlug: "sleep",
 *   benchmarkName: "Sleep",
 *   participants: [{ name: "timer" }],
 *   iterations: 5
 * })
 *
 * export const task = defineTask(async ({ step, measure }) => {
 *   await step("sleep", () => new Promise((resolve) => setTimeout(resolve, 5)), { timeoutMs: 1000 })
 *   measure({ asked: 5 })
 * })
 * ```
 *
 * @since 0.1.0
 */
export type { Outcome, ParticipantOutcome } from "./Benchmark.js"
export type {
  BenchmarkConfig,
  ConfigIssue,
  Display,
  DisplayMetric,
  GroupBy,
  MergedConfig,
  Phase,
  ScoringConfig,
  ScoringMetric,
  Shape
} from "./Config.js"
export { BenchmarkConfigError, ConfigResolutionError } from "./Config.js"
export type { Threshold, Verdict } from "./Gates.js"
export type { ResolveAuthOptions, ResolvedAuth } from "./internal/promise/auth.js"
export { resolveAuth } from "./internal/promise/auth.js"
export type { OnComplete, ParticipantLike, PromiseConfig } from "./internal/promise/authoring.js"
export {
  BENCHSDK_RUNNER_VERSION,
  defineBenchmarkConfig,
  defineOnComplete,
  defineTask,
  filterParticipantsByEnv,
  mergeConfig,
  parseCliArgs,
  score,
  scoringConfigToSpec,
  selectParticipants,
  validateBenchmarkConfig,
  validateScoringSpec
} from "./internal/promise/authoring.js"
export type { BenchmarkClient } from "./internal/promise/benchmarkClient.js"
export { createApiClient, createBenchmarkClient } from "./internal/promise/benchmarkClient.js"
export type {
  BenchmarkClientOptions,
  Closed,
  Items,
  PlatformMethods,
  UploadInput
} from "./internal/promise/clientModel.js"
export { AuthError, BenchmarkApiError } from "./internal/promise/errors.js"
export type { SystemMetricsCollector, SystemMetricsCollectorOptions } from "./internal/promise/metrics.js"
export { createSystemMetricsCollector } from "./internal/promise/metrics.js"
export type {
  FinishOptions,
  ReportedArtifact,
  ReportedProgress,
  ReporterOptions,
  WaitOptions
} from "./internal/promise/reporter.js"
export { BenchmarkReporter, claimBenchmarkReporter } from "./internal/promise/reporter.js"
export type { WorkerClient } from "./internal/promise/reporting.js"
export { run, runBenchmark, runBenchmarkFile, runBenchmarkWorker } from "./internal/promise/running.js"
export type {
  RunBenchmarkOptions,
  RunBenchmarkOutcome,
  RunBenchmarkWorkerOptions,
  RunBenchmarkWorkerOutcome,
  RunConfig,
  RunnableConfig,
  RunnableTask
} from "./internal/promise/runningModel.js"
export { runWorker } from "./internal/promise/worker.js"
export type {
  ReportingOptions,
  RunWorkerOptions,
  WorkerResult,
  WorkerTaskContext
} from "./internal/promise/workerModel.js"
export type { PromiseTask, PromiseTaskContext, StepContext } from "./internal/promiseTask.js"
export type { Gated, Participant, Skipped } from "./Participant.js"
export { NoAvailableParticipantsError, UnknownParticipantsError } from "./Participant.js"
export type {
  Artifact,
  ArtifactDownload,
  ArtifactUpload,
  Assignment,
  Attempt,
  Benchmark,
  ConcurrencySample,
  HeartbeatInput,
  Run,
  RunInput,
  RunProgress,
  RunResults,
  RunSummary,
  SummaryRow,
  TaskResultsInput,
  Worker
} from "./Platform.js"
export type { ParticipantRecords, StepRecord, TaskRecord } from "./Record.js"
export type { TelemetryFailure } from "./Reporter.js"
export { UndeliveredResults } from "./Reporter.js"
export type { MetricSpec, ScoringSpec, Weights } from "./Scoring.js"
export { higherIsBetter, lowerIsBetter, ScoringSpecError } from "./Scoring.js"
export type { StepOptions } from "./Step.js"
export type { Sample } from "./SystemMetrics.js"
export type { TaskErrorOptions, TaskResult } from "./Task.js"
export { TaskError } from "./Task.js"
