/** Recorded answers of PCP's pmproxy, replayed request by request. docs/reference/pmproxy.md */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, inflateSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWebServer, type WebAnswer, type WebServer } from '../lib/web-server.ts'

interface Recorded {
  readonly status: number
  /** Undefined: the connection ended. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly body_truncated?: string
}

interface Case {
  readonly id: string
  readonly request: {
    readonly method: string
    readonly target: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  readonly responses: Readonly<Record<string, Recorded>>
}

/** Answers that differ intentionally, or because the collector differs, with the reason. */
const REASONS: Readonly<Record<string, string>> = {
  'http/root': 'the page is there',
  'http/options-missing-parameter': 'browsers send it without parameters',
  'logger/options': 'browsers send it without parameters',
  'http/options-unknown': '404 rather than 400 for missing resources',
  'http/trace': 'unnecessary, and it would reveal headers that browsers hide from scripts',
  'http/http10-large': 'the length of every answer is known',
  'http/url-8000-limit': 'URLs up to 8191 bytes are read',
  'pmapi-context/prefix-match': '404: routes have one name each',
  'pmapi-fetch/no-values': 'no value is not a leftover 0',
  'pmapi-children/root': 'other agents',
  'pmapi-indom/instance-labels': 'instances come and go',
  'pmapi-store/side-effect': 'a store leaves the profile alone',
  'pmapi-derive/post-fetch': 'a rate has no first value, instead of 0',
  'openmetrics/escapes': 'instances come and go',
}

/** Other reasons for differences, by our answer. */
const PARTS: readonly (readonly [why: string, words: RegExp])[] = [
  ['404 rather than 400 for missing resources', /no handler for URL/],
  ['needs a key server', /Cannot connect to key server|^\{"success":false\}/],
  ['pushed archives are not taken', /pushed archives are not accepted here/],
]

let server: WebServer
const replayed: string[] = []
beforeAll(async () => {
  server = await startWebServer(['pmcd', 'sample', 'simple', 'linux', 'jbd2', 'kvm', 'proc', 'xfs', 'mmv'], {
    allowsStore: true,
    origins: ['*'],
    hosts: ['*'],
  })
  mkdirSync(join(server.dir, 'simple'))
  writeFileSync(join(server.dir, 'simple', 'simple.conf'), 'sec,min,hour\n')
})
afterAll(async () => {
  await server.close()
  console.log(`requests of PCP's replayed:\n${replayed.join('\n')}`)
})

/** Not included: sha1.json (test/model/series.test.ts), pcp-proxy.json and own-metrics.json (pmproxy-exchanges.test.ts), and two about the content of a key server. */
const FILES = [
  'http',
  'pmapi-context',
  'pmapi-metric',
  'pmapi-fetch',
  'pmapi-children',
  'pmapi-indom',
  'pmapi-profile',
  'pmapi-store',
  'pmapi-derive',
  'openmetrics',
  'opentelemetry',
  'logger',
  'series-query',
  'series-values',
  'series-metadata',
  'search',
]

test.each(FILES)("%s: answers equal PCP's, or differ for a stated reason", async (file) => {
  const { cases } = JSON.parse(readFileSync(`test/vectors/web/${file}.json`, 'utf8')) as { cases: Case[] }
  const different: string[] = []
  const counts = new Map<string, number>()
  const count = (what: string): unknown => counts.set(what, (counts.get(what) ?? 0) + 1)
  let context = await newContext()
  for (const { id, request, responses } of cases) {
    if (id.startsWith('fresh')) context = await newContext()
    const target = request.target
      .replaceAll('{ctx}', String(context))
      .replace(/\(a x (\d+)\)/, (_, count: string) => 'a'.repeat(Number(count)))
    const recorded = responses['7.2.1'] ?? Object.values(responses)[0]!
    if (recorded.headers === undefined) {
      count('end PCP')
      continue
    }
    const answer = await server.ask(target, request)
    const [got, wanted] = [shape(answer, plainText(answer)), shape(recorded, recorded.body)]
    const name = `${file}/${id}`
    const isSame = JSON.stringify(got) === JSON.stringify(wanted) || recorded.body_truncated !== undefined
    const why = isSame
      ? undefined
      : (REASONS[name] ?? PARTS.find(([, words]) => words.test(answer.text))?.[0])
    if (isSame ? name in REASONS : why === undefined)
      different.push(`${name}: ${JSON.stringify(got)}\n  PCP: ${JSON.stringify(wanted)}`)
    count(why ?? 'equal')
  }
  replayed.push(`  ${file}: ${cases.length}: ${[...counts].map(([what, n]) => `${n} ${what}`).join('; ')}`)
  expect(different).toEqual([])
})

function plainText({ headers, body }: WebAnswer): string {
  const coding = headers['content-encoding']
  return String(coding === 'gzip' ? gunzipSync(body) : coding === 'deflate' ? inflateSync(body) : body)
}

async function newContext(): Promise<number> {
  const { context } = await server.json<{ context: number }>('/pmapi/context?polltimeout=600')
  return context
}

/** Returns an answer without parts that change from run to run. */
function shape(answer: Pick<WebAnswer, 'status' | 'headers'> | Recorded, text = ''): unknown {
  const headers = answer.headers as Readonly<Record<string, string>>
  const type = headers['Content-Type'] ?? headers['content-type']
  if (type === 'text/html') return { status: answer.status, type, text: text.replace(/pmproxy\/[\d.]+/, '') }
  if (type === 'text/plain') return { status: answer.status, type, text: exposition(text) }
  let body: unknown
  try {
    // PCP leaves out the comma between metrics for OpenTelemetry.
    body = text === '' ? undefined : normal(JSON.parse(text.replaceAll('}{"name":', '},{"name":')), '')
  } catch {
    body = text
  }
  return { status: answer.status, type: type?.replace('octet-stream', 'json'), body }
}

/** Returns lines without values; labels sorted, without those that name the machine. */
function exposition(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/^(# HELP \S+) .*/, '$1'))
  return lines.map((line) => line.replace(/^([^#].*\}) .*/, '$1').replace(/\{.*\}/, sortedLabels)).sort()
}

function sortedLabels(text: string): string {
  const labels = text.match(/[\w.]+="(?:\\.|[^"\\])*"/g)!
  return labels
    .filter((label) => !/^(machineid|domainname)=/.test(label))
    .sort()
    .join(',')
}

/** Fields that change from run to run, or from version to version. */
const CHANGING: ReadonlySet<string> = new Set(
  'context timestamp value asInt asDouble timeUnixNano version'.split(' '),
)

/** Labels of instances of the sample agent. */
const INSTANCE_LABELS: ReadonlySet<string> = new Set(['bin', 'transient'])

function without(value: object, names: ReadonlySet<string>): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)))
}

function normal(value: unknown, key: string): unknown {
  if (CHANGING.has(key)) return typeof value
  if (key === 'series' || key === 'source' || key === 'machineid' || key === 'domainname') return 'ID'
  if (key.startsWith('text-') || key === 'description') return 'TEXT'
  // PCP omits these from this answer, although its agents report them.
  if (key === 'labels') value = without(value as object, INSTANCE_LABELS)
  if (key === 'message') return String(value).replace(/\d{5,}/g, 'N')
  if (Array.isArray(value))
    return value
      .map((each) => normal(each, ''))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => name !== 'code' && name !== 'status')
  return Object.fromEntries(
    entries.map(([name, each]) => [name, normal(each, name)]).sort(([a], [b]) => (a! < b! ? -1 : 1)),
  )
}
