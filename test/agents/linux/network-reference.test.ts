/** Network, vfs, vmstat, memory zones, NUMA, NFS, IPC and rarer devices beside PCP 6.0.3, both over the same fixture trees. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allAnswers, openFixture } from '../../lib/linux-agent.ts'

type Recorded = string | null | Readonly<Record<string, string>>

/** Where we differ on purpose, and why. Only shrinks. */
const DEVIATIONS: { readonly [reason: string]: RegExp } = {
  'PCP shows 0 for what no kernel counts': /^rpc\.server\.fh_(cached|valid|fixup|concurrent)$/,
  'PCP exchanges bytes received and frames sent': /^fchost\.(in\.bytes|out\.frames)$/,
  'PCP shows 0 for what a driver does not count': /^fchost\.(lip|nos)_count$/,
  'PCP shows the packets by TCP again': /^rpc\.server\.nettcpconn$/,
}

/** Instances that PCP numbers in the order of a directory; their numbers are left out. */
const BY_DIRECTORY = /_(addr|scope)$|^(tape\.dev|fchost)\./

/** Values as pminfo prints them. `withNumbers` keeps the number before an instance's name. */
function printed(answer: unknown, withNumbers: boolean): unknown {
  if (typeof answer !== 'object' || answer === null) return answer === null ? null : text(answer)
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      withNumbers ? name : name.slice(name.indexOf(' ') + 1),
      text(value),
    ]),
  )
}

/** A float to the eight digits that pminfo prints. */
function text(value: unknown): string {
  return String(typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(8)) : value)
}

test.each(['busy-network', 'nfs', 'ipc', 'devices'])(
  'values of the fixture tree %s match the reference',
  async (fixture) => {
    const path = new URL(`../../vectors/linux/${fixture}.json`, import.meta.url)
    const { values } = JSON.parse(readFileSync(path, 'utf8')) as {
      values: Readonly<Record<string, Recorded>>
    }
    const agent = openFixture(fixture, { LINUX_PAGESIZE: '4096', LINUX_ACCESS: '1' })
    const names = Object.keys(values)
    const found = await allAnswers(agent, names)
    await agent.close()
    let count = 0
    let deviations = 0
    for (const name of names) {
      const recorded = values[name]!
      const answer = printed(found[name], !BY_DIRECTORY.test(name))
      if (Object.values(DEVIATIONS).some((pattern) => pattern.test(name))) {
        expect.soft(answer, `${name} no longer deviates`).not.toEqual(recorded)
        deviations++
        continue
      }
      expect.soft(answer, name).toEqual(recorded)
      count += typeof recorded === 'object' && recorded !== null ? Object.keys(recorded).length : 1
    }
    console.log(
      `${fixture}: ${names.length} metrics, ${count} values as PCP has them, ${deviations} deviations`,
    )
  },
)
