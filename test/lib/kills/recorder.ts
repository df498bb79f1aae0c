/**
 * Kills recorders that write 100 records per second. Every record has the agent's count of fetches, so none may appear
 * twice and each kill may lose one record in progress. Small volumes and changing instances make kills hit volume
 * switches and writes of metadata and index.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../../bench/macro/lib/free-port.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { generator } from '../generator.ts'
import { Changes } from './changes.ts'
import { problemsOfCounts, readCounts } from './counts.ts'
import type { KillOptions, KillReport } from './kill-rounds.ts'
import { makePlace, type Place, removePlace } from './place.ts'
import { ProcessGroup } from './process-group.ts'

/** Largest number of directory changes before a kill; a record causes two or three. */
const MAX_CHANGES = 300
/** Longest time from the first change to a kill, in milliseconds, for the other half of the kills. */
const LIFE_MS = 1000
/** Interval of instance changes. */
const CHANGE_MS = 40
const KILLS_OF_ROUND = 3
const POLL_MS = 20

/** Totals of all rounds. */
export interface RecorderReport extends KillReport {
  readonly records: number
  /** Changes of instances. */
  readonly snapshots: number
}

/** Kills `kills` recorders, each with its own archive, half of them while another recorder runs. */
export async function killRecorder(
  programs: string,
  { kills, seed, onProgress = () => {} }: KillOptions,
): Promise<RecorderReport> {
  const place = makePlace(programs)
  writeSettings(place)
  let turn = 0
  const changing = setInterval(() => changeInstances(place, turn++), CHANGE_MS)
  const port = await freePort()
  const collector = await startCollector(place, port)
  const fuzz = new RecorderFuzz(place, port)
  try {
    for (let round = 1; fuzz.kills < kills && fuzz.failures.length === 0; round++) {
      await fuzz.round(
        round,
        generator(seed * 1_000_003 + round),
        Math.min(KILLS_OF_ROUND, kills - fuzz.kills),
      )
      onProgress(fuzz.kills)
    }
    return fuzz.report()
  } finally {
    clearInterval(changing)
    collector.kill('group')
    await collector.ended()
    removePlace(place)
  }
}

/** Writes the configuration of a collector whose records have the count of fetches. */
export function writeSettings({ top }: Place): void {
  writeFileSync(
    join(top, 'root'),
    'root { sample simple }\nsample { ordinal 29:0:156 dynamic 29:0:78 }\nsimple { numfetch 253:0:0 }\n',
  )
  writeFileSync(
    join(top, 'pmcd.conf'),
    'sample 29 dso sample_init /lib/pmda_sample.so\nsimple 253 dso simple_init /lib/pmda_simple.so\n',
  )
  writeFileSync(join(top, 'l.conf'), 'log on 10 msec { simple.numfetch sample.ordinal sample.dynamic }\n')
  mkdirSync(join(top, 'sample'))
}

/** Changes the instances of sample.dynamic: three of ten, shifted by one each turn. */
function changeInstances({ top }: Place, turn: number): void {
  const ids = [0, 1, 2].map((i) => (turn + i) % 10)
  const path = join(top, 'sample', 'dynamic.indom')
  writeFileSync(`${path}.new`, ids.map((id) => `${id} instance-${id}\n`).join(''))
  renameSync(`${path}.new`, path)
}

/** Starts it; resolves once it listens. */
export async function startCollector(place: Place, port: number): Promise<ProcessGroup> {
  const log = join(place.top, 'pmcd.log')
  const args = ['-f', '-p', String(port), '-s', join(place.top, 'socket'), '-n', 'root', '-l', log]
  const group = new ProcessGroup(join(place.programs, 'pmcd'), args, {
    cwd: place.top,
    env: { ...place.env, PCP_PMDAS_DIR: place.top },
    log: join(place.top, 'output'),
  })
  while (!(existsSync(log) ? readFileSync(log, 'utf8') : '').includes(`${port} inet`)) {
    if (group.hasExited) throw new Error(readFileSync(join(place.top, 'output'), 'utf8'))
    await pause(POLL_MS)
  }
  return group
}

