/** Sources that look at intervals. */
import { PcpError } from '../model/errors.ts'
import type { Clock } from '../pmapi/clock.ts'
import type { DiscoveredHost } from './host.ts'
import type { HostSource } from './source.ts'

/** What a look found. */
export interface Found {
  readonly hosts: readonly DiscoveredHost[]
  /** Look again after this time, if it is shorter than the interval. */
  readonly againMs?: number
}

/** Shortest time in milliseconds between two looks. */
const LEAST_MS = 100

/** Returns a source that calls `find` at intervals. */
export function polled(
  find: (signal: AbortSignal) => Promise<Found> | Found,
  refreshMs: number,
  clock: Clock,
): HostSource {
  return {
    async watch(sink, signal) {
      while (!signal.aborted) {
        let waitMs = refreshMs
        try {
          const { hosts, againMs = refreshMs } = await find(signal)
          if (signal.aborted) return
          waitMs = Math.min(refreshMs, againMs)
          sink.update(hosts)
        } catch (error) {
          if (signal.aborted) return
          sink.failed(PcpError.from(error))
        }
        await clock.sleep(Math.max(waitMs, LEAST_MS), signal).catch(() => undefined)
      }
    },
  }
}
