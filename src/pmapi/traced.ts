/** Traces a context's requests and replies for -D. docs/how-to/debug.md */

import { type DebugName, debug, isDebug, trace } from '../model/debug.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { indomStr, type Pmid, pmidStr } from '../model/ids.ts'
import { SourceLayer } from '../model/layer.ts'
import { atomStr } from '../model/print.ts'
import type { Profile, ProfileEntry } from '../model/profile.ts'
import type { Ask, MetricSource } from '../model/source.ts'
import { semStr, typeStr } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import { extract } from '../model/value-set.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'

/** Diagnostics traced here. */
const TOPICS = 'fetch,value,profile,indom,labels,pmns,context,pmapi'
/** Number of items shown of a long list. */
const SHOWN = 16

/** Returns the source, wrapped for tracing if one of the diagnostics is on now. */
export function traced(source: MetricSource): MetricSource {
  return isDebug(TOPICS) ? new TracingSource(source) : source
}

/** Remembers names and descriptors that pass through, to show metrics by name. */
class TracingSource extends SourceLayer {
  readonly #names = new Map<Pmid, string>()
  readonly #descs = new Map<Pmid, MetricDesc>()
  readonly #profiles = new Map<number, Profile>()

  override children(name: string, ask: Ask): ReturnType<MetricSource['children']> {
    return tracedCall('pmns', `children of "${name}"`, this.source.children(name, ask), (children) =>
      list(children, (child) => `${child.name}${child.isLeaf ? '' : '.'}`),
    )
  }

  override traverse(name: string, ask: Ask): Promise<readonly string[]> {
    return tracedCall('pmns', `names below "${name}"`, this.source.traverse(name, ask), (names) =>
      list(names),
    )
  }

