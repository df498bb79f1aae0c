/** Names of excerpts. */

/** Returns the base name of an excerpt, from its host and its start in seconds since the epoch: `db1-20261128.0310`, in UTC. */
export function excerptName(host: string, start: number): string {
  const stamp = new Date(1000 * start).toISOString().replaceAll(/\D/g, '')
  return `${host.replaceAll(/[^\w-]/g, '-')}-${stamp.slice(0, 8)}.${stamp.slice(8, 12)}`
}
