/** pmstore: changes the values of a metric. pmstore(1) */
import type { MetricDesc } from '../model/desc.ts'
import { isError, PcpError } from '../model/errors.ts'
import { PM_IN_NULL, PM_INDOM_NULL } from '../model/ids.ts'
import { parseValue } from '../model/parse-value.ts'
import { printValue } from '../model/print.ts'
import { exclude, include } from '../model/profile.ts'
import {
  PM_TYPE_AGGREGATE,
  PM_TYPE_AGGREGATE_STATIC,
  PM_TYPE_EVENT,
  PM_TYPE_HIGHRES_EVENT,
  typeStr,
} from '../model/types.ts'
import { makeSet } from '../model/value-writer.ts'
import type { Value, ValueSet } from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'
import { handleEarlyExit, type OptionTable, type ParsedOptions, usageText } from './lib/options.ts'
import { toOutcome } from './lib/settle.ts'
import { didYouMeanMetric } from './lib/similar-metrics.ts'
import { openContext } from './lib/source.ts'
import { parseStandard, STANDARD } from './lib/standard.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] metricname value',
  posix: true,
  rows: [
    { heading: 'General options' },
    STANDARD.host,
    STANDARD.localPmda,
    STANDARD.specLocal,
    STANDARD.namespace,
    STANDARD.debug,
    STANDARD.version,
    STANDARD.help,
    { heading: 'Value options' },
    { short: 'F', long: 'fetch', help: 'fetch again afterwards, and show the result' },
    { short: 'f', long: 'force', help: 'store even if there is no current value' },
    { short: 'i', long: 'insts', arg: 'INSTS', help: 'store only in these instances (comma-separated)' },
  ],
}

/** Ends the command with one line on the given stream. */
class Refusal extends Error {
  readonly stream: 'stdout' | 'stderr'

  constructor(stream: 'stdout' | 'stderr', line: string) {
    super(line)
    this.stream = stream
  }
}

interface Store {
  readonly context: Context
  readonly io: ToolIo
  readonly metric: string
  readonly text: string
  readonly desc: MetricDesc
}

/** Stores one value in all or the named instances of a metric. */
export const tool: Tool = {
  name: 'pmstore',
  summary: 'Change the values of a metric',
  description: `
Changes the value of a metric, in all instances or those named by -i, and shows the old and new values. The agent of the metric and the
collector's access rules decide whether that is allowed.

A value that begins with a dash goes after the metric's name, where it is not taken for an option.`,
  examples: [
    ['pmstore sample.write_me 42', 'Store a value:'],
    ['pmstore -i bin-100,bin-200 sample.bin 7', 'Store a value for two instances:'],
  ],
  seeAlso: ['pminfo'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const [metric, text] = parsed.operands
    if (metric === undefined || text === undefined || parsed.operands.length > 2) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const context = await openContext(parsed.standard, io)
    try {
      const desc = await lookup(context, metric, io)
      await storeValue({ context, io, metric, text, desc }, parsed)
      return 0
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      io[error.stream].write(`${error.message}\n`)
      return 1
    } finally {
      await context.close()
    }
  },
}

async function lookup(context: Context, metric: string, io: ToolIo): Promise<MetricDesc> {
  const [id] = await context.lookupNames([metric], io)
  if (id === undefined || isError(id)) {
    const hint = await didYouMeanMetric(metric, id, context, io)
    throw new Refusal('stdout', `${metric}: pmLookupName: ${id?.text ?? 'no answer'}${hint}`)
  }
  const [desc] = await context.descs([id], io)
  if (desc === undefined || isError(desc))
    throw new Refusal('stdout', `${metric}: pmLookupDesc: ${desc?.text ?? 'no answer'}`)
  if (desc.type === PM_TYPE_AGGREGATE || desc.type === PM_TYPE_AGGREGATE_STATIC)
    throw new Refusal('stderr', `${io.progname}: Cannot modify values for PM_TYPE_AGGREGATE metrics`)
  if (desc.type === PM_TYPE_EVENT || desc.type === PM_TYPE_HIGHRES_EVENT)
    throw new Refusal('stderr', `${io.progname}: Cannot modify values for event type metrics`)
  return desc
}

async function storeValue(store: Store, { given }: ParsedOptions): Promise<void> {
  const { context, io, metric, text, desc } = store
  const wants = (letter: string): boolean => given.some(({ name }) => name === letter)
  const instances = given.filter(({ name }) => name === 'i').flatMap(({ value }) => instanceList(value))
  if (instances.length > 0) await restrictTo(store, instances)
  const before = await fetchOne(store, 'pre')
  if (before.status < 0)
    throw new Refusal('stdout', `${metric}: Error: ${PcpError.fromStatus(before.status).text}`)
  if (before.status === 0 && !wants('f')) throw new Refusal('stdout', `${metric}: No value(s) available!`)
  const insts = before.status === 0 ? Int32Array.of(PM_IN_NULL) : before.inst
  const value = valueFrom(text, desc.type)
  const values = Array.from(insts, () => value)
  const requested = makeSet(desc.pmid, desc.type, insts, values)
  const stored = await toOutcome(context.store([requested], io))
  if (isError(stored)) throw new Refusal('stdout', `${metric}: new value="${text}" pmStore: ${stored.text}`)
  const after = wants('F') ? await fetchOne(store, 'post') : requested
  const names = await instanceNames(store)
  const shown = (set: ValueSet, i: number): string =>
    i < set.status ? printValue(set, i, desc.type, 1) : '"(none)"'
  for (let i = 0; i < insts.length; i++) {
    const change = `old value=${shown(before, i)} new value=${shown(after, i)}`
    io.stdout.write(`${metric}${subject(desc, insts[i]!, names)} ${change}\n`)
  }
}

function instanceList(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '')
}

async function restrictTo({ context, io, metric, desc }: Store, names: readonly string[]): Promise<void> {
  const ids: number[] = []
  for (const name of names) {
    const id = await toOutcome(context.instanceId(desc.indom, name, io))
    if (isError(id)) throw new Refusal('stdout', `pmLookupInDom ${metric}[${name}]: ${id.text}`)
    ids.push(id)
  }
  context.profile = include(exclude(context.profile, desc.indom), desc.indom, ids)
}

async function fetchOne({ context, io, metric, desc }: Store, when: 'pre' | 'post'): Promise<ValueSet> {
  const result = await toOutcome(context.fetch([desc.pmid], io))
  if (isError(result)) throw new Refusal('stdout', `${metric}: ${when} pmFetch: ${result.text}`)
  return result.sets[0]!
}

async function instanceNames({ context, io, desc }: Store): Promise<ReadonlyMap<number, string>> {
  if (desc.indom === PM_INDOM_NULL) return new Map()
  const found = await toOutcome(context.instances(desc.indom, io))
  return isError(found) ? new Map() : new Map(found.ids.map((id, i) => [id, found.names[i]!]))
}

function subject({ indom }: MetricDesc, inst: number, names: ReadonlyMap<number, string>): string {
  if (indom === PM_INDOM_NULL) return ''
  const name = names.get(inst)
  return name === undefined ? ` inst [${inst}]` : ` inst [${inst} or "${name}"]`
}

/** Parses the value to store. */
function valueFrom(text: string, type: number): Value {
  try {
    return parseValue(text, type)
  } catch (error) {
    const { code } = PcpError.from(error)
    const why = code === 'ERANGE' ? 'out of range for' : 'incompatible with'
    throw new Refusal('stderr', `The value "${text}" is ${why} the data type (PM_TYPE_${typeStr(type)})`)
  }
}
