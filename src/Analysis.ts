/**
 * A run judged: distributions with intervals, ranks with ties, scores taken apart, failures grouped, and warnings about the
 * numbers in words. What every view of a run shows.
 *
 * @since 0.1.0
 */
export * from "./internal/analysis/model.js"
