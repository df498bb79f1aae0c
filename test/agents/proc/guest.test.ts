/** What the proc agent shows to some user of this machine, of whom no more is known. docs/reference/agents/proc.md */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { indom, pmid } from '../../../src/model/ids.ts'
import { PM_TYPE_U32 } from '../../../src/model/types.ts'
import { makeSingular } from '../../../src/model/value-writer.ts'
import { asUser, openProc, printed } from '../../lib/proc-agent.ts'

const GUEST = { isGuest: true }
/** What ps aux shows, and what it does not. */
const OPEN = [
  'proc.psinfo.psargs',
  'proc.psinfo.utime',
  'proc.memory.rss',
  'proc.psinfo.threads',
  'proc.psinfo.oom_score',
]
const CLOSED = [
  'psinfo.environ',
  'psinfo.wchan_s',
  'io.rchar',
  'psinfo.start_code',
  'psinfo.eip',
  'memory.maps',
]

const PROCESSES = indom(3, 9)
const HOT = indom(3, 39)

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'proc-guest-'))
  const dir = join(root, 'proc', '7')
  mkdirSync(dir, { recursive: true })
  mkdirSync(join(root, 'proc', 'self'))
  const stat = `7 (x) S ${Array.from({ length: 49 }, (_, i) => i + 4).join(' ')}\n`
  const files = {
    stat,
    statm: '1 2 3 4 5 6 7\n',
    status: 'Name:\tx\nThreads:\t1\nTgid:\t7\n',
    cmdline: 'x\0argument\0',
    oom_score: '5\n',
    environ: 'SECRET=1\0',
    wchan: 'do_wait',
    io: 'rchar: 5\n',
    maps: '00-01 r-xp /bin/x\n',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
  writeFileSync(join(root, 'proc', 'stat'), 'btime 1\n')
})
afterEach(() => rmSync(root, { recursive: true }))

test('a guest sees what every user may read, even if the agent may read more', async () => {
  const agent = openProc(root)
  const names = [...OPEN, ...CLOSED.map((name) => `proc.${name}`)]
  const found = await printed(agent, names, asUser(GUEST))
  for (const name of OPEN) expect(found[name], name).toEqual({ '000007 x': expect.stringMatching(/./) })
  for (const name of CLOSED) expect([null, { '000007 x': '' }], name).toContainEqual(found[`proc.${name}`])
  // The user of the agent sees all of it, also within the same moment.
  const own = await printed(agent, names)
  expect(own['proc.psinfo.environ']).toEqual({ '000007 x': 'SECRET=1' })
  expect(own['proc.psinfo.start_code']).not.toBeNull()
  await agent.close()
})

test('a guest sees nothing where the system hides processes from other users', async () => {
  const agent = openProc(root)
  const mounts = (options: string): void =>
    writeFileSync(
      join(root, 'proc', 'self', 'mounts'),
      `sysfs /sys sysfs rw 0 0\nproc /proc proc rw${options} 0 0\n`,
    )
  for (const options of [
    ',hidepid=2',
    ',hidepid=invisible',
    ',nosuid,hidepid=1,gid=4',
    ',hidepid=ptraceable',
  ]) {
    mounts(options)
    const one = openProc(root)
    await expect(one.instances(PROCESSES, undefined, asUser(GUEST)), options).rejects.toMatchObject({
      code: 'PM_ERR_PERMISSION',
    })
    await one.close()
  }
  for (const options of ['', ',hidepid=0', ',hidepid=off']) {
    mounts(options)
    const one = openProc(root)
    expect((await one.instances(PROCESSES, undefined, asUser(GUEST))).ids, options).toEqual([7])
    await one.close()
  }
  await agent.close()
})

test('a guest neither sees hot processes nor chooses the listed processes', async () => {
  const agent = openProc(root)
  const ask = asUser(GUEST)
  await expect(agent.instances(HOT, undefined, ask)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
  for (const item of [1, 2])
    await expect(agent.store([makeSingular(pmid(3, 10, item), PM_TYPE_U32, 1)], ask)).rejects.toMatchObject({
      code: expect.stringMatching(/PERMISSION|NOCONTEXT/),
    })
  await agent.close()
})
