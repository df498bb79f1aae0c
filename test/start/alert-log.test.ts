/** The alert log on disk: rotation, restarts, crashes, a failing disk; and what pmproxy returns of it. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type Alert,
  type AlertAnswer,
  alertLine,
  readAlerts,
  withWorstValues,
} from '../../src/alerts/events.ts'
import { CLEAR_SEC } from '../../src/alerts/tracker.ts'
import { Query } from '../../src/pmproxy/http/query.ts'
import { alerts } from '../../src/pmproxy/routes/alerts.ts'
import type { Services } from '../../src/pmproxy/services.ts'
import type { WebUser } from '../../src/pmproxy/web-user.ts'
import { AlertLog } from '../../src/start/alert-log.ts'
import { type EvaluatedTask, recordAlerts } from '../../src/start/start-alerts.ts'

let dir: string
let path: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'alerts-'))
  path = join(dir, 'pmie', 'alerts.jsonl')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const NOW = 1_700_000_000
const OWNER: WebUser = { kind: 'owner', from: '127.0.0.1' }
const GUEST: WebUser = { kind: 'guest', from: '127.0.0.1' }
const alert = (at: number, more: Partial<Alert> = {}): Alert => ({
  ...{ rule: 'disk.slow', isDefault: true, instance: 'sda', at, until: null, value: 1 },
  ...more,
})
const text = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')
const all = (): Alert[] => withWorstValues(readAlerts(text(`${path}.1`) + text(path)), text(`${path}.active`))

test('a full log is rotated; two files are kept, and active alerts stay known', () => {
  const log = new AlertLog(path, 1000)
  const active = alert(NOW, { instance: 'lasting' })
  log.append(active, [active])
  for (let i = 1; i < 200; i++) log.append(alert(NOW + i, { until: NOW + i }), [active])
  expect(readdirSync(join(dir, 'pmie')).sort()).toEqual(['alerts.jsonl', 'alerts.jsonl.1'])
  for (const name of readdirSync(join(dir, 'pmie')))
    expect(statSync(join(dir, 'pmie', name)).size).toBeLessThan(1500)
  expect(all().filter(({ until }) => until === null)).toEqual([active])
  expect(all().at(-1)!.at).toBe(NOW + 199)
  expect(statSync(path).mode & 0o77).toBe(0)
})

test('a rotation that is interrupted leaves a whole log', () => {
  const log = new AlertLog(path, 10)
  log.append(alert(NOW), [])
  const whole = readFileSync(path, 'utf8')
  // The temporary file of the new log cannot be written.
  const blocked = `${path}.${process.pid}.new`
  mkdirSync(blocked)
  expect(() => log.append(alert(NOW + 1), [alert(NOW)])).toThrow()
  rmdirSync(blocked)
  expect([path, `${path}.1`].map((file) => readFileSync(file, 'utf8'))).toEqual([whole, whole])
  log.append(alert(NOW + 2), [alert(NOW)])
  expect(all()).toEqual([alert(NOW), alert(NOW + 2)])
  for (const file of [path, `${path}.1`]) expect(statSync(file).mode & 0o77).toBe(0)
})

test('without a newest log, as after a crash of earlier versions, the older one has the active alerts', () => {
  new AlertLog(path).append(alert(NOW), [])
  utimesSync(path, NOW + 100, NOW + 100)
  renameSync(path, `${path}.1`)
  expect(new AlertLog(path).takeActive(NOW + 200, true)).toEqual({
    active: [alert(NOW)],
    activeSec: NOW + 100,
  })
})

test('a line that a crash has cut off does not damage the next one', () => {
  new AlertLog(path).append(alert(NOW), [])
  appendFileSync(path, alertLine(alert(NOW + 1)).slice(0, 30))
  new AlertLog(path).append(alert(NOW + 2), [])
  expect(all().map(({ at }) => at)).toEqual([NOW, NOW + 2])
})

test('after a short stop active alerts continue, after a long one they ended with it', () => {
  new AlertLog(path).append(alert(NOW), [])
  utimesSync(path, NOW + 100, NOW + 100)
  const activeSec = NOW + 100
  expect(new AlertLog(path).takeActive(NOW + 200, true)).toEqual({ active: [alert(NOW)], activeSec })
  expect(new AlertLog(path).takeActive(NOW + 7000, true, 3600).active).toEqual([alert(NOW)])
  expect(new AlertLog(path).takeActive(NOW + 100_000, true, 3600)).toEqual({ active: [], activeSec })
  expect(statSync(path).mtimeMs).toBe(activeSec * 1000)
  expect(all()).toEqual([alert(NOW, { until: NOW + 100 })])
})

/** Returns a task whose rules are true for these instances. */
const task = (
  ...rules: readonly (readonly [name: string, value: string, instance?: string])[]
): EvaluatedTask => ({
  deltaSec: 10,
  hosts: [],
  statements: rules.map(([name, value, instance]) => ({
    ...{ name, fetches: [] },
    reasons: () => [{ host: 'h', connection: 'local:', instance, value }],
  })),
})

