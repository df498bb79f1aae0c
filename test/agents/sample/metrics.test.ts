import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isError } from '../../../src/model/errors.ts'
import { unpackEvents } from '../../../src/model/events.ts'
import { dynamicRoot, indom, indomStr, PM_INDOM_NULL, pmid, pmidStr } from '../../../src/model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
} from '../../../src/model/labels.ts'
import { ALL_INSTANCES, exclude, include } from '../../../src/model/profile.ts'
import type { Ask, SourceEvent } from '../../../src/model/source.ts'
import {
  PM_TYPE_EVENT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_NOSUPPORT,
  semStr,
  typeStr,
} from '../../../src/model/types.ts'
import { unitsStr } from '../../../src/model/units.ts'
import { PMCD_LABEL_CHANGE, PMCD_NAMES_CHANGE } from '../../../src/model/values.ts'
import { ASK, readCatalogue } from '../../lib/agent-catalogue.ts'
import { Sample } from './open.ts'

let sample: Sample
beforeEach(() => {
  sample = new Sample()
})
afterEach(() => sample.agent.close())

/** A request of a client that selects instances of a domain. */
function only(serial: number, insts: readonly number[], client = 0): Ask {
  const id = indom(29, serial)
  const profile = include(exclude(ALL_INSTANCES, id), id, insts)
  return { requester: { client, context: 0, profile } }
}

describe('the catalogue', () => {
  /** Names that no descriptor belongs to in this agent. */
  const FOREIGN = ['sample.bad.unknown', 'sample.secret.foo.bar.max.redirect']

  test('has each metric just so', async () => {
    await sample.store('ghosts.visible', 8)
    const catalogue = readCatalogue('sample')
    const names = await sample.agent.traverse('', ASK)
    expect([...names].sort()).toEqual(catalogue.map(({ name }) => name).sort())
    for (const row of catalogue) {
      const id = await sample.idOf(row.name.slice('sample.'.length))
      expect([row.name, pmidStr(id)]).toEqual([row.name, row.pmid])
      if (FOREIGN.includes(row.name)) continue
      const [desc] = await sample.agent.descs([id], ASK)
      if (desc === undefined || isError(desc)) throw desc
      if (desc.type === PM_TYPE_NOSUPPORT) continue
      expect({
        name: row.name,
        type: typeStr(desc.type).toLowerCase(),
        sem: semStr(desc.sem),
        units: unitsStr(desc.units) || 'none',
        indom: desc.indom === PM_INDOM_NULL ? null : indomStr(desc.indom),
      }).toEqual({ name: row.name, type: row.type, sem: row.sem, units: row.units, indom: row.indom })
    }
    console.log(`sample: ${names.length} names compared`)
  })

  test('has help for each metric and each instance domain', async () => {
    await sample.store('ghosts.visible', 8)
    for (const name of await sample.agent.traverse('', ASK)) {
      if (FOREIGN.includes(name)) continue
      const id = await sample.idOf(name.slice('sample.'.length))
      const line = await sample.agent.text({ kind: 'metric', id, level: 'oneline' }, ASK)
      expect(line.length, name).toBeGreaterThan(10)
      expect(line, name).not.toContain('\n')
    }
    for (let serial = 1; serial <= 12; serial++) {
      const query = { kind: 'indom', id: indom(29, serial), level: 'oneline' } as const
      expect(await sample.agent.text(query, ASK)).not.toBe('')
    }
  })

  test('has other names and numbers as sampledso', async () => {
    const twin = new Sample({ domain: 30 })
    expect(await twin.idOf('bin')).toBe(pmid(30, 0, 6))
    expect(await twin.agent.traverse('sampledso.ghosts', ASK)).toEqual(['sampledso.ghosts.visible'])
    await expect(twin.agent.traverse('sample', ASK)).rejects.toMatchObject({ code: 'PM_ERR_NAME' })
    await twin.agent.close()
  })
})

