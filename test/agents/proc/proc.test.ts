/** Who may see which processes, hot processes, and ended ones, over trees that the tests write. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { indom, pmid } from '../../../src/model/ids.ts'
import { InstanceSet } from '../../../src/model/instance-set.ts'
import { ANONYMOUS, type Ask } from '../../../src/model/source.ts'
import { PM_TYPE_STRING, PM_TYPE_U32 } from '../../../src/model/types.ts'
import { makeSingular } from '../../../src/model/value-writer.ts'
import type { AgentSource } from '../../../src/pmda/open-agent.ts'
import { asNobody, asUser, openProc, printed } from '../../lib/proc-agent.ts'

let root: string
let now = 1_700_000_000_000
let agent: AgentSource

function write(path: string, text: string): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

interface Fake {
  readonly comm?: string
  readonly args?: string
  readonly utime?: number
  readonly switches?: number
  readonly read?: number
  readonly isThread?: boolean
}

/** Writes the files of a process, and of its first thread. */
function process_(pid: number, fake: Fake = {}): void {
  const { comm = 'prog', args = `/bin/prog\0-x\0`, utime = 100, switches = 10, read = 0 } = fake
  const stat = `${pid} (${comm}) S 1 ${pid} ${pid} 34816 -1 4194560 11 12 13 14 ${utime} 50 7 8 -3 5 1 0 2000 10485760 256 18446744073709551615 1 2 140737000000000 0 0 1 2 3 4 1 0 0 17 1 40 2 9 6 7\n`
  const status = `Name:\t${comm}\nTgid:\t${pid}\nNgid:\t0\nPid:\t${pid}\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nNStgid:\t${pid}\t3\nVmSize:\t10240 kB\nVmRSS:\t  1024 kB\nVmLib:\t200 kB\nVmSwap:\t10 kB\nThreads:\t2\nSigPnd:\t0000000000000001\nCpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t${switches}\nnonvoluntary_ctxt_switches:\t2\n`
  for (const dir of [`proc/${pid}`, `proc/${pid}/task/${pid}`]) {
    write(`${dir}/stat`, stat)
    write(`${dir}/status`, status)
    write(`${dir}/io`, `rchar: 1\nread_bytes: ${read}\nwrite_bytes: 0\n`)
    write(`${dir}/schedstat`, '5 6 7\n')
    write(`${dir}/statm`, '100 50 25 10 0 40 0\n')
  }
  write(`proc/${pid}/cmdline`, args)
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pcp-ts-proc-'))
  process_(7, { comm: 'a b) c' })
  process_(12, { comm: 'kthread', args: '' })
  write('proc/stat', 'cpu  1 2 3 1000 5\ncpu0 1\ncpu1 1\n')
  write('proc/tty/drivers', 'pty_slave /dev/pts 136 0-1048575 pty:slave\n')
  write('dev/pts/0', '')
  write('etc/passwd', 'ann:x:1:5::/:/bin/sh\nbob:x:3:5::/:/bin/sh\n')
  write('etc/group', 'users:x:5:\n')
  agent = openProc(root, { PROC_HERTZ: '100', PROC_PAGESIZE: '4096' }, { clock: () => now })
})
afterEach(async () => {
  await agent.close()
  rmSync(root, { recursive: true, force: true })
})

const PROCESSES = indom(3, 9)

async function store(cluster: number, item: number, value: string | number, ask: Ask): Promise<void> {
  const type = typeof value === 'string' ? PM_TYPE_STRING : PM_TYPE_U32
  await agent.store([makeSingular(pmid(3, cluster, item), type, value)], ask)
}

