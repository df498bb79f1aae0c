/** pcp2elasticsearch: sends metric values to Elasticsearch. pcp2elasticsearch(1) */
import type { OptionTable } from '../lib/options.ts'
import { type ExportInput, runExporter, senderRows } from '../lib/report/export.ts'
import { bared, exactly } from '../lib/report/json-numbers.ts'
import { labelText } from '../lib/report/label-texts.ts'
import { REPORT_OPTIONS as R, type ReportOption } from '../lib/report/options.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import { Delivery, SEND_MS, sendingNotes } from '../lib/send/delivery.ts'
import { type HttpServer, httpServer, sendHttp } from '../lib/send/http.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { SampleDocument } from './document.ts'

const OWN: readonly ReportOption[] = [
  R.include_labels,
  {
    short: 'g',
    long: 'es-host',
    key: 'es_server',
    arg: 'URL',
    help: 'server (default http://localhost:9200/)',
  },
  { short: 'x', long: 'es-index', key: 'es_index', arg: 'NAME', help: 'index (default pcp)' },
  {
    short: 'X',
    long: 'es-hostid',
    key: 'es_hostid',
    arg: 'NAME',
    help: 'host in the documents (default: the host of the metrics)',
  },
  {
    short: 'p',
    long: 'es-search-type',
    key: 'es_search_type',
    arg: 'TYPE',
    help: 'type of the documents (default pcp-metric); _doc from Elasticsearch 7 on',
  },
]

const OPTIONS: OptionTable = {
  synopsis: '[options] metric|:set ...',
  operands: 'metric',
  rows: senderRows(OWN),
}

export const tool: Tool = {
  name: 'pcp2elasticsearch',
  summary: 'Send values of metrics to Elasticsearch',
  description: `
Sends a document with the values of metrics at every sample to Elasticsearch or OpenSearch. The parts of a metric's name are nested objects;
values of instances are in a list @instances. Elasticsearch 7 and later have no types: use -p _doc. User and password are es_auth and
es_password of pcp2elasticsearch.conf. A sample that cannot be sent is reported, and the next one is sent all the same; the exit status is
then 1.`,
  examples: [
    [
      'pcp2elasticsearch -g https://search.example.com:9200 -p _doc -t 10 kernel.all.load disk.dev',
      'Load and disks every ten seconds:',
    ],
    [
      'pcp2elasticsearch -a ARCHIVE -p _doc -x history kernel.all.load',
      'All values of an archive, into another index:',
    ],
  ],
  seeAlso: ['pcp2graphite', 'pcp2influxdb', 'pcp2zabbix', 'pcp2json'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) =>
    runExporter(
      { name: 'pcp2elasticsearch', table: OPTIONS, make: (work) => new ElasticReporter(work, io) },
      io,
    ),
}

const SERVER = 'http://localhost:9200/'

class ElasticReporter implements Reporter {
  readonly #work: ExportInput
  readonly #io: ToolIo
  readonly #server: HttpServer
  readonly #index: string
  readonly #type: string
  readonly #host: string
  readonly #delivery: Delivery
  #hasIndex = false

  constructor(work: ExportInput, io: ToolIo) {
    const { settings, host } = work.plan
    const { destination } = settings
    this.#work = work
    this.#io = io
    this.#server = httpServer(
      destination.get('es_server') ?? SERVER,
      destination.get('es_auth'),
      destination.get('es_password'),
    )
    this.#index = destination.get('es_index') ?? 'pcp'
    this.#type = destination.get('es_search_type') ?? 'pcp-metric'
    this.#host = destination.get('es_hostid') ?? host
    this.#delivery = new Delivery(io)
  }

  begin(): void {
    const { plan } = this.#work
    if (plan.settings.header)
      this.#io.stdout.write(sendingNotes(plan, `Elasticsearch at ${this.#server.url}`))
  }

  async sample(sample: Sample): Promise<void> {
    const body = this.#document(sample)
    if (body === undefined) return
    await this.#delivery.attempt(async () => {
      if (!this.#hasIndex) await this.#makeIndex()
      this.#hasIndex = true
      await this.#send('POST', `${this.#index}/${this.#type}`, body)
    })
  }

  end(): void {
    this.#delivery.end()
  }

  /** Declares the type of the times. A refusal is ignored: the index usually exists. */
  async #makeIndex(): Promise<void> {
    const properties = {
      '@timestamp': { type: 'date', format: 'epoch_millis' },
      '@host-id': { type: this.#type === '_doc' ? 'keyword' : 'string' },
    }
    const mappings = this.#type === '_doc' ? { properties } : { [this.#type]: { properties } }
    await this.#send('PUT', this.#index, JSON.stringify({ mappings }), [400])
  }

  async #send(
    method: 'POST' | 'PUT',
    path: string,
    body: string,
    accepts?: readonly number[],
  ): Promise<void> {
    await sendHttp(this.#server, {
      method,
      path: path.split('/').map(encodeURIComponent).join('/'),
      type: 'application/json',
      body,
      timeoutMs: SEND_MS,
      signal: this.#io.signal,
      ...(accepts === undefined ? {} : { accepts }),
    })
  }

  /** Formats a sample; undefined without values. */
  #document({ time, values }: Sample): string | undefined {
    const { plan, labels } = this.#work
    const { include_labels } = plan.settings
    const document = new SampleDocument({
      '@host-id': this.#host,
      '@timestamp': time.sec * 1000 + Math.floor(time.nsec / 1e6),
    })
    for (const [i, metric] of plan.metrics.entries()) {
      const cells = values[i]!
      for (const k of cells.valueIndices()) {
        const value = exactly(metric, cells.at(k)!)
        const inst = cells.insts[k]!
        const text = include_labels ? labelText(labels.get(metric.name), inst) : undefined
        if (metric.hasInstances) document.addOf(metric.name, plan.nameOf(metric, inst), value, text)
        else document.add(metric.name, value, text)
      }
    }
    return document.isEmpty ? undefined : bared(document.json())
  }
}
