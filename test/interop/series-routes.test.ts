/** /series and /search over archives of PCP's test suite give the recorded answers of PCP's pmproxy. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

const SUITE = '/var/lib/pcp/testsuite/archives'
const ARCHIVES = ['proc', 'bozo-disk', 'sample-labels', 'viewqa1']
const FILES = ['series-query', 'series-values', 'series-metadata', 'search']

interface Case {
  readonly id: string
  readonly request: { readonly method: string; readonly target: string; readonly body?: string }
  readonly responses: Readonly<Record<string, { readonly status: number; readonly body?: string }>>
}

const CASES = FILES.flatMap((file) => {
  const { cases } = JSON.parse(
    readFileSync(new URL(`../vectors/web/${file}.json`, import.meta.url), 'utf8'),
  ) as { cases: readonly Case[] }
  return cases.map((each) => ({ ...each, id: `${file}/${each.id}` }))
})

/** Answers that differ, each with the reason. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'series-query/glob': 'a host recorded elsewhere',
  'series-query/unsupported-relational': 'PCP finds nothing by !=',
  'series-query/double-metric-filter': 'a host recorded elsewhere',
  'series-values/interval-subsecond':
    'without a start, PCP leaves out the sample nearest before the second goal',
  'series-values/at-epoch': 'the message shows the text as it was given, with the @',
  'series-metadata/instances': 'in order of their numbers; PCP has none',
  'series-metadata/instances-client': 'in order of their numbers; PCP has none',
  'series-metadata/instances-all': 'PCP loaded fewer metrics',
  'series-metadata/labels-all': 'labels of a host recorded elsewhere, and optional ones',
  'series-metadata/labels-names': 'labels of a host recorded elsewhere',
  'series-metadata/metrics-all': 'PCP loaded fewer metrics',
  'series-metadata/sources-any-parameter': 'a host recorded elsewhere',
  'series-metadata/load': 'archives need not be loaded',
  'series-metadata/load-missing-archive': 'archives need not be loaded',
  'series-metadata/load-plain-path': 'archives need not be loaded',
  'series-metadata/load-no-source': 'archives need not be loaded',
  'search/text': 'help texts of the machine that recorded the answers; another order of equal scores',
  'search/text-return': 'help texts of the machine that recorded the answers',
  'search/text-highlight': 'help texts of the machine that recorded the answers',
  'search/text-type': 'another order of equal scores',
  'search/text-field': 'PCP loaded fewer metrics',
  'search/text-client': 'help texts of the machine that recorded the answers; another order of equal scores',
  'search/suggest': 'PCP loaded fewer metrics',
  'search/indom': 'instances in order of their numbers; PCP has none',
  'search/indom-limit': 'the instance domain was recorded elsewhere',
  'search/info': 'other documents, and sizes of memory are not known',
}

let directory = ''
let server: WebServer

beforeAll(async () => {
  if (!existsSync(SUITE)) return
  directory = mkdtempSync(join(tmpdir(), 'series-'))
  for (const name of ARCHIVES)
    for (const part of ['meta', 'index', '0'])
      cpSync(join(SUITE, `${name}.${part}`), join(directory, `${name}.${part}`))
  server = await startWebServer(['simple'], { archiveDirs: [directory] })
})

afterAll(async () => {
  await server?.close()
  if (directory !== '') rmSync(directory, { recursive: true, force: true })
})

async function answerTo({ request: { method, target, body } }: Case): Promise<unknown> {
  const moved = target.replaceAll(SUITE, directory)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const { status, text } = await server.ask(
    moved,
    body === undefined ? { method } : { method, headers, body },
  )
  return { status, body: comparable(text) }
}

function recordedOf({ responses }: Case): unknown {
  const { status, body = '' } = responses['7.2.1']!
  return { status, body: comparable(body) }
}

/** Parses JSON: lists of names have no order, times differ, and recorded help texts are placeholders. Pages for people have other words. */
function comparable(text: string): unknown {
  if (text.startsWith('<')) return 'a page'
  const moved = directory === '' ? text : text.replaceAll(`${directory}/`, `${SUITE}/`)
  return JSON.parse(moved, (key, value) => {
    if (key === 'elapsed') return 0
    if (key === 'oneline' || key === 'helptext') return 'help text'
    return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.sort() : value
  })
}

const hasSuite = existsSync(SUITE)

it.skipIf(!hasSuite).each(CASES.filter(({ id }) => DIFFERENT[id] === undefined))(
  '$id: as PCP answers $request.target',
  async (each) => {
    expect(await answerTo(each)).toEqual(recordedOf(each))
  },
)

it.skipIf(!hasSuite)('the list of different answers is minimal', async () => {
  for (const id of Object.keys(DIFFERENT)) {
    const each = CASES.find((one) => one.id === id)!
    expect(await answerTo(each), id).not.toEqual(recordedOf(each))
  }
})
