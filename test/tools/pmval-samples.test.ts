/** How pmval turns fetches over archives with gaps into rows. Expected rows are those of PCP 6.0.3. */
import { expect, test } from 'vitest'
import type { MetricSource } from '../../src/model/source.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { tool } from '../../src/tools/pmval/index.ts'
import { SampleLoop } from '../../src/tools/pmval/sample-loop.ts'
import { archive, desc, indom, mark, memoryFiles, result } from '../archive/build.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { runTool, testIo } from './run-tool.ts'

const [U32, COUNTER, INSTANT] = [1, 1, 3]
const DOMAIN = (9 << 22) | 1
const id = (item: number): number => (9 << 22) | item

/** Formats the rows for statuses of fetches: v value, r rate, n nothing, m mark, - no row. */
function shown(isRate: boolean, samples: number, statuses: readonly (number | undefined)[]): string {
  const loop = new SampleLoop(isRate, samples)
  let text = ''
  for (const status of statuses) {
    if (!loop.begin()) break
    const row = loop.next(status)
    text += row === 'none' ? '-' : row === 'suspended' ? 'm' : row[0]!
  }
  return text
}

test('a rate takes a second fetch if the previous fetch had no values', () => {
  expect(shown(true, 3, [1, 1, 1, 1, 1])).toBe('-rrr')
  expect(shown(true, 3, [0, 0, 0, 0])).toBe('nnn')
  expect(shown(true, 3, [0, 1, 1, 1, 1])).toBe('nnrr')
  expect(shown(true, 5, [1, 1, 0, 0, 1, 1, 1, 1])).toBe('-rnnnrr')
  expect(shown(true, 2, [1, 0, 1, 1, 1])).toBe('-n-r')
  expect(shown(true, 0, [1, 1])).toBe('')
})

test('raw values take one fetch each, including marks', () => {
  expect(shown(false, 3, [1, undefined, 1, 1])).toBe('vmv')
  expect(shown(true, 4, [1, 1, undefined, 1, 1, 1, 1])).toBe('-rm-rr')
  expect(shown(true, 4, [undefined, 1, 1, 1, 1])).toBe('mnrrr')
})

test('an error has no row, and the next rate is missing', () => {
  expect(shown(true, 4, [1, 1, -12357, 1, 1, 1, 1])).toBe('-r-nrr')
})

/** A counter and two instances: at 0, 1, 2 s, then a mark, then at 6, 7, 8 s. */
const files = memoryFiles(
  archive('a', {
    start: 0,
    meta: [
      desc({ pmid: id(1), type: U32, sem: COUNTER, indom: -1, units: 1 << 20 }, 'm.count'),
      desc({ pmid: id(2), type: U32, sem: INSTANT, indom: DOMAIN }, 'm.two'),
      indom(3, 0, DOMAIN, [
        [1, '0001 init'],
        [2, '0002 sh'],
      ]),
    ],
    volumes: [
      [0, 1, 2, 5, 6, 7, 8].map((time) => {
        if (time === 5) return mark(3, time)
        const two: [number, number][] = [
          [1, time],
          [2, 10 * time],
        ]
        return result(
          3,
          time,
          { pmid: id(1), type: U32, values: [[-1, 100 * time]] },
          { pmid: id(2), type: U32, values: two },
        )
      }),
    ],
  }),
)

async function rows(...args: string[]): Promise<{ readonly rows: string[]; readonly stderr: string }> {
  const io = testIo('pmval', ['-z', ...args], { PCP_DERIVED_CONFIG: '' })
  const open: typeof openArchive = (list, rest) => openArchive(list, { ...rest, files })
  try {
    await tool.run({ ...io, openArchive: open })
  } catch (error) {
    io.stderr.write((error as Error).message)
  }
  const lines = io.printed.stdout.split('\n').filter((line) => /^\d\d:/.test(line))
  return { rows: lines.map((line) => line.replace(/ +/g, ' ').trim()), stderr: io.printed.stderr }
}

test('-s counts rows of rates across a gap', async () => {
  const expected = [
    '00:00:01.000 100.0',
    '00:00:02.000 100.0',
    '00:00:03.000 No values available',
    '00:00:04.000 No values available',
    '00:00:05.000 No values available',
    '00:00:06.000 No values available',
    '00:00:07.000 100.0',
  ]
  expect((await rows('-a', 'a', '-t', '1', '-s', '6', 'm.count')).rows).toEqual(expected)
  expect((await rows('-U', 'a', '-s', '4', 'm.count')).rows).toEqual([
    '00:00:01.000 100.0',
    '00:00:02.000 100.0',
    '00:00:05.000 Archive logging suspended',
    '00:00:07.000 100.0',
  ])
})

test('-x is ignored for archives', async () => {
  const { rows: shown, stderr } = await rows('-a', 'a', '-s', '1', '-x', 'foo', 'm.two')
  expect({ shown, stderr }).toEqual({ shown: ['00:00:00.000 0 0'], stderr: '' })
})

test('an instance given twice has two columns', async () => {
  expect((await rows('-a', 'a', '-O', '+1', '-s', '1', '-i', '0002,"0002 sh"', 'm.two')).rows).toEqual([
    '00:00:01.000 10 10',
  ])
})

test('agents map names to instances', async () => {
  const agent: MetricSource = openAgent(demoAgent)
  const instances = agent.instances.bind(agent)
  // Agents of processes also accept a PID.
  const source = Object.assign(agent, {
    instances: (...[domain, query, ask]: Parameters<MetricSource['instances']>) =>
      instances(domain, query && 'name' in query && query.name === '2' ? { name: 'second bin' } : query, ask),
  })
  const { stdout } = await runTool(tool, ['-s', '1', '-w', '5', '-i', '2', 'demo.bin'], source)
  expect(stdout).toMatch(/\n {4}2 \n {3}20 \n$/)
})

test('-x stores into every instance shown', async () => {
  const args = ['-s', '1', '-w', '7', '-x', '7', 'demo.bin']
  expect((await runTool(tool, args, openAgent(demoAgent))).stdout).toMatch(/\n {6}7 {7}7 \n$/)
})
