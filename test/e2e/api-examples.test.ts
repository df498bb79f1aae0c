/** The examples in docstrings, which editors show: each compiles, and runs without an error against a collector. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createArchive } from '../../src/archive.ts'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'

const top = process.cwd()
const ENTRIES = {
  'pcp-ts': 'src/index.ts',
  'pcp-ts/local': 'src/local.ts',
  'pcp-ts/archive': 'src/archive.ts',
  'pcp-ts/mmv': 'src/mmv/index.ts',
}

/** One example, named by the file and line that it is in. */
interface Example {
  readonly name: string
  readonly code: string
}

const examples = readdirSync(join(top, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file): Example[] => {
    const text = readFileSync(join(top, 'src', file), 'utf8')
    return Array.from(text.matchAll(/^ *\* @example\n((?: *\*(?! @|\/).*\n)+)/gm), ({ 1: body, index }) => ({
      name: `${file.replace(/\W/g, '-')}-${text.slice(0, index).split('\n').length}`,
      code: body!.replace(/^ *\* ?/gm, ''),
    }))
  })

/** Metrics that `known` gets in its example, as `pmgenmap --typescript` writes them. */
const KNOWN = `
const NUMCPU = 'hinv.ncpu'
const LOADAV = 'kernel.all.load'
const pmclient_init = {
  [NUMCPU]: { pmid: 0, type: 'u32', sem: 'discrete', hasInstances: false, units: '' },
  [LOADAV]: { pmid: 0, type: 'float', sem: 'instant', hasInstances: true, units: '' },
} as const
`

/** A program of an example: with what it takes for granted, hosts and archives that exist, and an end of its loops. */
function programOf({ code }: Example, archive: string): string {
  const body = code
    .replace(/'db1\.example\.com'/g, "'local:'")
    .replace(/'\/var\/log\/pcp\/[^']*'/g, JSON.stringify(archive))
    .replace(/every: '\d+s'/g, "every: '10ms', count: 2")
  const needs = (name: string): boolean =>
    new RegExp(`\\b${name}\\b`).test(body) && !new RegExp(`const ${name}\\b`).test(body)
  return [
    "import * as all from 'pcp-ts'",
    "import type { Columns } from 'pcp-ts'",
    "import * as local from 'pcp-ts/local'",
    "import * as archives from 'pcp-ts/archive'",
    'const { connect, known, registerDerived, FetchGroup } = all',
    'const { openLocal } = local',
    'const { openArchive } = archives',
    needs('pmclient_init') ? KNOWN : '',
    needs('pcp') ? 'await using pcp = await connect()' : '',
    body,
    'export type Used = Columns',
  ].join('\n')
}

let dir: string
let collector: CollectorProcess

beforeAll(async () => {
  collector = await startCollectorProcess('linux,sample')
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-examples-'))
  const archive = join(dir, 'archive')
  const made = createArchive(archive)
  made.addMetric('kernel.all.load', { indom: 'loads' })
  made.put('kernel.all.load', 1, '1 minute')
  made.write({ sec: 1000, nsec: 0 })
  made.close()
  for (const example of examples) writeFileSync(join(dir, `${example.name}.mts`), programOf(example, archive))
  await build({
    entryPoints: examples.map(({ name }) => join(dir, `${name}.mts`)),
    outdir: join(dir, 'built'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    alias: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, join(top, file)])),
    external: ['koffi'],
    logLevel: 'error',
  })
})
afterAll(async () => {
  await collector.stop()
  rmSync(dir, { recursive: true })
})

test('there are examples of the calls that people begin with', () => {
  const all = examples.map(({ code }) => code).join()
  for (const call of [
    'connect(',
    'openLocal(',
    'openArchive(',
    '.sample(',
    '.table(',
    'known(',
    'FetchGroup.over(',
  ])
    expect(all).toContain(call)
})

// Minutes on a busy machine.
test('every example compiles', { timeout: 600_000 }, () => {
  const paths = Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, [join(top, file)]]))
  const config = {
    extends: join(top, 'tsconfig.json'),
    compilerOptions: {
      paths,
      typeRoots: [join(top, 'node_modules/@types')],
      isolatedDeclarations: false,
      declaration: false,
    },
    include: ['*.mts'],
  }
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
  const tsc = spawnSync(join(top, 'node_modules/.bin/tsc'), ['-p', dir], { encoding: 'utf8' })
  expect(tsc.stdout.split('\n').filter((line) => /^\S+\.mts\(/.test(line))).toEqual([])
})

test.each(examples)('$name runs', ({ name }) => {
  const env = {
    PATH: process.env['PATH'],
    PCP_CONF: join(collector.dir, 'etc', 'pcp.conf'),
    PCP_DERIVED_CONFIG: '',
  }
  const run = spawnSync(process.execPath, [join(dir, 'built', `${name}.mjs`)], {
    cwd: dir,
    env,
    encoding: 'utf8',
  })
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' })
  const codes = Array.from(run.stdout.matchAll(/code: '(\w+)'/g), ([, code]) => code)
  expect(codes.filter((code) => code !== 'PM_ERR_AGAIN')).toEqual([])
})
