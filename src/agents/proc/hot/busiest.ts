/** Selects the processes that use most of each resource. docs/decisions/process-history.md */

/** Resource use of a process, in rates per second since the last sample but for the memory. */
export interface ResourceUse {
  readonly pid: number
  /** Seconds of CPU time. */
  readonly cpu: number
  /** Bytes read from and written to block devices. */
  readonly io: number
  readonly minorFaults: number
  readonly majorFaults: number
  /** Resident memory, KB. */
  readonly rss: number
}

/** A major fault waits for a disk, a minor one takes about a microsecond. */
const MAJOR_FAULT = 1000
/** Least CPU time, seconds per second: below it, order is noise of the clock tick. */
const LEAST_CPU = 0.001
/** Least page faults per second, so that a resting process is not chosen for its rare faults. */
const LEAST_FAULTS = 10

/** The resources, with the use below which a process is not chosen. */
const RESOURCES: readonly (readonly [amount: (use: ResourceUse) => number, least: number])[] = [
  [({ cpu }) => cpu, LEAST_CPU],
  [({ io }) => io, 1],
  [({ minorFaults, majorFaults }) => minorFaults + MAJOR_FAULT * majorFaults, LEAST_FAULTS],
  [({ rss }) => rss, 1],
]

/** Returns the PIDs of the `most` processes with the highest use of each resource: at most four times as many. */
export function busiest(uses: readonly ResourceUse[], most: number): ReadonlySet<number> {
  const chosen = new Set<number>()
  for (const [amount, least] of RESOURCES) {
    const users = uses.filter((use) => amount(use) >= least)
    // Among equals the older process stays, so that the choice does not flicker.
    users.sort((a, b) => amount(b) - amount(a) || a.pid - b.pid)
    for (const { pid } of users.slice(0, most)) chosen.add(pid)
  }
  return chosen
}
