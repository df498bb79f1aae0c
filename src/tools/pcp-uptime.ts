/** pcp uptime: uptime, users and load of a host. pcp-uptime(1) */
import { formatF } from '../base/printf.ts'
import { localTime, type Zone } from '../time/zone.ts'
import { HELP_ROW, type OptionTable, VERSION_ROW } from './lib/options.ts'
import type { Sample } from './lib/sampled/metrics.ts'
import { runReport } from './lib/sampled/report.ts'
import { findMetrics, nextRecord } from './lib/sampled/snapshot.ts'
import type { Tool } from './lib/tool.ts'

const UPTIME = 'kernel.all.uptime'
const USERS = 'kernel.all.nusers'
const LOAD = 'kernel.all.load'
const METRICS = [UPTIME, USERS, LOAD]
/** Instances of the load averages, in minutes. */
const AVERAGES = [1, 5, 15]

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [{ heading: 'Options' }, VERSION_ROW, HELP_ROW],
}

/** Prints one line like uptime(1). */
export const tool: Tool = {
  name: 'pcp-uptime',
  summary: 'Show how long a host is up, and its load',
  description: `
Shows one line with the time of day, the uptime of the host, the number of users, and the load averages of 1, 5 and 15 minutes; a
question mark for unknown values. Source, time and zone are options of pcp; in an archive the first record from that time on is used.`,
  examples: [
    ['pcp -h db1 uptime', 'A host:'],
    ['pcp -z -a 20261120 -O @10:00 uptime', 'A time in an archive, in the zone of its host:'],
  ],
  seeAlso: ['pcp', 'pcp-free'],
  options: OPTIONS,
  run: async (io) =>
    runReport({ table: OPTIONS, read: () => undefined }, io, async ({ context, window, zone }) => {
      const metrics = await findMetrics(context, METRICS, io)
      const sample = await nextRecord(context, metrics, window.origin, [UPTIME, LOAD], io)
      io.stdout.write(uptimeLine(sample, zone))
      return 0
    }),
}

function uptimeLine(sample: Sample, zone: Zone): string {
  const { hour, minute, second } = localTime(sample.time.sec, zone)
  const loads = AVERAGES.map((inst) => {
    const load = sample.number(LOAD, inst)
    return load === undefined ? '?' : formatF(load, 2)
  })
  const clock = [hour, minute, second].map(two).join(':')
  return ` ${clock} up ${upText(sample.number(UPTIME))}, ${userText(sample.number(USERS))},  load average: ${loads.join(', ')}\n`
}

function upText(seconds: number | undefined): string {
  if (seconds === undefined) return '? time'
  const minutes = Math.floor(seconds / 60)
  const days = Math.floor(minutes / 1440)
  const hours = Math.floor(minutes / 60) % 24
  const time = hours === 0 ? `${minutes % 60} min` : `${String(hours).padStart(2)}:${two(minutes % 60)}`
  return days === 0 ? time : `${days} day${days === 1 ? '' : 's'}, ${time}`
}

function userText(users: number | undefined): string {
  if (users === undefined) return '? users'
  return users === 1 ? '1 user' : `${String(users).padStart(2)} users`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
