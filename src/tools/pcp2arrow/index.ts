/**
 * pcp2arrow: exports metric values as columns, for Pandas and others. pcp2arrow(1) of 7.2
 *
 * Unlike PCP's it writes a single file, and also supports Arrow's own format.
 */
import { PcpError } from '../../model/errors.ts'
import { unitsStr } from '../../model/units.ts'
import type { OptionTable } from '../lib/options.ts'
import { type ExportInput, exporterRows, runExporter, semanticsText, typeText } from '../lib/report/export.ts'
import { REPORT_OPTIONS as R, type ReportOption } from '../lib/report/options.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import type { Tool } from '../lib/tool.ts'
import { BatchMaker, type Column, type ColumnWriter, columnsOf } from './columns.ts'

const OWN: readonly ReportOption[] = [
  R.type,
  R.type_prefer,
  { short: 'o', long: 'outfile', key: 'output_file', arg: 'FILE', help: 'the same as -F' },
  {
    long: 'format',
    key: 'file_format',
    arg: 'NAME',
    help: 'parquet or arrow (default: by the suffix of the file)',
  },
]

const OPTIONS: OptionTable = {
  synopsis: '[options] [metric|:set ...]',
  operands: 'metric',
  rows: exporterRows(OWN),
}

/** Values in a batch. */
const BATCH_CELLS = 1_000_000

export const tool: Tool = {
  name: 'pcp2arrow',
  summary: 'Values of metrics as Parquet or Arrow columns',
  description: `
Writes a file with a column of times, and a column for each metric or, as metric[instance], for each of its instances. Without operands
all metrics with numbers or text are written. Counters are converted to rates unless -r is given.

A file with the suffix .arrow or .feather has Arrow's format, others have Parquet's. Its key pcp.metrics contains units, type and
semantics of each metric.`,
  examples: [
    ['pcp2arrow -a ARCHIVE -t 1m -o load.parquet kernel.all.load', 'A value of every minute of an archive:'],
    ['pcp2arrow -a ARCHIVE -o all.arrow', 'All values of an archive, as recorded:'],
  ],
  seeAlso: ['pmrep', 'pcp2json'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) =>
    runExporter(
      {
        name: 'pcp2arrow',
        table: OPTIONS,
        takesAll: true,
        make: async (work) => {
          if (work.plan.settings.output_file === '' && io.stdout.isTerminal)
            throw new PcpError('PM_ERR_GENERIC', 'Cannot write a binary file to a terminal: use -o FILE')
          const columns = columnsOf(work.plan)
          return new ColumnReporter(columns, await writerOf(columns, work))
        },
      },
      io,
    ),
}

async function writerOf(columns: readonly Column[], { plan, out }: ExportInput): Promise<ColumnWriter> {
  const { file_format, output_file } = plan.settings
  const named = /\.(arrow|feather)$/.test(output_file) ? 'arrow' : 'parquet'
  const format = file_format ?? named
  const facts = factsOf(plan)
  if (format === 'arrow') return (await import('./ipc.ts')).ipcWriter(columns, out, facts)
  if (format === 'parquet') return (await import('./parquet.ts')).parquetWriter(columns, out, facts)
  throw new PcpError('PM_ERR_GENERIC', `Unknown format: "${format}". Use parquet or arrow.`)
}

function factsOf({ host, zone, metrics }: ExportInput['plan']): Record<string, string> {
  const about = metrics.map((metric): [string, Record<string, string>] => [
    metric.name,
    {
      units: metric.units.text || unitsStr(metric.desc.units),
      type: typeText(metric),
      semantics: semanticsText(metric),
    },
  ])
  return {
    'pcp.host': host,
    'pcp.timezone': zone.name,
    'pcp.metrics': JSON.stringify(Object.fromEntries(about)),
  }
}

/** Passes batches of samples to the writer. */
class ColumnReporter implements Reporter {
  readonly #writer: ColumnWriter
  readonly #batch: BatchMaker
  readonly #rows: number

  constructor(columns: readonly Column[], writer: ColumnWriter) {
    this.#writer = writer
    this.#batch = new BatchMaker(columns)
    this.#rows = Math.max(1, Math.floor(BATCH_CELLS / (columns.length + 1)))
  }

  begin(): void {}

  sample(sample: Sample): void {
    this.#batch.add(sample)
    if (this.#batch.rows >= this.#rows) this.#writer.write(this.#batch.take())
  }

  end(): void {
    if (this.#batch.rows > 0) this.#writer.write(this.#batch.take())
    this.#writer.finish()
  }
}
