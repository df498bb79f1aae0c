/** Names of instances that a string metric has: users know file systems by mount point, not by device. */
import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Source } from './source.ts'

/** The metrics whose values name the instances of a domain. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([['60.5', 'filesys.mountdir']])
/** Names on a live host are requested again after this time, as file systems may be mounted elsewhere. */
const FRESH_MS = 60_000

/** Names by instance. */
export type InstanceNames = ReadonlyMap<string, string>

interface Known {
  readonly names: Signal<InstanceNames>
  askedAt: number
}

const NONE: InstanceNames = new Map()
const known = new WeakMap<Source, Map<string, Known>>()

/**
 * Returns the names of the instances of a domain; undefined if no metric names them. They are empty until the source has answered, and where it
 * has no names.
 */
export function instanceNames(
  source: Source,
  indom: string | null,
  now: number = performance.now(),
): ReadonlySignal<InstanceNames> | undefined {
  const metric = NAMED_BY.get(indom ?? '')
  if (metric === undefined) return undefined
  const ofSource = known.get(source) ?? new Map<string, Known>()
  known.set(source, ofSource)
  const found = ofSource.get(metric) ?? { names: signal(NONE), askedAt: Number.NEGATIVE_INFINITY }
  ofSource.set(metric, found)
  const isOld = source.span === undefined ? now - found.askedAt >= FRESH_MS : found.askedAt < 0
  if (isOld) {
    found.askedAt = now
    source.instances(metric, true).then(
      (all) => {
        const pairs = all.flatMap(({ name, value }) => (value ? [[name, value] as const] : []))
        // The same names do not draw charts again.
        if (JSON.stringify(pairs) !== JSON.stringify([...found.names.peek()]))
          found.names.value = new Map(pairs)
      },
      () => {}, // the instances keep their own names
    )
  }
  return found.names
}
