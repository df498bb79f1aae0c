/** The logger of `npm start` with real sockets and files, and agents in this process. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openArchive } from '../../src/pmapi/archive.ts'
import { openLocal } from '../../src/routing/local-context.ts'
import { PrimaryLogger } from '../../src/start/primary-logger.ts'
import { tidyArchives } from '../../src/start/retention.ts'
import { demoAgent } from '../lib/demo-agent.ts'

let dir: string
let logger: PrimaryLogger
let lines: string[]
const signal = new AbortController().signal

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'primary-'))
  writeFileSync(join(dir, 'config'), 'log mandatory on 20 msec { demo.one }\n')
  lines = []
  logger = new PrimaryLogger({
    dir: join(dir, 'archives', 'here'),
    configPath: () => join(dir, 'config'),
    variables: {
      PCP_TMP_DIR: join(dir, 'tmp'),
      PCP_RUN_DIR: join(dir, 'run'),
      PCP_VAR_DIR: dir,
      PMLOGGER_PORT: '0',
    },
    localOnly: true,
    open: () => openLocal({ agents: [demoAgent] }),
    log: { line: (text) => lines.push(text), notice: (_, text) => lines.push(text) },
  })
})
afterEach(async () => {
  await logger.close()
  rmSync(dir, { recursive: true, force: true })
})

const mapPath = (): string => join(dir, 'tmp', 'pmlogger', 'primary')
const pathOf = (name: string): string => join(dir, 'archives', 'here', name)

async function untilLarger(name: string, bytes: number): Promise<void> {
  while (statSync(`${pathOf(name)}.0`).size <= bytes) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('consecutive archives have different names and read as one; clients see the current one', async () => {
  const names: string[] = []
  for (let day = 0; day < 3; day++) {
    const archive = await logger.begin(signal)
    names.push(archive.name)
    expect(readFileSync(mapPath(), 'utf8').split('\n')[2]).toBe(pathOf(archive.name))
    await untilLarger(archive.name, 1200)
    expect((await archive.stop('Another day, exiting')).status).toBe(0)
  }
  expect(new Set(names).size).toBe(3)
  expect(names.every((name) => /^\d{8}\.\d\d\.\d\d(-\d\d)?$/.test(name))).toBe(true)
  const context = await openArchive(join(dir, 'archives', 'here'))
  const id = await context.lookupName('demo.one')
  const records = [...context.archive!.records()].filter(({ sets }) => sets.some(({ pmid }) => pmid === id))
  expect(records.length).toBeGreaterThan(3)
  await context.close()
  await logger.close()
  expect(existsSync(mapPath())).toBe(false)
})

test('a changed configuration applies from the next archive on; an invalid one creates none', async () => {
  const first = await logger.begin(signal)
  await first.stop('Another day, exiting')
  writeFileSync(join(dir, 'config'), 'log mandatory on nonsense { demo.one }\n')
  await expect(logger.begin(signal)).rejects.toMatchObject({ code: 'PM_ERR_CONV' })
  writeFileSync(join(dir, 'config'), 'log mandatory on 20 msec { demo.bin }\n')
  const second = await logger.begin(signal)
  await untilLarger(second.name, 1200)
  await second.stop('Another day, exiting')
  const context = await openArchive(pathOf(second.name))
  expect(await context.traverse('demo')).toEqual(['demo.bin'])
  await context.close()
})

test('a compressed archive is read as before', async () => {
  const archive = await logger.begin(signal)
  await untilLarger(archive.name, 2000)
  await archive.stop('Another day, exiting')
  const read = async (): Promise<number> => {
    const context = await openArchive(pathOf(archive.name))
    const count = [...context.archive!.records()].length
    await context.close()
    return count
  }
  const before = await read()
  const policy = { compressAfterMs: 1000, keepMs: 1e9, keepBytes: 1e9 }
  const now = { nowMs: Date.now() + 5000, inUse: () => undefined, signal }
  expect((await tidyArchives(join(dir, 'archives', 'here'), policy, now)).compressed).toEqual([archive.name])
  expect(existsSync(`${pathOf(archive.name)}.0`)).toBe(false)
  expect(await read()).toBe(before)
})
