/** Archives of incidents, in memory or in a directory. */
import { Archive } from '../../../src/archive/archive.ts'
import { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import type { OutputFiles } from '../../../src/archive/write/output-files.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../../src/model/types.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'
import { modelMetrics } from './host-metrics.ts'
import { type Host, HostModel, STEP } from './host-model.ts'
import { DISTRACTORS, type Incident } from './incidents.ts'
import { random } from './random.ts'

/** Start of the recordings, on a minute, and the length of the window before and of the span. */
export const START = 1_700_000_040
export const WINDOW_SEC = 1800
/** Where the span begins. */
export const SPAN_START: number = START + WINDOW_SEC
const DISTRACTIONS = 4

const TYPES: Readonly<Record<string, number>> = {
  32: PM_TYPE_32,
  u32: PM_TYPE_U32,
  64: PM_TYPE_64,
  u64: PM_TYPE_U64,
  float: PM_TYPE_FLOAT,
  double: PM_TYPE_DOUBLE,
}
const SEMS: Readonly<Record<string, number>> = {
  counter: PM_SEM_COUNTER,
  discrete: PM_SEM_DISCRETE,
  instant: PM_SEM_INSTANT,
}

/** How hard an incident is to see. */
export interface Difficulty {
  /** Share of the incident's effect. Default 1. */
  readonly strength?: number
  /** Seconds after which it is over. Default: never. */
  readonly lastsSec?: number
}

/** Lets an incident act with a part of its effect. */
function actPartly(host: Host, strength: number, act: (host: Host) => void): void {
  const before = structuredClone(host)
  act(host)
  soften(before, host, strength)
}

function soften(before: object, after: object, strength: number): void {
  const [from, to] = [before as Record<string, unknown>, after as Record<string, unknown>]
  for (const [key, value] of Object.entries(to)) {
    const old = from[key]
    if (typeof value === 'number') to[key] = (old as number) + (value - (old as number)) * strength
    else soften(old as object, value as object, strength)
  }
}

/** Records an hour of the model; the incident begins in the first fifth of the second half. undefined: no incident, only the noise. */
export function recordIncident(
  output: OutputFiles,
  incident: Incident | undefined,
  seed: number,
  { strength = 1, lastsSec = Number.POSITIVE_INFINITY }: Difficulty = {},
): void {
  const rng = random(seed)
  const model = new HostModel(rng)
  const made = new ArchiveImport(output, { hostname: 'model', timezone: 'UTC', pid: 1 })
  const metrics = modelMetrics().map((metric) => {
    const { name, type, sem, units, instances } = metric
    const unit = units === 'none' ? '' : units
    const indom = instances === undefined ? undefined : `model.${instances.join()}`
    const handle = made.addMetric(name, {
      type: TYPES[type]!,
      sem: SEMS[sem]!,
      units: unit,
      ...(indom === undefined ? {} : { indom }),
    })
    const totals = (instances ?? ['']).map(() => Math.floor(rng.uniform() * 1e6))
    return { ...metric, handle, totals, maximum: type === 'u32' ? 2 ** 32 : Number.POSITIVE_INFINITY }
  })
  const begins = SPAN_START + rng.uniform() * (WINDOW_SEC / 5)
  const distractions = Array.from({ length: DISTRACTIONS }, () => ({
    from: START + rng.uniform() * 2 * WINDOW_SEC,
    act: DISTRACTORS[Math.floor(rng.uniform() * DISTRACTORS.length)]!,
  }))
  const finish = START + 2 * WINDOW_SEC
  for (let time = START; time <= finish; time += STEP) {
    const host = model.normal(time)
    for (const { from, act } of distractions) if (time >= from) act(host, rng)
    const progress = { seconds: time - begins, of: finish - begins, random: rng }
    if (incident !== undefined && time >= begins && time < begins + lastsSec)
      actPartly(host, strength, (changed) => incident.act(changed, progress))
    model.settle(host)
    for (const { every, sem, values, handle, totals, instances, maximum } of metrics) {
      const now = values(host, rng)
      for (const [i, value] of now.entries()) {
        const isCounter = sem === 'counter'
        if (isCounter) totals[i] = (totals[i]! + Math.max(0, value) * STEP) % maximum
        if ((time - START) % every !== 0) continue
        const shown = isCounter
          ? Math.floor(totals[i]!)
          : handle.desc.type >= PM_TYPE_FLOAT
            ? value
            : Math.round(value)
        made.put(handle, shown, instances?.[i])
      }
    }
    made.write({ sec: time, nsec: 123_456_789 })
  }
  made.close()
}

/** Records into a directory and opens the archive. */
export function incidentArchive(
  directory: string,
  incident: Incident | undefined,
  seed: number,
  difficulty?: Difficulty,
): Archive {
  const base = `${directory}/${(incident?.name ?? 'none').replaceAll(' ', '-')}-${seed}`
  recordIncident(archiveOutput(base), incident, seed, difficulty)
  return Archive.open(base, archiveFiles())
}
