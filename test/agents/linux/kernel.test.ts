import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { hostname, machine, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseCpuinfo, parseTimeInState } from '../../../src/agents/linux/cpu-info.ts'
import { cpuTotal, IrqInstances, parseIrqTable, rowTotal } from '../../../src/agents/linux/irq-table.ts'
import { newLoadAverage, parseLoadavg } from '../../../src/agents/linux/kernel.ts'
import { parsePressure } from '../../../src/agents/linux/pressure.ts'
import { distro } from '../../../src/agents/linux/uname.ts'
import { parseUtmp } from '../../../src/agents/linux/users.ts'
import { Scanner } from '../../../src/base/scan.ts'
import { allAnswers, answer, openFixture } from '../../lib/linux-agent.ts'

const scan = (text: string): Scanner => new Scanner(new TextEncoder().encode(text))

test('reads load averages and process counts', () => {
  const load = parseLoadavg(scan('0.20 0.18 0.12 1/80 11206\n'), newLoadAverage())
  expect([...load.averages]).toEqual([0.2, 0.18, 0.12])
  expect(load).toMatchObject({ runnable: 1, processes: 80, lastPid: 11206 })
  expect(parseLoadavg(scan('0.20'), load).lastPid).toBeNaN()
})

test('ticks become milliseconds by LINUX_HERTZ', async () => {
  const agent = openFixture('uni', { LINUX_HERTZ: '1000' })
  expect(await allAnswers(agent, ['kernel.all.hz', 'kernel.all.cpu.user'])).toEqual({
    'kernel.all.hz': 1000,
    'kernel.all.cpu.user': 500,
  })
  await agent.close()
})

const INTERRUPTS = `           CPU0       CPU2       
  0:         45          1   IO-APIC   2-edge      timer
LOC:       1000       2000   Local timer interrupts
NPI:          5
 ERR:          9
MIS:          4
`

test('reads interrupts under the numbers of the CPUs that are online', () => {
  const table = parseIrqTable(scan(INTERRUPTS))
  expect(table.cpus).toEqual([0, 2])
  expect(table.rows.map(({ name, text }) => [name, text])).toEqual([
    ['0', 'IO-APIC 2-edge timer'],
    ['LOC', 'Local timer interrupts'],
    ['NPI', ''],
  ])
  expect(table.rows.map(rowTotal)).toEqual([46, 3000, 5])
  expect([table.errors, table.missed]).toEqual([9, 4])
  expect([cpuTotal(table, 0), cpuTotal(table, 2), cpuTotal(table, 1)]).toEqual([1050, 2001, undefined])
})

test('an interrupt line keeps its number', () => {
  const cells = new IrqInstances(true)
  const first = parseIrqTable(scan(INTERRUPTS))
  expect(cells.list(first)).toEqual({
    ids: [0, 1, 2, 3, 4],
    names: ['0::cpu0', '0::cpu2', 'LOC::cpu0', 'LOC::cpu2', 'NPI::cpu0'],
  })
  const second = parseIrqTable(scan('   CPU0   CPU2\n  7:  1  2  new\nLOC:  8  9  Local\n'))
  expect(cells.list(second)).toEqual({
    ids: [5, 6, 2, 3],
    names: ['7::cpu0', '7::cpu2', 'LOC::cpu0', 'LOC::cpu2'],
  })
  expect(cells.cell(second, 3)).toMatchObject({ row: { name: 'LOC' }, column: 1 })
  expect(cells.cell(second, 0)).toBeUndefined()
})

test('parsing into a used table gives the same result as into a new one', () => {
  const first = parseIrqTable(scan(INTERRUPTS))
  for (const text of [
    INTERRUPTS.replace('46', '47'),
    INTERRUPTS.replace('timer', 'timer2'),
    '   CPU0   CPU2\nLOC:  8  9  Local\n  0:  1\n',
    '   CPU0\n  0:  1  IO-APIC   2-edge      timer\n',
  ])
    expect({ ...parseIrqTable(scan(text), first) }).toEqual({ ...parseIrqTable(scan(text)) })
})

test('instances of lines stay where the table keeps its shape, and move where it does not', () => {
  const cells = new IrqInstances(true)
  const namesIn = (text: string): readonly string[] => cells.list(parseIrqTable(scan(text))).names
  const names = ['0::cpu0', '0::cpu1']
  expect(namesIn('  CPU0 CPU1\n 0: 1 2 x\n')).toEqual(names)
  expect(namesIn('  CPU0 CPU1\n 0: 3 4 x\n')).toEqual(names)
  expect(namesIn('  CPU0 CPU2\n 0: 3 4 x\n')).toEqual(['0::cpu0', '0::cpu2'])
  expect(namesIn('  CPU0 CPU2\n 0: 3\n')).toEqual(['0::cpu0'])
})

