/** pcp2graphite: sends metric values to Graphite. pcp2graphite(1) */
import { PcpError } from '../../model/errors.ts'
import type { OptionTable } from '../lib/options.ts'
import { type ExportInput, runExporter, senderRows } from '../lib/report/export.ts'
import type { ReportOption } from '../lib/report/options.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import { truth } from '../lib/report/settings.ts'
import { Delivery, instancePart, numberText, SEND_MS, sendingNotes } from '../lib/send/delivery.ts'
import { portOf, TcpStream } from '../lib/send/tcp.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type GraphitePoint, isPickleProtocol, pickle } from './pickle.ts'

const OWN: readonly ReportOption[] = [
  {
    short: 'g',
    long: 'graphite-host',
    key: 'graphite_host',
    arg: 'HOST',
    help: 'server (default localhost)',
  },
  {
    short: 'p',
    long: 'pickle-port',
    key: 'pickle_port',
    arg: 'PORT',
    help: 'send pickled lists to this port (default 2004)',
  },
  {
    short: 'X',
    long: 'pickle-protocol',
    key: 'pickle_protocol',
    arg: 'N',
    help: 'version of the pickles, 0 to 5 (default 0)',
  },
  { short: 'E', long: 'text-port', key: 'text_port', arg: 'PORT', help: 'send lines of text to this port' },
  { short: 'x', long: 'prefix', key: 'prefix', arg: 'TEXT', help: 'beginning of all names (default pcp.)' },
]

const OPTIONS: OptionTable = {
  synopsis: '[options] metric|:set ...',
  operands: 'metric',
  rows: senderRows(OWN),
}

export const tool: Tool = {
  name: 'pcp2graphite',
  summary: 'Send values of metrics to Graphite',
  description: `
Sends the values of metrics at every sample to Graphite, or to another server that understands one of its two protocols: pickled lists
(port 2004) or lines of text (port 2003). Names are PREFIX METRIC ._INSTANCE, with _ for all but letters, digits and hyphens.
Text, which Graphite cannot store, is left out. A sample that cannot be sent is reported, and the next one is sent on a new
connection; the exit status is then 1.`,
  examples: [
    [
      'pcp2graphite -g graphite.example.com -t 10 kernel.all.load disk.dev',
      'Load and disks every ten seconds:',
    ],
    ['pcp2graphite -a ARCHIVE -E 2003 kernel.all.load', 'All values of an archive, as lines of text:'],
  ],
  seeAlso: ['pcp2influxdb', 'pcp2zabbix', 'pcp2elasticsearch', 'pmrep'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) =>
    runExporter({ name: 'pcp2graphite', table: OPTIONS, make: (work) => new GraphiteReporter(work, io) }, io),
}

const PICKLE_PORT = '2004'

class GraphiteReporter implements Reporter {
  readonly #work: ExportInput
  readonly #io: ToolIo
  readonly #host: string
  readonly #prefix: string
  /** Undefined to send lines of text. */
  readonly #protocol: number | undefined
  readonly #stream: TcpStream
  readonly #delivery: Delivery

  constructor(work: ExportInput, io: ToolIo) {
    const { destination } = work.plan.settings
    this.#work = work
    this.#io = io
    this.#host = destination.get('graphite_host') ?? 'localhost'
    this.#prefix = destination.get('prefix') ?? 'pcp.'
    this.#protocol = truth(destination.get('pickle') ?? 'yes')
      ? protocolOf(destination.get('pickle_protocol') ?? '0')
      : undefined
    const port = portOf('graphite_port', destination.get('graphite_port') ?? PICKLE_PORT)
    this.#stream = new TcpStream({ host: this.#host, port })
    this.#delivery = new Delivery(io)
  }

  begin(): void {
    const { plan } = this.#work
    if (plan.settings.header) this.#io.stdout.write(sendingNotes(plan, `Graphite host ${this.#host}`))
  }

  async sample(sample: Sample): Promise<void> {
    const points = this.#points(sample)
    if (points.length === 0) return
    const bytes = this.#protocol === undefined ? lines(points) : framed(pickle(points, this.#protocol))
    await this.#delivery.attempt(() => this.#stream.send(bytes, this.#limits()))
  }

  async end(): Promise<void> {
    await this.#delivery.finish(() => this.#stream.close(this.#limits()))
  }

  #limits(): { readonly timeoutMs: number; readonly signal: AbortSignal } {
    return { timeoutMs: SEND_MS, signal: this.#io.signal }
  }

  #points({ time, values }: Sample): GraphitePoint[] {
    const { plan } = this.#work
    return plan.metrics.flatMap((metric, i) => {
      const cells = values[i]!
      const name = `${this.#prefix}${metric.name}`
      return cells.valueIndices().flatMap((k) => {
        const value = numberText(metric, cells.at(k)!)
        if (value === undefined) return []
        const inst = metric.hasInstances ? `.${instancePart(plan.nameOf(metric, cells.insts[k]!))}` : ''
        return [{ path: `${name}${inst}`, time: time.sec, value }]
      })
    })
  }
}

function protocolOf(text: string): number {
  const protocol = Number(text)
  if (text !== '' && isPickleProtocol(protocol)) return protocol
  throw new PcpError('PM_ERR_GENERIC', `pickle_protocol: ${text}: expected a number from 0 to 5`)
}

function lines(points: readonly GraphitePoint[]): Uint8Array {
  return Buffer.from(points.map(({ path, time, value }) => `${path} ${value} ${time}\n`).join(''))
}

/** Puts the length before a pickle, as Graphite expects. */
function framed(bytes: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
