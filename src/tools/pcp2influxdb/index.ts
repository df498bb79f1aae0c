/** pcp2influxdb: sends metric values to InfluxDB. pcp2influxdb(1) */
import type { Timestamp } from '../../base/timestamp.ts'
import type { OptionTable } from '../lib/options.ts'
import { type ExportInput, runExporter, senderRows } from '../lib/report/export.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { ReportOption } from '../lib/report/options.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import type { Cell } from '../lib/report/values.ts'
import { Delivery, instancePart, numberText, SEND_MS, sendingNotes } from '../lib/send/delivery.ts'
import { type HttpServer, httpServer, sendHttp } from '../lib/send/http.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'

const OWN: readonly ReportOption[] = [
  {
    short: 'g',
    long: 'db-server',
    key: 'influx_server',
    arg: 'URL',
    help: 'server (default http://127.0.0.1:8086)',
  },
  { short: 'x', long: 'db-name', key: 'influx_db', arg: 'NAME', help: 'database (default pcp)' },
  { short: 'U', long: 'db-user', key: 'influx_user', arg: 'NAME', help: 'user of the database' },
  { short: 'E', long: 'db-pass', key: 'influx_pass', arg: 'TEXT', help: 'password of the user' },
  {
    short: 'X',
    long: 'db-tags',
    key: 'influx_tags',
    arg: 'TAGS',
    help: 'tags of all values: NAME=VALUE,...',
  },
]

const OPTIONS: OptionTable = {
  synopsis: '[options] metric|:set ...',
  operands: 'metric',
  rows: senderRows(OWN),
}

export const tool: Tool = {
  name: 'pcp2influxdb',
  summary: 'Send values of metrics to InfluxDB',
  description: `
Sends the values of metrics at every sample to InfluxDB 1, or to another server with its /write, in line protocol. A metric is a
measurement, with _ for every dot; its fields are the instances, or 'value'. Counters are sent as rates; see -r. A sample that cannot be
sent is reported, and the next one is sent all the same; the exit status is then 1. The password is better in pcp2influxdb.conf than on
the command line, where other users see it.`,
  examples: [
    [
      'pcp2influxdb -g http://influx.example.com:8086 -X host=$(hostname) -t 10 kernel.all.load disk.dev',
      'Load and disks every ten seconds, with the host as tag:',
    ],
    [
      'pcp2influxdb -a ARCHIVE -x history kernel.all.load',
      'All values of an archive, into another database:',
    ],
  ],
  seeAlso: ['pcp2graphite', 'pcp2zabbix', 'pcp2elasticsearch', 'pmrep'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) =>
    runExporter({ name: 'pcp2influxdb', table: OPTIONS, make: (work) => new InfluxReporter(work, io) }, io),
}

const SERVER = 'http://127.0.0.1:8086'

class InfluxReporter implements Reporter {
  readonly #work: ExportInput
  readonly #io: ToolIo
  readonly #server: HttpServer
  readonly #database: string
  readonly #tags: string
  readonly #delivery: Delivery

  constructor(work: ExportInput, io: ToolIo) {
    const { destination } = work.plan.settings
    this.#work = work
    this.#io = io
    this.#server = httpServer(
      destination.get('influx_server') ?? SERVER,
      destination.get('influx_user'),
      destination.get('influx_pass'),
    )
    this.#database = destination.get('influx_db') ?? 'pcp'
    this.#tags = destination.get('influx_tags') ?? ''
    this.#delivery = new Delivery(io)
  }

  begin(): void {
    const { plan } = this.#work
    if (!plan.settings.header) return
    this.#io.stdout.write(`Using database '${this.#database}' and tags '${this.#tags}'.\n`)
    this.#io.stdout.write(sendingNotes(plan, `InfluxDB at ${this.#server.url.replace(/\/$/, '')}`))
  }

  async sample(sample: Sample): Promise<void> {
    const body = this.#lines(sample)
    if (body === '') return
    const path = `write?db=${encodeURIComponent(this.#database)}`
    await this.#delivery.attempt(() =>
      sendHttp(this.#server, {
        method: 'POST',
        path,
        type: 'text/plain; charset=utf-8',
        body,
        timeoutMs: SEND_MS,
        signal: this.#io.signal,
      }),
    )
  }

  end(): void {
    this.#delivery.end()
  }

  /** Formats one line for each metric with values. */
  #lines({ time, values }: Sample): string {
    const { plan } = this.#work
    const tags = this.#tags === '' ? '' : `,${this.#tags}`
    return plan.metrics
      .flatMap((metric, i) => {
        const cells = values[i]!
        const fields = cells.valueIndices().flatMap((k) => {
          const value = fieldText(metric, cells.at(k)!)
          if (value === undefined) return []
          const key = metric.hasInstances ? instancePart(plan.nameOf(metric, cells.insts[k]!)) : 'value'
          return [`${key}=${value}`]
        })
        const name = metric.name.replaceAll('.', '_')
        return fields.length === 0 ? [] : [`${name}${tags} ${fields.join(',')} ${nanoseconds(time)}`]
      })
      .join('\n')
  }
}

/** Formats a field's value: text in quotes. The server rejects NaN and infinities. */
function fieldText(metric: ReportMetric, cell: NonNullable<Cell>): string | undefined {
  if (typeof cell !== 'string') return numberText(metric, cell)
  return `"${cell.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', ' ')}"`
}

function nanoseconds({ sec, nsec }: Timestamp): bigint {
  return BigInt(sec) * 1_000_000_000n + BigInt(nsec)
}
