/** Reports of what a task fetches and how much it writes: pmlogger -D optfetch and -r. */
import { DOMAIN_RESERVED, domainOf } from '../model/ids.ts'
import type { Task } from './tasks.ts'

const DAY_MS = 86_400_000
const MBYTE = 1024 * 1024

/** Returns the report of a task whose record had this many bytes. */
export function taskReport({ metrics, deltaMs }: Task, bytes: number): string {
  const rate = `${((bytes * DAY_MS) / deltaMs / MBYTE).toFixed(2)} Mbytes/day`
  const interval = deltaMs % 1000 === 0 ? String(deltaMs / 1000) : (deltaMs / 1000).toFixed(3)
  const size =
    deltaMs === 0 ? `logged once: ${bytes} bytes` : `logged every ${interval} sec: ${bytes} bytes or ${rate}`
  if (metrics.length === 1) return `\nMetric ${metrics[0]!.name} ${size}`
  const derived = metrics.filter(({ desc }) => domainOf(desc.pmid) === DOMAIN_RESERVED).length
  const extra = derived === 0 ? '' : `, ${derived} derived`
  const names = metrics.map(({ name }) => `\t${name}\n`).join('')
  return `\nGroup [${metrics.length} metrics${extra}] {\n${names}} ${size}`
}

/** Returns the trace of task number `i` and its fetches. */
export function taskTrace(i: number, { metrics, fetches, deltaMs }: Task): string {
  const groups = fetches.map(({ pmids }, j) => `\n  Fetch group[${i}][${j}] ${pmids.length} metrics`)
  return `Fetch task[${i}] delta: ${1000 * deltaMs} usec numpmid: ${metrics.length}${groups.join('')}`
}
