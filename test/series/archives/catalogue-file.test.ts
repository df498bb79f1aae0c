/** Catalogues on disk: used, renewed, and never trusted beyond the stamps of their archives. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PcpError } from '../../../src/model/errors.ts'
import { cataloguePaths } from '../../../src/series/archives/catalogue-file.ts'
import { ArchiveSeries } from '../../../src/series/archives/store.ts'
import { seed } from '../../lib/seed.ts'
import { START, writeHost } from '../lib.ts'

const HOSTS = 16
let directory = ''
let cacheDir = ''

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'series-'))
  cacheDir = join(directory, '.cache')
  for (let h = 0; h < HOSTS; h++) writeHost(directory, `db${h}`, { samples: 1 })
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** Answers of a new store; `nowMs` is a day after the archives were written. */
async function answers(warnings: PcpError[] = []): Promise<unknown> {
  const store = new ArchiveSeries([directory], {
    onWarning: (warning) => warnings.push(warning),
    keepsCatalogue: true,
    cacheDir,
    nowMs: () => Date.now() + 86_400_000,
  })
  const ids = await store.withName('metric', 'demo.load')
  const answer = {
    ids,
    desc: await store.desc(ids[0]!),
    instances: await store.instances(ids[0]!),
    labels: await store.labelValues('hostname'),
    names: [await store.names('metric'), await store.names('instance'), await store.names('context')],
    texts: await store.texts(),
  }
  await store.close()
  return answer
}

test('a catalogue gives the answers of the metadata, which is then not read', async () => {
  const [path] = cataloguePaths(directory, undefined)
  const before = await answers()
  expect(existsSync(path!)).toBe(true)
  expect(await answers()).toEqual(before)
  // An archive that can no longer be read, with unchanged stamps, is still listed.
  const volume = join(directory, 'db3', 'day1.meta')
  const times = [new Date(0), new Date(0)] as const
  utimesSync(volume, ...times)
  await answers()
  const bytes = readFileSync(volume)
  writeFileSync(volume, Buffer.alloc(bytes.length))
  utimesSync(volume, ...times)
  const warnings: PcpError[] = []
  expect(await answers(warnings)).toEqual(before)
  expect(warnings).toEqual([])
})

test('archives that were replaced, added or removed are seen', async () => {
  await answers()
  rmSync(join(directory, 'db1'), { recursive: true })
  for (const part of ['meta', 'index', '0']) rmSync(join(directory, 'db2', `day1.${part}`))
  writeHost(directory, 'db2', { samples: 2, start: START + 60 })
  writeHost(directory, 'new', { samples: 1 })
  const { labels } = (await answers()) as { labels: string[] }
  const { labels: again } = (await answers()) as { labels: string[] }
  expect(labels).toHaveLength(HOSTS)
  expect(labels).toContain('"new"')
  expect(new Set(again)).toEqual(new Set(labels))
})

test('a damaged, truncated or foreign catalogue is made again', async () => {
  const before = await answers()
  const [path] = cataloguePaths(directory, undefined)
  const whole = readFileSync(path!)
  for (let at = seed % 97; at < whole.length; at += 977) {
    const bytes = Buffer.from(whole)
    bytes[at]! ^= 0x11
    writeFileSync(path!, at % 2 === 0 ? bytes : bytes.subarray(0, at))
    expect(await answers(), `byte ${at}`).toEqual(before)
  }
  writeFileSync(path!, whole.toString('latin1').replace('catalogue 1', 'catalogue 2'), 'latin1')
  expect(await answers()).toEqual(before)
  expect(readFileSync(path!).equals(whole)).toBe(true)
})

test('the catalogue of a tree that cannot be written to is in the cache directory', async () => {
  const [own, cached] = cataloguePaths(directory, cacheDir)
  mkdirSync(own!)
  const before = await answers()
  expect(existsSync(cached!)).toBe(true)
  expect(await answers()).toEqual(before)
})

test('a store forgets the parts of archives that are gone', async () => {
  const store = new ArchiveSeries([directory], { freshMs: 0 })
  for (let i = 0; i < 3; i++) {
    rmSync(join(directory, `db${i}`), { recursive: true })
    expect(await store.withName('metric', 'demo.load')).toHaveLength(HOSTS - 1 - i)
  }
  await store.close()
})
