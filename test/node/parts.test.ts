import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { MmvWriter } from '../../src/mmv/index.ts'
import { RecentDurations } from '../../src/node/durations.ts'
import { ProcessInstances } from '../../src/node/family.ts'
import { optionsFrom } from '../../src/node/options.ts'
import { asPart, routeOf, routeOfPath } from '../../src/node/route.ts'

describe('percentiles of durations', () => {
  it('are at most 7 % off, and the maximum is exact', () => {
    const longs = fc.array(fc.integer({ min: 0, max: 100_000_000 }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(longs, fc.integer({ min: 1, max: 100 }), (us, percent) => {
        const recent = new RecentDurations()
        for (const each of us) recent.record(each / 1000)
        const sorted = us.toSorted((a, b) => a - b)
        const exact = sorted[Math.ceil((us.length * percent) / 100) - 1]!
        expect(Math.abs(recent.percentile(percent) - exact)).toBeLessThanOrEqual(1 + exact * 0.07)
        expect(recent.max).toBeCloseTo(sorted.at(-1)!, 6)
      }),
    )
  })

  it('are NaN without durations, and cover those since the last reset', () => {
    const recent = new RecentDurations()
    expect([recent.percentile(50), recent.max]).toEqual([Number.NaN, Number.NaN])
    recent.record(1000)
    recent.reset()
    expect(recent.percentile(99)).toBeNaN()
    recent.record(2)
    expect(recent.max).toBe(2000)
  })

  it('take whatever a clock may give', () => {
    const recent = new RecentDurations()
    for (const ms of [-1, 0, 1e12, Number.POSITIVE_INFINITY]) recent.record(ms)
    expect(recent.count).toBe(4)
    expect(recent.percentile(100)).toBeGreaterThan(1e9)
  })
})

test.each([
  ['/', '/'],
  ['/users/17?x=1', '/users/:id'],
  ['/users/17/orders/9b2d0c5e-7d6f-4a57-9a3e-0d5a3a4b5c6d', '/users/:id/orders/:id'],
  ['/files/a1b2c3d4e5f6a7b8c9', '/files/:id'],
  ['/a-rather-long-word-of-letters/x', '/a-rather-long-word-of-letters/x'],
  ['/v2/users', '/v2/users'],
  ['/1/2/3/4/5/6/7/8/9/10', '/:id/:id/:id/:id/:id/:id/:id/:id/*'],
  ['*', '*'],
])('a request for %s has the route %s', (path, route) => {
  expect(routeOfPath(path)).toBe(route)
})

test('a route that a framework found comes first', () => {
  const request = { url: '/17', baseUrl: '/users', route: { path: '/:user' } } as unknown as IncomingMessage
  expect(routeOf(request)).toBe('/users/:user')
  const mounted = { url: '/17', originalUrl: '/api/17' } as unknown as IncomingMessage
  expect(routeOf(mounted)).toBe('/api/:id')
})

test('parts of names have no spaces and a limited length', () => {
  expect(asPart('/a b\tc')).toBe('/a_b_c')
  expect(asPart(`/${'x'.repeat(500)}`)).toHaveLength(120)
})

describe('parts of a process', () => {
  let directory: string
  let writer: MmvWriter
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'node-family-'))
    writer = new MmvWriter('x', { directory })
  })
  afterEach(() => {
    writer.close()
    rmSync(directory, { recursive: true })
  })

  it('are separate up to a number, and the rest is other', () => {
    const family = new ProcessInstances(writer, { tid: 7, instance: '7 x' }, { serial: 1, help: 'x' }, 2)
    expect(['a', 'b', 'c', 'd', 'a'].map((part) => family.of(part))).toEqual([
      '7::a',
      '7::b',
      '7::other',
      '7::other',
      '7::a',
    ])
  })

  it('come and go as often as they like', () => {
    const family = new ProcessInstances(writer, { tid: 7, instance: '7 x' }, { serial: 1, help: 'x' })
    for (let i = 0; i < 2000; i++) {
      expect(family.of(`thread-${i}`)).toBe(`7::thread-${i}`)
      family.remove(`thread-${i}`)
    }
    expect(family.instances.names).toEqual([])
  })
})

describe('the environment', () => {
  it('sets options', () => {
    expect(optionsFrom({})).toEqual({})
    expect(
      optionsFrom({
        PCP_NODE_NAME: 'shop',
        PCP_NODE_DIRECTORY: '/x',
        PCP_NODE_INTERVAL: '500 msec',
        PCP_NODE_LABELS: 'a=b, c=d=e',
        PCP_NODE_CHANNELS: 'x,tracing:y',
        PCP_NODE_WITHOUT: 'gc,http.server',
      }),
    ).toEqual({
      name: 'shop',
      directory: '/x',
      intervalMs: 500,
      labels: { a: 'b', c: 'd=e' },
      channels: ['x', 'tracing:y'],
      without: ['gc', 'http.server'],
    })
  })

  it.each([
    ['PCP_NODE_INTERVAL', 'often', /"often" is not an interval/],
    ['PCP_NODE_INTERVAL', '1 msec', /at least 10 msec/],
    ['PCP_NODE_LABELS', 'a', /"a" is not NAME=VALUE/],
    ['PCP_NODE_WITHOUT', 'all', /"all" is not one of eventloop/],
  ])('%s=%s is refused', (name, value, message) => {
    expect(() => optionsFrom({ [name]: value })).toThrow(message)
  })
})
