/** Asks an agent everything that a collector would, once, and reports what is wrong. docs/how-to/add-an-agent.md */

import type { MetricDesc } from '../model/desc.ts'
import { isError, PcpError } from '../model/errors.ts'
import { isDynamicRoot, PM_IN_NULL, PM_INDOM_NULL, type Pmid, pmidStr } from '../model/ids.ts'
import { LABEL_DOMAIN } from '../model/labels.ts'
import { printDesc, printValue } from '../model/print.ts'
import { ALL_INSTANCES } from '../model/profile.ts'
import type { Ask, MetricSource } from '../model/source.ts'
import type { ValueSet } from '../model/values.ts'

/** One value of an examined metric. */
export interface ExaminedValue {
  /** Name of the instance; undefined for a metric without instances. */
  readonly instance?: string
  readonly text: string
}

/** One metric of an examined agent. */
export interface ExaminedMetric {
  readonly name: string
  readonly pmid: string
  /** Type, semantics and units. */
  readonly desc: string
  readonly help: string
  readonly values: readonly ExaminedValue[]
}

/** The result; plain data. */
export interface Examined {
  readonly metrics: readonly ExaminedMetric[]
  /** What is wrong, with the metric's name. An agent without any is fit for a collector. */
  readonly problems: readonly string[]
}

/** Longest value that is reported in full. */
const MAX_TEXT = 200
/** Values of a metric that are reported. */
const MAX_VALUES = 1000

/** Asks an agent for everything about the metrics `names`. Never rejects for an error of one metric. */
export async function examineAgent(
  source: MetricSource,
  names: Iterable<readonly [name: string, id: Pmid]>,
): Promise<Examined> {
  const ask: Ask = { requester: { client: 0, context: 0, profile: ALL_INSTANCES } }
  const problems: string[] = []
  const metrics: ExaminedMetric[] = []
  const listed = await expand(source, names, ask, problems)
  if (listed.length === 0) problems.push('it has no metrics')
  for (const [name, id] of listed) metrics.push(await examineMetric({ source, name, id, ask, problems }))
  const ids = listed.map(([, id]) => id)
  await attempt(problems, 'a fetch of all metrics', async () => {
    if (ids.length > 0) await source.fetch(ids, ask)
  })
  return { metrics, problems }
}

/** Replaces subtrees whose names come and go by their present names. */
async function expand(
  source: MetricSource,
  names: Iterable<readonly [string, Pmid]>,
  ask: Ask,
  problems: string[],
): Promise<readonly (readonly [string, Pmid])[]> {
  const listed: (readonly [string, Pmid])[] = []
  for (const [name, id] of names) {
    if (!isDynamicRoot(id)) {
      listed.push([name, id])
      continue
    }
    await attempt(problems, `${name}: its names`, async () => {
      const below = await source.traverse(name, ask)
      const ids = await source.lookupNames(below, ask)
      below.forEach((each, i) => {
        const found = ids[i]!
        if (isError(found)) problems.push(`${each}: ${found.message}`)
        else listed.push([each, found])
      })
    })
  }
  return listed
}

interface Subject {
  readonly source: MetricSource
  readonly name: string
  readonly id: Pmid
  readonly ask: Ask
  readonly problems: string[]
}

async function examineMetric({ source, name, id, ask, problems }: Subject): Promise<ExaminedMetric> {
  const desc = await attempt(problems, name, async () => {
    const [found] = await source.descs([id], ask)
    if (isError(found)) throw found
    return found
  })
  const help = await attempt(problems, `${name}: its help text`, () =>
    source.text({ kind: 'metric', id, level: 'oneline' }, ask),
  )
  if (help?.trim() === '') problems.push(`${name}: its help text is empty`)
  await attempt(problems, `${name}: labels of its domain`, () =>
    source.labels({ level: LABEL_DOMAIN, id: id >>> 22 }, ask),
  )
  const instances =
    desc === undefined || desc.indom === PM_INDOM_NULL
      ? undefined
      : await attempt(problems, `${name}: its instances`, () => source.instances(desc.indom, undefined, ask))
  const instanceNames =
    instances === undefined ? undefined : new Map(instances.ids.map((inst, i) => [inst, instances.names[i]!]))
  const set = await attempt(problems, name, async () => (await source.fetch([id], ask)).sets[0])
  const values =
    desc === undefined || set === undefined ? [] : valuesOf(name, desc, set, instanceNames, problems)
  return {
    name,
    pmid: pmidStr(id),
    desc: desc === undefined ? '' : printDesc(desc).trim(),
    help: help?.trim() ?? '',
    values,
  }
}

function valuesOf(
  name: string,
  { type, indom }: MetricDesc,
  set: ValueSet,
  names: ReadonlyMap<number, string> | undefined,
  problems: string[],
): readonly ExaminedValue[] {
  if (set.status < 0) {
    problems.push(`${name}: ${PcpError.fromStatus(set.status).message}`)
    return []
  }
  const values: ExaminedValue[] = []
  for (let i = 0; i < Math.min(set.status, MAX_VALUES); i++) {
    const inst = set.inst[i]!
    const shown = printValue(set, i, type, 0)
    const text = shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT)}...` : shown
    if (indom === PM_INDOM_NULL) {
      if (inst !== PM_IN_NULL) problems.push(`${name}: has no instances, but a value for instance ${inst}`)
      values.push({ text })
      continue
    }
    const instance = names?.get(inst)
    if (instance === undefined)
      problems.push(`${name}: has a value for instance ${inst}, which is not in its list`)
    values.push({ instance: instance ?? `${inst}`, text })
  }
  return values
}

/** Resolves to undefined, after adding the reason to the problems, if `question` fails. */
async function attempt<T>(
  problems: string[],
  what: string,
  question: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await question()
  } catch (error) {
    problems.push(`${what}: ${PcpError.from(error).message}`)
    return undefined
  }
}
