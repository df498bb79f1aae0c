/** The metrics of a plugin, and their values in each sample. pcp-dstat(5) */

import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_STRING } from '../../model/types.ts'
import { unpackUnits } from '../../model/units.ts'
import { NO_VALUES, type ValueColumns } from '../../model/value-columns.ts'
import type { Context } from '../../pmapi/context.ts'
import { type Conversion, planConversion } from '../../pmapi/conversion.ts'
import { type Cell, MetricReader } from '../lib/report/values.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { CellStyle } from './format.ts'
import type { ColumnSpec, PrintType } from './plugins.ts'

/** Options for the format of values. */
export interface ValueFormat {
  readonly bits: boolean
  readonly float: boolean
  readonly integer: boolean
}

/** A column's metric, with its values in the last sample. */
export class Column {
  readonly spec: ColumnSpec
  readonly desc: MetricDesc
  readonly style: CellStyle
  /** Factor for values in files, where sizes keep the metric's units. */
  readonly fileFactor: number
  /** Instances at the start; of an archive all that ever existed. */
  readonly insts: readonly number[]
  readonly names: readonly string[]
  readonly #reader: MetricReader
  /** Values of the last sample; rates need two samples. */
  values: ValueColumns = NO_VALUES

  constructor(
    spec: ColumnSpec,
    desc: MetricDesc,
    instances: InstanceList,
    forms: ValueFormat,
    wraps: boolean,
  ) {
    const conversion = conversionOf(desc, spec)
    this.spec = spec
    this.desc = desc
    this.insts = instances.ids
    const { dimSpace, scaleSpace } = unpackUnits(desc.units)
    this.fileFactor = dimSpace === 1 && spec.unit === undefined ? 1024 ** -scaleSpace : 1
    this.names = instances.names
    this.style = {
      width: spec.width,
      printType: printTypeOf(spec, conversion, forms),
      colorStep: spec.colorStep,
      isSpace: unpackUnits(conversion.units).dimSpace > 0,
      isBits: forms.bits,
      isBare: spec.isBare,
    }
    this.#reader = new MetricReader({ desc, units: { conversion } }, wraps)
  }

  get hasInstances(): boolean {
    return this.desc.indom !== PM_INDOM_NULL
  }

  /** Reads the values of a sample. */
  read(values: ValueColumns, elapsedSec: number): void {
    this.values = this.#reader.read(values, elapsedSec)
  }

  /** Returns the value of an instance, or of a singular metric. */
  cell(inst: number): Cell {
    return this.values.at(this.hasInstances ? this.values.find(inst) : 0)
  }

  /** Returns the name of an instance; its number if it has none. */
  nameOf(inst: number): string {
    return this.names[this.insts.indexOf(inst)] ?? String(inst)
  }
}

interface InstanceList {
  readonly ids: readonly number[]
  readonly names: readonly string[]
}

/** Looks up or defines a column's metric. Rejects with PM_ERR_GENERIC and the line to print if that fails. */
export async function openColumn(
  context: Context,
  plugin: string,
  spec: ColumnSpec,
  forms: ValueFormat,
  io: ToolIo,
): Promise<Column> {
  const desc = await describe(context, `dstat.${plugin}.${spec.name}`, spec.metric, io)
  const instances = await instancesOf(context, desc, io)
  return new Column(spec, desc, instances, forms, io.env['PCP_COUNTER_WRAP'] !== undefined)
}

async function describe(context: Context, name: string, metric: string, io: ToolIo): Promise<MetricDesc> {
  try {
    const isPlain = /^[A-Za-z][\w.]*$/.test(metric)
    const id = isPlain
      ? await context.lookupName(metric, io)
      : await context.addDerived(name.replaceAll('-', '_'), metric, io)
    return await context.desc(id, io)
  } catch (error) {
    const { code } = PcpError.from(error)
    if (code === 'ECANCELED' || code === 'PM_ERR_IPC') throw error
    const { code: shown, text } = new PcpError('PM_ERR_BADDERIVE')
    throw new PcpError('PM_ERR_GENERIC', `Invalid metric ${name} (${shown} ${text}).`, { cause: error })
  }
}

async function instancesOf(context: Context, { indom }: MetricDesc, io: ToolIo): Promise<InstanceList> {
  if (indom === PM_INDOM_NULL) return { ids: [], names: [] }
  try {
    return context.archive === undefined
      ? await context.instances(indom, io)
      : context.archive.instances(indom)
  } catch (error) {
    if (isError(error) || error instanceof PcpError) return { ids: [], names: [] } // values can appear later
    throw error
  }
}

/** Converts to bytes, seconds or counts, and counters to rates. */
function conversionOf(desc: MetricDesc, { unit, isRaw }: ColumnSpec): Conversion {
  const isRate = desc.sem === PM_SEM_COUNTER && !isRaw
  if (desc.type === PM_TYPE_STRING) return planConversion(desc, { scale: 'instant' })
  const { dimSpace, dimTime, dimCount } = unpackUnits(desc.units)
  const known = [
    [dimSpace, 'byte'],
    [dimTime, 'sec'],
    [dimCount, 'count'],
  ] as const
  const over = known.filter(([power]) => power === 1).map(([, name]) => name)
  const under = known.filter(([power]) => power === -1).map(([, name]) => name)
  const isSimple =
    over.length > 0 && over.length + under.length === known.filter(([power]) => power !== 0).length
  const wanted = unit ?? (isSimple ? [over.join(' '), ...under].join(' / ') : undefined)
  if (wanted === undefined) {
    const scale = isRate ? 'rate' : 'instant'
    return planConversion(desc, { scale, isUtilisation: true })
  }
  if (isRate && dimTime === 1 && unit === undefined)
    return planConversion(desc, { scale: 'rate', isUtilisation: true })
  return planConversion(desc, { scale: isRate && !wanted.includes('/') ? `${wanted}/sec` : wanted })
}

function printTypeOf(
  { printType }: ColumnSpec,
  { desc, isRate }: Conversion,
  { float, integer }: ValueFormat,
): PrintType {
  if (desc.type === PM_TYPE_STRING) return 's'
  const isReal = isRate || desc.type === PM_TYPE_DOUBLE || desc.type === PM_TYPE_FLOAT
  const own = printType ?? (isReal ? 'f' : 'd')
  if (integer && own === 'f') return 'd'
  if (float && own !== 't') return 'f'
  return own
}
