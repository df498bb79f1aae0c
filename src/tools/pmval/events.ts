/** Formats event records for pmval. */
import { isError, PcpError } from '../../model/errors.ts'
import { type EventRecord, type Parameter, unpackEvents } from '../../model/events.ts'
import { PM_IN_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import { eventFlagsStr, type PrintOptions, printValue } from '../../model/print.ts'
import { PM_TYPE_AGGREGATE, PM_TYPE_AGGREGATE_STATIC, PM_TYPE_HIGHRES_EVENT } from '../../model/types.ts'
import { extract } from '../../model/value-set.ts'
import type { ValueSet } from '../../model/values.ts'
import type { Context } from '../../pmapi/context.ts'
import { toOutcome } from '../lib/settle.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { ShownMetric } from './subject.ts'

/** Prints event records, caching the names of their parameters. */
export class EventReport {
  readonly #context: Context
  readonly #subject: ShownMetric
  readonly #io: ToolIo
  readonly #print: PrintOptions
  readonly #names = new Map<Pmid, string>()

  constructor(context: Context, subject: ShownMetric, io: ToolIo, print: PrintOptions) {
    this.#context = context
    this.#subject = subject
    this.#io = io
    this.#print = print
  }

  /** Formats all records in a set; `verbose` to report an empty one. */
  async lines(set: ValueSet, verbose: boolean): Promise<string> {
    const { name } = this.#subject
    if (set.status < 0) return `${name}: Error: ${PcpError.fromStatus(set.status).text}\n`
    if (set.status === 0) return verbose ? `${name}: No value(s) available!\n` : ''
    let lines = ''
    for (let i = 0; i < set.status; i++) if (this.#isWanted(set.inst[i]!)) lines += await this.#value(set, i)
    return lines
  }

  /** Is the instance selected? The profile does not filter event records. */
  #isWanted(inst: number): boolean {
    const { columns, isOpen } = this.#subject
    return isOpen || inst === PM_IN_NULL || columns?.some((column) => column.inst === inst) !== false
  }

  async #value(set: ValueSet, i: number): Promise<string> {
    const { type } = this.#subject.desc
    let records: readonly EventRecord[]
    try {
      records = unpackEvents(set, i, type)
    } catch (error) {
      return `${await this.#title(set.inst[i]!)}: pmUnpackEventRecords: ${PcpError.from(error).text}\n`
    }
    let lines = `${await this.#title(set.inst[i]!)}: ${records.length} event records\n`
    for (const [r, record] of records.entries()) {
      lines += `  ${this.#print.clock!(record.timestamp, type === PM_TYPE_HIGHRES_EVENT)} --- event record [${r}]`
      if (record.flags !== 0)
        lines += ` flags 0x${record.flags.toString(16)} (${eventFlagsStr(record.flags)})`
      lines += ` ---\n${await this.#contents(record)}`
    }
    return lines
  }

  async #title(inst: number): Promise<string> {
    const { name, columns, desc } = this.#subject
    if (inst === PM_IN_NULL) return name
    const known = columns?.find((column) => column.inst === inst)?.name
    const instance = known ?? (await toOutcome(this.#context.instanceName(desc.indom, inst, this.#io)))
    return `${name}[${isError(instance) ? inst : instance}]`
  }

  async #contents({ flags, missed, params }: EventRecord): Promise<string> {
    if (eventFlagsStr(flags) === 'missed') return `    ==> ${missed} missed event records\n`
    if (flags === 0 && params.length === 0) return '    ==> No parameters\n'
    let lines = ''
    for (const param of params) lines += await this.#parameter(param)
    return lines
  }

  async #parameter(param: Parameter): Promise<string> {
    let name = this.#names.get(param.pmid)
    if (name === undefined) {
      const names = await toOutcome(this.#context.namesOf(param.pmid, this.#io))
      if (isError(names)) return `\t${pmidStr(param.pmid)}: pmNameID: ${names.text}\n`
      name = names[0]!
      this.#names.set(param.pmid, name)
    }
    return `    ${name} ${this.#parameterValue(param)}\n`
  }

  #parameterValue(param: Parameter): string {
    if (param.type !== PM_TYPE_AGGREGATE && param.type !== PM_TYPE_AGGREGATE_STATIC)
      return printValue(param, 0, param.type, 1, this.#print)
    const bytes = extract(param, 0, param.type) as Uint8Array
    return `[${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}]`
  }
}
