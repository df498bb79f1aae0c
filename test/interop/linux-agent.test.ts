/** Our linux agent and the reference's on this machine: theirs, ours, theirs again; ours must lie between. */
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isError } from '../../src/model/errors.ts'
import { PM_SEM_INSTANT } from '../../src/model/types.ts'
import { ASK } from '../lib/agent-catalogue.ts'
import { type Answer, allAnswers, openFixture } from '../lib/linux-agent.ts'
import { hasReference, run, startReference, type TestCollector } from './lib/programs.ts'

const THEIRS = '/var/lib/pcp/pmdas/linux/pmda_linux.so'
const hasBoth = hasReference && existsSync(THEIRS)
if (!hasBoth) console.log('skipped: the reference’s linux agent is not installed')

/** Where we differ on purpose, and why. */
const DEVIATIONS: { readonly [reason: string]: RegExp } = {
  'the version is that of the agent': /^pmda\.version$/,
  'PCP shows 0 for a processor that does not count throttling': /^hinv\.cpu\.thermal_throttle\./,
  'PCP makes -1 up when mdadm cannot be run': /^disk\.md\.status$/,
  'PCP gives an interface of unknown speed a made-up one': /^network\.interface\.(speed|baudrate)$/,
  'PCP says 0 for an interface whose speed it failed to read before, in the same fetch':
    /^network\.interface\.(type|virtual)$/,
  'PCP shows 0 for an NFS server that does not run': /^rpc\.server\.ra_/,
  'PCP does not find the line of the zones': /^mem\.zoneinfo\.nr_free_pages$/,
  'PCP says 0 whatever the node’s meminfo says': /^mem\.numa\.util\.(mapped|pageTables)$/,
  'changes from one moment to the next': /^(hinv\.cpu\.clock|hinv\.cpu\.frequency_scaling\.count)$/,
}

let theirs: TestCollector
beforeAll(async () => {
  if (hasBoth) theirs = await startReference([`linux 60 dso linux_init ${THEIRS}`])
})
afterAll(async () => {
  if (hasBoth) await theirs.stop()
})

type Shown = string | { readonly [instance: string]: string } | undefined

/** What `pminfo -f` shows of these metrics: a value, values by instance name, or undefined for none of any kind. */
async function pminfo(names: readonly string[]): Promise<Map<string, Shown>> {
  const { stdout } = await run('pminfo', ['-h', theirs.host, '-f', ...names])
  const shown = new Map<string, Shown>()
  for (const block of stdout.split('\n\n')) {
    const [name, ...lines] = block.trim().split('\n')
    const instances: { [instance: string]: string } = {}
    for (const line of lines) {
      const instance = /^ +inst \[-?\d+ or "(.*)"\] value (.*)$/.exec(line)
      const single = /^ +value (.*)$/.exec(line)
      if (instance !== null) instances[instance[1]!] = instance[2]!
      else if (single !== null) shown.set(name!, single[1])
    }
    if (!shown.has(name!)) shown.set(name!, Object.keys(instances).length === 0 ? undefined : instances)
  }
  return shown
}

