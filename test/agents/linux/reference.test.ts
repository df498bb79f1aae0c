/** The linux agent beside PCP 6.0.3, both over the same fixture trees: test/vectors/linux/*.json hold what PCP answered. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allAnswers, openFixture } from '../../lib/linux-agent.ts'

interface Vector {
  readonly env: Readonly<Record<string, string>>
  readonly values: { readonly [metric: string]: unknown }
}

/** Where we differ on purpose, and why. Only shrinks. */
const DEVIATIONS: { readonly [fixture: string]: { readonly [reason: string]: RegExp } } = {
  server: {
    'PCP adds up the sizes of all paths to one disk': /^disk\.wwid\.capacity$/,
    'PCP loses the discards of all paths but the last': /^disk\.wwid\.discard_bytes$/,
    'PCP makes -1 up when mdadm cannot be run': /^disk\.md\.status$/,
  },
  uni: {
    'PCP shows 0 for columns an old kernel does not have':
      /^kernel\.(all|percpu|pernode)\.cpu\.(steal|guest|guest_nice|vuser|vnice)$/,
    'PCP shows 0 for files that are not there':
      /^(kernel\.all\.(entropy\.(avail|poolsize)|pid_max|nptys)|kernel\.(all|percpu)\.(softirqs.*|sirq)|swap\.pages(in|out))$/,
    'PCP shows 0 for what this kernel does not count':
      /^(swap\.(in|out)|kernel\.all\.interrupts\.missed|hinv\.cpu\.thermal_throttle\..*)$/,
    'PCP does not find the watermarks of /proc/zoneinfo': /^mem\.util\.available$/,
  },
}

for (const fixture of ['server', 'uni']) {
  test(`answers as PCP does over the fixture tree ${fixture}`, async () => {
    const path = new URL(`../../vectors/linux/${fixture}.json`, import.meta.url)
    const vector = JSON.parse(readFileSync(path, 'utf8')) as Vector
    const names = Object.keys(vector.values)
    const agent = openFixture(fixture, vector.env)
    const ours = await allAnswers(agent, names)
    await agent.close()

    const reasons = Object.values(DEVIATIONS[fixture]!)
    const deviating = (name: string): boolean => reasons.some((pattern) => pattern.test(name))
    const compared = names.filter((name) => !deviating(name))
    for (const name of compared) expect.soft(ours[name], name).toEqual(expected(vector.values[name]))
    console.log(
      `${fixture}: ${compared.length} metrics as PCP has them, ${names.length - compared.length} deviations`,
    )
    for (const name of names.filter(deviating))
      expect.soft(ours[name], `${name} no longer deviates`).not.toEqual(expected(vector.values[name]))
  })
}

/** Values in a vector are as pminfo prints them: floats to eight or nine digits. */
function expected(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isInteger(value))
    return expect.closeTo(value, 9 - Math.ceil(Math.log10(Math.abs(value) + 1)) - 1)
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expected(item)]))
  return value
}