describe('names', () => {
  test('secret names and those of ghosts are requested from the agent', () => {
    const names = [...sample.agent.names()]
    expect(names.filter(([, id]) => id === dynamicRoot(29)).map(([name]) => name)).toEqual([
      'sample.secret',
      'sample.ghosts',
    ])
    expect(names.some(([name]) => name.startsWith('sample.secret.'))).toBe(false)
  })

  test('of ghosts come and go', async () => {
    const events: SourceEvent[] = []
    sample.agent.subscribe((event) => events.push(event))
    const ghosts = (): Promise<readonly string[]> => sample.agent.traverse('sample.ghosts', ASK)
    expect(await ghosts()).toEqual(['sample.ghosts.visible'])
    await sample.store('ghosts.visible', 3)
    await sample.store('ghosts.visible', 9)
    expect(await ghosts()).toHaveLength(4)
    expect(await sample.value('ghosts.visible')).toBe(8)
    const state = await sample.idOf('ghosts.state')
    await sample.store('ghosts.visible', -1)
    expect(await ghosts()).toHaveLength(1)
    expect(await sample.agent.descs([state], ASK)).toMatchObject([{ code: 'PM_ERR_PMID' }])
    expect(events).toEqual([1, 2].map(() => ({ type: 'changed', changes: PMCD_NAMES_CHANGE })))
  })

  test('states of ghosts follow their pattern, one step a fetch', async () => {
    await sample.store('ghosts.visible', 8)
    const ids = await Promise.all(['ghosts.state', 'ghosts.karma', 'ghosts.state'].map((n) => sample.idOf(n)))
    const rows: string[] = []
    for (let i = 0; i < 4; i++) {
      const { sets } = await sample.agent.fetch(ids, ASK)
      rows.push([...sets[0]!.word].join(''))
      expect(sets[2]!.word).toEqual(sets[0]!.word)
    }
    expect(rows).toEqual(['10101010', '01101010', '10011010', '01010110'])
  })
})

describe('instances', () => {
  test('needprofile wants them chosen', async () => {
    expect(await sample.answer('needprofile')).toBe('PM_ERR_PROFILE')
    expect(await sample.answer('needprofile', only(4, []))).toBe('PM_ERR_PROFILE')
    expect([...(await sample.set('needprofile', only(4, [1, 4]))).inst]).toEqual([1, 4])
  })

  test('bogus_bin has instances that its domain does not contain', async () => {
    expect([...((await sample.answer('bogus_bin')) as Map<number, number>)].slice(0, 3)).toEqual([
      [100, 100],
      [250, 250],
      [300, 300],
    ])
    await sample.store('bin', 7, [200, 300])
    expect(await sample.values('bogus_bin', only(2, [200, 300]))).toEqual([57, 7])
  })

  test('bins are one array', async () => {
    await sample.store('bin', 5, [100])
    expect(await sample.value('string.bin')).toBe('  5')
    expect(await sample.value('double.bin_ctr')).toBe(5)
    sample.now += 2500
    expect(await sample.value('ulonglong.bin')).toBe(7)
    expect(await sample.values('part_bin')).toEqual([5, 300, 500, 700, 900])
    await expect(sample.store('bin', 5, [150])).rejects.toMatchObject({ code: 'PM_ERR_INST' })
    await expect(sample.store('bucket', 5, [100])).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
  })

  test('many are as many as one likes', async () => {
    await sample.store('many.count', 3)
    expect(await sample.values('many.int')).toEqual([0, 1, 2])
    await sample.store('many.count', -3)
    expect(await sample.answer('many.int')).toBe('none')
    await sample.store('many.count', 1e9)
    expect(await sample.value('many.count')).toBe(999_999)
  })

  test('the mirage changes after its interval, once it was requested', async () => {
    const ids = async (): Promise<readonly number[]> =>
      (await sample.agent.instances(indom(29, 3), undefined, ASK)).ids
    sample.now += 20_000
    expect(await ids()).toEqual([0])
    await sample.value('mirage')
    expect(await ids()).toEqual([0, 1, 2])
    sample.now += 9_999
    expect(await ids()).toEqual([0, 1, 2])
    sample.now += 1
    expect(await ids()).toEqual([0, 1, 3])
  })

  test('made-up processes have names and ages, and begin anew', async () => {
    const list = async (): Promise<readonly string[]> =>
      (await sample.agent.instances(indom(29, 12), undefined, ASK)).names
    expect(await list()).toEqual([])
    await sample.value('proc.ordinal')
    expect(await list()).toEqual([
      '0001 init',
      '0002 /etc/bozo',
      '0003 /usr/bin/bobo',
      '0004 /usr/local/jester',
    ])
    sample.now += 40
    expect(await sample.value('proc.time')).toBe(40)
    expect(await sample.values('proc.exec')).toEqual(['0001 init', 'bozo', 'bobo', 'jester'])
    await sample.store('proc.reset', 0)
    expect(await list()).toEqual([])
  })

  test('made-up processes go on after the last number', async () => {
    for (let i = 0; i < 3000; i++) await sample.set('proc.ordinal')
    const { ids } = await sample.agent.instances(indom(29, 12), undefined, ASK)
    expect(new Set(ids).size).toBe(ids.length)
    expect(Math.max(...ids)).toBeLessThanOrEqual(999)
  })
})

