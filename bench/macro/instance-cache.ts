/**
 * Instance caches, ours beside libpcp_pmda's: nanoseconds of CPU time per instance or change, and changes per
 * second of 100,000 instances that are listed once a second. `npm run bench -- instance-cache [--count N] [--rounds N]`
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { InstanceCache } from '../../src/pmda/cache/instance-cache.ts'
import { median, table } from './lib/report.ts'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '5' } },
})
const COUNT = Number(values.count)
const CHANGES = COUNT
const WHAT = ['add', 'change', 'list', 'save'] as const

type Figures = Record<string, number>

function cpuNs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

function perItem(count: number, job: () => void): number {
  const start = cpuNs()
  job()
  return (cpuNs() - start) / count
}

function ours(dir: string): Figures {
  const cache = new InstanceCache({ domain: 481, serial: 1, dir })
  const add = perItem(COUNT, () => {
    for (let i = 0; i < COUNT; i++) cache.add(`instance-${i}`)
  })
  const change = perItem(2 * CHANGES, () => {
    for (let i = 0; i < CHANGES; i++) {
      const name = `instance-${(i * 7919) % COUNT}`
      cache.hide(name)
      cache.add(name)
    }
  })
  const list = perItem(COUNT, () => cache.list())
  const save = perItem(COUNT, () => cache.save())
  return { add, change, list, save }
}

/** Counts the changes within one second of real time, half of them new names, with a listing after every thousand. */
function changesASecond(): number {
  const cache = new InstanceCache({ domain: 481, serial: 1 })
  for (let i = 0; i < COUNT; i++) cache.add(`instance-${i}`)
  const end = performance.now() + 1000
  let changes = 0
  for (let next = COUNT; performance.now() < end; next++) {
    cache.cull(`instance-${next - COUNT}`)
    cache.add(`instance-${next}`)
    changes += 2
    if (changes % 1000 === 0) cache.list()
  }
  return changes
}

function buildReference(dir: string): string | undefined {
  if (!existsSync('/usr/include/pcp/pmda.h')) return undefined
  const program = join(dir, 'pmda-cache')
  execFileSync('cc', ['-O2', '-o', program, 'bench/reference/pmda-cache.c', '-lpcp_pmda', '-lpcp'])
  return program
}

function theirs(program: string, dir: string): Figures {
  mkdirSync(join(dir, 'config'), { recursive: true })
  const env = { ...process.env, PCP_VAR_DIR: dir }
  const text = execFileSync(program, [String(COUNT), String(CHANGES)], { env, encoding: 'utf8' })
  return Object.fromEntries(
    Array.from(text.matchAll(/^(\w+) ([\d.]+)$/gm), ([, name, ns]) => [name!, Number(ns)]),
  )
}

const dir = mkdtempSync(join(tmpdir(), 'bench-cache-'))
try {
  const program = buildReference(dir)
  const our: Figures[] = []
  const their: Figures[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    our.push(ours(join(dir, `our${round}`)))
    if (program !== undefined) their.push(theirs(program, join(dir, `their${round}`)))
  }
  const rows = WHAT.map((what) => {
    const [mine, other] = [our, their].map((all) => median(all.map((figures) => figures[what]!)))
    const shown =
      other === undefined || Number.isNaN(other) ? ['', ''] : [other.toFixed(0), (mine! / other).toFixed(2)]
    return [what, mine!.toFixed(0), ...shown]
  })
  console.log(table([[`ns an instance of ${COUNT}`, 'ours', 'reference', 'ratio'], ...rows]))
  console.log(`\nchanges a second, listed after every thousand: ${changesASecond()}`)
} finally {
  rmSync(dir, { recursive: true })
}
