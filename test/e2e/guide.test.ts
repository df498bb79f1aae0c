/** Programs on the pages compile, run against a collector, and print the output shown; other code compiles. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'
import { bundleExamples, typeErrors } from '../lib/example-programs.ts'

const docs = join(process.cwd(), 'docs')
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((page) => page.endsWith('.md'))

interface Example {
  readonly page: string
  readonly name: string
  readonly program: string
  readonly output: string | undefined
}

const examples = pages.flatMap((page): Example[] => {
  const text = readFileSync(join(docs, page), 'utf8')
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

/** Other code of pages: compiled, not run. A comment `<!-- given: CODE -->` above declares what the text around it provides. */
const snippets = pages.flatMap((page) =>
  Array.from(
    readFileSync(join(docs, page), 'utf8').matchAll(
      /(?:^<!-- file: (\S+) -->\n)?(?:^<!-- given: (.*?) -->\n)?^```(?:ts|js)\n(.*?)^```$/gms,
    ),
    ([, file, given = '', code], i) => ({
      file: file ?? `${page.replaceAll(/\W+/g, '-')}-${i}.mts`,
      code: `${given}\n${code}\nexport {}\n`,
    }),
  ),
)

let dir: string
let collector: CollectorProcess

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-guide-'))
  for (const { name, program } of examples) writeFileSync(join(dir, `${name}.mts`), program)
  for (const { file, code } of snippets) writeFileSync(join(dir, file), code)
  collector = await startCollectorProcess('sample,simple,mmv,node')
  await bundleExamples(
    dir,
    examples.map(({ name }) => name),
  )
  const files = join(dir, 'files')
  mkdirSync(files)
  const made = spawnSync(process.execPath, [join(dir, 'built', 'write-yesterday.mjs')], {
    cwd: files,
    encoding: 'utf8',
  })
  expect({ status: made.status, stderr: made.stderr }).toEqual({ status: 0, stderr: '' })
})
afterAll(async () => {
  await collector.stop()
  rmSync(dir, { recursive: true })
})

test('every program has a name of its own and its output', () => {
  expect(examples.length).toBeGreaterThan(15)
  expect(examples.filter(({ output }) => output === undefined)).toEqual([])
  expect(new Set(examples.map(({ name }) => name)).size).toBe(examples.length)
})

// Minutes on a busy machine.
test('every program and other code compiles', { timeout: 600_000 }, () => {
  expect(snippets.length).toBeGreaterThan(5)
  expect(typeErrors(dir)).toEqual([])
})

test.each(examples)('$page: $name prints the output shown', ({ name, output }) => {
  const cwd = join(dir, `run-${name}`)
  // Readers of an archive get the one that the page about archives writes first.
  if (name === 'write-yesterday') mkdirSync(cwd)
  else cpSync(join(dir, 'files'), cwd, { recursive: true })
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