describe('processes', () => {
  test('are named by their number and the first word of the command line', async () => {
    const { ids, names } = await agent.instances(PROCESSES, undefined, asUser())
    expect(ids).toEqual([7, 12])
    expect(names).toEqual(['000007 /bin/prog', '000012 (kthread)'])
    for (const name of ['7', '000007', '000007 /bin/prog'])
      expect((await agent.instances(PROCESSES, { name }, asUser())).ids).toEqual([7])
  })

  test('have the columns of proc(5), whatever their name is', async () => {
    const values = await printed(agent, [
      'proc.psinfo.cmd',
      'proc.psinfo.psargs',
      'proc.psinfo.ttyname',
      'proc.psinfo.priority',
      'proc.psinfo.nice',
      'proc.psinfo.rt_priority',
      'proc.psinfo.policy_s',
      'proc.psinfo.delayacct_blkio_time',
      'proc.psinfo.guest_time',
      'proc.psinfo.cguest_time',
      'proc.psinfo.rss_rlim',
      'proc.psinfo.vsize',
      'proc.psinfo.start_time',
      'proc.id.uid',
      'proc.id.gid',
      'proc.id.fsgid',
      'proc.id.uid_nm',
      'proc.id.euid_nm',
      'proc.id.gid_nm',
      'proc.memory.vmreal',
      'proc.memory.vmnonlib',
      'proc.memory.rss',
      'proc.namespaces.tgid',
      'proc.psinfo.tty_pgrp',
      'proc.memory.vmpin',
    ])
    const first = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name.replace(/^proc\.\w+\./, ''),
        value === null || typeof value === 'string' ? value : value['000007 /bin/prog'],
      ]),
    )
    expect(first).toEqual({
      cmd: 'a b) c',
      psargs: '/bin/prog -x',
      ttyname: 'pts/0',
      priority: '-3',
      nice: '5',
      rt_priority: '40',
      policy_s: 'RR',
      delayacct_blkio_time: '90',
      guest_time: '60',
      cguest_time: '70',
      rss_rlim: '18014398509481983',
      vsize: '10240',
      start_time: '20000',
      uid: '1',
      gid: '5',
      fsgid: '8',
      uid_nm: 'ann',
      euid_nm: '',
      gid_nm: 'users',
      vmreal: '1034',
      vmnonlib: '834',
      rss: '200',
      tgid: '7,3',
      tty_pgrp: null,
      vmpin: null,
    })
  })

  test('are shown only to those whose user and group are known', async () => {
    for (const ask of [asNobody(), asUser({ uid: 0 })]) {
      await expect(agent.instances(PROCESSES, undefined, ask)).rejects.toMatchObject({
        code: 'PM_ERR_PERMISSION',
      })
      expect(await printed(agent, ['proc.nprocs', 'proc.runq.sleeping'], ask)).toEqual({
        'proc.nprocs': '2',
        'proc.runq.sleeping': '2',
      })
      await expect(store(10, 1, 1, ask)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
      await expect(store(10, 2, 1, ask)).rejects.toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
    }
    const { sets } = await agent.fetch([pmid(3, 8, 0)], asNobody())
    expect(sets[0]!.status).toBe(-12387)
  })

  test('that are this one are not shown to other users', async () => {
    const own = openProc('/', {})
    const only = { indom: PROCESSES, includeAll: false, instances: InstanceSet.of([process.pid]) }
    const asked = asUser({ uid: 4242, gid: 4242 })
    const ask = {
      ...asked,
      requester: {
        ...asked.requester,
        profile: { includeByDefault: true, entries: new Map([[PROCESSES, only]]) },
      },
    }
    const names = ['proc.psinfo.environ', 'proc.memory.maps', 'proc.io.rchar', 'proc.psinfo.exe']
    // without root it is impossible to read with another user's rights
    const isRoot = process.geteuid?.() === 0
    const values = isRoot ? await printed(own, names, ask) : {}
    await own.close()
    const shown = Object.values(values).flatMap((value) => Object.values(value ?? {}))
    expect(shown.join('')).toBe('')
  })

  test('come with their threads for the client that wants them', async () => {
    for (const file of ['stat', 'status']) write(`proc/7/task/8/${file}`, '')
    write('proc/8/stat', '8 (worker) S 1\n')
    write('proc/8/cmdline', '/bin/prog\0')
    await store(10, 2, 1, asUser(undefined, 1))
    const idsFor = async (client: number): Promise<readonly number[]> =>
      (await agent.instances(PROCESSES, undefined, asUser(undefined, client))).ids
    expect(await idsFor(1)).toEqual([7, 8, 12])
    agent.endClient?.(1)
    rmSync(join(root, 'proc/8'), { recursive: true })
    expect(await idsFor(1)).toEqual([7, 12])
    await expect(store(10, 2, 2, asUser())).rejects.toMatchObject({ code: 'PM_ERR_BADSTORE' })
  })

  test('of one control group are all that a client sees who chose it', async () => {
    write('sys/fs/cgroup/some/cgroup.procs', '12\n')
    await store(10, 3, '/sys/fs/cgroup/some/', asUser(undefined, 1))
    expect((await agent.instances(PROCESSES, undefined, asUser(undefined, 1))).ids).toEqual([12])
    expect((await agent.instances(PROCESSES, undefined, asUser(undefined, 2))).ids).toEqual([7, 12])
    for (const bad of ['relative', '/sys/../etc'])
      await expect(store(10, 3, bad, asUser())).rejects.toMatchObject({ code: 'PM_ERR_BADSTORE' })
  })

  test('of a container are all that its client sees', async () => {
    const id = '3f4ad9c0b1e2d3c4b5a69788796a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a'
    write('proc/12/cgroup', `0::/system.slice/docker-${id}.scope\n`)
    const inside = (container: string): Ask => {
      const { requester } = asUser()
      return { requester: { ...requester, container }, batch: {} }
    }
    const config = { State: { Running: true, Pid: 12 }, Name: '/web' }
    write(`var/lib/docker/containers/${id}/config.v2.json`, JSON.stringify(config))
    for (const name of ['web', id, id.slice(0, 12)])
      expect((await agent.instances(PROCESSES, undefined, inside(name))).ids).toEqual([12])
    await expect(agent.instances(PROCESSES, undefined, inside('abc'))).rejects.toMatchObject({
      code: 'PM_ERR_NOCONTAINER',
    })
  })
})

