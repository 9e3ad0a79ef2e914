/** Whose address a request is taken to come from. */
import type * as Http from "node:http"
import { isIP } from "node:net"

/**
 * The address of the client behind so many proxies. Each proxy adds the address it sees at the end of `X-Forwarded-For`;
 * what stands before those is the client's own say. The address of the connection when there are no proxies, or the header
 * is shorter than they are many, or holds no address there.
 */
export const clientAddress = ({ headers, socket }: Http.IncomingMessage, proxies: number): string | undefined => {
  if (proxies === 0) return socket.remoteAddress
  const header = headers["x-forwarded-for"]
  const named = (Array.isArray(header) ? header.join(",") : (header ?? "")).split(",").map((entry) => entry.trim())
  const address = bare(named[named.length - proxies] ?? "")
  return isIP(address) === 0 ? socket.remoteAddress : address
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Some proxies add a port, and brackets around an IPv6 address. */
const bare = (entry: string): string =>
  entry.replace(/^\[([^\]]+)\](?::\d+)?$/, "$1").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
