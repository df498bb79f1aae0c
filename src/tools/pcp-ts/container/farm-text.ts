/** The collectors of other hosts that a container records, as a farm file of pmlogger. */

/** A collector to record. */
export interface FarmHost {
  /** Host specification. */
  readonly spec: string
  /** Directory of its archives. */
  readonly name: string
}

/** Returns one host for each name, the last one, sorted by name. */
export function uniqueHosts(hosts: readonly FarmHost[]): readonly FarmHost[] {
  const byName = new Map(hosts.map((host) => [host.name, host]))
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Formats the farm file. */
export function farmText(hosts: readonly FarmHost[], archiveDir: string, config: string): string {
  const lines = hosts.map(
    ({ spec, name }) => `${spec} ${archiveDir}/${name}/%Y%m%d.%H.%M ${config} label=${name}`,
  )
  return ['# Written by pcp-ts container.', ...lines, ''].join('\n')
}