describe('hot processes', () => {
  const root_: Ask = { requester: { ...ANONYMOUS, credentials: { uid: 0, gid: 0 } }, batch: {} }

  test('are those of which the stored predicate holds, with rates between two samples', async () => {
    await store(60, 8, 'cpuburn > 0.1', root_)
    now += 10_000
    process_(7, { comm: 'busy', utime: 300, switches: 60, read: 102_400 })
    write('proc/stat', 'cpu  1 2 3 2000 5\ncpu0 1\ncpu1 1\n')
    await store(60, 8, 'cpuburn > 0.1 && fname == "busy"', root_) // begins anew: no rates yet
    expect(await printed(agent, ['hotproc.nprocs', 'hotproc.control.config_gen'])).toEqual({
      'hotproc.nprocs': '0',
      'hotproc.control.config_gen': '2',
    })
  })

  test('can be set only by root', async () => {
    for (const ask of [asNobody(), asUser({ uid: 5, gid: 5 })])
      for (const [item, value] of [
        [1, 5],
        [8, 'true'],
        [10, 1],
      ] as const)
        await expect(store(60, item, value, ask)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
    await expect(store(60, 8, 'no such word', root_)).rejects.toMatchObject({ code: 'PM_ERR_BADSTORE' })
    await expect(store(60, 1, 0, root_)).rejects.toMatchObject({ code: 'PM_ERR_BADSTORE' })
  })

  test('disappear when the predicate is removed', async () => {
    await store(60, 8, 'true', root_)
    expect((await agent.instances(indom(3, 39), undefined, asUser())).ids).toEqual([7, 12])
    expect((await printed(agent, ['hotproc.psinfo.cmd']))['hotproc.psinfo.cmd']).toEqual({
      '000007 /bin/prog': 'a b) c',
      '000012 (kthread)': 'kthread',
    })
    await store(60, 8, '', root_)
    expect((await agent.instances(indom(3, 39), undefined, asUser())).ids).toEqual([])
  })
})

describe('the busiest processes', () => {
  const root_: Ask = { requester: { ...ANONYMOUS, credentials: { uid: 0, gid: 0 } }, batch: {} }
  const HOT = indom(3, 39)
  let busy: AgentSource

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
    process_(7, { args: `/bin/prog\0${'x'.repeat(1000)}\0` })
    const env = { PROC_HERTZ: '100', PROC_PAGESIZE: '4096', PROC_HOT_TOP: '1' }
    busy = openProc(root, env, { clock: () => now })
  })
  afterEach(async () => {
    await busy.close()
    vi.useRealTimers()
  })

  /** Lets the time of a sample pass. */
  function sample(): void {
    now += 10_000
    vi.advanceTimersByTime(10_000)
  }

  test('are hot without a predicate, from their first sample on', async () => {
    process_(12, { utime: 1100 })
    process_(20, { comm: 'new', args: 'new\0', read: 5000 })
    sample()
    // 12 used most CPU time, 20 most of the disk; all have the same memory, so the oldest is chosen.
    expect((await busy.instances(HOT, undefined, asUser())).ids).toEqual([7, 12, 20])
    const values = await printed(busy, ['hotproc.predicate.cpuburn', 'hotproc.predicate.iodemand'])
    expect(values['hotproc.predicate.cpuburn']).toMatchObject({ '000012 /bin/prog': '1' })
    expect(values['hotproc.predicate.iodemand']).toMatchObject({ '000020 new': '0.48828125' })
  })

  test('have no rates before the second sample', async () => {
    const rates = ['cpuburn', 'iodemand', 'ctxswitch'].map((name) => `hotproc.predicate.${name}`)
    const before = await printed(busy, [...rates, 'hotproc.predicate.residentsize'])
    for (const name of rates) expect(Object.keys(before[name] ?? {}), name).toEqual([])
    expect(Object.keys(before['hotproc.predicate.residentsize'] ?? {})).not.toEqual([])
    sample()
    expect(Object.keys((await printed(busy, rates))[rates[0]!] ?? {})).not.toEqual([])
  })

  test('are as of a fetch, if the last sample is older than half the interval', async () => {
    const ids = async (): Promise<readonly number[]> =>
      (await busy.instances(HOT, undefined, asUser())).ids as readonly number[]
    sample()
    await ids()
    process_(12, { utime: 1100 })
    now += 4000
    expect(await ids()).not.toContain(12)
    now += 2000
    expect(await ids()).toContain(12)
    const { 'hotproc.predicate.cpuburn': burn } = await printed(busy, ['hotproc.predicate.cpuburn'])
    expect(Number((burn as Record<string, string>)['000012 /bin/prog'])).toBeCloseTo(10 / 6, 4)
    // With a predicate only the interval decides, as in PCP.
    await busy.store([makeSingular(pmid(3, 60, 8), PM_TYPE_STRING, 'cpuburn > 0.5')], root_)
    process_(12, { utime: 3100 })
    now += 6000
    expect(await ids()).toEqual([])
    sample()
    expect(await ids()).toEqual([12])
  })

  test('have command lines of at most 255 characters, unlike those of proc', async () => {
    sample()
    const { 'hotproc.psinfo.psargs': hot, 'proc.psinfo.psargs': all } = (await printed(busy, [
      'hotproc.psinfo.psargs',
      'proc.psinfo.psargs',
    ])) as Record<string, Record<string, string>>
    expect(hot!['000007 /bin/prog']).toHaveLength(255)
    expect(all!['000007 /bin/prog']!.length).toBeGreaterThan(1000)
  })

  test('give way to a predicate, and return with its removal', async () => {
    const ids = async (): Promise<readonly number[]> =>
      (await busy.instances(HOT, undefined, asUser())).ids as readonly number[]
    await busy.store([makeSingular(pmid(3, 60, 8), PM_TYPE_STRING, 'fname == "kthread"')], root_)
    expect(await ids()).toEqual([12])
    await busy.store([makeSingular(pmid(3, 60, 8), PM_TYPE_STRING, '')], root_)
    sample()
    expect(await ids()).toContain(7)
  })

  test('are not sampled by default', async () => {
    sample()
    expect((await agent.instances(HOT, undefined, asUser())).ids).toEqual([])
  })
})

