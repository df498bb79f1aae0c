/** The programs of docs/guide: each compiles, runs against a collector, and prints what the page says. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'
import { bundleExamples, typeErrors } from '../lib/example-programs.ts'

const guide = join(process.cwd(), 'docs', 'guide')

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
  await bundleExamples(
    dir,
    examples.map(({ name }) => name),
  )
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
  expect(typeErrors(dir)).toEqual([])
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
