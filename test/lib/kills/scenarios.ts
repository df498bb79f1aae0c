/** Commands that modify archives, with their inputs and the invariants that hold after any kill. */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseFileName } from '../../../src/archive/file-names.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'
import { type OracleRecord, problemsOf, type Reading, readArchives, writeArchive } from '../archive-oracle.ts'
import type { Scenario, Task } from './kill-rounds.ts'
import { type Place, RETENTION } from './place.ts'

const DAY = 86_400
const HOST_BEFORE = 'before'
const HOST_AFTER = 'after'

/** An archive of a scenario. */
interface Made {
  readonly name: string
  readonly records: readonly OracleRecord[]
}

/** Returns the UTC date some days ago: `20261120`. */
function dayOf(age: number): string {
  return new Date(Date.now() - age * DAY * 1000).toISOString().slice(0, 10).replaceAll('-', '')
}

/** Creates archives with distinct values. */
class Maker {
  readonly #dir: string
  #value = 1

  constructor(dir: string) {
    this.#dir = dir
  }

  /** Creates an archive of some volumes that starts the given days and hours ago. */
  make(name: string, age: number, hour = 0, count = 120): Made {
    const day = Math.floor(Date.now() / 1000 / DAY - age) * DAY
    const records = writeArchive(archiveOutput(join(this.#dir, name)), {
      startSec: day + hour * 3600,
      count,
      firstValue: this.#value,
      hostname: HOST_BEFORE,
      maxVolumeBytes: 4000,
    })
    this.#value += count
    const seconds = day + DAY / 2
    for (const file of readdirSync(this.#dir))
      if (parseFileName(file)?.base === name) utimesSync(join(this.#dir, file), seconds, seconds)
    return { name, records }
  }

  /** Creates two archives for each of the last days before today. */
  days(count: number): Made[] {
    return Array.from({ length: count }, (_, i) => i + 1).flatMap((age) => [
      this.make(`${dayOf(age)}.00.10`, age, 0),
      this.make(`${dayOf(age)}.12.00`, age, 12),
    ])
  }
}

function recordsOf(archives: readonly Made[]): OracleRecord[] {
  return archives.flatMap(({ records }) => records)
}

/** Reads a directory like a user. */
function read(dir: string): Reading {
  return readArchives(dir, archiveFiles(), { names: readdirSync(dir), ignore: NOTICES })
}

/** Files that pmlogger_daily writes beside archives. */
const NOTICES = /^(?:NOTICES.*|.*\.log)$/

function strays(reading: Reading): string[] {
  return reading.strays.map((name) => `${name} is left`)
}

/** Reports archives that differ from the expected ones. */
function wrongNames({ archives }: Reading, expected: readonly string[]): string[] {
  const found = [...archives.keys()].sort().join(' ')
  const wanted = [...expected].sort().join(' ')
  return found === wanted ? [] : [`the archives are ${found} instead of ${wanted}`]
}

/** Returns files that exist both compressed and uncompressed. */
function doubleParts(dir: string): string[] {
  const parts = readdirSync(dir).map((name) => {
    const parsed = parseFileName(name)
    return parsed === undefined ? name : `${parsed.base}.${parsed.part}`
  })
  return parts.filter((part, i) => parts.indexOf(part) !== i).map((part) => `${part} is there twice`)
}

/** Restricts a reading to some archives. */
function only({ archives, hosts, unreadable }: Reading, isWanted: (base: string) => boolean): Reading {
  return {
    archives: new Map([...archives].filter(([base]) => isWanted(base))),
    hosts,
    unreadable: unreadable.filter((problem) => isWanted(problem.slice(0, problem.indexOf(':')))),
    strays: [],
  }
}

/** Checks that an archive is either complete or absent. */
function wholeOrAbsent(reading: Reading, name: string, records: readonly OracleRecord[]): string[] {
  if (!reading.archives.has(name)) return []
  return problemsOf(
    records,
    only(reading, (base) => base === name),
  ).map((problem) => `${name}: ${problem}`)
}

function task(place: Place, program: string, args: readonly string[], check: Task['check']): Task {
  return { program, args, cwd: place.dir, watched: [place.dir], check }
}

/** Checks that every record is in exactly one archive at any time, and in the end only these archives exist. */
function moving(
  dirs: readonly string[],
  made: readonly Made[],
  finalNames: readonly string[],
): Task['check'] {
  return (isComplete) => {
    const readings = dirs.map(read)
    const all: Reading = {
      archives: new Map(
        readings.flatMap(({ archives }, i) => [...archives].map(([k, v]) => [`${i}/${k}`, v])),
      ),
      hosts: new Map(),
      unreadable: readings.flatMap(({ unreadable }) => unreadable),
      strays: readings.flatMap((each) => each.strays),
    }
    const problems = problemsOf(recordsOf(made), all)
    if (!isComplete) return problems
    const found = readings.flatMap(({ archives }) => [...archives.keys()])
    const names = wrongNames({ ...all, archives: new Map(found.map((name) => [name, []])) }, finalNames)
    return [...problems, ...strays(all), ...names, ...dirs.flatMap(doubleParts)]
  }
}

/** Checks that inputs are unchanged and the output is complete or absent; in the end it is complete. */
function making(dir: string, inputs: readonly Made[], output: () => Made): Task['check'] {
  return (isComplete) => {
    const reading = read(dir)
    const { name, records } = output()
    const problems = [
      ...problemsOf(
        recordsOf(inputs),
        only(reading, (base) => base !== name),
      ),
      ...wholeOrAbsent(reading, name, records),
    ]
    if (!isComplete) return problems
    return [
      ...problems,
      ...strays(reading),
      ...wrongNames(reading, [name, ...inputs.map((input) => input.name)]),
    ]
  }
}

/** Checks that archives change their host name and nothing else, each atomically. */
function relabelling(dir: string, made: readonly Made[]): Task['check'] {
  return (isComplete) => {
    const reading = read(dir)
    const problems = problemsOf(recordsOf(made), reading)
    if (!isComplete) return problems
    const unchanged = [...reading.hosts].filter(([, host]) => host !== HOST_AFTER)
    return [
      ...problems,
      ...strays(reading),
      ...wrongNames(
        reading,
        made.map(({ name }) => name),
      ),
      ...unchanged.map(([base, host]) => `${base} is of host ${host}`),
    ]
  }
}

const RULES = `global { hostname -> ${HOST_AFTER} }\n`

function rulesIn({ top }: Place): string {
  const path = join(top, 'rules')
  writeFileSync(path, RULES)
  return path
}

/** All commands except the recorder. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'pmlogger_daily',
    prepare(place) {
      const made = new Maker(place.dir).days(3)
      const days = [1, 2, 3].map(dayOf)
      return task(place, 'pmlogger_daily', ['-x', 'never'], moving([place.dir], made, days))
    },
  },
  {
    name: 'pmlogger_merge',
    prepare(place) {
      const maker = new Maker(place.dir)
      const made = [0, 6, 12, 18].map((hour) => maker.make(`part${hour}`, 1, hour))
      const inputs = made.map(({ name }) => name)
      return task(place, 'pmlogger_merge', ['-f', ...inputs, 'whole'], moving([place.dir], made, ['whole']))
    },
  },
  {
    name: 'pmlogger_rewrite',
    prepare(place) {
      const made = new Maker(place.dir).days(1)
      const args = ['-c', rulesIn(place), ...made.map(({ name }) => name)]
      return task(place, 'pmlogger_rewrite', args, relabelling(place.dir, made))
    },
  },
  {
    name: 'compress',
    prepare(place) {
      const made = new Maker(place.dir).days(2)
      const names = made.map(({ name }) => name)
      const check = moving([place.dir], made, names)
      return task(place, 'pmlogger_daily', ['-K', '-x', '0', '-f'], (isComplete) => [
        ...check(isComplete),
        ...(isComplete
          ? readdirSync(place.dir)
              .filter((name) => /\.(?:meta|\d+)$/.test(name))
              .map((name) => `${name} is not compressed`)
          : []),
      ])
    },
  },
  {
    name: 'cull',
    prepare: (place) =>
      culling(place, 'pmlogger_daily', ['-k', '3', '-x', 'never', '-M'], (age) => `${dayOf(age)}.00.10`),
  },
  {
    name: 'pmlogextract',
    prepare(place) {
      const inputs = new Maker(place.dir).days(1)
      const args = [...inputs.map(({ name }) => name), 'extracted']
      const output = { name: 'extracted', records: recordsOf(inputs) }
      return task(
        place,
        'pmlogextract',
        args,
        making(place.dir, inputs, () => output),
      )
    },
  },
  {
    name: 'pmlogreduce',
    prepare(place) {
      const input = new Maker(place.dir).make('full', 1, 0, 1200)
      // One record in ten; a metric's first record is its value at the start.
      const records = input.records.filter((_, i) => i % 10 === 0)
      const output = { name: 'reduced', records }
      const check = making(place.dir, [input], () => output)
      return task(place, 'pmlogreduce', ['-t', '10sec', 'full', 'reduced'], check)
    },
  },
  {
    name: 'pmlogrewrite',
    prepare(place, next) {
      const made = [new Maker(place.dir).make('archive', 1, 0, 1000)]
      if (next(2) === 0) {
        const check = making(place.dir, made, () => ({ ...made[0]!, name: 'rewritten' }))
        return task(place, 'pmlogrewrite', ['-c', rulesIn(place), 'archive', 'rewritten'], check)
      }
      return task(
        place,
        'pmlogrewrite',
        ['-i', '-c', rulesIn(place), 'archive'],
        relabelling(place.dir, made),
      )
    },
  },
  {
    name: 'pmloglabel',
    prepare(place) {
      const made = [new Maker(place.dir).make('archive', 1)]
      return task(place, 'pmloglabel', ['-h', HOST_AFTER, 'archive'], relabelling(place.dir, made))
    },
  },
  {
    name: 'pmlogmv',
    prepare(place, next) {
      const made = [new Maker(place.dir).make('archive', 1)]
      if (next(2) === 0)
        return task(place, 'pmlogmv', ['archive', 'moved'], moving([place.dir], made, ['moved']))
      const other = join(place.top, 'other')
      mkdirSync(other)
      const check = moving([place.dir, other], made, ['archive'])
      return { ...task(place, 'pmlogmv', ['archive', other], check), watched: [place.dir, other] }
    },
  },
  {
    name: 'pmlogcp',
    prepare(place) {
      const made = new Maker(place.dir).make('archive', 1)
      const copy = { name: 'copy', records: made.records }
      return task(
        place,
        'pmlogcp',
        ['archive', 'copy'],
        making(place.dir, [made], () => copy),
      )
    },
  },
  {
    name: 'retention',
    prepare(place) {
      const args = [place.dir, String(2 * DAY * 1000), String(5 * DAY * 1000)]
      return culling(place, RETENTION, args, (age) => `${dayOf(age)}.00.10`, 5)
    },
  },
]

/** Checks that archives of `limit` days and more are removed, each atomically, and the others kept. */
function culling(
  place: Place,
  program: string,
  args: readonly string[],
  nameOf: (age: number) => string,
  limit = 3,
): Task {
  const maker = new Maker(place.dir)
  const archives = [1, 2, 3, 4, 5, 6, 7].map((age) => ({ age, made: maker.make(nameOf(age), age) }))
  const isOld = (age: number): boolean => age > limit
  const old = archives.filter(({ age }) => isOld(age)).map(({ made }) => made)
  // Whether the one in between is removed depends on the time of day.
  const young = archives.filter(({ age }) => age < limit).map(({ made }) => made)
  const between = archives.filter(({ age }) => age === limit).map(({ made }) => made)
  return task(place, program, args, (isComplete) => {
    const reading = read(place.dir)
    const names = young.map(({ name }) => name)
    const problems = [
      ...problemsOf(
        recordsOf(young),
        only(reading, (base) => names.includes(base)),
      ),
      ...[...old, ...between].flatMap(({ name, records }) => wholeOrAbsent(reading, name, records)),
    ]
    if (!isComplete) return problems
    const left = old.filter(({ name }) => reading.archives.has(name))
    return [
      ...problems,
      ...left.map(({ name }) => `${name} was not removed`),
      ...strays(reading),
      ...doubleParts(place.dir),
    ]
  })
}
