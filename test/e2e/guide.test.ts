/** The programs of docs/guide: each compiles, runs against a collector, and prints what the page says. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'

const top = process.cwd()
const guide = join(top, 'docs', 'guide')
const ENTRIES = {
  'pcp-ts/pmapi': 'src/pmapi/index.ts',
  'pcp-ts/local': 'src/local.ts',
  'pcp-ts/archive': 'src/archive.ts',
  'pcp-ts/derive': 'src/derive.ts',
  'pcp-ts/pmda': 'src/pmda/index.ts',
  'pcp-ts/mmv': 'src/mmv/index.ts',
  'pcp-ts/node': 'src/node/index.ts',
}

interface Example {
  readonly page: string
  readonly name: string
  readonly program: string
  readonly output: string | undefined
}

const examples = readdirSync(guide).flatMap((page): Example[] => {
  const text = readFileSync(join(guide, page), 'utf8')
  const outputs = new Map(
    Array.from(text.matchAll(/^```text output=(\S+)\n(.*?)^```$/gms), ([, name, output]) => [name!, output!]),
  )
  return Array.from(text.matchAll(/^```ts example=(\S+)\n(.*?)^```$/gms), ([, name, program]) => ({
    page,
    name: name!,
    program: program!,
    output: outputs.get(name!),
  }))
})

let dir: string
let collector: CollectorProcess

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-guide-'))
  for (const { name, program } of examples) writeFileSync(join(dir, `${name}.mts`), program)
  collector = await startCollectorProcess('sample,simple,mmv,node')
  await build({
    entryPoints: examples.map(({ name }) => join(dir, `${name}.mts`)),
    outdir: join(dir, 'built'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
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

test('every page has programs, or is an overview, and every program has its output', () => {
  expect(examples.length).toBeGreaterThan(15)
  expect(examples.filter(({ output }) => output === undefined)).toEqual([])
  expect(new Set(examples.map(({ name }) => name)).size).toBe(examples.length)
  const listed = readFileSync(join(guide, 'README.md'), 'utf8')
  for (const page of readdirSync(guide)) if (page !== 'README.md') expect(listed).toContain(`(${page})`)
})

// Minutes on a busy machine.
test('every program compiles', { timeout: 600_000 }, () => {
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

test.each(examples)('$page: $name prints what it says', ({ name, output }) => {
  const cwd = join(dir, `run-${name}`)
  mkdirSync(cwd)
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  const env = {
    ...rest,
    PMCD_PORT: String(collector.port),
    PMCD_SOCKET: join(dir, 'no.socket'),
    PCP_DERIVED_CONFIG: '',
    PCP_TMP_DIR: join(collector.dir, 'lib', 'tmp'),
  }
  const run = spawnSync(process.execPath, [join(dir, 'built', `${name}.mjs`)], { cwd, env, encoding: 'utf8' })
  expect({ status: run.status, stderr: name === 'refused' ? '' : run.stderr }).toEqual({
    status: 0,
    stderr: '',
  })
  expect(run.stdout).toBe(output)
})
