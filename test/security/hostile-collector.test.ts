/**
 * Hostile collectors against library, commands, recorder and web side: each request ends, with an error that names host
 * and limit, and in bounded memory. docs/reference/client-library.md
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleTools } from '../lib/bundle-tools.ts'
import {
  HOSTILE_KINDS,
  HOSTILE_METRIC,
  type HostileCollector,
  type HostileKind,
  hostileCollector,
} from '../lib/hostile-collector.ts'
import { runProgram } from '../lib/tool-process.ts'
import { startWebServer } from '../lib/web-server.ts'

const MIB = 2 ** 20
/** A PDU of 64 MiB, the buffer it grew from, and a program of 70 MB. */
const MOST_MEMORY = 300 * MIB

let dir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-hostile-'))
  await Promise.all([
    bundleTools(dir, { pminfo: 'pminfo/index.ts', pmlogger: 'pmlogger.ts', pmie: 'pmie/index.ts' }),
    build({
      entryPoints: ['test/lib/probe-collector.ts'],
      outfile: join(dir, 'probe.mjs'),
      bundle: true,
      platform: 'node',
      target: 'node20.19',
      format: 'esm',
      external: ['koffi'],
    }),
  ])
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Requests that fail, with their errors. All others succeed. */
const FAILURES: Readonly<Record<HostileKind, Readonly<Record<string, RegExp>>>> = {
  'huge length': {
    fetch: /^PM_ERR_TOOBIG pmcd at HOST: .* PDU of 21\d+ bytes, the limit is 67108864.*PCP_REPLY_MB/,
  },
  'slow drip': { fetch: /^PM_ERR_TIMEOUT pmcd at HOST sent no HIGHRES_RESULT within 4000 ms/ },
  'endless PDU': { fetch: /^PM_ERR_TOOBIG pmcd at HOST: .*PCP_REPLY_MB/ },
  'false counts': {
    fetch: /^PM_ERR_(?:IPC|TOOBIG) pmcd at HOST: /,
    instances: /^PM_ERR_(?:IPC|TOOBIG) pmcd at HOST: /,
    labels: /^PM_ERR_(?:IPC|TOOBIG) pmcd at HOST: /,
  },
  'eight million values': {
    fetch: /^PM_ERR_TOOBIG pmcd at HOST: 1 metrics: 8000001 items .* more than 1000000: .*PCP_REPLY_ITEMS/,
  },
  'two million values': { fetch: /^PM_ERR_TOOBIG pmcd at HOST: 1 metrics: 2000001 items/ },
  'endless instances': { instances: /^PM_ERR_TOOBIG pmcd at HOST: Instance domain .*: 6000000 items/ },
  'endless names': { names: /^PM_ERR_TOOBIG pmcd at HOST: "hostile": 5000000 items/ },
  'endless name space': {},
  'endless labels': { labels: /^PM_ERR_TOOBIG pmcd at HOST: Labels of level \d+: 1500000 items/ },
  'deep JSON': {},
  'endless text': { text: /^PM_ERR_TOOBIG pmcd at HOST: .*: a text of 62914560 bytes, more than 1048576/ },
  'wrong type': { fetch: /^PM_ERR_IPC pmcd at HOST: Unexpected TEXT instead of/ },
  'answers to nothing': { fetch: /^PM_ERR_IPC pmcd at HOST: Unexpected TEXT/ },
  'endless news': { fetch: /^PM_ERR_IPC pmcd at HOST: 1000 changes of state without a reply/ },
  'more than was asked': { fetch: /^PM_ERR_IPC pmcd at HOST: A reply of 3 items to a request of 1/ },
}

/** Kinds that answer every request alike; only the fetch is checked. */
const ANSWERS_ALL: readonly HostileKind[] = ['wrong type', 'answers to nothing']

async function withCollectors<T>(
  kinds: readonly HostileKind[],
  act: (hosts: ReadonlyMap<HostileKind, string>) => Promise<T>,
  honestFetches = 0,
): Promise<T> {
  const collectors: HostileCollector[] = []
  const hosts = new Map<HostileKind, string>()
  try {
    for (const kind of kinds) {
      const collector = await hostileCollector(kind, honestFetches)
      collectors.push(collector)
      hosts.set(kind, `127.0.0.1:${collector.port}`)
    }
    return await act(hosts)
  } finally {
    for (const collector of collectors) await collector.close()
  }
}

test('every kind is listed', () => {
  expect(Object.keys(FAILURES)).toEqual(HOSTILE_KINDS)
})

