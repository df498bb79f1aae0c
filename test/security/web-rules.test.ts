/** Rules tried on history over HTTP, by a client that means harm: sizes, macros, windows, many requests, leaving early. docs/reference/pmproxy.md */
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { PM_SEM_INSTANT, PM_TYPE_32 } from '../../src/model/types.ts'
import type * as Firings from '../../src/rules/firings.ts'
import type { FiringsAnswer } from '../../src/rules/firings.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { startWebServer, type WebAnswer, type WebServer } from '../lib/web-server.ts'

/** Trials in the server: called before each one, with options that it may replace. */
const trials = vi.hoisted(() => ({
  before: async (options: Firings.FiringsOptions): Promise<Firings.FiringsOptions> => options,
  outcomes: [] as Promise<unknown>[],
}))
vi.mock('../../src/rules/firings.ts', async (original) => {
  const real = await original<typeof Firings>()
  const firings: typeof real.firings = async (context, query, options) => {
    const outcome = trials.before(options).then((changed) => real.firings(context, query, changed))
    trials.outcomes.push(outcome)
    return outcome
  }
  return { ...real, firings }
})

/** Returns a promise and the function that resolves it. */
function event(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

const START = 1_700_000_000
/** Seconds that the archive spans. */
const SPAN = 1_000_000
const [CONCURRENT, QUEUED] = [2, 3]
const FINE = 'made.level > 1 -> print "%v";'

let dir: string
let server: WebServer

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'web-rules-'))
  const made = new ArchiveImport(archiveOutput(join(dir, 'a')), { hostname: 'db1', timezone: 'UTC', pid: 1 })
  made.addMetric('made.level', { type: PM_TYPE_32, sem: PM_SEM_INSTANT })
  for (const after of [0, 1, SPAN]) {
    made.put('made.level', 5)
    made.write({ sec: START + after, nsec: 0 })
  }
  made.close()
  const archives = { concurrent: CONCURRENT, queued: QUEUED, waitMs: 600_000 }
  server = await startWebServer(['pmcd'], { archiveDirs: [dir] }, { proxy: { limits: { archives } } })
})
const unchanged = trials.before
afterEach(() => {
  trials.before = unchanged
  trials.outcomes.length = 0
})
afterAll(async () => {
  await server?.close()
  rmSync(dir, { recursive: true })
})

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const bodyOf = (rules: string, more = ''): string =>
  `archive=0/a&rules=${encodeURIComponent(rules)}&start=${START}&finish=${START + 10}${more}`
const tried = (rules: string, more?: string): Promise<WebAnswer> =>
  server.ask('/ui/api/rules', { method: 'POST', headers: FORM, body: bodyOf(rules, more) })

async function answerOf(rules: string, more?: string): Promise<FiringsAnswer> {
  const { status, text } = await tried(rules, more)
  expect([status, text]).toEqual([200, expect.any(String)])
  return JSON.parse(text)
}

test('a text has a largest size, which fits into a form but not into a URL', async () => {
  const { rules, problems } = await answerOf(`${FINE}${'\n'.repeat(8192 - FINE.length)}`)
  expect([rules.length, problems.length]).toEqual([1, 0])
  const { status, text } = await tried(`${FINE}${'\n'.repeat(8193 - FINE.length)}`)
  expect([status, JSON.parse(text)]).toEqual([
    400,
    expect.objectContaining({ code: 'PM_ERR_ARG', message: 'Rules are limited to 8192 bytes' }),
  ])
  const url = `/ui/api/rules?${bodyOf(FINE + '\n'.repeat(8000))}`
  expect((await server.ask(url)).status).toBe(414)
})

test('actions are not performed, and no other host is contacted', async () => {
  const file = join(dir, 'made-by-a-rule')
  const { rules } = await answerOf(`made.level > 1 -> shell "touch ${file}";`)
  expect(rules[0]!.count).toBeGreaterThan(0)
  expect(existsSync(file)).toBe(false)
  for (const host of ["'192.0.2.1:1'", "'local:'", 'localhost', "'/etc/passwd'"]) {
    const { problems } = await answerOf(`made.level :${host} > 1 -> print "%v";`)
    expect(problems[0]!.message, host).toMatch(/no archive of host/)
  }
})