describe('instances from a file', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'sample-'))
    mkdirSync(join(dir, 'pmdas/sample'), { recursive: true })
    sample = new Sample({ root: dir, env: { PCP_PMDAS_DIR: '/pmdas' } })
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  function write(text: string, mtimeSec: number): void {
    const path = join(dir, 'pmdas/sample/dynamic.indom')
    writeFileSync(path, text)
    utimesSync(path, mtimeSec, mtimeSec)
  }

  test('are read again when it changes, and count fetches since then', async () => {
    expect(await sample.answer('dynamic.counter')).toBe('none')
    write('1 one\n30 thirty one\nnonsense\n1 again\n', 1_000_000)
    expect(await sample.answer('dynamic.counter')).toEqual(
      new Map([
        [1, 1],
        [30, 1],
      ]),
    )
    const ids = await Promise.all(['dynamic.counter', 'dynamic.discrete'].map((name) => sample.idOf(name)))
    const { sets } = await sample.agent.fetch(ids, ASK)
    expect(sets.map(({ word }) => [...word])).toEqual([
      [2, 2],
      [2, 2],
    ])
    expect((await sample.agent.instances(indom(29, 7), { name: 'thirty' }, ASK)).ids).toEqual([30])
    expect(sample.log).toHaveLength(2)
    write('4 four\n', 1_000_001)
    expect(await sample.answer('dynamic.instant')).toEqual(new Map([[4, 1]]))
  })
})

