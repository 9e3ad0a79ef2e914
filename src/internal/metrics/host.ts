/** What the files of /proc say about the host: pure parsers, null for whatever is not there or not a number. */

/** A plain count; null for anything else, such as a negative number or more than 2^53. */
export const parseCount = (text: string | undefined): number | null => {
  if (text === undefined || !/^\d{1,19}$/.test(text)) return null
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : null
}

/** The values of a file of `key value` lines, which may have a colon after the key and a unit after the value. */
export const parseFields = (text: string | null): ReadonlyMap<string, number> => {
  const fields = new Map<string, number>()
  for (const line of text?.split("\n") ?? []) {
    const [key, value] = line.split(/[:\s]+/, 2)
    const count = parseCount(value)
    if (key !== undefined && count !== null) fields.set(key, count)
  }
  return fields
}

export interface Memory {
  readonly totalBytes: number | null
  readonly availableBytes: number | null
}

export const parseMemory = (meminfo: string | null): Memory => {
  const kibibytes = parseFields(meminfo)
  const bytes = (key: string): number | null => {
    const value = kibibytes.get(key)
    return value === undefined ? null : value * 1024
  }
  return { totalBytes: bytes("MemTotal"), availableBytes: bytes("MemAvailable") }
}

/** Time that all processors together have spent, in any unit. */
export interface CpuTimes {
  readonly busy: number
  readonly total: number
}

// user nice system idle iowait irq softirq steal; guest times, which follow, are part of user and nice.
const cpuFields = 8
const idleFields = new Set([3, 4])

export const parseCpuTimes = (stat: string | null): CpuTimes | null => {
  const line = /^cpu +([\d ]+)$/m.exec(stat ?? "")
  if (line === null) return null
  const times = (line[1] ?? "").trim().split(/ +/).slice(0, cpuFields).map(parseCount)
  let total = 0
  let busy = 0
  for (const [i, time] of times.entries()) {
    if (time === null) return null
    total += time
    if (!idleFields.has(i)) busy += time
  }
  return times.length < 4 ? null : { busy, total }
}

/** Per cent of the time between two readings; null when no time has passed, or it went backwards. */
export const cpuPercent = (before: CpuTimes | null, now: CpuTimes | null): number | null => {
  if (before === null || now === null) return null
  const total = now.total - before.total
  const busy = now.busy - before.busy
  return total <= 0 || busy < 0 ? null : Math.min(100, Math.round((busy / total) * 1e4) / 100)
}

export interface TcpSockets {
  readonly tcpInUse: number
  readonly tcpTimeWait: number | null
  readonly tcpOrphaned: number | null
  readonly udpInUse: number | null
}

/** Sums IPv4 and IPv6; time-wait and orphaned sockets are counted for both in the first. */
export const parseSockets = (sockstat: string | null, sockstat6: string | null): TcpSockets | null => {
  const four = parseProtocols(sockstat)
  const six = parseProtocols(sockstat6)
  const tcpInUse = sum(four.get("TCP inuse"), six.get("TCP6 inuse"))
  if (tcpInUse === null) return null
  return {
    tcpInUse,
    tcpTimeWait: four.get("TCP tw") ?? null,
    tcpOrphaned: four.get("TCP orphan") ?? null,
    udpInUse: sum(four.get("UDP inuse"), six.get("UDP6 inuse"))
  }
}

const sum = (a: number | undefined, b: number | undefined): number | null =>
  a === undefined && b === undefined ? null : (a ?? 0) + (b ?? 0)

/** Lines such as `TCP: inuse 5 orphan 0`, as `TCP inuse`, `TCP orphan`. */
const parseProtocols = (text: string | null): ReadonlyMap<string, number> => {
  const fields = new Map<string, number>()
  for (const line of text?.split("\n") ?? []) {
    const [protocol, ...words] = line.split(/:? +/)
    for (let i = 0; i + 1 < words.length; i += 2) {
      const count = parseCount(words[i + 1])
      if (count !== null) fields.set(`${protocol} ${words[i]}`, count)
    }
  }
  return fields
}
