/** The client of promises: every request of the contract, and workers. */
import type { ResolveAuthOptions } from "./auth.js"
import { resolveEndpoint } from "./auth.js"
import type { Endpoint } from "./client.js"
import { createMethods, endpointOf, sharePlatform } from "./client.js"
import type { BenchmarkClientOptions, PlatformMethods } from "./clientModel.js"
import { runWorker } from "./worker.js"
import type { RunWorkerOptions, WorkerResult } from "./workerModel.js"

/**
 * A client of a platform. Methods can be taken out of it and used on their own.
 *
 * @since 0.1.0
 * @category models
 */
export interface BenchmarkClient extends PlatformMethods {
  /** Claims a worker of a run and runs its tasks; null when there is none to claim. */
  readonly runWorker: (options: RunWorkerOptions) => Promise<WorkerResult | null>
}

/**
 * A client for the platform at `baseUrl`, with the credentials given, else those of the environment. Throws an `AuthError` when
 * there are none, saying how to get them. Sends nothing yet.
 *
 * @since 0.1.0
 * @category constructors
 */
export const createBenchmarkClient = (options: BenchmarkClientOptions = {}): BenchmarkClient =>
  clientOf(endpointOf(options))

/**
 * A client with the credentials that `bench` would use, saved logins included, which are refreshed as long as it is used.
 * Rejects with an `AuthError` when there are none.
 *
 * @since 0.1.0
 * @category constructors
 */
export const createApiClient = async ({
  fetch,
  ...options
}: ResolveAuthOptions & Pick<BenchmarkClientOptions, "fetch"> = {}): Promise<BenchmarkClient> =>
  clientOf({ ...(await resolveEndpoint(options)), fetch })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const clientOf = (endpoint: Endpoint): BenchmarkClient => {
  const methods = createMethods(endpoint)
  const client: BenchmarkClient = { ...methods, runWorker: (options) => runWorker(client, options) }
  sharePlatform(methods, client)
  return client
}
