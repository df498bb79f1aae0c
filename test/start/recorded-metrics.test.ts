/** What `npm start` records is enough for the commands that show a machine at a glance. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { METRICS } from '../../src/tools/pmclient/activity.ts'

const config = readFileSync(new URL('../../share/pmlogger/config.default', import.meta.url), 'utf8')
const recorded = Array.from(config.matchAll(/^ {4}([a-z][\w.]*)$/gm), ([, name]) => name!)
const isRecorded = (name: string): boolean =>
  recorded.some((node) => name === node || name.startsWith(`${node}.`))

test.each(METRICS)('pmclient -a finds %s', (name) => {
  expect(isRecorded(name)).toBe(true)
})

test('no metric is in two statements', () => {
  const below = recorded.filter((name) =>
    recorded.some((other) => other !== name && name.startsWith(`${other}.`)),
  )
  expect([below, new Set(recorded).size]).toEqual([[], recorded.length])
})