describe('values', () => {
  test('of writable metrics are noted when they differ from the first', async () => {
    const events: SourceEvent[] = []
    sample.agent.subscribe((event) => events.push(event))
    const changed = async (): Promise<string> => {
      const id = await sample.idOf('long.write_me')
      return (await sample.agent.labels({ level: LABEL_ITEM, id }, ASK))[0]!.json
    }
    expect(await changed()).toBe('{"changed":false}')
    await sample.store('long.write_me', 7)
    await sample.store('long.write_me', 8)
    expect(await changed()).toBe('{"changed":true}')
    await sample.store('long.write_me', 13)
    expect(await changed()).toBe('{"changed":false}')
    expect(events).toEqual([1, 2].map(() => ({ type: 'changed', changes: PMCD_LABEL_CHANGE })))
  })

  test('of 64 bits go round exactly', async () => {
    const found = [
      await sample.value('wrap.ulonglong'),
      await sample.value('wrap.ulonglong'),
      await sample.value('wrap.ulonglong'),
    ]
    expect(found).toEqual([9223372036854775806n, 18446744073709551612n, 9223372036854775802n])
    await sample.value('wrap.longlong')
    await sample.value('wrap.longlong')
    expect(await sample.value('wrap.longlong')).toBe(-4611686018427387910n)
  })

  test('grow at the rate that was set', async () => {
    await sample.store('const_rate.gradient', 1000)
    await sample.store('const_rate.value', 2 ** 32 - 500)
    sample.now += 1500
    expect(await sample.value('const_rate.value')).toBe(1000)
  })

  test('go up a step each 30 seconds', async () => {
    await sample.store('step', 8)
    sample.now += 61_000
    expect([await sample.value('step'), await sample.value('step_counter')]).toEqual([24, 24])
  })

  test('turn round at limits that were set', async () => {
    await sample.store('updown.control.repeat', 1)
    await sample.store('updown.control.step', 50)
    await sample.store('updown.control.max', 120)
    await sample.store('updown.control.min', -20)
    const found: unknown[] = []
    for (let i = 0; i < 11; i++) found.push(await sample.value('updown.obs'))
    expect(found).toEqual([0, 0, 0, 0, 50, 100, 70, 20, 30, 80, 70])
    await expect(sample.store('updown.control.step', 2 ** 32 - 1)).rejects.toMatchObject({
      code: 'PM_ERR_SIGN',
    })
  })

  test('show a system as sysinfo does', async () => {
    const block = (await sample.value('sysinfo')) as Uint8Array
    expect(block.length).toBe(112)
    expect(new DataView(block.buffer, block.byteOffset).getUint32(104, true)).toBe(1)
  })
})

describe('the end of the range', () => {
  const MOST = 2 ** 31 - 1

  test('turns a drift back to 0', async () => {
    // One step in five turns round, and a step may be 0: of so many starts the most goes up.
    const next: unknown[] = []
    for (let i = 0; i < 20; i++) {
      await sample.store('drift', MOST)
      next.push(await sample.value('drift'))
    }
    expect(next).toContain(0)
    expect(next.every((value) => Number(value) >= 0)).toBe(true)
  })

  test('lets a colour go on below 0, as 32 bits do', async () => {
    await sample.store('colour', MOST, [0])
    expect(await sample.values('colour')).toEqual([52, 153, 254])
  })

  test('keeps all 64 bits of a negative number', async () => {
    await sample.store('negative.instant.m_64', 2n ** 63n - 2n)
    expect(await sample.value('negative.instant.m_64')).toBe(2n ** 63n - 1n)
    expect(await sample.value('negative.discrete.m_64')).toBe(-(2n ** 63n))
  })
})

describe('descriptors', () => {
  test('of one metric can be stored', async () => {
    await sample.store('dynamic.meta.pmdesc.type', 6)
    expect(await sample.value('dynamic.meta.metric')).toBe('42')
    await sample.store('dynamic.meta.pmdesc.indom', indom(29, 1))
    expect(await sample.values('dynamic.meta.metric')).toEqual(['42', '42', '42'])
    await sample.store('dynamic.meta.pmdesc.indom', indom(29, 99))
    expect(await sample.answer('dynamic.meta.metric')).toBe('PM_ERR_INDOM')
    await sample.store('dynamic.meta.pmdesc.indom', PM_INDOM_NULL)
    await sample.store('dynamic.meta.pmdesc.type', 99)
    expect(await sample.answer('dynamic.meta.metric')).toBe('none')
    expect(await sample.value('dynamic.meta.pmdesc.units')).toBe(0x1f003000)
  })

  test('may be refused with any status', async () => {
    await sample.store('error_code', -12386)
    const id = await sample.idOf('error_check')
    expect(await sample.agent.descs([id], ASK)).toMatchObject([{ status: -12386 }])
    expect((await sample.set('error_check')).status).toBe(-12386)
    await sample.store('error_code', 0)
    expect(await sample.value('error_check')).toBe(0)
  })
})