  override lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]> {
    return tracedCall('pmns', `PMIDs of ${list(names)}`, this.source.lookupNames(names, ask), (found) => {
      for (const [i, id] of found.entries()) if (!isError(id)) this.#names.set(id, names[i]!)
      return list(found, (id) => (isError(id) ? id.code : pmidStr(id)))
    })
  }

  override lookupId(id: Pmid, ask: Ask): Promise<readonly string[]> {
    return tracedCall('pmns', `names of ${this.#metric(id)}`, this.source.lookupId(id, ask), (names) =>
      list(names),
    )
  }

  override descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]> {
    const what = `descriptors of ${list(ids, (id) => this.#metric(id))}`
    return tracedCall('pmapi', what, this.source.descs(ids, ask), (descs) => {
      for (const desc of descs) if (!isError(desc)) this.#descs.set(desc.pmid, desc)
      return list(descs, describe)
    })
  }

  override instances(
    ...[indom, query, ask]: Parameters<MetricSource['instances']>
  ): ReturnType<MetricSource['instances']> {
    const part = query === undefined ? '' : 'id' in query ? ` id ${query.id}` : ` name "${query.name}"`
    const what = `instances of ${indomStr(indom)}${part}`
    return tracedCall('indom', what, this.source.instances(indom, query, ask), ({ ids, names }) =>
      list(ids, (id, i) => `${id} "${names[i]}"`),
    )
  }

  override text(...[query, ask]: Parameters<MetricSource['text']>): Promise<string> {
    const on = query.kind === 'metric' ? this.#metric(query.id) : indomStr(query.id)
    return tracedCall('pmapi', `${query.level} text of ${on}`, this.source.text(query, ask), JSON.stringify)
  }

  override labels(...[query, ask]: Parameters<MetricSource['labels']>): ReturnType<MetricSource['labels']> {
    const what = `labels of level ${query.level}, id 0x${(query.id >>> 0).toString(16)}`
    return tracedCall('labels', what, this.source.labels(query, ask), (sets) =>
      list(sets, ({ json }) => json),
    )
  }

  override fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    this.#tellProfile(ask)
    const what = `values of ${list(ids, (id) => this.#metric(id))}`
    return tracedCall('fetch', what, this.source.fetch(ids, ask), (result) => {
      const { sec, nsec } = result.timestamp
      if (debug.value) for (const set of result.sets) trace('value', this.#values(set))
      const changes = result.changes === 0 ? '' : `, changes 0x${result.changes.toString(16)}`
      const counts = list(result.sets, ({ pmid, status }) => `${this.#metric(pmid)}: ${statusText(status)}`)
      return `at ${new Date(sec * 1000).toISOString().slice(0, 19)}.${String(nsec).padStart(9, '0')}Z${changes}: ${counts}`
    })
  }

  #tellProfile({ requester: { context, profile } }: Ask): void {
    if (!debug.profile || this.#profiles.get(context) === profile) return
    this.#profiles.set(context, profile)
    const rule = ({ indom, includeAll, instances }: ProfileEntry): string => {
      const listed = instances.size === 0 ? '' : `${includeAll ? ' but ' : ' '}${list([...instances])}`
      return `${indomStr(indom)} ${includeAll ? 'all' : instances.size === 0 ? 'none' : 'only'}${listed}`
    }
    const others = `${profile.entries.size === 0 ? '' : '; '}${profile.includeByDefault ? 'all' : 'none'} of any other`
    trace('profile', `context ${context}: ${[...profile.entries.values()].map(rule).join('; ')}${others}`)
  }

  override store(sets: readonly ValueSet[], ask: Ask): Promise<void> {
    return tracedCall(
      'pmapi',
      `store ${list(sets, (set) => this.#values(set))}`,
      this.source.store(sets, ask),
      () => 'done',
    )
  }

  override subscribe(listener: Parameters<MetricSource['subscribe']>[0]): () => void {
    return this.source.subscribe((event) => {
      if (debug.context)
        trace('context', `${event.type}${event.type === 'lost' ? `: ${event.error.message}` : ''}`)
      listener(event)
    })
  }

  override close(): Promise<void> {
    if (debug.context) trace('context', 'closed')
    return this.source.close()
  }

  #metric(id: Pmid): string {
    const name = this.#names.get(id)
    return name === undefined ? pmidStr(id) : `${name} (${pmidStr(id)})`
  }

  #values(set: ValueSet): string {
    const desc = this.#descs.get(set.pmid)
    const values = Array.from({ length: Math.max(0, set.status) }, (_, i) => {
      const value =
        desc === undefined ? `0x${(set.word[i]! >>> 0).toString(16)}` : valueText(set, i, desc.type)
      return set.inst[i] === -1 ? value : `[${set.inst[i]}] ${value}`
    })
    return `${this.#metric(set.pmid)}: ${set.status > 0 ? list(values) : statusText(set.status)}`
  }
}

/** Traces a request with its answer or error while the diagnostic is on. */
async function tracedCall<T>(
  topic: DebugName,
  what: string,
  answer: Promise<T>,
  show: (value: T) => string,
): Promise<T> {
  const start = performance.now()
  const say = (text: string): void => {
    if (debug[topic]) trace(topic, `${what}: ${text} (${(performance.now() - start).toFixed(2)} ms)`)
  }
  try {
    const value = await answer
    say(show(value))
    return value
  } catch (error) {
    say(error instanceof PcpError ? `${error.code}, ${error.message}` : String(error))
    throw error
  }
}

function describe(desc: Outcome<MetricDesc>): string {
  if (isError(desc)) return desc.code
  const { pmid, type, indom, sem, units } = desc
  return `${pmidStr(pmid)} ${typeStr(type)} ${semStr(sem)} of ${indomStr(indom)} in ${unitsStr(units) || 'no units'}`
}

function valueText(set: ValueSet, i: number, type: number): string {
  try {
    return atomStr(extract(set, i, type), type)
  } catch (error) {
    return PcpError.from(error).message
  }
}

function statusText(status: number): string {
  if (status < 0) return PcpError.fromStatus(status).message
  return `${status} value${status === 1 ? '' : 's'}`
}

/** Joins items with commas; the rest of a long list is shown as a number. */
function list<T>(items: readonly T[], show: (item: T, i: number) => string = String): string {
  if (items.length === 0) return 'nothing'
  const shown = items.slice(0, SHOWN).map(show).join(', ')
  return items.length > SHOWN ? `${shown} and ${items.length - SHOWN} more` : shown
}
