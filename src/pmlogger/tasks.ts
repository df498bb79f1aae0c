/** Groups metrics with the same control and interval into tasks, usually with one fetch. docs/reference/pmlogger.md */
import { type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { ALL_INSTANCES, exclude, include, type Profile } from '../model/profile.ts'
import type { ValueSet } from '../model/values.ts'
import type { LoggedMetric } from './logged-metric.ts'
import type { LoggingState } from './states.ts'

/** One request for values. */
export interface Fetch {
  readonly metrics: readonly LoggedMetric[]
  readonly pmids: readonly Pmid[]
  /** Excludes the instances that no metric of the fetch requests. */
  readonly profile: Profile
  /** Instances to keep of these metrics, if the profile includes more for other metrics of the domain. */
  readonly only: ReadonlyMap<Pmid, ReadonlySet<number>>
}

/** Metrics fetched together at an interval. */
export interface Task {
  /** A task of changed composition replaces the one with the same key. */
  readonly key: string
  readonly isMandatory: boolean
  /** Interval; 0 for once. */
  readonly deltaMs: number
  readonly metrics: readonly LoggedMetric[]
  /** Fetches; each metric is in one of them. */
  readonly fetches: readonly Fetch[]
}

/** Metrics of a domain are fetched separately, as by PCP's logger, if they select more instances than this together. */
const MAX_SHARED = 8

/** Requested instances; undefined for all. */
type Wishes = Map<LoggedMetric, Set<number> | undefined>

interface Draft {
  readonly mode: LoggingState
  readonly metrics: Wishes
}

/** Plans the tasks for the logging states of the metrics. */
export function planTasks(metrics: Iterable<LoggedMetric>): Task[] {
  const drafts = new Map<string, Draft>()
  const draftOf = (mode: LoggingState): Draft => {
    const { isMandatory, deltaMs, round } = mode
    const key = `${isMandatory ? 'mandatory' : 'advisory'} ${deltaMs}${round === undefined ? '' : ` request ${round}`}`
    const draft = drafts.get(key) ?? { mode, metrics: new Map() }
    drafts.set(key, draft)
    return draft
  }
  for (const metric of metrics) {
    const { whole, otherIntervals, byInstance } = metric.states
    for (const mode of otherIntervals) draftOf(mode).metrics.set(metric, undefined)
    if (whole?.isOn === true) draftOf(whole).metrics.set(metric, undefined)
    for (const [inst, mode] of byInstance) {
      if (!mode.isOn) continue
      const draft = draftOf(mode)
      const wanted = draft.metrics.get(metric) ?? new Set<number>()
      draft.metrics.set(metric, wanted.add(inst))
    }
  }
  return [...drafts].map(([key, draft]) => taskOf(key, draft))
}

function taskOf(key: string, { mode, metrics }: Draft): Task {
  // By descending PMID, the order of PCP's logger in records and reports.
  const sorted: Wishes = new Map([...metrics].sort(([a], [b]) => b.desc.pmid - a.desc.pmid))
  return {
    key,
    isMandatory: mode.isMandatory,
    deltaMs: mode.deltaMs,
    metrics: [...sorted.keys()],
    fetches: divide(sorted).map(fetchOf),
  }
}

/** Fetches metrics with large selections of a domain separately, so that few fetched values are discarded. */
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

/** Returns a profile with every instance that a metric requests, and the per-metric selections to apply afterwards. */
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

/** Removes instances from a result's value sets that were fetched only for other metrics. */
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