describe('errors', () => {
  test('of bad metrics', async () => {
    expect(await sample.answer('noinst')).toBe('none')
    expect(await sample.answer('bad.fetch.again')).toBe('PM_ERR_AGAIN')
    const unknown = await sample.set('bad.unknown')
    expect(unknown.status).toBeLessThan(0)
    expect((await sample.set('bad.nosupport')).status).toBeLessThan(0)
  })

  test('of dodgey values up to 5 are as set', async () => {
    await sample.store('dodgey.control', 2)
    expect([...(await sample.set('dodgey.value')).inst]).toEqual([1, 2])
    await sample.store('dodgey.control', 0)
    expect(await sample.answer('dodgey.value')).toBe('none')
    await sample.store('dodgey.control', -3)
    expect(await sample.answer('dodgey.value')).toBe('ESRCH')
  })

  test('of dodgey values beyond 5 last for some fetches', async () => {
    await sample.store('dodgey.control', 6)
    const found: unknown[] = []
    for (let i = 0; i < 200; i++) {
      const answer = await sample.answer('dodgey.value')
      found.push(typeof answer === 'string' ? answer : [...answer.keys()].join())
    }
    expect(found.slice(0, 4)).toEqual(['PM_ERR_NOAGENT', 'PM_ERR_NOAGENT', 'PM_ERR_NOAGENT', '5'])
    expect(new Set(found).size).toBeGreaterThan(10)
  })
})

describe('readiness', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test('the request after a store makes the agent not ready for a while', async () => {
    vi.useFakeTimers()
    const events: SourceEvent[] = []
    sample.agent.subscribe((event) => events.push(event))
    await sample.store('not_ready', 2)
    await expect(sample.agent.traverse('', ASK)).rejects.toMatchObject({ code: 'PM_ERR_PMDANOTREADY' })
    await expect(sample.agent.fetch([], ASK)).rejects.toMatchObject({ code: 'PM_ERR_PMDANOTREADY' })
    expect(events).toEqual([{ type: 'notready' }])
    vi.advanceTimersByTime(2000)
    expect(events).toEqual([{ type: 'notready' }, { type: 'ready' }])
    expect(await sample.value('not_ready')).toBe(0)
  })

  test('a file makes it unavailable', async () => {
    const root = mkdtempSync(join(tmpdir(), 'sample-'))
    mkdirSync(join(root, 'tmp'))
    const { agent } = new Sample({ root })
    await agent.fetch([], ASK)
    writeFileSync(join(root, 'tmp/sample.unavail'), '')
    await expect(agent.fetch([], ASK)).rejects.toMatchObject({ code: 'PM_ERR_AGAIN' })
    rmSync(root, { recursive: true })
  })

  test('it ends when sample.control is set to -1, but not as sampledso', async () => {
    const twin = new Sample({ domain: 30 })
    const events: SourceEvent[] = []
    for (const each of [sample, twin]) each.agent.subscribe((event) => events.push(event))
    await twin.store('control', -1)
    expect(events).toEqual([])
    await sample.store('control', -1)
    expect(events).toMatchObject([{ type: 'lost' }])
  })
})

describe('clients', () => {
  test('have separate counts', async () => {
    const asks = [only(4, [0], 1), only(4, [0], 2)]
    const names = [
      'percontext.recv_pdu',
      'percontext.xmit_pdu',
      'percontext.pdu',
      'recv_pdu',
      'percontext.control.active',
    ]
    const ids = await Promise.all(names.map((name) => sample.idOf(name)))
    const fetch = async (ask: Ask): Promise<readonly number[]> =>
      (await sample.agent.fetch(ids.slice(0, 2), ask)).sets.map(({ word }) => word[0]!)
    // The first request of a client counts its profile as well.
    expect(await fetch(asks[0]!)).toEqual([2, 1])
    expect(await fetch(asks[1]!)).toEqual([2, 1])
    expect(await fetch(asks[0]!)).toEqual([3, 2])
    await sample.agent.children('', asks[0]!)
    expect(await fetch(asks[0]!)).toEqual([4, 3])
    expect(await sample.value('percontext.pdu', asks[1]!)).toBe(5)
    // Client 0 is this test's other questions.
    expect(await sample.value('percontext.control.active', asks[1]!)).toBe(3)
    sample.agent.endClient?.(1)
    expect(await sample.value('percontext.control.active', asks[1]!)).toBe(2)
    expect(await sample.value('percontext.control.end', asks[1]!)).toBe(1)
    expect(await sample.value('percontext.control.ctx', asks[1]!)).toBe(3)
    await sample.store('recv_pdu', 9)
    expect(await sample.value('recv_pdu', asks[1]!)).toBe(1)
  })
})