test('what grows beyond bounds is a problem of the text', async () => {
  const macros = [...'abcdefghijklmnopqrstuvwxyz'].map(
    (name, i, all) => `${name} = "${i === 0 ? 'x'.repeat(20) : `$${all[i - 1]}`.repeat(2)}";\n`,
  )
  for (const [text, message] of [
    [`${macros.join('')} made.level > $z;`, /macros expand/],
    ['a = "\\$a"; made.level > $a -> print "x";', /contains itself/],
    [`${'('.repeat(4000)}made.level${')'.repeat(4000)} > 1;`, /nested too deeply/],
    ['all_sample (made.level @0..2000000000 > 1);', /too many past values|syntax|samples/],
    [`${'all_sample (made.level @0..999999 > 1);\n'.repeat(100)}`, /too many past values/],
    [FINE.repeat(200), /more than 50 rules/],
    ['"'.repeat(8000), /./],
    ['\0\u001b[2J\u202e', /./],
  ] as const) {
    const { problems } = await answerOf(text)
    expect(problems.map((each) => each.message).join('\n'), text.slice(0, 60)).toMatch(message)
    expect(problems.length, text.slice(0, 60)).toBeLessThanOrEqual(20)
  }
})

test('a window or an interval that takes too many evaluations is refused before the first one', async () => {
  const whole = `&start=0&finish=${START + 2 * SPAN}`
  for (const [rules, more, message] of [
    [FINE, `${whole}&delta=0.001`, /1000000001 evaluations/],
    [FINE.repeat(50), `${whole}&delta=5`, /10000050 evaluations/],
    [`delta = 0.001 sec; ${FINE}`, whole, /evaluations/],
    [FINE, `${whole}&delta=1e-9`, /at least 0.001 s/],
    [FINE, `${whole}&delta=-1`, /greater than zero/],
    [FINE, `&start=${START - 20}&finish=${START - 10}`, /Nothing was recorded/],
    [FINE, '&start=1e300', /start must be a time/],
  ] as const) {
    // The first of two parameters counts.
    const body = `archive=0/a&rules=${encodeURIComponent(rules)}${more}`
    const { status, text } = await server.ask('/ui/api/rules', { method: 'POST', headers: FORM, body })
    expect([status, text], more).toEqual([400, expect.stringMatching(message)])
    expect(text, more).toContain('"code":"PM_ERR_ARG"')
  }
})

test('of many requests some run, some wait, and the others are refused', async () => {
  const gate = event()
  const full = event()
  let entered = 0
  trials.before = async (options) => {
    if (++entered === CONCURRENT) full.resolve()
    await gate.promise
    return options
  }
  const running = Array.from({ length: CONCURRENT }, () => tried(FINE))
  await full.promise
  const others = 20
  const refused = event()
  let busy = 0
  const waiting = Array.from({ length: others }, async () => {
    const answer = await tried(FINE)
    if (answer.status === 503 && ++busy === others - QUEUED) refused.resolve()
    return answer
  })
  await refused.promise
  expect(entered).toBe(CONCURRENT)
  gate.resolve()
  const answers = await Promise.all([...running, ...waiting])
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(CONCURRENT + QUEUED)
  const no = answers.find(({ status }) => status === 503)!
  expect([no.headers['retry-after'], no.text]).toEqual(['10', expect.stringContaining('"code":"EBUSY"')])
  expect((await tried(FINE)).status).toBe(200)
})

test('the trial of a client that left ends', async () => {
  const entered = event()
  trials.before = async (options) => {
    const gone = once(options.signal!, 'abort')
    entered.resolve()
    const { turn } = options
    return { ...options, turn: { shouldYield: () => true, yield: () => gone.then(() => turn.yield()) } }
  }
  const { port } = server.proxy
  const client = httpRequest({ host: '127.0.0.1', port, path: `/ui/api/rules?${bodyOf(FINE)}`, agent: false })
  const left = once(client, 'error')
  client.end()
  await entered.promise
  client.destroy(new Error('left'))
  await left
  await expect(trials.outcomes[0]).rejects.toThrow(/abort/i)
  trials.before = unchanged
  expect((await tried(FINE)).status).toBe(200)
})

test('a trial has a time limit', async () => {
  trials.before = async (options) => {
    const { turn } = options
    const later = performance.now() + 20_001
    const yieldLate = async (): Promise<void> => {
      const clock = vi.spyOn(performance, 'now').mockReturnValue(later)
      await turn.yield().finally(() => clock.mockRestore())
    }
    return { ...options, turn: { shouldYield: () => true, yield: yieldLate } }
  }
  const { status, text } = await tried(FINE)
  expect([status, text]).toEqual([400, expect.stringMatching(/takes too long.*"code":"PM_ERR_TIMEOUT"/)])
})
