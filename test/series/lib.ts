/** Archives of a small fleet. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createArchive, PM_INDOM_NULL } from '../../src/archive.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_INSTANT,
  PM_TYPE_DOUBLE,
  PM_TYPE_STRING,
  PM_TYPE_U64,
} from '../../src/model/types.ts'

/** Seconds since the epoch of the first sample. */
export const START = 1_700_000_000

/** What an archive has. */
export interface HostOptions {
  readonly samples?: number
  /** Seconds since the epoch. */
  readonly start?: number
  /** First value of the counter. */
  readonly first?: number
  /** Name of the archive in the directory of the host. */
  readonly file?: string
}

/**
 * Writes an archive of a host with samples every 10 seconds: `demo.count` counts 5 a second from `first`, `demo.load` has two
 * instances, `demo.name` the name of the host.
 */
export function writeHost(
  directory: string,
  host: string,
  { samples = 6, start = START, first = 0, file = 'day1' }: HostOptions = {},
): string {
  mkdirSync(join(directory, host), { recursive: true })
  const base = join(directory, host, file)
  const made = createArchive(base, { hostname: host, timezone: 'UTC' })
  const load = indom(77, 1)
  made.addMetric('demo.count', {
    pmid: pmid(77, 0, 1),
    type: PM_TYPE_U64,
    sem: PM_SEM_COUNTER,
    units: 'count',
  })
  made.addMetric('demo.load', {
    pmid: pmid(77, 0, 2),
    type: PM_TYPE_DOUBLE,
    sem: PM_SEM_INSTANT,
    units: '',
    indom: load,
  })
  made.addMetric('demo.name', {
    pmid: pmid(77, 0, 3),
    type: PM_TYPE_STRING,
    sem: PM_SEM_INSTANT,
    units: '',
    indom: PM_INDOM_NULL,
  })
  made.addText('demo.count', 'oneline', 'Number of requests')
  made.addText('demo.count', 'help', 'All requests since the start of the server, and their load.')
  made.addText('demo.load', 'oneline', 'Load average')
  made.addInstance(load, 'one', 1)
  made.addInstance(load, 'two', 2)
  for (let i = 0; i < samples; i++) {
    made.put('demo.count', first + 50 * i)
    made.put('demo.load', i, 1)
    made.put('demo.load', 10 * i, 2)
    made.put('demo.name', host)
    made.write({ sec: start + 10 * i, nsec: 0 })
  }
  made.close()
  return base
}
