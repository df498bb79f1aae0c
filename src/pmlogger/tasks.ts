/** Metrics that are logged together: those with the same state and interval, as a rule in one fetch. docs/pmlogger.md */
import { type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { ALL_INSTANCES, exclude, include, type Profile } from '../model/profile.ts'
import type { ValueSet } from '../model/values.ts'
import type { LoggedMetric } from './logged-metric.ts'
import type { Mode } from './states.ts'

/** What is asked for at once. */
export interface Fetch {
  readonly metrics: readonly LoggedMetric[]
  readonly pmids: readonly Pmid[]
  /** Keeps the instances away that nobody wants. */
  readonly profile: Profile
  /** Of these metrics only these instances, where the profile cannot say so because another metric wants more. */
  readonly only: ReadonlyMap<Pmid, ReadonlySet<number>>
}

/** What to fetch, and how often. */
export interface Task {
  /** Tasks of equal keys follow each other when requests change what belongs to them. */
  readonly key: string
  readonly isMandatory: boolean
  /** Interval, 0 for once. */
  readonly deltaMs: number
  readonly metrics: readonly LoggedMetric[]
  /** Each metric is in one of them. */
  readonly fetches: readonly Fetch[]
}

/** A domain of which metrics together choose more instances than this is fetched metric by metric, as by PCP's logger. */
const MAX_SHARED = 8

/** Wanted instances; undefined means all. */
type Wishes = Map<LoggedMetric, Set<number> | undefined>

interface Draft {
  readonly mode: Mode
  readonly metrics: Wishes
}

/** The tasks that what holds for metrics makes. */
export function planTasks(metrics: Iterable<LoggedMetric>): Task[] {
  const drafts = new Map<string, Draft>()
  const draftOf = (mode: Mode): Draft => {
    const { isMandatory, deltaMs, round } = mode
    const key = `${isMandatory ? 'mandatory' : 'advisory'} ${deltaMs}${round === undefined ? '' : ` request ${round}`}`
    const draft = drafts.get(key) ?? { mode, metrics: new Map() }
    drafts.set(key, draft)
    return draft
  }
  for (const metric of metrics) {
    const { whole, others, parts } = metric.states
    for (const mode of others) draftOf(mode).metrics.set(metric, undefined)
    if (whole?.isOn === true) draftOf(whole).metrics.set(metric, undefined)
    for (const [inst, mode] of parts) {
      if (!mode.isOn) continue
      const draft = draftOf(mode)
      const wanted = draft.metrics.get(metric) ?? new Set<number>()
      draft.metrics.set(metric, wanted.add(inst))
    }
  }
  return [...drafts].map(([key, draft]) => taskOf(key, draft))
}

function taskOf(key: string, { mode, metrics }: Draft): Task {
  // The largest identifier first: the order of PCP's logger in its records and reports.
  const sorted: Wishes = new Map([...metrics].sort(([a], [b]) => b.desc.pmid - a.desc.pmid))
  return {
    key,
    isMandatory: mode.isMandatory,
    deltaMs: mode.deltaMs,
    metrics: [...sorted.keys()],
    fetches: divide(sorted).map(fetchOf),
  }
}

/** Fetches have no values to throw away where much is chosen: what metrics choose of large domains does not meet in one. */
function divide(metrics: Wishes): Wishes[] {
  const chosen = new Map<Indom, Set<number>>()
  for (const [{ desc }, instances] of metrics)
    if (instances !== undefined)
      chosen.set(desc.indom, new Set([...(chosen.get(desc.indom) ?? []), ...instances]))
  const shared: Wishes = new Map()
  const alone: Wishes[] = []
  for (const [metric, instances] of metrics) {
    const isMuch = instances !== undefined && chosen.get(metric.desc.indom)!.size > MAX_SHARED
    if (isMuch) alone.push(new Map([[metric, instances]]))
    else shared.set(metric, instances)
  }
  return shared.size === 0 ? alone : [shared, ...alone]
}

function fetchOf(metrics: Wishes): Fetch {
  const list = [...metrics.keys()]
  return { metrics: list, pmids: list.map(({ desc }) => desc.pmid), ...selectionOf(metrics) }
}

/** A profile that lets through what any metric of a domain wants, and what is too much for single ones. */
function selectionOf(metrics: Wishes): Pick<Fetch, 'profile' | 'only'> {
  const only = new Map<Pmid, ReadonlySet<number>>()
  const wanted = new Map<Indom, Set<number> | undefined>()
  for (const [{ desc }, instances] of metrics) {
    const { indom, pmid } = desc
    if (indom === PM_INDOM_NULL) continue
    if (instances !== undefined) only.set(pmid, instances)
    const others = wanted.get(indom)
    if (instances === undefined || (wanted.has(indom) && others === undefined)) wanted.set(indom, undefined)
    else wanted.set(indom, new Set([...(others ?? []), ...instances]))
  }
  let profile = ALL_INSTANCES
  for (const [indom, instances] of wanted)
    if (instances !== undefined) profile = include(exclude(profile, indom), indom, [...instances])
  return { profile, only }
}

/** The value sets of a result, without the instances that only other metrics wanted. */
export function selectSets({ only }: Fetch, sets: readonly ValueSet[]): readonly ValueSet[] {
  if (only.size === 0) return sets
  return sets.map((set) => {
    const wanted = only.get(set.pmid)
    return wanted === undefined || set.status <= 0 ? set : selectInstances(set, wanted)
  })
}

function selectInstances(set: ValueSet, wanted: ReadonlySet<number>): ValueSet {
  if (set.inst.every((inst) => wanted.has(inst))) return set
  const inst: number[] = []
  const word: number[] = []
  set.inst.forEach((id, i) => {
    if (!wanted.has(id)) return
    inst.push(id)
    word.push(set.word[i]!)
  })
  return { ...set, status: inst.length, inst: Int32Array.from(inst), word: Int32Array.from(word) }
}
