/** The metrics that `npm start` records are sufficient for the commands that summarise a machine. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { agent } from '../../src/agents/root/index.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { METRICS } from '../../src/tools/pmclient/activity.ts'
import { eventQuery } from '../../src/ui/annotations/events.ts'

const config = readFileSync(new URL('../../share/pmlogger/config.default', import.meta.url), 'utf8')
const recorded = Array.from(config.matchAll(/^ {4}([a-z][\w.]*)$/gm), ([, name]) => name!)
const isRecorded = (name: string): boolean =>
  recorded.some((node) => name === node || name.startsWith(`${node}.`))

test.each(METRICS)('pmclient -a finds %s', (name) => {
  expect(isRecorded(name)).toBe(true)
})

test.each(eventQuery({ from: 0, to: 1 }).names)('the page finds events in %s', (name) => {
  expect(isRecorded(name)).toBe(true)
})

test('no metric is in two statements', () => {
  const below = recorded.filter((name) =>
    recorded.some((other) => other !== name && name.startsWith(`${other}.`)),
  )
  expect([below, new Set(recorded).size]).toEqual([[], recorded.length])
})

test('every recorded metric of containers exists', async () => {
  const source = openAgent(agent)
  const known = new Set([...source.names()].map(([name]) => name))
  await source.close()
  const ofContainers = recorded.filter((name) => name.startsWith('containers.'))
  expect(ofContainers.length).toBeGreaterThan(20)
  expect(ofContainers.filter((name) => !known.has(name))).toEqual([])
})
