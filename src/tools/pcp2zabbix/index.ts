/** pcp2zabbix: sends metric values to a Zabbix server. pcp2zabbix(1) */
import { toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { parseInterval } from '../../time/interval.ts'
import type { OptionTable } from '../lib/options.ts'
import { type ExportInput, runExporter, senderRows, valueText } from '../lib/report/export.ts'
import type { ReportOption } from '../lib/report/options.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import { truth } from '../lib/report/settings.ts'
import { Delivery, SEND_MS, sendingNotes } from '../lib/send/delivery.ts'
import { exchange, portOf, type TcpServer } from '../lib/send/tcp.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { discoveryValue, itemKey, refusedItems, senderRequest, type ZabbixItem } from './protocol.ts'

const OWN: readonly ReportOption[] = [
  {
    short: 'g',
    long: 'zabbix-server',
    key: 'zabbix_server',
    arg: 'HOST',
    help: 'server or proxy (default localhost)',
  },
  { short: 'p', long: 'zabbix-port', key: 'zabbix_port', arg: 'PORT', help: 'its port (default 10051)' },
  {
    short: 'X',
    long: 'zabbix-host',
    key: 'zabbix_host',
    arg: 'NAME',
    help: 'host as Zabbix knows it (default: the host of the metrics)',
  },
  {
    short: 'E',
    long: 'zabbix-interval',
    key: 'zabbix_interval',
    arg: 'INTERVAL',
    help: 'collect the values of live metrics this long before sending',
  },
  {
    short: 'x',
    long: 'zabbix-prefix',
    key: 'zabbix_prefix',
    arg: 'TEXT',
    help: 'beginning of keys (default pcp.)',
  },
  {
    short: 'l',
    long: 'zabbix-lld',
    key: 'zabbix_lld',
    value: 'yes',
    help: 'send the instances too, for low-level discovery',
  },
]

const OPTIONS: OptionTable = {
  synopsis: '[options] metric|:set ...',
  operands: 'metric',
  rows: senderRows(OWN),
}

export const tool: Tool = {
  name: 'pcp2zabbix',
  summary: 'Send values of metrics to Zabbix',
  description: `
Sends the values of metrics at every sample to trapper items of a Zabbix server. Keys are PREFIX METRIC, with the instance in brackets:
pcp.kernel.all.load[1 minute]. With -l, the key pcp.discovery[pcp.METRIC] has the instances as macro {#PCP.METRIC}: at the start, when they
change, and every ten minutes. A message that cannot be sent is reported, and the next one is sent all the same; the exit status is
then 1.`,
  examples: [
    [
      'pcp2zabbix -g zabbix.example.com -X web1 -t 10 -E 1m kernel.all.load disk.dev',
      'Load and disks, once a minute:',
    ],
  ],
  seeAlso: ['pcp2graphite', 'pcp2influxdb', 'pcp2elasticsearch', 'pmrep'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) =>
    runExporter({ name: 'pcp2zabbix', table: OPTIONS, make: (work) => new ZabbixReporter(work, io) }, io),
}

/** Most values of a message, as of Zabbix's own sender. */
const BATCH = 250
/** Interval in seconds at which unchanged instances are sent again. */
const DISCOVERY_SEC = 600

class ZabbixReporter implements Reporter {
  readonly #work: ExportInput
  readonly #io: ToolIo
  readonly #server: TcpServer
  readonly #host: string
  readonly #prefix: string
  readonly #discovers: boolean
  /** Seconds between messages of live metrics. */
  readonly #intervalSec: number
  readonly #delivery: Delivery
  /** Last discovery by metric, and its time. */
  readonly #discovered = new Map<string, { readonly value: string; readonly sec: number }>()
  #items: ZabbixItem[] = []
  #sentSec = -Infinity
  #refused = 0

  constructor(work: ExportInput, io: ToolIo) {
    const { settings, host, schedule } = work.plan
    const { destination } = settings
    this.#work = work
    this.#io = io
    const port = portOf('zabbix_port', destination.get('zabbix_port') ?? '10051')
    this.#server = { host: destination.get('zabbix_server') ?? 'localhost', port }
    this.#host = destination.get('zabbix_host') ?? host
    this.#prefix = destination.get('zabbix_prefix') ?? 'pcp.'
    this.#discovers = truth(destination.get('zabbix_lld') ?? 'no')
    const interval = destination.get('zabbix_interval')
    this.#intervalSec = interval === undefined ? schedule.intervalSec : secondsOf(interval)
    this.#delivery = new Delivery(io)
  }

  begin(): void {
    const { plan } = this.#work
    const where = `Zabbix server ${this.#server.host}`
    if (plan.settings.header) this.#io.stdout.write(sendingNotes(plan, where, this.#intervalSec))
  }

  async sample({ time, values }: Sample): Promise<void> {
    const { plan } = this.#work
    for (const [i, metric] of plan.metrics.entries()) {
      const cells = values[i]!
      if (!cells.hasValues()) continue
      const name = `${this.#prefix}${metric.name}`
      const instances: string[] = []
      for (const k of cells.valueIndices()) {
        const instance = metric.hasInstances ? plan.nameOf(metric, cells.insts[k]!) : undefined
        if (instance !== undefined) instances.push(instance)
        this.#add(itemKey(name, instance), valueText(metric, cells.at(k)!), time.sec)
      }
      if (this.#discovers && metric.hasInstances) this.#discover(name, instances, time.sec)
    }
    const isArchive = plan.archiveName !== undefined
    if (isArchive ? this.#items.length >= BATCH : time.sec - this.#sentSec >= this.#intervalSec) {
      this.#sentSec = time.sec
      await this.#flush()
    }
  }

  async end(): Promise<void> {
    await this.#flush()
    if (this.#refused > 0)
      this.#io.stderr.write(`${this.#io.progname}: Zabbix did not accept ${this.#refused} values in all\n`)
    this.#delivery.end()
  }

  #add(key: string, value: string, clock: number): void {
    this.#items.push({ host: this.#host, key, value, clock })
  }

  #discover(name: string, instances: readonly string[], sec: number): void {
    const value = discoveryValue(name, instances)
    const before = this.#discovered.get(name)
    if (before?.value === value && sec - before.sec < DISCOVERY_SEC) return
    this.#discovered.set(name, { value, sec })
    this.#add(itemKey(`${this.#prefix}discovery`, name), value, sec)
  }

  async #flush(): Promise<void> {
    const items = this.#items
    this.#items = []
    for (let i = 0; i < items.length; i += BATCH) {
      const batch = items.slice(i, i + BATCH)
      await this.#delivery.attempt(async () => {
        const limits = { timeoutMs: SEND_MS, signal: this.#io.signal }
        this.#count(refusedItems(await exchange(this.#server, senderRequest(batch), limits)), batch.length)
      })
    }
  }

  /** Explains refused values once. */
  #count(refused: number, all: number): void {
    if (refused > 0 && this.#refused === 0)
      this.#io.stderr.write(
        `${this.#io.progname}: Zabbix did not accept ${refused} of ${all} values: ` +
          `check that host '${this.#host}' has trapper items with these keys (-X, -x)\n`,
      )
    this.#refused += refused
  }
}

function secondsOf(text: string): number {
  try {
    return toSeconds(parseInterval(text))
  } catch {
    throw new PcpError(
      'PM_ERR_GENERIC',
      `zabbix_interval: ${text}: expected an interval such as 30sec or 5min`,
    )
  }
}
