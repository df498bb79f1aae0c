/** Writes rollups as Parquet, with the package hyparquet-writer. docs/formats/rollups.md, docs/decisions/arrow.md */
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import { indomStr, PM_INDOM_NULL, pmidStr } from '../../model/ids.ts'
import { PM_SEM_COUNTER, semStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import { EventLoopTurn } from '../../sys/event-loop.ts'
import type { ArchiveCatalogue, CataloguedSeries } from '../archives/catalogue.ts'
import type { ColumnsFile } from './file.ts'
import type { RollupStep } from './places.ts'
import { type RollupRow, rollupRows } from './rollup.ts'

/** Rows of a row group. */
const GROUP_ROWS = 50_000

const STRING = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' } as const
const DOUBLE = { type: 'DOUBLE', repetition_type: 'REQUIRED' } as const
const TIME = {
  type: 'INT64',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  repetition_type: 'REQUIRED',
} as const

const SCHEMA: readonly SchemaElement[] = [
  { name: 'host', ...STRING },
  { name: 'metric', ...STRING },
  { name: 'instance', ...STRING, repetition_type: 'OPTIONAL' },
  { name: 'series', ...STRING },
  { name: 'time', ...TIME },
  { name: 'min', ...DOUBLE },
  { name: 'mean', ...DOUBLE },
  { name: 'max', ...DOUBLE },
  { name: 'count', type: 'INT32', repetition_type: 'REQUIRED' },
  { name: 'first', ...DOUBLE },
  { name: 'last', ...DOUBLE },
  { name: 'first_time', ...TIME },
  { name: 'last_time', ...TIME },
  { name: 'increase', ...DOUBLE, repetition_type: 'OPTIONAL' },
  { name: 'seconds', ...DOUBLE, repetition_type: 'OPTIONAL' },
]

/** Columns of a row group. */
type Columns = Record<string, unknown[]>

/** Writes the rollups of all metrics of an archive, ordered by metric and time. `facts` are the file's metadata. */
export async function writeRollups(
  append: (bytes: Uint8Array) => void,
  file: ColumnsFile,
  catalogue: ArchiveCatalogue,
  step: RollupStep,
  facts: Readonly<Record<string, string>>,
): Promise<void> {
  const bytes = new ByteWriter()
  const flush = (): void => {
    append(new Uint8Array(bytes.buffer, 0, bytes.index))
    bytes.index = 0
  }
  bytes.finish = flush
  const present = new Set(file.metrics)
  const all = catalogue
    .all()
    .filter(({ pmid }) => present.has(pmid))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const kvMetadata = Object.entries({
    ...facts,
    'pcp.step': String(step.seconds),
    'pcp.metrics': JSON.stringify(Object.fromEntries(all.map(aboutMetric))),
  }).map(([key, value]) => ({ key, value }))
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: SCHEMA.length }, ...SCHEMA],
    kvMetadata,
    createdBy: 'pcp-ts',
  })
  let columns = noRows()
  const write = (): void => {
    const columnData = Object.entries(columns).map(([name, data]) => ({ name, data }))
    void writer.write({ columnData, rowGroupSize: GROUP_ROWS })
    flush()
    columns = noRows()
  }
  const turn = new EventLoopTurn()
  for (const series of all) {
    const names = new Map(catalogue.instances(series).map(({ inst, name }) => [inst, name]))
    const chunks = file.chunks(series.pmid, series.desc.type)
    for (const row of rollupRows(series, chunks, step.seconds)) {
      add(columns, catalogue.host, series, names.get(row.inst) ?? null, row)
      if (columns['time']!.length >= GROUP_ROWS) write()
      if (turn.shouldYield()) await turn.yield()
    }
  }
  if (columns['time']!.length > 0) write()
  void writer.finish()
}

function noRows(): Columns {
  return Object.fromEntries(SCHEMA.map(({ name }) => [name, []]))
}

function add(
  columns: Columns,
  host: string,
  series: CataloguedSeries,
  instance: string | null,
  row: RollupRow,
): void {
  const isCounter = series.desc.sem === PM_SEM_COUNTER
  const values = [
    host,
    series.name,
    series.desc.indom === PM_INDOM_NULL ? null : instance,
    series.id,
    BigInt(row.time) * 1_000_000n,
    row.min,
    row.sum / row.count,
    row.max,
    row.count,
    row.first,
    row.last,
    row.firstTime,
    row.lastTime,
    isCounter ? row.increase : null,
    isCounter ? row.seconds : null,
  ]
  for (const [i, { name }] of SCHEMA.entries()) columns[name]!.push(values[i])
}

function aboutMetric({ name, pmid, desc }: CataloguedSeries): [string, Record<string, string>] {
  return [
    name,
    {
      pmid: pmidStr(pmid),
      indom: indomStr(desc.indom),
      units: unitsStr(desc.units),
      semantics: semStr(desc.sem),
    },
  ]
}
