/** Examples in docstrings, which editors show: each compiles and runs without an error against a collector. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createArchive } from '../../src/archive.ts'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'
import { bundleExamples, typeErrors } from '../lib/example-programs.ts'

const top = process.cwd()

/** One example, named by its file and line. */
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

/** Metrics for the example of `known`, as `pmgenmap --typescript` writes them. */
const KNOWN = `
const NUMCPU = 'hinv.ncpu'
const LOADAV = 'kernel.all.load'
const pmclient_init = {
  [NUMCPU]: { pmid: 0, type: 'u32', sem: 'discrete', hasInstances: false, units: '' },
  [LOADAV]: { pmid: 0, type: 'float', sem: 'instant', hasInstances: true, units: '' },
} as const
`

/** Returns the program of an example, completed with imports, existing hosts and archives, and an end for its loops. */
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
  await bundleExamples(
    dir,
    examples.map(({ name }) => name),
  )
})
afterAll(async () => {
  await collector.stop()
  rmSync(dir, { recursive: true })
})

test('the calls that beginners need have examples', () => {
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
  expect(typeErrors(dir)).toEqual([])
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
