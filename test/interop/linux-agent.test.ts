/** Our linux agent and the reference's on this machine: theirs, ours, theirs again; counters must lie between. */
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

/** Is `value` one of the two, or a number between them? Floating point numbers are printed to some eight digits. */
function liesBetween(before: string, value: string, after: string): boolean {
  if (value === before || value === after) return true
  const [low, mid, high] = [before, value, after].map(Number) as [number, number, number]
  const slack = Math.abs(mid) * 1e-7
  return mid >= low - slack && mid <= high + slack
}

test.skipIf(!hasBoth)('has the instances of the reference, and counters between its answers', async () => {
  const agent = openFixture('/')
  const names = [...agent.names()].map(([name]) => name)
  const descs = await agent.descs(
    [...agent.names()].map(([, id]) => id),
    ASK,
  )
  const before = await pminfo(names)
  const ours = await allAnswers(agent, names)
  const after = await pminfo(names)
  await agent.close()

  const wrong: string[] = []
  let values = 0
  let deviations = 0
  for (const [i, name] of names.entries()) {
    if (Object.values(DEVIATIONS).some((pattern) => pattern.test(name))) {
      deviations++
      continue
    }
    const desc = descs[i]!
    if (isError(desc)) throw desc
    const [a, b, c] = [before.get(name), shownOf(ours[name]!), after.get(name)]
    if (shapeOf(b) !== shapeOf(a) && shapeOf(b) !== shapeOf(c)) {
      wrong.push(`${name}: ${shapeOf(a)} / ${shapeOf(b)} / ${shapeOf(c)}`)
      continue
    }
    if (b === undefined || desc.sem === PM_SEM_INSTANT) continue
    for (const [inst, value] of Object.entries(typeof b === 'string' ? { '': b } : b)) {
      const [low, high] = [valueAt(a, inst) ?? value, valueAt(c, inst) ?? value]
      values++
      if (!liesBetween(low, value, high)) wrong.push(`${name}[${inst}]: ${low} / ${value} / ${high}`)
    }
  }
  console.log(
    `${names.length - deviations} metrics, ${values} values beside the reference; ${deviations} deviations`,
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
