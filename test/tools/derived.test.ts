/** Derived metrics of commands: from files and from -r. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tool as pminfo } from '../../src/tools/pminfo/index.ts'
import { tool as pmprobe } from '../../src/tools/pmprobe.ts'
import { datasetSource } from '../derive/dataset.ts'
import { runTool } from './run-tool.ts'

let dir = ''

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'derived-tools-'))
})

afterEach(() => rmSync(dir, { recursive: true }))

/** Writes a file of definitions. */
function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}

test('pminfo -c shows the metrics of a file', async () => {
  const path = file('main', 'd.kb = m.a.kb * 2\nd.kb(oneline) = twice\nd.bad = m.a.kb + m.b.val\n')
  const { stdout, stderr, status } = await runTool(
    pminfo,
    ['-c', path, '-d', '-f', '-t', 'd'],
    datasetSource(),
    {
      PCP_DERIVED_CONFIG: '',
    },
  )
  expect(stdout).toBe(
    '\nd.kb [twice]\n' +
      '    Data Type: 32-bit unsigned int  InDom: 245.1 0x3d400001\n' +
      '    Semantics: instant  Units: Kbyte\n' +
      '    inst [1 or "one"] value 2048\n' +
      '    inst [2 or "two"] value 0\n' +
      '    inst [3 or "three bis"] value 14\n',
  )
  expect(stderr).toBe('Semantic error: derived metric d.bad: m.a.kb + m.b.val: Dimensions are not the same\n')
  expect(status).toBe(0)
})

test('reads the files named in the environment', async () => {
  const PCP_DERIVED_CONFIG = `${file('a', 'd.a = 1\n')}:${file('b', 'd.b = 1 +\n')}`
  const { stdout, stderr } = await runTool(pminfo, ['d'], datasetSource(), { PCP_DERIVED_CONFIG })
  expect(stdout).toBe('d.a\n')
  expect(stderr).toContain('/b:1] Error: pmRegisterDerived(d.b, ...) syntax error\n 1 +\n   ^\n')
})

test('pmprobe --derived reads them too', async () => {
  const path = file('main', 'd.sum = sum(m.a.cnt)\n')
  const { stdout } = await runTool(pmprobe, ['--derived', path, '-v', 'd.sum'], datasetSource(), {
    PCP_DERIVED_CONFIG: '',
  })
  expect(stdout).toBe('d.sum 1 60\n')
})

test('pminfo -r defines one metric', async () => {
  const env = { PCP_DERIVED_CONFIG: '' }
  const good = await runTool(pminfo, ['-r', 'd.x=sum(m.a.cnt)', '-f', 'd.x'], datasetSource(), env)
  expect(good.stdout).toBe('\nd.x\n    value 60\n')
  const bad = await runTool(pminfo, ['-r', 'd.x=sum(', '-f', 'd.x'], datasetSource(), env)
  expect(bad.stderr).toContain('sum(\n   ^\nMetric name expected to follow sum(\n')
  expect(bad.status).toBe(1)
})

test('an unreadable file is an error', async () => {
  const { stderr, status } = await runTool(pmprobe, ['--derived', join(dir, 'none'), 'd'], datasetSource())
  expect(stderr).toBe('pmprobe: pmLoadDerivedConfig failed: No such file or directory\n')
  expect(status).toBe(1)
})

test('pminfo continues with the definitions before an unreadable file', async () => {
  const path = file('good', 'd.one = m.a.cnt\n')
  const list = [path, join(dir, 'none'), join(dir, 'never')].join(':')
  const { stdout, stderr, status } = await runTool(pminfo, ['--derived', list, 'd'], datasetSource())
  expect(stderr).toBe('pminfo: derived configuration(s) error: No such file or directory\n')
  expect(stdout).toBe('d.one\n')
  expect(status).toBe(0)
})