test('reads pressure', () => {
  expect(
    parsePressure(
      scan(
        'some avg10=1.25 avg60=0.50 avg300=0.10 total=123\nfull avg10=0.01 avg60=0.00 avg300=0.00 total=9\n',
      ),
    ),
  ).toEqual({
    some: { averages: [1.25, 0.5, 0.1], total: 123 },
    full: { averages: [0.01, 0, 0], total: 9 },
  })
  expect(parsePressure(scan(''))).toEqual({})
})

test('reads processors under their own numbers', () => {
  const cpus = parseCpuinfo(
    'processor\t: 2\nmodel name\t: A: B\n\nprocessor\t: 0\nflags\t\t: fpu\n\nHardware\t: board\n',
  )
  expect([...cpus.keys()]).toEqual([2, 0])
  expect(cpus.get(2)?.get('model name')).toBe('A: B')
  expect(cpus.get(0)?.get('flags')).toBe('fpu')
})

test('sums up the speeds of a processor', () => {
  expect(parseTimeInState('2000000 100\n800000 300\n')).toEqual({
    count: 2000 * 100 + 800 * 300,
    time: 400,
    max: 2000,
    min: 800,
  })
  expect(parseTimeInState('')).toBeUndefined()
})

test('takes the first release file there is', () => {
  const files: Record<string, string> = {
    '/etc/redhat-release': 'Red Hat Enterprise Linux 9\nmore\n',
    '/etc/lsb-release': 'X',
  }
  expect(distro((path) => files[path])).toBe('Red Hat Enterprise Linux 9')
  expect(distro((path) => (path === '/etc/debian_version' ? '12.5\n' : undefined))).toBe('Debian 12.5')
  expect(distro(() => undefined)).toBe('?')
})

test('names the running kernel', async () => {
  const agent = openFixture('uni')
  expect(
    await allAnswers(agent, [
      'kernel.uname.release',
      'kernel.uname.nodename',
      'hinv.machine',
      'kernel.uname.distro',
    ]),
  ).toEqual({
    'kernel.uname.release': release(),
    'kernel.uname.nodename': hostname(),
    'hinv.machine': machine(),
    'kernel.uname.distro': '?',
  })
  await agent.close()
})

/** Records of utmp: type and user name. */
function utmp(...records: [type: number, user: string][]): Uint8Array {
  const bytes = new Uint8Array(records.length * 384)
  for (const [i, [type, user]] of records.entries()) {
    bytes[i * 384] = type
    bytes.set(new TextEncoder().encode(user), i * 384 + 44)
  }
  return bytes
}

test('counts logins as PCP does', () => {
  // PCP 6.0.3 answered 4, 1 and 8 for these records
  const records = utmp(
    [2, 'reboot'],
    [1, 'runlevel'],
    [6, 'LOGIN'],
    [7, 'root'],
    [7, 'alice'],
    [7, 'alice'],
    [7, 'bob'],
    [8, 'carol'],
  )
  expect(parseUtmp(records, 'x64')).toEqual({ users: 4, roots: 1, records: 8 })
  expect(parseUtmp(records.subarray(0, 384 * 4 + 100), 'x64')).toEqual({ users: 1, roots: 1, records: 4 })
})

test('a login without a user name is not counted, as in PCP', () => {
  // PCP 6.0.3 answered 1, 0 and 3
  const records = utmp([7, ''], [7, 'bob'], [8, 'bob'], [0, ''])
  expect(parseUtmp(records, 'x64')).toEqual({ users: 1, roots: 0, records: 3 })
})

test('login records are longer on newer architectures', () => {
  const records = new Uint8Array(800)
  for (const at of [0, 400]) {
    records[at] = 7
    records[at + 44] = 0x61
  }
  expect(parseUtmp(records, 'arm64')).toEqual({ users: 2, roots: 0, records: 2 })
})

test('a login record is only for root when that is the whole name', () => {
  expect(parseUtmp(utmp([7, 'rootkit'], [7, 'root']), 'x64').roots).toBe(1)
})

test('no login file means no logins; a damaged one is an error', async () => {
  const root = mkdtempSync(join(tmpdir(), 'utmp-'))
  const agent = openFixture(root)
  const names = ['kernel.all.nusers', 'kernel.all.nroots', 'kernel.all.nsessions']
  expect(Object.values(await allAnswers(agent, names))).toEqual([0, 0, 0])
  mkdirSync(join(root, 'run/utmp'), { recursive: true })
  expect(await answer(agent, 'kernel.all.nusers')).toEqual({ error: 'Is a directory' })
  await agent.close()
  rmSync(root, { recursive: true })
})