class RecorderFuzz {
  readonly failures: string[] = []
  kills = 0
  readonly #place: Place
  readonly #port: number
  readonly #kinds: Record<string, number> = {}
  #rounds = 0
  #records = 0
  #snapshots = 0

  constructor(place: Place, port: number) {
    this.#place = place
    this.#port = port
  }

  report(): RecorderReport {
    const { kills, failures } = this
    return {
      kills,
      failures,
      rounds: this.#rounds,
      kinds: this.#kinds,
      records: this.#records,
      snapshots: this.#snapshots,
    }
  }

  /** Kills some recorders in sequence, then records to an orderly end. */
  async round(round: number, next: (below: number) => number, due: number): Promise<void> {
    this.#rounds++
    const done: string[] = []
    for (let run = 0; run < due; run++) {
      const kind = ['parent', 'second'][next(2)]!
      done.push(`${kind} ${await this.#killOne(`${round}.${run}`, kind, next)}`)
      this.kills++
      this.#kinds[kind] = (this.#kinds[kind] ?? 0) + 1
    }
    await this.#start(`${round}.end`, '-s', '20').ended()
    const problems = this.#check(2 * due)
    if (problems.length > 0) {
      const output = readFileSync(join(this.#place.top, 'output'), 'utf8')
      this.failures.push(
        `pmlogger: round ${round}, killed: ${done.join(', ')}:\n  ${problems.join('\n  ')}\n${output}`,
      )
    }
    for (const name of readdirSync(this.#place.dir)) rmSync(join(this.#place.dir, name), { recursive: true })
  }

  /** Starts a recorder and a second one, and kills one or both. */
  async #killOne(base: string, kind: string, next: (below: number) => number): Promise<string> {
    const atChange = next(2) === 0 ? 1 + next(MAX_CHANGES) : undefined
    const lifeMs = next(LIFE_MS)
    const secondMs = next(LIFE_MS)
    const secondDies = next(2) === 0
    const first = this.#start(base)
    const groups = [first]
    const changes = new Changes([this.#place.dir], (count) => {
      if (atChange === undefined && count === 1) setTimeout(() => first.kill('group'), lifeMs)
      if (count === atChange) first.kill('group')
    })
    if (kind === 'second') {
      await pause(secondMs)
      const second = this.#start(`${base}.second`, ...(secondDies ? [] : ['-s', '20']))
      groups.push(second)
      await first.exited()
      if (secondDies) second.kill('group')
    }
    await Promise.all(groups.map((group) => group.ended()))
    changes.close()
    return atChange === undefined ? `after ${lifeMs} ms` : `at change ${atChange}`
  }

  #start(base: string, ...args: readonly string[]): ProcessGroup {
    const { top, dir, env, programs } = this.#place
    const log = join(top, `${base}.log`)
    const settings = ['-h', `localhost:${this.#port}`, '-c', join(top, 'l.conf'), '-l', log, '-v', '20']
    return new ProcessGroup(join(programs, 'pmlogger'), [...settings, ...args, join(dir, base)], {
      cwd: top,
      env: { ...env, PMLOGGER_LOCAL: '1', PMLOGGER_PORT: '0' },
      log: join(top, 'output'),
    })
  }

  /** Reads all archives of the directory. */
  #check(maxLost: number): string[] {
    const { dir } = this.#place
    const problems: string[] = []
    const counts: number[] = []
    const bases = new Set<string>()
    for (const name of readdirSync(dir)) {
      const base = /^(.+)\.(?:meta|index|\d+)$/.exec(name)?.[1]
      if (base === undefined) problems.push(`${name} is left`)
      else bases.add(base)
    }
    for (const base of bases) {
      try {
        const read = readCounts(join(dir, base))
        counts.push(...read.counts)
        this.#snapshots += read.snapshots
        problems.push(...read.problems.map((problem) => `${base}: ${problem}`))
      } catch (error) {
        problems.push(`${base}: ${PcpError.from(error).message}`)
      }
    }
    this.#records += counts.length
    return [...problems, ...problemsOfCounts(counts, maxLost)]
  }
}
