/** Farm files with sources, and the hosts that they give as they change. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { onAbort } from '../../src/base/on-abort.ts'
import type { Clock } from '../../src/pmapi/clock.ts'
import { entryOf, parseFarm } from '../../src/pmlogger/farm-file.ts'
import { FarmHosts } from '../../src/pmlogger/farm-hosts.ts'

let dir: string
let end: AbortController
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'farm-hosts-'))
  end = new AbortController()
})
afterEach(() => {
  end.abort()
  rmSync(dir, { recursive: true })
})

test('a line of a source has options of recordings, of all sources and of its kind', () => {
  const { sources, hosts } = parseFarm(
    '@kubernetes:* %{namespace}/%h/%Y c selector=app=db annotation=a.io/b=yes interval=5sec port=44400 most=7 grace=0 keep=1hour label=%h',
    'f',
  )
  expect(hosts).toEqual([])
  expect(sources[0]).toMatchObject({
    ...{ text: 'kubernetes:*', argument: '*', port: 44400, most: 7, graceMs: 0, keepMs: 3_600_000, line: 1 },
    options: { selector: 'app=db', annotation: 'a.io/b=yes', port: '44400' },
    defaultDeltaMs: 5000,
  })
  const labels = { namespace: '../up' }
  expect(entryOf(sources[0]!, { spec: '10.0.0.1:44400', name: 'pod-a', labels })).toMatchObject({
    ...{ host: '10.0.0.1:44400', key: '10.0.0.1:44400', labelHost: 'pod-a', isFound: true },
    // A label cannot lead out of the directory.
    archive: '.._up/pod-a/%Y',
  })
})

test.each([
  ['@list:x a c', 'f[line 1]: archive a is the same for all hosts: use %h for the name of the host'],
  ['@nothing:x %h c', 'f[line 1]: unknown source "nothing": use list, file_sd, dns'],
  ['@list:x %h c selector=a', 'f[line 1]: unknown option "selector": use label,'],
  ['@list:x %h c most=0', 'f[line 1]: invalid value "0" for option most'],
  ['@list:x %h c port=65536', 'f[line 1]: invalid value "65536" for option port'],
  ['@list:x %h c\n'.repeat(101), 'f[line 101]: more than 100 sources'],
  ['db1 a c port=1', 'f[line 1]: unknown option "port"'],
])('refuses the source %j', (text, message) => {
  expect(() => parseFarm(text, 'f')).toThrow(message)
})

/** A clock whose waits the test ends. */
class TestClock implements Clock {
  ms = 0
  readonly #waits = new Set<{ readonly atMs: number; readonly done: () => void }>()

  now(): number {
    return this.ms
  }

  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((done, fail) => {
      const unlink = onAbort(signal, () => fail(new Error('aborted')))
      const wait = {
        atMs: this.ms + ms,
        done: () => {
          unlink()
          done()
        },
      }
      this.#waits.add(wait)
    })
  }

  advance(ms: number): void {
    this.ms += ms
    for (const wait of this.#waits)
      if (wait.atMs <= this.ms) {
        this.#waits.delete(wait)
        wait.done()
      }
  }
}

interface Followed {
  /** Waits until exactly these hosts are to be recorded; time passes meanwhile. */
  until(...hosts: readonly string[]): Promise<void>
  untilSaid(text: string): Promise<void>
}

function follow(): Followed {
  const clock = new TestClock()
  const said: string[] = []
  const hosts = new FarmHosts('farm', {
    ...{ env: {}, cwd: dir, variables: {}, clock, say: () => {}, check: () => {} },
    log: { line: () => {}, notice: (_, text) => void said.push(text) },
    changed: () => {},
  })
  void hosts.run(end.signal)
  const passing = <T>(look: () => T): (() => T) => {
    return () => {
      clock.advance(5_000)
      return look()
    }
  }
  const listed = (): readonly string[] => hosts.entries().map(({ key, archive }) => `${key} ${archive}`)
  return {
    until: (...wanted) => expect.poll(passing(listed)).toEqual(wanted),
    untilSaid: (text) => expect.poll(passing(() => said.join('\n'))).toContain(text),
  }
}

const write = (name: string, text: string): void => writeFileSync(join(dir, name), text)

test('a host of two sources and of a line is recorded once', async () => {
  write('one', 'a\nb\n')
  write('two', 'B:44321\nc\npcp://d\n')
  write('farm', 'd d.archive c\n@list:one 1/%h c\n@list:two 2/%h c\n')
  const { until } = follow()
  await until('d d.archive', 'a 1/a', 'b 1/b', 'c 2/c')
  write('one', 'a\n')
  await until('d d.archive', 'a 1/a', 'b 2/B', 'c 2/c')
})

test('the file and its sources are followed; errors change nothing', async () => {
  write('one', 'a\n')
  write('farm', '@list:one 1/%h c\n')
  const { until, untilSaid } = follow()
  await until('a 1/a')
  write('farm', '@list:one a c\n')
  await untilSaid('the farm file of before stays in use')
  await until('a 1/a')
  rmSync(join(dir, 'one'))
  await untilSaid('its 1 last hosts stay')
  await until('a 1/a')
  write('one', 'a\nb\n')
  write('farm', '@list:one 1/%h c\nz z c\n')
  await until('z z', 'a 1/a', 'b 1/b')
})