/** Our answer in the same form; instance numbers may differ, because PCP keeps its own across restarts. */
function shownOf(answer: Answer): Shown {
  if (answer === null || typeof answer !== 'object' || answer instanceof Uint8Array)
    return answer === null ? undefined : textOf(answer)
  if ('error' in answer) return undefined
  return Object.fromEntries(
    Object.entries(answer).map(([instance, value]) => [
      instance.slice(instance.indexOf(' ') + 1),
      textOf(value),
    ]),
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? `"${value}"` : String(value))

/** How far a level may lie outside what the reference said before and after: it moves both ways, counters do not. */
const LEVEL_SLACK = { share: 0.1, number: 32 } as const
/** How often what did not fit is asked again: on a busy machine a level may have a peak between two questions. */
const ROUNDS = 6

/** Is `value` one of the two, or a number between them? Floating point numbers are printed to some eight digits. */
function liesBetween(before: string, value: string, after: string, sem: number): boolean {
  if (value === before || value === after) return true
  const [low, high] = [before, after].map(Number).sort((a, b) => a - b) as [number, number]
  const mid = Number(value)
  const slack =
    sem === PM_SEM_INSTANT
      ? Math.max(LEVEL_SLACK.number, Math.abs(mid) * LEVEL_SLACK.share)
      : Math.abs(mid) * 1e-7
  return mid >= low - slack && mid <= high + slack
}

/** Why a metric's answer does not fit between the reference's two, or how many values were compared. */
function compare(before: Shown, ours: Shown, after: Shown, sem: number): string | number {
  if (shapeOf(ours) !== shapeOf(before) && shapeOf(ours) !== shapeOf(after))
    return `${shapeOf(before)} / ${shapeOf(ours)} / ${shapeOf(after)}`
  if (ours === undefined) return 0
  const values = Object.entries(typeof ours === 'string' ? { '': ours } : ours)
  for (const [inst, value] of values) {
    const [low, high] = [valueAt(before, inst) ?? value, valueAt(after, inst) ?? value]
    if (!liesBetween(low, value, high, sem)) return `[${inst}] ${low} / ${value} / ${high}`
  }
  return values.length
}

/** What was compared of the metrics whose names begin alike. */
interface Tally {
  metrics: number
  /** Values compared: counters and facts, and levels, which are only held to a bound. */
  values: number
  levels: number
  /** Metrics without value on both sides, and those that differ on purpose. */
  none: number
  deviations: number
}

test.skipIf(!hasBoth)('has the instances of the reference, and its values between its answers', async () => {
  const agent = openFixture('/')
  const names = [...agent.names()].map(([name]) => name)
  const descs = await agent.descs(
    [...agent.names()].map(([, id]) => id),
    ASK,
  )
  const groups = new Map<string, Tally>()
  const tallyOf = (name: string): Tally => {
    const group = name.split('.', 1)[0]!
    const tally = groups.get(group) ?? { metrics: 0, values: 0, levels: 0, none: 0, deviations: 0 }
    groups.set(group, tally)
    return tally
  }
  const sems = new Map<string, number>()
  for (const [i, name] of names.entries()) {
    const desc = descs[i]!
    if (isError(desc)) throw desc
    const tally = tallyOf(name)
    tally.metrics++
    if (Object.values(DEVIATIONS).some((pattern) => pattern.test(name))) tally.deviations++
    else sems.set(name, desc.sem)
  }

  let wrong: string[] = []
  for (let round = 0; round < ROUNDS && sems.size > 0; round++) {
    wrong = []
    const before = await pminfo([...sems.keys()])
    const ours = await allAnswers(agent, [...sems.keys()])
    const after = await pminfo([...sems.keys()])
    for (const [name, sem] of sems) {
      const result = compare(before.get(name), shownOf(ours[name]!), after.get(name), sem)
      if (typeof result === 'string') {
        wrong.push(`${name}: ${result}`)
        continue
      }
      sems.delete(name)
      const tally = tallyOf(name)
      if (result === 0) tally.none++
      else if (sem === PM_SEM_INSTANT) tally.levels += result
      else tally.values += result
    }
  }
  await agent.close()

  const { share, number } = LEVEL_SLACK
  console.log(
    `levels are compared to within ${share * 100} % or ${number}, the rest must be between two answers`,
  )
  for (const [group, { metrics, values, levels, none, deviations }] of groups)
    console.log(
      `${group}: ${metrics} metrics; ${values} values, ${levels} levels; ${none} without value on both sides, ${deviations} deviations`,
    )
  expect(wrong).toEqual([])
})

/** What can be compared of any metric: whether there are values, and for which instances. */
function shapeOf(shown: Shown): string {
  if (shown === undefined) return 'none'
  return typeof shown === 'string' ? 'one' : Object.keys(shown).sort().join(' ')
}

function valueAt(shown: Shown, instance: string): string | undefined {
  return typeof shown === 'object' ? shown[instance] : shown
}
