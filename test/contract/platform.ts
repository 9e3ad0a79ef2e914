import { describe } from "@effect/vitest"
import type { Layer } from "effect"
import type { Platform } from "../../src/Platform.js"
import * as Analysis from "./analysis.js"
import * as Artifacts from "./artifacts.js"
import * as Batches from "./batches.js"
import * as ByHand from "./byHand.js"
import * as Catalog from "./catalog.js"
import * as Progress from "./progress.js"
import * as Results from "./results.js"
import * as Workers from "./workers.js"

/**
 * What every implementation of `Platform` does, whatever it keeps its runs in. The layer is built anew for each test, with
 * the default lease of 5 minutes on the clock of the test.
 */
export const suite = (name: string, layer: Layer.Layer<Platform, unknown>) =>
  describe(name, () => {
    describe("benchmarks", () => Catalog.benchmarks(layer))
    describe("runs", () => Catalog.runs(layer))
    describe("participants", () => Catalog.participants(layer))
    describe("planning workers", () => Workers.planning(layer))
    describe("claiming workers", () => Workers.claiming(layer))
    describe("heartbeats", () => Workers.heartbeats(layer))
    describe("closing workers", () => Workers.closing(layer))
    describe("changing workers by hand", () => ByHand.workers(layer))
    describe("changing participants by hand", () => ByHand.participants(layer))
    describe("status", () => Catalog.rollUp(layer))
    describe("progress", () => Progress.progress(layer))
    describe("batches of results", () => Batches.batches(layer))
    describe("late results", () => Batches.late(layer))
    describe("summaries", () => Results.summaries(layer))
    describe("results", () => Results.results(layer))
    describe("results of a benchmark", () => Analysis.benchmarkResults(layer))
    describe("buckets of tasks", () => Analysis.buckets(layer))
    describe("timeline", () => Analysis.timeline(layer))
    describe("imports", () => Analysis.imports(layer))
    describe("artifacts", () => Artifacts.artifacts(layer))
    describe("logs", () => Artifacts.logs(layer))
  })