describe('ended processes', () => {
  function record(pid: number, ended: number): Uint8Array {
    const view = new DataView(new ArrayBuffer(64))
    view.setUint8(0, 2 | 16)
    view.setUint8(1, 3)
    view.setUint32(4, 9, true)
    view.setUint32(8, 1, true)
    view.setUint32(12, 5, true)
    view.setUint32(16, pid, true)
    view.setUint32(24, ended - 2, true)
    view.setFloat32(28, 200, true)
    view.setUint16(32, (2 << 13) | 5, true) // 5 * 64 ticks
    new TextEncoder().encodeInto('gone', new Uint8Array(view.buffer, 48))
    return new Uint8Array(view.buffer)
  }

  test('are shown for their lifetime, including those written while the file is open', async () => {
    const file = join(root, 'var/log/account/pacct')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, Buffer.concat([record(40, now / 1000 - 1000), record(41, now / 1000 - 5)]))
    const names = [
      'acct.psinfo.etime',
      'acct.psinfo.utime',
      'acct.id.uid_nm',
      'acct.flag.su',
      'acct.flag.core',
    ]
    expect(await printed(agent, names)).toEqual({
      'acct.psinfo.etime': { gone: '2' },
      'acct.psinfo.utime': { gone: '3.2' },
      'acct.id.uid_nm': { gone: 'ann' },
      'acct.flag.su': { gone: '1' },
      'acct.flag.core': { gone: '0' },
    })
    appendFileSync(file, record(42, now / 1000))
    expect((await agent.instances(indom(3, 40), undefined, asUser())).ids).toEqual([41, 42])
    now += 58_000
    expect((await agent.instances(indom(3, 40), undefined, asUser())).ids).toEqual([42])
    writeFileSync(file, record(43, now / 1000)) // cut
    expect((await agent.instances(indom(3, 40), undefined, asUser())).ids).toEqual([42, 43])
  })
})
