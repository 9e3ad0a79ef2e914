/**
 * The most records one batch of results may hold.
 *
 * @since 0.1.0
 * @category models
 */
export const maxBatchRecords = 5000

/**
 * The most steps one record may hold.
 *
 * @since 0.1.0
 * @category models
 */
export const maxRecordSteps = 100

/**
 * The most concurrency samples (of different steps) one heartbeat may hold.
 *
 * @since 0.1.0
 * @category models
 */
export const maxHeartbeatSamples = 20
