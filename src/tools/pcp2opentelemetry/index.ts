/** pcp2opentelemetry: exports metric values in OpenTelemetry's protocol. pcp2opentelemetry(1) */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import type { OptionTable } from '../lib/options.ts'
import { DOCUMENT_ROWS, type ExportInput, exporterRows, runExporter } from '../lib/report/export.ts'
import type { ReportOption } from '../lib/report/options.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import { Delivery, sendingNotes } from '../lib/send/delivery.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { OtlpCollector, type OtlpEncoding } from './collector.ts'
import { OtlpSamples } from './metrics.ts'

const OWN: readonly ReportOption[] = [
  ...DOCUMENT_ROWS,
  {
    short: 'E',
    long: 'exact-types',
    key: 'exact_types',
    value: 'yes',
    help: 'write values as JSON numbers instead of text',
  },
  {
    short: 'u',
    long: 'url',
    key: 'url',
    arg: 'URL',
    help: 'send each sample to a collector; /v1/metrics is added to a URL without path',
  },
  {
    short: 'o',
    long: 'http-timeout',
    key: 'http_timeout',
    arg: 'SECONDS',
    help: 'time limit for a request (default 2.5)',
  },
  { short: 'p', long: 'http-pass', key: 'http_pass', arg: 'TEXT', help: 'password for the collector' },
  { short: 'U', long: 'http-user', key: 'http_user', arg: 'NAME', help: 'user for the collector' },
  {
    long: 'token-file',
    key: 'otlp_token_file',
    arg: 'FILE',
    help: 'bearer token for the collector, instead of user and password',
  },
  {
    long: 'encoding',
    key: 'otlp_encoding',
    arg: 'NAME',
    help: 'json (default) or protobuf, for requests to a collector',
  },
]

const OPTIONS: OptionTable = {
  synopsis: '[options] metric|:set ...',
  operands: 'metric',
  rows: exporterRows(OWN),
}

export const tool: Tool = {
  name: 'pcp2opentelemetry',
  summary: 'Values of metrics in the protocol of OpenTelemetry',
  description: `
Sends the values of metrics at every sample to a collector of OpenTelemetry (OTLP over HTTP), or writes them as JSON, a line for each
sample. Counters are cumulative sums, those without units rates; other numbers are gauges, and text is left out. Labels of the host are attributes of the resource, instances,
other labels and descriptors those of the values. A counter starts with its first sample here, because its real start is unknown, and again
after a reset.

A request is sent again, five times at most, if the collector is overloaded (429, 502, 503, 504), after the time that it names. Samples
that do not arrive, and values that the collector rejects, are reported; the exit status is then 1.`,
  examples: [
    [
      'pcp2opentelemetry -u http://localhost:4318 -t 10 kernel.all.load disk.dev',
      'Load and disks to a collector every ten seconds:',
    ],
    ['pcp2opentelemetry -a ARCHIVE -F load.jsonl kernel.all.load', 'The load of an archive in a file:'],
  ],
  seeAlso: ['pmrep', 'pcp2openmetrics', 'pcp2json'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) =>
    runExporter(
      {
        name: 'pcp2opentelemetry',
        table: OPTIONS,
        preset: { type: true },
        make: (work) =>
          work.plan.settings.url === undefined ? new LineReporter(work) : new Sender(work, io),
      },
      io,
    ),
}

/** Writes a line of JSON for each sample. */
class LineReporter implements Reporter {
  readonly #work: ExportInput
  readonly #samples: OtlpSamples

  constructor(work: ExportInput) {
    this.#work = work
    const { plan } = work
    this.#samples = new OtlpSamples(plan, { cumulative: 2, hasNumbers: plan.settings.exact_types })
  }

  begin(): void {}

  async sample(sample: Sample): Promise<void> {
    const request = await this.#samples.request(sample)
    if (request !== undefined) this.#work.out.write(`${JSON.stringify(request)}\n`)
  }

  end(): void {}
}

/** Sends a request for each sample. */
class Sender implements Reporter {
  readonly #work: ExportInput
  readonly #io: ToolIo
  readonly #samples: OtlpSamples
  readonly #collector: OtlpCollector
  readonly #delivery: Delivery

  constructor(work: ExportInput, io: ToolIo) {
    const { plan } = work
    const { url, http_user, http_pass, http_timeout, destination, exact_types } = plan.settings
    const tokenFile = destination.get('otlp_token_file')
    this.#work = work
    this.#io = io
    this.#samples = new OtlpSamples(plan, { cumulative: 2, hasNumbers: exact_types })
    this.#delivery = new Delivery(io)
    this.#collector = new OtlpCollector({
      url: url!,
      user: http_user,
      password: http_pass,
      token: tokenFile === undefined ? undefined : tokenOf(resolve(io.cwd, tokenFile)),
      encoding: encodingOf(destination.get('otlp_encoding') ?? 'json'),
      timeoutMs: http_timeout * 1000,
      signal: io.signal,
    })
  }

  begin(): void {
    const { plan } = this.#work
    if (plan.settings.header) this.#io.stdout.write(sendingNotes(plan, this.#collector.url))
  }

  async sample(sample: Sample): Promise<void> {
    const request = await this.#samples.request(sample)
    if (request !== undefined) await this.#delivery.attempt(() => this.#collector.send(request))
  }

  end(): void {
    this.#delivery.end()
  }
}

function encodingOf(text: string): OtlpEncoding {
  if (text === 'json' || text === 'protobuf') return text
  throw new PcpError('PM_ERR_GENERIC', `encoding: ${text}: use json or protobuf`)
}

function tokenOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new PcpError('PM_ERR_GENERIC', PcpError.from(error, file).message, { cause: error })
  }
}