describe('events', () => {
  const shapes = async (metric: string, type: number, inst: number): Promise<string[]> => {
    const set = await sample.set(metric, only(10, [inst]))
    return unpackEvents(set, 0, type).map(
      ({ flags, missed, params }) => `${flags}/${missed}/${params.length}`,
    )
  }

  test.each([
    ['event.records', PM_TYPE_EVENT],
    ['event.highres_records', PM_TYPE_HIGHRES_EVENT],
  ])('%s come in a cycle of four', async (metric, type) => {
    const found: unknown[] = []
    for (let i = 0; i < 5; i++) found.push(await shapes(metric, type, 0))
    const five = ['26/0/3', '1/0/3', '4/0/6', '2147483648/7/0', '1/0/3']
    expect(found).toEqual([[], ['1/0/0'], ['1/0/1', '1/0/2'], five, []])
  })

  test('have times a second apart, the first ten seconds ago', async () => {
    await sample.store('event.reset', 2)
    const set = await sample.set('event.records', only(10, [0]))
    const seconds = unpackEvents(set, 0, PM_TYPE_EVENT).map(({ timestamp }) => timestamp.sec)
    expect(seconds).toEqual([1_699_999_990, 1_699_999_991])
  })

  test('can have a parameter that does not exist', async () => {
    await sample.store('event.reset', -1)
    const set = await sample.set('event.records', only(10, [0]))
    const [record] = unpackEvents(set, 0, PM_TYPE_EVENT)
    expect(record!.params.map((param) => pmidStr(param.pmid))).toEqual(['29.0.127', '0.100.200'])
    expect(await sample.value('event.reset')).toBe(0)
  })

  test('of texts count on, and each third has another one', async () => {
    const counts: number[] = []
    for (let i = 0; i < 4; i++) counts.push((await shapes('event.records', PM_TYPE_EVENT, 1)).length)
    expect(counts).toEqual([2, 1, 1, 2])
    const set = await sample.set('event.no_indom_records')
    expect(unpackEvents(set, 0, PM_TYPE_EVENT)).toHaveLength(1)
  })
})

describe('labels', () => {
  const json = async (level: number, id: number): Promise<readonly string[]> =>
    (await sample.agent.labels({ level, id }, ASK)).map((set) => set.json)

  test('of everything', async () => {
    expect(await json(LABEL_DOMAIN, 29)).toEqual(['{"agent":"sample","role":"testing"}'])
    expect(await json(LABEL_CLUSTER, pmid(29, 0, 0))).toEqual(['{"cluster":"zero"}'])
    expect(await json(LABEL_CLUSTER, pmid(29, 1, 0))).toEqual([])
    expect(await json(LABEL_INDOM, indom(29, 1))).toEqual(['{"model":"RGB"}'])
    expect(await json(LABEL_INDOM, indom(29, 4))).toEqual(['{"clan":"mcdonell"}'])
    expect(await json(LABEL_ITEM, pmid(29, 0, 64))).toEqual([
      '{"measure":"speed","units":"metres per second","unitsystem":"SI"}',
    ])
    expect(await json(LABEL_INSTANCES, indom(29, 1))).toEqual(['', '', ''])
    expect((await json(LABEL_INSTANCES, indom(29, 2)))[0]).toBe('{"bin":100}')
    expect(await json(LABEL_INSTANCES, indom(29, 3))).toEqual(['{"transient":false}'])
  })
})