test('true rules become alerts with the newest value; a failing disk is reported once and ends nothing', () => {
  const problems: string[] = []
  const reporter = { log: (_: string, text: string) => problems.push(text) }
  const rules = { tasks: [], isDefault: true }
  const record = recordAlerts(new AlertLog(path), rules, reporter, () => NOW * 1000)
  record(task(['disk.slow', '140 90 80', 'sda'], ['cpu.load', '9', '5 minute']), NOW)
  expect(statSync(path).mtimeMs).toBe(NOW * 1000)
  expect(all()).toEqual([
    alert(NOW, { value: 140 }),
    alert(NOW, { rule: 'cpu.load', instance: '', value: 9 }),
  ])
  rmSync(join(dir, 'pmie'), { recursive: true })
  record(task(['disk.slow', '150', 'sdb']), NOW + 10)
  expect(problems).toHaveLength(1)
  mkdirSync(join(dir, 'pmie'))
  record(task(), NOW + 10 + CLEAR_SEC)
  expect(all().map(({ instance, until }) => [instance, until])).toEqual([
    ['sda', NOW],
    ['sdb', NOW + 10],
    ['', NOW],
  ])
})

test("rules of the user keep their instances and worst values under a default rule's name, and end its alerts", () => {
  new AlertLog(path).append(alert(NOW), [])
  utimesSync(path, NOW + 100, NOW + 100)
  const rules = { tasks: [], isDefault: false }
  const record = recordAlerts(new AlertLog(path), rules, { log: () => {} }, () => (NOW + 200) * 1000)
  expect(statSync(path).mtimeMs).toBe((NOW + 100) * 1000)
  record(task(['disk.slow', '5', 'sda'], ['memory.low', '3', 'node0']), NOW + 200)
  record(task(['memory.low', '9', 'node0']), NOW + 210)
  record(task(), NOW + 210 + CLEAR_SEC)
  const own = { isDefault: false }
  expect(all()).toEqual([
    alert(NOW, { until: NOW + 100 }),
    alert(NOW + 200, { ...own, value: 5, until: NOW + 200 }),
    alert(NOW + 200, { ...own, rule: 'memory.low', instance: 'node0', value: 9, until: NOW + 210 }),
  ])
})

describe('worst values of active alerts', () => {
  const rules = { tasks: [], isDefault: true }
  /** Begins as after a start; alerts before are those of a process that was killed. */
  const started = (sec: number): ReturnType<typeof recordAlerts> =>
    recordAlerts(new AlertLog(path), rules, { log: (_, text) => expect.fail(text) }, () => sec * 1000)

  test('are known while alerts last, and after the process was killed', () => {
    const record = started(NOW)
    const values = [140, 90, 310, 200] as const
    for (const [i, value] of values.entries())
      record(task(['disk.slow', `${value}`, 'sda'], ['memory.low', `${value / 100}`]), NOW + 10 * i)
    const worst = [alert(NOW, { value: 310 }), alert(NOW, { rule: 'memory.low', instance: '', value: 0.9 })]
    expect(all()).toEqual(worst)
    expect(new AlertLog(path).takeActive(NOW + 40, true).active).toEqual(worst)
    const next = started(NOW + 40)
    next(task(['disk.slow', '150', 'sda'], ['memory.low', '3']), NOW + 50)
    expect(all()).toEqual(worst)
    next(task(), NOW + 50 + 2 * CLEAR_SEC)
    expect(all()).toEqual(worst.map((alert) => ({ ...alert, until: NOW + 50 })))
    expect(text(`${path}.active`)).toBe('')
    expect(statSync(`${path}.active`).mode & 0o77).toBe(0)
  })

  test('are those of alerts that a long stop has ended', () => {
    const record = started(NOW)
    record(task(['disk.slow', '140', 'sda']), NOW)
    record(task(['disk.slow', '310', 'sda']), NOW + 10)
    started(NOW + 100_000)
    expect(all()).toEqual([alert(NOW, { value: 310, until: NOW + 10 })])
  })

  test('do not lengthen the log, are written only when they change, and go through a rotation', () => {
    const log = new AlertLog(path, 150)
    log.append(alert(NOW), [])
    const { size } = statSync(path)
    for (let value = 1; value < 1000; value++) log.keepWorst([alert(NOW, { value })])
    expect(statSync(path).size).toBe(size)
    const { ino, mtimeMs } = statSync(`${path}.active`)
    log.keepWorst([alert(NOW, { value: 999 })])
    expect(statSync(`${path}.active`)).toMatchObject({ ino, mtimeMs })
    for (let i = 0; i < 10; i++)
      log.append(alert(NOW + i, { instance: 'sdb', until: NOW + i }), [alert(NOW, { value: 999 })])
    expect(all()[0]).toEqual(alert(NOW, { value: 999 }))
  })

  test('that are left of an ended alert, or damaged, change nothing', () => {
    const log = new AlertLog(path)
    log.append(alert(NOW), [])
    log.append(alert(NOW, { until: NOW + 5, value: 20 }), [])
    log.append(alert(NOW + 50, { value: 3 }), [])
    const lines = [alert(NOW, { value: 30 }), alert(NOW - 9), alert(NOW + 50, { value: 9 })].map(alertLine)
    appendFileSync(`${path}.active`, lines.join('').slice(0, -5))
    expect(all()).toEqual([alert(NOW, { until: NOW + 5, value: 20 }), alert(NOW + 50, { value: 3 })])
  })

  test('are returned by pmproxy under the same version', async () => {
    const log = new AlertLog(path)
    log.append(alert(NOW, { value: 2 }), [])
    const first = await answered('', OWNER)
    log.keepWorst([alert(NOW, { value: 7 })])
    const second = await answered(`from=${NOW + 10}`, OWNER)
    expect([first, second].map(({ alerts }) => alerts[0]!.value)).toEqual([2, 7])
    expect(second.version).toBe(first.version)
  })
})

