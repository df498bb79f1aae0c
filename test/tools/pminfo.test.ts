import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { tool } from '../../src/tools/pminfo/index.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { runTool } from './run-tool.ts'

const pminfo = (...args: string[]): ReturnType<typeof runTool> => runTool(tool, args, openAgent(demoAgent))

const dir = mkdtempSync(join(tmpdir(), 'pminfo-'))
afterAll(() => rmSync(dir, { recursive: true }))

test('lists names from a file without a source', async () => {
  const file = join(dir, 'names')
  writeFileSync(file, 'root {\n\ta\t250:0:0\n\tb\t250:0:3\n\tc\t250:0:3\n}\n')
  expect(await runTool(tool, ['-m', '-n', file, '250.0.3', 'a'])).toMatchObject({
    status: 0,
    stdout: 'c PMID: 250.0.3\na PMID: 250.0.0\n',
  })
  expect((await pminfo('-f', '-n', file, 'a', 'b')).stdout).toBe('\na\n    value 1\n\nb\n    value "hello"\n')
  const { status, stdout, stderr } = await pminfo('-N', file)
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'Error Parsing ASCII PMNS: Duplicate metric id (250.0.3) in name space for metrics "c" and "b"\n\n' +
      `pminfo: Cannot load namespace from "${file}": Problems parsing PMNS definitions\n`,
  })
})

test('lists all names in name space order, those in event records last', async () => {
  const { status, stdout } = await pminfo()
  expect(status).toBe(0)
  const names = stdout.split('\n')
  expect(names[0]).toBe('demo.one')
  expect(names.slice(-3)).toEqual(['event.flags', 'event.missed', ''])
})

test('shows descriptors, PMIDs and help', async () => {
  expect((await pminfo('-dmtT', 'demo.one')).stdout).toBe(`
demo.one PMID: 250.0.0 [Always one]
    Data Type: 32-bit int  InDom: PM_INDOM_NULL 0xffffffff
    Semantics: instant  Units: none
Help:
It never changes.
`)
  expect((await pminfo('-M', 'demo.bin')).stdout).toBe('demo.bin PMID: 250.0.8 = 1048576008 = 0x3e800008\n')
  expect((await pminfo('-1', 'demo.big')).stdout).toBe(
    'demo.big\ndemo.big\t64-bit unsigned int\tPM_INDOM_NULL 0xffffffff\tinstant\tbyte\n',
  )
})

test('a timeout for descriptors is reported for each metric', async () => {
  const source = openAgent(demoAgent)
  source.descs = () => Promise.reject(new PcpError('PM_ERR_TIMEOUT', 'pmcd at here sent no DESC'))
  const late = 'pmLookupDesc: Timeout waiting for a response from PMCD'
  expect((await runTool(tool, ['-f', 'demo.one', 'demo.big'], source)).stdout).toBe(
    `demo.one: ${late}\ndemo.big: ${late}\n`,
  )
})

test('shows values, and errors instead of values', async () => {
  expect(
    (await pminfo('-f', 'demo.big', 'demo.real', 'demo.text', 'demo.bin', 'demo.none', 'demo.broken')).stdout,
  ).toBe(`
demo.big
    value 18446744073709551615

demo.real
    value 0.1

demo.text
    value "hello"

demo.bin
    inst [2 or "second bin"] value 20
    inst [1 or "first"] value 10

demo.none
No value(s) available!

demo.broken
Error: Try again. Information not currently available
`)
})

test('shows event records, in the given zone', async () => {
  expect((await pminfo('-x', '-Z', 'EAST-3', 'demo.events')).stdout).toBe(`
demo.events
    value [2 event records timestamps 04:01:01.250...04:01:02.000]
    --- event record [0] timestamp 04:01:01.250 flags 0x1 (point) ---
    demo.param.text (250.0.10)
        value "begin"
    demo.param.number (250.0.11)
        value -5
    demo.param.bytes (250.0.12)
        value [01ff]
    --- event record [1] timestamp 04:01:02.000 flags 0x80000000 (missed) ---
        ==> 3 missed event records
`)
})

test('shows labels of metrics, instances and domains', async () => {
  expect((await pminfo('-l', 'demo.bin')).stdout).toBe(`
demo.bin
    labels {"kind":"bin","role":"demo"}
    inst [2 or "second bin"] labels {"bin":2,"kind":"bin","role":"demo"}
    inst [1 or "first"] labels {"bin":1,"kind":"bin","role":"demo"}
`)
  expect((await pminfo('-ltTI', '250.1')).stdout).toBe(`
InDom: 250.1 = 1048576001 = 0x3e800001
    [Two bins]
    labels {"kind":"bin","role":"demo"}
Help:
Their names show blanks.
`)
})

test('verify mode shows only errors', async () => {
  const { stdout } = await pminfo('-v', 'demo')
  const params = ['text', 'number', 'bytes']
    .map((name) => `demo.param.${name}: No value(s) available\n`)
    .join('')
  expect(stdout).toBe(
    `demo.none: No value(s) available\ndemo.broken: Try again. Information not currently available\n${params}`,
  )
  expect((await pminfo('-e', 'demo')).stdout).toBe(
    'demo.broken: Try again. Information not currently available\n',
  )
})

test('accepts PMIDs, and continues after unknown operands', async () => {
  const { status, stdout, stderr } = await pminfo('nosuch', '250.0.3', '9x')
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: 'demo.text\n',
    stderr: 'Error: nosuch: Unknown metric name\nError: 9x: Unknown metric name\n',
  })
})

test('shows series identifiers of a metric, and of its listed instances', async () => {
  const id = '[0-9a-f]{40}'
  expect((await pminfo('-s', 'demo.one')).stdout).toMatch(
    new RegExp(`^demo\\.one\n {4}Source: ${id}\n {4}Series: ${id}\n$`),
  )
  expect((await pminfo('-sf', 'demo.one')).stdout).toMatch(
    new RegExp(`^\ndemo\\.one\n {4}Source: ${id}\n {4}Series: ${id}\n {4}value 1\n$`),
  )
})

test('reports an archive that cannot be opened', async () => {
  expect((await pminfo('-a', '/no/such', 'demo')).stderr).toBe(
    'pminfo: Cannot open archive "/no/such": No such file or directory\n',
  )
})

test('reports errors with the usage text', async () => {
  const { status, stderr } = await pminfo('-b', 'x')
  expect(status).toBe(1)
  expect(stderr).toMatch(
    /^pminfo: -b requires numeric argument\nUsage: pminfo \[options\] \[metricname \| pmid \| indom\]\.\.\.\n\nGeneral options:\n {2}-a FILE, --archive=FILE\n {24}[a-z]/,
  )
})
