/**
 * The pictures of the documentation: the chart page over an archive that is made here, so that each run makes the same ones.
 * `npm run docs:pictures` writes docs/pictures; other runs write to coverage/screenshots and check only that they can be made.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../src/model/types.ts'
import { describePage, PATIENCE } from './lib/page.ts'
import { top } from './lib/programs.ts'

const FOLDER =
  process.env['PCP_TS_PICTURES'] === '1'
    ? join(top, 'docs', 'pictures')
    : join(top, 'coverage', 'screenshots')
const MOST_BYTES = 80_000

const START = Date.parse('2026-11-19T14:00:00Z') / 1000
const STEP_SECONDS = 10
const STEPS = 360
const CPUS = 4

/** From 0 to 1: a nightly job that runs from 14:36 to 14:48. */
const jobAt = (i: number): number => {
  const minute = (i * STEP_SECONDS) / 60
  return 1 / (1 + Math.exp(-4 * (minute - 36.5))) - 1 / (1 + Math.exp(-4 * (minute - 48)))
}

/** Numbers from 0 to 1 that look random. */
function noise(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

/** Files of an archive of one hour of a database server. */
function database(): { name: string; buffer: Buffer; mimeType: string }[] {
  const output = memoryOutput('db1')
  const made = new ArchiveImport(output, { hostname: 'db1', timezone: 'UTC', pid: 1 })
  const next = noise(18)
  const totals = new Map<string, number>()
  const known = new Set<string>()
  const add = (name: string, spec: Parameters<typeof made.addMetric>[1]): void => {
    if (!known.has(name)) made.addMetric(name, spec)
    known.add(name)
  }
  const counter = (name: string, rate: number, units: string, instance?: string, indom?: string): void => {
    add(name, { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, units, ...(indom && { indom }) })
    const key = `${name} ${instance}`
    const total = (totals.get(key) ?? 0) + Math.max(0, rate) * STEP_SECONDS
    totals.set(key, total)
    made.put(name, Math.round(total), instance)
  }
  const value = (name: string, now: number, units: string, instance?: string, indom?: string): void => {
    add(name, {
      type: units === '' ? PM_TYPE_FLOAT : PM_TYPE_DOUBLE,
      sem: PM_SEM_INSTANT,
      units,
      ...(indom && { indom }),
    })
    made.put(name, now, instance)
  }
  made.addMetric('hinv.ncpu', { type: PM_TYPE_U32, sem: PM_SEM_DISCRETE, units: '' })
  const load = [0.8, 0.8, 0.8]
  for (let i = 0; i <= STEPS; i++) {
    const job = jobAt(i)
    const wave = 0.5 + 0.5 * Math.sin(i / 25)
    made.put('hinv.ncpu', CPUS)
    const user = 0.55 + 0.35 * wave + 1.9 * job + 0.25 * next()
    const sys = 0.2 + 0.1 * wave + 0.55 * job + 0.08 * next()
    const wait = 0.03 + 0.02 * next() + 0.6 * job * (0.6 + 0.4 * next())
    const parts = { user, nice: 0.01, sys, intr: 0.03 + 0.02 * next(), steal: 0, 'wait.total': wait }
    const busy = Object.values(parts).reduce((sum, part) => sum + part, 0)
    for (const [name, share] of Object.entries({ ...parts, idle: CPUS - busy }))
      counter(`kernel.all.cpu.${name}`, 1000 * share, 'millisec')
    for (let cpu = 0; cpu < CPUS; cpu++)
      counter(
        'kernel.percpu.cpu.idle',
        1000 * Math.max(0.02, 1 - busy / CPUS - 0.12 * Math.sin(i / 9 + cpu * 2) + 0.05 * next()),
        'millisec',
        `cpu${cpu}`,
        'cpus',
      )
    for (const [j, minutes] of [1, 5, 15].entries()) {
      load[j]! += (busy + 1.4 * job - load[j]!) * (1 - Math.exp(-STEP_SECONDS / 60 / minutes))
      value('kernel.all.load', load[j]!, '', `${minutes} minute`, 'averages')
    }
    const used = 5.1e6 + 2.4e6 * job + 4e4 * wave
    const cached = 7.6e6 + 900 * i
    value('mem.util.used', used + 2.1e5 + cached, 'Kbyte')
    value('mem.util.bufmem', 2.1e5, 'Kbyte')
    value('mem.util.cached', cached, 'Kbyte')
    value('mem.util.free', 16.2e6 - used - 2.1e5 - cached, 'Kbyte')
    for (const [what, most] of [
      ['cpu', 30],
      ['memory', 3],
      ['io', 22],
    ] as const)
      value(
        `kernel.all.pressure.${what}.some.avg`,
        most * (0.03 + job * (0.8 + 0.2 * next())),
        '',
        '10 second',
        'psi',
      )
    for (const [disk, share] of [
      ['nvme0n1', 1],
      ['sda', 0.12],
    ] as const) {
      const read = share * (1800 + 2500 * wave * next() + 64_000 * job * (0.7 + 0.3 * next()))
      const write = share * (5200 + 2600 * next() + 21_000 * job * (0.5 + 0.5 * next()))
      counter('disk.dev.read_bytes', read, 'Kbyte', disk, 'disks')
      counter('disk.dev.write_bytes', write, 'Kbyte', disk, 'disks')
      counter('disk.dev.read', read / 24, 'count', disk, 'disks')
      counter('disk.dev.write', write / 12, 'count', disk, 'disks')
    }
    counter('network.interface.in.bytes', 9e5 + 6e5 * wave + 3e5 * next(), 'byte', 'eth0', 'interfaces')
    counter(
      'network.interface.out.bytes',
      2.6e6 + 2e6 * wave + 9e5 * next() + 6e6 * job,
      'byte',
      'eth0',
      'interfaces',
    )
    for (const [name, full] of [
      ['/', 41],
      ['/var/lib/postgresql', 68 + i / 90],
      ['/backup', 83],
    ] as const)
      value('filesys.full', full, '', name, 'filesystems')
    for (const [name, share, rss] of [
      ['002210 postgres: writer', 0.31 + 0.2 * wave, 1.9e6],
      ['002214 postgres: nightly report', 1.9 * job, 2.6e6],
      ['000981 node /srv/shop/server.js', 0.42 + 0.3 * wave, 6.1e5],
      ['001120 pmcd', 0.004, 7.4e4],
    ] as const) {
      counter('proc.psinfo.utime', 1000 * share, 'millisec', name, 'processes')
      counter('proc.psinfo.stime', 120 * share, 'millisec', name, 'processes')
      value('proc.psinfo.rss', rss, 'Kbyte', name, 'processes')
      value('proc.psinfo.threads', name.includes('node') ? 11 : 1, '', name, 'processes')
    }
    made.write({ sec: START + i * STEP_SECONDS, nsec: 0 })
  }
  made.close()
  return [...output.contents()].map(([part, bytes]) => ({
    name: `db1.${part}`,
    buffer: Buffer.from(bytes),
    mimeType: 'application/octet-stream',
  }))
}

describePage('pictures of the documentation', (t) => {
  /** Opens the archive with its whole hour in view. */
  const openArchive = async (scheme: 'light' | 'dark', width = 1200, height = 760): Promise<void> => {
    await t.page.emulateMedia({ colorScheme: scheme })
    await t.page.setViewportSize({ width, height })
    await t.page.keyboard.press('o')
    await t.page.locator('.drop input[type=file]').setInputFiles(database())
    await expect
      .poll(() => t.page.getByLabel('Source', { exact: true }).inputValue(), PATIENCE)
      .toBe('file:db1')
    await t.page.locator('.notice button').click()
    await t.page.keyboard.press('Escape')
    await t.page.getByLabel('Span').selectOption('3600')
    await expect.poll(() => t.firstValue('Load average').textContent(), PATIENCE).toMatch(/^\d/)
  }
  /** Writes what is in view as WebP, which the browser encodes. */
  const picture = async (name: string): Promise<void> => {
    let png = ''
    // Until nothing changes any more.
    await expect
      .poll(
        async () => {
          const last = png
          png = (await t.page.screenshot({ animations: 'disabled' })).toString('base64')
          return png === last
        },
        { ...PATIENCE, interval: 250 },
      )
      .toBe(true)
    const encoder = await t.browser.newPage()
    const webp = await encoder.evaluate<string>(`(async () => {
      const image = new Image()
      image.src = 'data:image/png;base64,${png}'
      await image.decode()
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
      canvas.getContext('2d').drawImage(image, 0, 0)
      return canvas.toDataURL('image/webp', 0.76).split(',')[1]
    })()`)
    await encoder.close()
    const bytes = Buffer.from(webp, 'base64')
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(join(FOLDER, `${name}.webp`), bytes)
    console.log(`${name}.webp: ${Math.round(bytes.length / 1000)} kB`)
    expect(bytes.length).toBeLessThan(MOST_BYTES)
  }

  test.each(['light', 'dark'] as const)('the overview, %s', async (scheme) => {
    await openArchive(scheme)
    await picture(`overview-${scheme}`)
  })

  test('the value under the pointer at a spike, in a shorter span', async () => {
    await openArchive('light')
    await t.page.getByLabel('From', { exact: true }).fill('2026-11-19 14:30:00')
    await t.page.getByLabel('To', { exact: true }).fill('2026-11-19 14:55:00')
    await t.page.getByRole('button', { name: 'Apply', exact: true }).click()
    const over = t.chart('CPU').locator('.u-over')
    const box = (await over.boundingBox())!
    await over.hover({ position: { x: box.width * 0.5, y: 60 } })
    await t.page.locator('.tip').waitFor()
    await picture('replay')
  })

  test('kinds of charts: heat map, table, grid', async () => {
    await openArchive('light', 1200, 760)
    await t.chart('Busy time per CPU').scrollIntoViewIfNeeded()
    await t.page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await picture('chart-kinds')
  })

  test('choosing metrics', async () => {
    await openArchive('light')
    await t.page.keyboard.press('m')
    await t.page.getByLabel('Search metrics').fill('disk')
    await t.page.getByRole('button', { name: /^disk\.dev\.read_bytes/ }).click()
    await t.page.getByRole('region', { name: 'disk.dev.read_bytes' }).waitFor()
    await picture('choose-metrics')
  })

  test('changing a chart', async () => {
    await openArchive('light')
    await t.chart('Disk throughput').getByLabel('Menu for Disk throughput').click()
    await t
      .chart('Disk throughput')
      .getByRole('menuitem', { name: /^(?:Change|Edit)/ })
      .click()
    await t.page.getByRole('dialog').getByLabel('Style').selectOption('stacking')
    await picture('change-chart')
  })
})