async function answered(
  query: string,
  user: WebUser,
  alertLog: string | undefined = path,
): Promise<AlertAnswer> {
  const config = { alertLog, requiresUser: false, offeredHosts: ['local:'] }
  const contexts = { open: async () => ({ close: async () => {} }) }
  const services = { config, contexts } as unknown as Services
  const { body } = await alerts({ query: new Query(query) }, services, user)
  return JSON.parse(String(body))
}

test('pmproxy returns active alerts and those ended in the window, newest first', async () => {
  const log = new AlertLog(path)
  log.append(alert(NOW), [])
  for (let i = 0; i < 1200; i++) log.append(alert(NOW + i, { rule: 'cpu.busy', until: NOW + i + 5 }), [])
  log.touch(NOW + 2000)
  const answer = await answered('', OWNER)
  expect([answer.alerts.length, answer.leftOut, answer.evaluated]).toEqual([1001, 200, NOW + 2000])
  expect(answer.alerts[0]!.at).toBe(NOW + 1199)
  const some = await answered(`from=${NOW + 100}&to=${NOW + 102}`, OWNER)
  expect(some.alerts.map(({ at }) => at)).toEqual(
    [102, 101, 100, 99, 98, 97, 96, 95, 0].map((sec) => NOW + sec),
  )
  expect(some.version).toBe(answer.version)
  log.append(alert(NOW + 3000), [])
  expect((await answered(`from=${NOW + 9000}`, OWNER)).version).not.toBe(answer.version)
  await expect(answered('from=yesterday', OWNER)).rejects.toThrow('from must be a time')
})

test('instances of own rules, which may be processes, are for users with a login', async () => {
  const log = new AlertLog(path)
  log.append(alert(NOW), [])
  log.append(alert(NOW + 1, { isDefault: false, instance: '00123 vi secret' }), [])
  appendFileSync(
    path,
    `{"event":"begin","rule":"disk.slow","instance":"00124 vi","at":${NOW + 2},"value":1}\n`,
  )
  const shown = async (user: WebUser): Promise<string[]> =>
    (await answered('', user)).alerts.map(({ instance }) => instance)
  expect(await shown(OWNER)).toEqual(['00124 vi', '00123 vi secret', 'sda'])
  expect(await shown(GUEST)).toEqual(['', '', 'sda'])
})

test('without a log, or with one too large, no alerts are returned', async () => {
  expect(await answered('', GUEST)).toEqual({ alerts: [], leftOut: 0, version: '', evaluated: null })
  mkdirSync(join(dir, 'pmie'))
  appendFileSync(path, alertLine(alert(NOW)))
  appendFileSync(path, `${' '.repeat(5 * 1024 * 1024)}\n`)
  expect((await answered('', OWNER)).alerts).toEqual([])
})
