/** The address of an instance's collector for its own parts. */
import type { StartDirectories } from './directories.ts'
import type { CollectorAddress } from './parts.ts'
import type { StartOptions } from './settings.ts'

/** What the address depends on. */
export interface OwnCollector {
  readonly collector: CollectorAddress
  readonly place: StartDirectories
  readonly options: Pick<StartOptions, 'listen'>
}

/** Returns the host specification of our own collector. */
export function ownCollectorSpec({ collector, options, place }: OwnCollector): string {
  if (collector.hasSocket) return `unix:${place.socketPath}`
  const [address = 'all'] = options.listen ?? []
  const host = address === 'all' ? 'localhost' : address
  return `${host.includes(':') ? `[${host}]` : host}:${collector.port}`
}
