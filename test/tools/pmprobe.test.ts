import { expect, test } from 'vitest'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { tool } from '../../src/tools/pmprobe.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { onDisk, sampleArchive } from './archive-runner.ts'
import { runTool } from './run-tool.ts'

const pmprobe = (...args: string[]): ReturnType<typeof runTool> => runTool(tool, args, openAgent(demoAgent))

test('counts values, and shows errors', async () => {
  const { status, stdout } = await pmprobe('nosuch', 'demo.bin', 'demo.none', 'demo.broken')
  expect(status).toBe(0)
  expect(stdout).toBe(
    'nosuch -12357 Unknown metric name\ndemo.bin 2\ndemo.none 0\n' +
      'demo.broken -12389 Try again. Information not currently available\n',
  )
})

test('lists values', async () => {
  expect((await pmprobe('-v', 'demo.text', 'demo.bin')).stdout).toBe(
    'demo.text 1 "hello"\ndemo.bin 2 20 10\n',
  )
})

test('lists instances by number, by name, or both', async () => {
  expect((await pmprobe('-i', 'demo.bin')).stdout).toBe('demo.bin 2 ?2 ?1\n')
  expect((await pmprobe('-I', 'demo.bin', 'demo.one')).stdout).toBe(
    'demo.bin 2 "second bin" "first"\ndemo.one 1 PM_IN_NULL\n',
  )
  expect((await pmprobe('-iI', 'demo.bin')).stdout).toBe('demo.bin 2 ?2 "second bin" ?1 "first"\n')
})

test('with -f lists the instance domain without a fetch', async () => {
  expect((await pmprobe('-f', '-i', 'demo.bin', 'demo.broken')).stdout).toBe(
    'demo.bin 2 ?2 ?1\ndemo.broken 1 PM_IN_NULL\n',
  )
})

test('with -F treats every name as a metric', async () => {
  expect((await pmprobe('-F', 'demo')).stdout).toBe('demo -12394 Metric name is not a leaf in PMNS\n')
})

test('with -F shows an inner node as a metric without records', async () => {
  const { path, remove } = onDisk(sampleArchive())
  try {
    const { stdout } = await runTool(tool, ['-a', path, '-F', 't.counter', 't', 'nosuch'])
    expect(stdout).toBe(
      't.counter 1\nt -12370 End of PCP archive log (pmFetch)\nnosuch -12370 End of PCP archive log (pmFetch)\n',
    )
    expect((await runTool(tool, ['-a', path, '-F', '-v', 't', 't.counter'])).stdout).toBe(
      't -12370 End of PCP archive log (pmFetch)\nt.counter 1 0\n',
    )
  } finally {
    remove()
  }
})

test.each([
  ['-vi', ['-i and -v']],
  ['-vI', ['-I and -v']],
  ['-iv', ['-v and (-i or -I)']],
  ['-viI', ['-i and -v', '-I and -v']],
  ['-ivI', ['-v and (-i or -I)', '-I and -v']],
])('refuses to list values and instances together: %s', async (options, pairs) => {
  const { status, stderr } = await pmprobe(options, 'demo.one')
  expect(status).toBe(1)
  expect(stderr.slice(0, stderr.indexOf('Usage: pmprobe '))).toBe(
    pairs.map((pair) => `pmprobe: at most one of ${pair} allowed\n`).join(''),
  )
})

test('sends requests in batches', async () => {
  expect((await pmprobe('-b', '1', 'demo.one', 'demo.text')).stdout).toBe('demo.one 1\ndemo.text 1\n')
})