test('the library: each request ends with a reply or an error with a remedy', async () => {
  await withCollectors(HOSTILE_KINDS, async (hosts) => {
    const run = await runProgram(join(dir, 'probe.mjs'), [...hosts.values()], {
      env: { PMCD_REQUEST_TIMEOUT: '4' },
    })
    expect(run.status, run.stderr).toBe(0)
    const all = JSON.parse(run.stdout) as Record<string, Record<string, string>>
    for (const [kind, host] of hosts)
      for (const [what, outcome] of Object.entries(all[host]!)) {
        if (what !== 'fetch' && ANSWERS_ALL.includes(kind)) continue
        const failure = FAILURES[kind]![what]
        const shown = `${kind}, ${what}: ${outcome.replaceAll(host, 'HOST')}`
        if (failure !== undefined) expect(shown).toMatch(new RegExp(`: ${failure.source.replace('^', '')}`))
        // The honest collector has no labels.
        else expect(shown).toMatch(/: ok$|, labels: PM_ERR_/)
      }
    expect(run.peakBytes!).toBeLessThan(MOST_MEMORY)
  })
})

describe('programs', () => {
  const env = { PMCD_CONNECT_TIMEOUT: '4' }

  test.each(['huge length', 'eight million values'])('pminfo ends: %s', async (kind) => {
    await withCollectors([kind], async (hosts) => {
      const args = ['-h', hosts.get(kind)!, '-f', HOSTILE_METRIC]
      const run = await runProgram(join(dir, 'pminfo.cjs'), args, { env })
      expect(run.stdout + run.stderr).toMatch(/Result size exceeded/)
      expect(run.peakBytes!).toBeLessThan(MOST_MEMORY)
    })
  })

  test.each<readonly [HostileKind, RegExp]>([
    ['eight million values', /8000001 items in one reply, more than 1000000/],
    ['huge length', /PDU of 2147481648 bytes, the limit is 67108864; set PCP_REPLY_MB/],
    ['endless news', /1000 changes of state without a reply/],
  ])('pmlogger records until then, logs the refused reply, and continues: %s', async (kind, reason) => {
    await withCollectors(
      [kind],
      async (hosts) => {
        const config = join(dir, 'config')
        writeFileSync(config, `log mandatory on 100 msec { ${HOSTILE_METRIC} }\n`)
        const name = join(dir, kind.replaceAll(' ', '-'))
        const args = ['-h', hosts.get(kind)!, '-c', config, '-l', '-', name]
        const until = (output: string): boolean => output.match(new RegExp(reason, 'g'))?.length === 2
        const run = await runProgram(join(dir, 'pmlogger.cjs'), args, { env: {}, cwd: dir, until })
        expect(run.status, run.stderr).toBe(0)
        expect(statSync(`${name}.0`).size).toBeGreaterThan(500)
        expect(run.peakBytes!).toBeLessThan(MOST_MEMORY)
      },
      8,
    )
  })

  test.each(['eight million values'])('pmie continues to evaluate: %s', async (kind) => {
    await withCollectors([kind], async (hosts) => {
      const rule = join(dir, 'rule')
      writeFileSync(rule, `delta = 0.1 sec;\nx = ${HOSTILE_METRIC};\n`)
      const args = ['-h', hosts.get(kind)!, '-v', '-T', '0.5 sec', rule]
      const run = await runProgram(join(dir, 'pmie.cjs'), args, { env })
      expect(run.status, run.stderr).toBe(0)
      expect(run.stdout).toContain('x: ?')
      expect(run.stderr).toContain('is unreachable')
      expect(run.peakBytes!).toBeLessThan(MOST_MEMORY)
    })
  })
})

test('the web side: each request is answered, and honest hosts are unaffected', async () => {
  await withCollectors(
    HOSTILE_KINDS.filter((kind) => kind !== 'slow drip'),
    async (hosts) => {
      const web = await startWebServer(['sample'], { hosts: ['local:', 'localhost', ...hosts.values()] })
      try {
        for (const [kind, host] of hosts) {
          const failure = FAILURES[kind]!['fetch']
          const { status, text } = await web.ask(`/pmapi/fetch?hostspec=${host}&names=${HOSTILE_METRIC}`)
          expect(`${kind}: ${status} ${text}`).toMatch(
            failure === undefined ? /: 200 .*"values"/ : /: [45]\d\d .*"success":false/,
          )
          for (const path of ['metric?names=', 'indom?name=', 'metrics?names=', 'children?prefix='])
            await web.ask(`/pmapi/${path}${HOSTILE_METRIC}&hostspec=${host}`)
          expect((await web.ask('/pmapi/fetch?names=sample.long.one')).status).toBe(200)
        }
      } finally {
        await web.close()
      }
    },
  )
})
