import { afterEach, expect, test } from 'vitest'
import { clearDebug } from '../../src/model/debug.ts'
import { Debug } from '../../src/pmcd/debug.ts'

afterEach(() => clearDebug('all'))

test('what clients choose cannot look like further lines of the log', () => {
  const lines: string[] = []
  const debug = new Debug(new Set(['pmns']), (line) => lines.push(line))
  debug.say('pmns', 'Unknown metric name: "a\n[Fri Nov 20 09:22:51] pmcd(1) Error: \x1b[2J\u009bb"')
  debug.say('pdu', 'recv\n', '000: 1\n001: 2')
  expect(lines).toEqual([
    'pmns: Unknown metric name: "a\\x0a[Fri Nov 20 09:22:51] pmcd(1) Error: \\x1b[2J\\x9bb"',
    'pdu: recv\\x0a\n000: 1\n001: 2',
  ])
})
