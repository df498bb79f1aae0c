/** Commands that change name space files, run concurrently. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parsePmns } from '../../src/pmns/parse.ts'

const command = (name: string): string => fileURLToPath(new URL(`../../bin/${name}`, import.meta.url))

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmns-tools-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function run(file: string, ...args: string[]): Promise<{ status: number | null; printed: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, PCP_VAR_DIR: dir, PCP_PMCDCONF_PATH: join(dir, 'pmcd.conf') }
    const child = spawn(process.execPath, [file, ...args], {
      cwd: dir,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        printed += chunk
      })
    child.once('close', (status) => resolve({ status, printed }))
  })
}

test('concurrent edits are all applied', async () => {
  writeFileSync(join(dir, 'root'), 'root {\n\tgone\t1:0:1\n\tkept\t1:0:2\n}\n')
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const [i, name] of names.entries()) writeFileSync(join(dir, name), `${name} {\n\tx\t2:0:${i}\n}\n`)
  writeFileSync(join(dir, 'pmcd.conf'), 'g 3 pipe binary g\n')
  writeFileSync(join(dir, 'root_g'), 'root {\n\tg\t3:0:0\n}\n')
  const ended = await Promise.all([
    ...names.map((name) => run(command('pmnsadd'), '-n', 'root', name)),
    run(command('pmnsdel'), '-n', 'root', 'gone'),
    run(command('Rebuild')),
    run(command('Rebuild')),
  ])
  for (const end of ended) expect(end).toEqual({ status: 0, printed: '' })
  const { pmns } = parsePmns(readFileSync(join(dir, 'root'), 'utf8'))
  expect(pmns!.traverse().sort()).toEqual([...names.map((name) => `${name}.x`), 'g', 'kept'].sort())
  expect(readdirSync(dir).sort()).toEqual([...names, 'pmcd.conf', 'root', 'root.prev', 'root_g'].sort())
})

test('Rebuild may be a symbolic link beside the files, as start scripts call it', async () => {
  symlinkSync(command('Rebuild'), join(dir, 'Rebuild'))
  writeFileSync(join(dir, 'pmcd.conf'), '')
  expect(await run('./Rebuild', '-u')).toEqual({ status: 0, printed: '' })
  expect(readFileSync(join(dir, 'root'), 'utf8')).toBe('root {\n}\n')
})
