/** Control groups beside PCP 6.0.3, both over the same fixture trees: test/vectors/proc/*.json hold what PCP answered. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openProc, type Printed, printed } from '../../lib/proc-agent.ts'

/** Where we differ on purpose, and why. Only shrinks. */
const DEVIATIONS: { readonly [tree: string]: { readonly [reason: string]: RegExp } } = {
  v1: {
    'PCP takes clock ticks for milliseconds': /^cgroup\.cpuacct\.stat\./,
    'PCP does not find groups with net_cls alone': /^cgroup\.netclass\./,
  },
  v2: {
    'PCP does not read the sets of version 2': /^cgroup\.cpuset\.(cpus|mems)$/,
    'PCP shows 0 for a file that version 2 does not have': /^cgroup\.cpuacct\.stat\./,
    'PCP takes whole numbers for floating point ones': /^cgroup\.pressure\..*\.avg/,
  },
}

test.each(['v1', 'v2'])('values of control groups of %s match those of PCP', async (tree) => {
  const path = new URL(`../../vectors/proc/${tree}.json`, import.meta.url)
  const { values } = JSON.parse(readFileSync(path, 'utf8')) as { values: Record<string, Printed> }
  const names = Object.keys(values)
  const agent = openProc(tree, { PROC_HERTZ: '100' })
  const ours = await printed(agent, names)
  await agent.close()
  const reasons = Object.values(DEVIATIONS[tree]!)
  let count = 0
  for (const name of names) {
    const isDeviation = reasons.some((pattern) => pattern.test(name))
    if (isDeviation) expect.soft(ours[name], `${name} no longer deviates`).not.toEqual(values[name])
    else {
      expect.soft(ours[name], name).toEqual(values[name])
      count += typeof values[name] === 'object' ? Object.keys(values[name] ?? {}).length : 1
    }
  }
  console.log(`${tree}: ${names.length} metrics, ${count} values as PCP has them`)
})
