/** Series from a key server in PCP's schema version 2, loaded by any program. docs/reference/key-server.md */
import type { MetricDesc } from '../../model/desc.ts'
import { indom, indomStr, PM_INDOM_NULL, pmid } from '../../model/ids.ts'
import { parseUnits } from '../../model/parse-units.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_SEM_INSTANT, semStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import { CALCULATED, isSeriesId, NO_SOURCE, seriesPmidStr } from '../ids.ts'
import type {
  NameKind,
  Sample,
  SampleWindow,
  SearchText,
  SeriesDesc,
  SeriesInstance,
  SeriesStore,
} from '../store.ts'
import type { ValueBudget } from '../value-budget.ts'
import type { KeyClient } from './client.ts'
import type { Command } from './command-buffer.ts'
import { checkSchema } from './loader.ts'
import { fieldsOf, idsOf, KeyMaps, withoutErrors } from './maps.ts'
import type { Reply } from './replies.ts'
import { SampleStreams } from './samples.ts'
import {
  descKey,
  expressionKey,
  instanceKey,
  instancesKey,
  labelsKey,
  labelValueMap,
  type MapName,
  metricNamesKey,
  seriesKey,
  sourceNamesKey,
  textId,
  VERSION_KEY,
} from './schema.ts'
import { storedType, typeOf } from './values.ts'

const MAPS: Readonly<Record<NameKind, MapName>> = {
  metric: 'metric.name',
  instance: 'inst.name',
  context: 'context.name',
  label: 'label.name',
}
/** Commands that are sent together. */
const TOGETHER = 1000

/** Finds and reads series in a key server. */
export class KeySeries implements SeriesStore {
  readonly readsAtOnce = 16
  readonly #client: KeyClient
  readonly #maps: KeyMaps
  readonly #streams: SampleStreams
  readonly #descs = new Map<string, SeriesDesc>()
  #texts: readonly SearchText[] = []
  #textNames = ''

  private constructor(client: KeyClient) {
    this.#client = client
    this.#maps = new KeyMaps(client)
    this.#streams = new SampleStreams(client)
  }

  /** Checks the version of the schema; a server without keys is one without series. PM_ERR_FEATURE for another version. */
  static async open(client: KeyClient): Promise<KeySeries> {
    const version = await client.call('GET', VERSION_KEY)
    if (version !== null) checkSchema(client, version)
    return new KeySeries(client)
  }

  async names(kind: NameKind): Promise<readonly string[]> {
    return this.#maps.all(MAPS[kind])
  }

  async labelValues(label: string): Promise<readonly string[]> {
    return this.#maps.all(labelValueMap(textId(label).hex))
  }

  async withName(kind: 'metric' | 'instance' | 'context', name: string): Promise<readonly string[]> {
    return this.#members(seriesKey(MAPS[kind], textId(name).hex))
  }

  async withLabel(label: string, value: string): Promise<readonly string[]> {
    return this.#members(seriesKey(labelValueMap(textId(label).hex), textId(value).hex))
  }

