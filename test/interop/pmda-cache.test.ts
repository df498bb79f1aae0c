/** Compares our instance caches with libpcp_pmda's: the same random calls, the same results and the same files. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { InstanceCache } from '../../src/pmda/cache/instance-cache.ts'
import { generator } from '../lib/generator.ts'
import { isExhaustive, seed } from '../lib/seed.ts'

const isPossible = existsSync('/usr/include/pcp/pmda.h') && spawnSync('gcc', ['--version']).status === 0
if (!isPossible) console.log("skipped: needs the reference's headers (libpcp-pmda3-dev) and gcc")

const top = mkdtempSync(join(tmpdir(), 'pmda-cache-'))
const program = join(top, 'pmda-cache')
const RUNS = isExhaustive ? 400 : 20
const LIVES = 3
const CALLS = 400

beforeAll(() => {
  if (!isPossible) return
  const source = fileURLToPath(new URL('lib/pmda-cache.c', import.meta.url))
  const built = spawnSync('gcc', ['-O1', '-o', program, source, '-lpcp_pmda', '-lpcp'], { encoding: 'utf8' })
  expect(built.stderr).toBe('')
})
afterAll(() => rmSync(top, { recursive: true }))

const ACTIVE = 8
const INACTIVE = 9
const LOAD = 1
const SAVE = 6
const SYNC = 18

/** Returns the calls of one run of an agent, without intended differences: docs/explanation/differences.md */
function calls(random: (below: number) => number, hasKeys: boolean): string[] {
  // PCP's cache, unlike ours, discards the key when an instance is added without it, so names with keys are separate.
  const name = (first = 'nnnk'[random(4)]!): string => {
    const short = `${first}${random(25)}`
    return random(3) === 0 ? `${short} x${random(2)}` : short
  }
  const key = (): string => {
    // Half of the keys are short, so that they return.
    const length = random(2) === 0 ? 1 + random(2) : 1 + random(14)
    const bytes = Array.from({ length }, () => random(2) * 0x7f + random(3))
    return random(3) === 0 ? '' : bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  }
  const lines = ['o 1']
  const kinds = [
    () => `a ${name('n')}`,
    () => `a ${name('n')}`,
    () => `h ${name()}`,
    // With keys, PCP's cache reuses numbers of culled instances after it has grown, and lists some out of order.
    () => (hasKeys ? 'w' : `c ${name()}`),
    () => `n ${name()}`,
    () => `l ${random(40)}`,
    () => `o ${[SAVE, SYNC, INACTIVE, 11, 12][random(5)]!}`,
    () => 'w',
    // Since 7.2 the maximum applies to keys, too.
    () => `m ${!hasKeys && random(4) === 0 ? random(60) : 0x7fffffff}`,
    () => `k ${key()} ${name('k')}`,
    () => `K ${key()} ${name('k')}`,
  ]
  const most = hasKeys ? kinds.length : kinds.length - 2
  for (let i = 0; i < CALLS; i++) lines.push(kinds[random(most)]!())
  return [...lines, 'w', 'o 18', 'o 6']
}

function runReference(lines: readonly string[], varDir: string): string[] {
  mkdirSync(join(varDir, 'config'), { recursive: true })
  const { stdout, status } = spawnSync(program, {
    input: `${lines.join('\n')}\n`,
    encoding: 'utf8',
    env: { ...process.env, PCP_VAR_DIR: varDir },
  })
  expect(status).toBe(0)
  return stdout.split('\n').slice(0, -1)
}

function answer(cache: InstanceCache<number>, line: string): string {
  const text = line.slice(2)
  const [first = '', rest = ''] = [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1)]
  const key = Uint8Array.from(first.match(/../g) ?? [], (hex) => Number.parseInt(hex, 16))
  const state = (found: { isActive: boolean } | undefined): number =>
    found === undefined ? -12360 : found.isActive ? ACTIVE : INACTIVE
  try {
    switch (line[0]) {
      case 'a':
        return String(cache.add(text, 1))
      case 'h':
        return String(cache.hide(text))
      case 'c':
        return String(cache.cull(text))
      case 'k':
        return String(cache.addKeyed(rest, key, 1))
      case 'l': {
        const found = cache.get(Number(text))
        return `${state(found)} ${found?.name ?? ''}`
      }
      case 'n': {
        const found = cache.find(text)
        return `${state(found)} ${found?.id ?? -1}`
      }
      case 'K': {
        const found = cache.findKey(key.length === 0 ? new TextEncoder().encode(rest) : key)
        return `${state(found)} ${found?.id ?? -1} ${found?.name ?? ''}`
      }
      case 'm':
        cache.resize(Number(text))
        return '0'
      case 'w':
        return `${cache
          .list()
          .ids.map((id) => `${id} `)
          .join('')}end`
      default:
        return String(operation(cache, Number(text)))
    }
  } catch (error) {
    const status = String(PcpError.from(error).status)
    return line[0] === 'n' ? `${status} -1` : line[0] === 'K' ? `${status} -1 ` : status
  }
}

function operation(cache: InstanceCache<number>, op: number): number {
  if (op === LOAD) return cache.load() || -2
  if (op === SAVE) return cache.save()
  if (op === SYNC) return cache.sync()
  if (op === INACTIVE) return cache.setAll(false)
  return op === 11 ? cache.sizes.active : cache.sizes.inactive
}

const unstamped = (text: string): string =>
  text.replace(/^(\d+) \d+ (?=\S)/gm, '$1 T ').replace(/^2 T/, '2 0')

describe.skipIf(!isPossible)('instance caches beside the reference', () => {
  test(`${RUNS} times ${LIVES} lives of ${CALLS} calls`, () => {
    let compared = 0
    for (let run = 0; run < RUNS; run++) {
      const random = generator(seed * RUNS + run)
      const theirDir = join(top, `their-${run}`)
      const ourDir = join(top, `our-${run}`)
      const hasKeys = random(2) === 0 // keys change the assignment of all numbers
      for (let life = 0; life < LIVES; life++) {
        const lines = calls(random, hasKeys)
        const theirs = runReference(lines, theirDir)
        const cache = new InstanceCache<number>({ domain: 481, serial: 7, dir: ourDir })
        for (const [i, line] of lines.entries()) {
          const got = answer(cache, line)
          // PCP 6.0.3 finds "foo bar" for "foo blah", contrary to its documentation.
          if (got.startsWith('-22 ')) continue
          expect(got, `run ${run}, life ${life}, call ${i}: ${line}`).toBe(theirs[i])
          compared++
        }
        const read = (dir: string): string => unstamped(readFileSync(join(dir, '481.7'), 'utf8'))
        expect(read(ourDir)).toBe(read(join(theirDir, 'config/pmda')))
      }
    }
    console.log(`${compared} calls and ${RUNS * LIVES} files compared with libpcp_pmda`)
  })
})
