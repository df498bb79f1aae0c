/** Network, vfs, vmstat, memory zones and NUMA beside PCP 6.0.3, both over one fixture tree. */
import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { allAnswers, openFixture } from '../../lib/linux-agent.ts'

type Recorded = string | null | Readonly<Record<string, string>>

const { values } = JSON.parse(
  readFileSync(new URL('../../vectors/linux/busy-network.json', import.meta.url), 'utf8'),
) as { values: Readonly<Record<string, Recorded>> }

const agent = openFixture('busy-network', { LINUX_PAGESIZE: '4096' })
afterAll(() => agent.close())

/** Values as pminfo prints them. `withNumbers` keeps the number before an instance's name. */
function printed(answer: unknown, withNumbers: boolean): unknown {
  if (typeof answer !== 'object' || answer === null) return answer === null ? null : String(answer)
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      withNumbers ? name : name.slice(name.indexOf(' ') + 1),
      String(value),
    ]),
  )
}

test('says of every recorded metric what the reference says', async () => {
  const names = Object.keys(values)
  const found = await allAnswers(agent, names)
  let count = 0
  for (const name of names) {
    const recorded = values[name]!
    const withNumbers = !/_(addr|scope)$/.test(name)
    expect.soft(printed(found[name], withNumbers), name).toEqual(recorded)
    count += typeof recorded === 'object' && recorded !== null ? Object.keys(recorded).length : 1
  }
  console.log(`busy-network: ${names.length} metrics, ${count} values as PCP has them`)
})