  async desc(series: string): Promise<SeriesDesc | undefined> {
    const known = this.#descs.get(series)
    if (known !== undefined) return known
    const [reply] = await this.#ask([['HGETALL', descKey(series)]])
    const desc = descOf(fieldsOf(reply))
    if (desc !== undefined) {
      if (this.#descs.size >= MOST_DESCS) this.#descs.clear()
      this.#descs.set(series, desc)
    }
    return desc
  }

  async metricNames(series: string): Promise<readonly string[]> {
    const [reply] = await this.#ask([['SMEMBERS', metricNamesKey(series)]])
    return present(await this.#maps.texts('metric.name', idsOf(reply)))
  }

  async instances(series: string): Promise<readonly SeriesInstance[]> {
    const ids = await this.#members(instancesKey(series))
    const replies = await this.#ask(ids.map((id) => ['HGETALL', instanceKey(id)]))
    const found = replies.flatMap((reply, i) => {
      const fields = fieldsOf(reply)
      const name = fields.get('name')
      return name === undefined ? [] : { id: ids[i]!, fields, name }
    })
    const names = await this.#maps.texts(
      'inst.name',
      found.map(({ name }) => name),
    )
    return found
      .map(({ id, fields }, i) => ({
        id,
        inst: Number(fields.get('inst')?.toString() ?? -1),
        name: names[i] ?? '',
        source: fields.get('source')?.toString('hex') ?? '',
      }))
      .sort((a, b) => a.inst - b.inst)
  }

  async labels(id: string): Promise<ReadonlyMap<string, string> | undefined> {
    const [reply] = await this.#ask([['HGETALL', labelsKey(id)]])
    const ids = idsOf(reply)
    if (ids.length === 0) return undefined
    const nameIds = ids.filter((_, i) => i % 2 === 0)
    const valueIds = ids.filter((_, i) => i % 2 === 1)
    const names = await this.#maps.texts('label.name', nameIds)
    const values = await Promise.all(
      valueIds.map((value, i) => this.#maps.texts(labelValueMap(nameIds[i]!.toString('hex')), [value])),
    )
    const labels = names.flatMap((name, i): [string, string][] => {
      const value = values[i]?.[0]
      return name === undefined || value === undefined ? [] : [[name, value]]
    })
    return new Map(labels.sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  async sourceNames(source: string): Promise<readonly string[]> {
    const [reply] = await this.#ask([['SMEMBERS', sourceNamesKey(source)]])
    const names = present(await this.#maps.texts('context.name', idsOf(reply)))
    // Archives first, as in the store of archives.
    return [...names].sort(
      (a, b) => Number(b.startsWith('/')) - Number(a.startsWith('/')) || (a < b ? -1 : 1),
    )
  }

  async samples(series: string, window: SampleWindow, budget: ValueBudget): Promise<readonly Sample[]> {
    const desc = await this.desc(series)
    return desc === undefined ? [] : this.#streams.read(series, desc.type, window, budget)
  }

  /** Returns the names of metrics and instance domains; PCP keeps their help texts in an index of its own. */
  async texts(): Promise<readonly SearchText[]> {
    const names = [...(await this.names('metric'))].sort()
    const joined = names.join(' ')
    if (joined === this.#textNames) return this.#texts
    const series = await this.#ask(
      names.map((name) => ['SMEMBERS', seriesKey('metric.name', textId(name).hex)]),
    )
    const first = series.map((reply) => idsOf(reply)[0]?.toString('hex') ?? '')
    const indoms = await this.#ask(first.map((id) => ['HMGET', descKey(id), 'indom']))
    const texts = new Map<string, SearchText>()
    names.forEach((name, i) => {
      const text = String((indoms[i] as readonly Reply[] | null)?.[0] ?? 'none')
      const of = text === 'none' ? undefined : text
      texts.set(`metric ${name}`, { type: 'metric', name, indom: of, oneline: '', help: '' })
      if (of !== undefined)
        texts.set(`indom ${of}`, { type: 'indom', name: of, indom: of, oneline: '', help: '' })
    })
    this.#texts = [...texts.values()]
    this.#textNames = joined
    return this.#texts
  }

  async instanceName(id: string): Promise<string | undefined> {
    const [reply] = await this.#ask([['HGETALL', instanceKey(id)]])
    const name = fieldsOf(reply).get('name')
    return name === undefined ? undefined : (await this.#maps.texts('inst.name', [name]))[0]
  }

  async expression(id: string): Promise<string | undefined> {
    const [reply] = await this.#ask([['HGETALL', expressionKey(id)]])
    return fieldsOf(reply).get('query')?.toString()
  }

  async keepExpression(id: string, text: string, { indom: of, sem, type, units }: MetricDesc): Promise<void> {
    const desc = [
      ...['indom', of === PM_INDOM_NULL ? 'none' : indomStr(of), 'pmid', seriesPmidStr(CALCULATED)],
      ...['semantics', semStr(sem), 'source', Buffer.from(NO_SOURCE, 'hex')],
      ...['type', storedType(type), 'units', unitsStr(units)],
    ]
    await this.#ask([
      ['HMSET', descKey(id), ...desc],
      ['HMSET', expressionKey(id), 'query', text],
    ])
  }

  async close(): Promise<void> {
    this.#client.close()
  }

  async #members(key: string): Promise<readonly string[]> {
    const [reply] = await this.#ask([['SMEMBERS', key]])
    // Sets have no order; answers have the same one each time.
    return idsOf(reply)
      .map((id) => id.toString('hex'))
      .sort()
  }

  /** Sends commands, some at a time, and returns the replies. */
  async #ask(commands: readonly Command[]): Promise<readonly Reply[]> {
    const replies: Reply[] = []
    for (let i = 0; i < commands.length; i += TOGETHER)
      replies.push(
        ...withoutErrors(this.#client, await this.#client.callAll(commands.slice(i, i + TOGETHER))),
      )
    return replies
  }
}

/** The most descriptors that are kept. */
const MOST_DESCS = 100_000

const SEMANTICS: ReadonlyMap<string, number> = new Map(
  [PM_SEM_COUNTER, PM_SEM_INSTANT, PM_SEM_DISCRETE].map((sem) => [semStr(sem), sem]),
)

function descOf(fields: ReadonlyMap<string, Buffer>): SeriesDesc | undefined {
  const text = (name: string): string => fields.get(name)?.toString() ?? ''
  const source = fields.get('source')?.toString('hex') ?? ''
  if (!isSeriesId(source)) return undefined
  const [domain = 0, cluster = 0, item = 0] = text('pmid').split('.').map(Number)
  const [of, serial] = text('indom').split('.').map(Number)
  return {
    pmid: pmid(domain, cluster, item),
    type: typeOf(text('type')),
    indom: serial === undefined ? PM_INDOM_NULL : indom(of!, serial),
    sem: SEMANTICS.get(text('semantics')) ?? PM_SEM_INSTANT,
    units: unitsOf(text('units')),
    source,
  }
}

function unitsOf(text: string): number {
  if (text === 'none' || text === '') return 0
  try {
    return parseUnits(text).units
  } catch {
    return 0 // written by something else
  }
}

function present(texts: readonly (string | undefined)[]): readonly string[] {
  return texts.filter((text) => text !== undefined)
}
