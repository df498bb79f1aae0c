/** Archives over the web: recorded processes are visible only to clients that log in, as with their collector. docs/reference/pmproxy.md */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_32, PM_TYPE_STRING } from '../../src/model/types.ts'
import { makeVerifier } from '../../src/net/sasl/keys.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { startWebServer, type WebRequest, type WebServer } from '../lib/web-server.ts'

const SECRET = 'PASSWORD=only-its-user-may-read-this'
const COMMAND = '000123 command-with-a-secret'
const HOT_COMMAND = '000124 hot-command'
const KEY = 'k'.repeat(43)
const PROCESSES = indom(3, 9)
const HOT = indom(3, 39)

let dir: string
let server: WebServer

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'web-archives-'))
  const made = new ArchiveImport(archiveOutput(join(dir, 'a')), { hostname: 'db1', timezone: 'UTC', pid: 1 })
  made.addMetric('hinv.ncpu', { pmid: pmid(60, 0, 32), type: PM_TYPE_32, sem: PM_SEM_INSTANT })
  made.addMetric('proc.psinfo.environ', {
    ...{ pmid: pmid(3, 8, 43), type: PM_TYPE_STRING, sem: PM_SEM_INSTANT },
    indom: PROCESSES,
  })
  made.addMetric('proc.psinfo.utime', {
    ...{ pmid: pmid(3, 8, 13), type: PM_TYPE_32, sem: PM_SEM_INSTANT },
    indom: PROCESSES,
  })
  // What the recorder of npm start keeps.
  made.addMetric('hotproc.psinfo.psargs', {
    ...{ pmid: pmid(3, 52, 41), type: PM_TYPE_STRING, sem: PM_SEM_INSTANT },
    indom: HOT,
  })
  made.addMetric('hotproc.psinfo.utime', {
    ...{ pmid: pmid(3, 52, 13), type: PM_TYPE_32, sem: PM_SEM_INSTANT },
    indom: HOT,
  })
  for (let i = 0; i < 3; i++) {
    made.put('hinv.ncpu', 2)
    made.put('proc.psinfo.environ', SECRET, COMMAND)
    made.put('proc.psinfo.utime', 4711, COMMAND)
    made.put('hotproc.psinfo.psargs', `${HOT_COMMAND} --password`, HOT_COMMAND)
    made.put('hotproc.psinfo.utime', 4712, HOT_COMMAND)
    made.write({ sec: 1_700_000_000 + i, nsec: 0 })
  }
  made.close()
  const verifier = await makeVerifier('secret')
  server = await startWebServer(
    ['pmcd', 'simple'],
    { archiveDirs: [dir] },
    {
      security: { findVerifier: (user) => (user === 'fred' ? verifier : undefined) },
      proxy: { ownerKey: KEY },
    },
  )
})
afterAll(async () => {
  await server?.close()
  rmSync(dir, { recursive: true })
})

const basic = (password: string): WebRequest => ({
  headers: { Authorization: `Basic ${Buffer.from(`fred:${password}`).toString('base64')}` },
})
const owner: WebRequest = { headers: { Authorization: `Bearer ${KEY}` } }

/** Returns everything that the web side reports about an archive, as one text. */
async function everything(as: WebRequest): Promise<string> {
  const texts: string[] = []
  const { text } = await server.ask('/pmapi/context?archive=0/a&polltimeout=60', as)
  texts.push(text)
  const { context } = JSON.parse(text) as { context?: number }
  const names = 'hinv.ncpu,proc.psinfo.environ,proc.psinfo.utime,hotproc.psinfo.psargs,hotproc.psinfo.utime'
  const ids = [pmid(3, 8, 43), pmid(3, 8, 13), pmid(3, 52, 41), pmid(3, 52, 13)]
  const derived = encodeURIComponent('page.x=proc.psinfo.utime + 0')
  for (const target of [
    ...(context === undefined
      ? []
      : [
          ...[`metric?names=${names}`, `metric?pmids=${ids}`, `fetch?names=${names}`, `fetch?pmids=${ids}`],
          ...[
            'children',
            'children?prefix=proc.psinfo',
            `indom?indom=${PROCESSES}`,
            `indom?name=proc.psinfo.utime`,
          ],
          ...[`profile?indom=${PROCESSES}&expr=add`, `labels?names=proc.psinfo.utime`],
        ].map((rest) => `/pmapi/${context}/${rest}`)),
    ...[
      ...['names?match=proc', 'children?prefix=proc', 'children?prefix=proc.psinfo', `metric?names=${names}`],
      ...['instances?indom=3.9', 'instances?name=proc.psinfo.utime', 'check?expr=proc.psinfo.utime'],
      ...[`range?names=${names}&start=1700000000&finish=1700000002`],
      ...['processes?at=1700000001', 'processes?at=1700000000'],
      ...[`range?names=page.x&derive=${derived}&start=1700000000&finish=1700000002`],
    ].map((rest) => `/ui/api/${rest}&archive=0/a`),
  ])
    texts.push(`${target} ${(await server.ask(target, as)).text}`)
  const excerpt = await server.ask('/ui/api/excerpt?archive=0/a&start=1700000000&finish=1700000002', as)
  // A refused client gets no files.
  const { files = [] } = JSON.parse(excerpt.text) as { files?: [name: string, base64: string][] }
  for (const [, content] of files) texts.push(gunzipSync(Buffer.from(content, 'base64')).toString('latin1'))
  return texts.join('\n')
}

/** A process's time, as a number of its own: contexts, timestamps and series ids may contain these digits by chance. */
const TIME = String.raw`(?<![\w.])4711(?![\w.])`
const SECRETS = `only-its-user|command-with-a-secret|hot-command|hot-command --password|${TIME}`
const PRIVATE = new RegExp(String.raw`${SECRETS}|"environ"|"(?:hot)?proc\.psinfo\.\w+","pmid"|\0environ`)

describe('an archive with recorded processes', () => {
  test('a client without a login sees everything else', async () => {
    const found = await everything({})
    expect(found).not.toMatch(PRIVATE)
    expect(found).toContain('hinv.ncpu')
  })

  test.each([
    ['the user who started the server', owner],
    ['a user with a password', basic('secret')],
  ] as const)('%s sees everything', async (_, as) => {
    const found = await everything(as)
    for (const part of SECRETS.split('|')) expect(found).toMatch(new RegExp(part))
  })

  test('a wrong password is refused', async () => {
    expect(await everything(basic('wrong'))).not.toMatch(new RegExp(`${SECRETS}|"pmid"`))
  })
})
