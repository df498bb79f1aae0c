/** Rules tried on an archive: spans, messages, mistakes, bounds; the same from pmproxy and from an archive in the browser. */
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { bytesSource } from '../../src/base/byte-source.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE, PM_TYPE_U32 } from '../../src/model/types.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { ArchiveRoots } from '../../src/pmproxy/archives.ts'
import { Query } from '../../src/pmproxy/http/query.ts'
import type { PageCall } from '../../src/pmproxy/routes/page-call.ts'
import { rules as route } from '../../src/pmproxy/routes/rules.ts'
import {
  type FiringsAnswer,
  type FiringsQuery,
  firings,
  MOST_RULE_BYTES,
  MOST_RULES,
  MOST_SPANS,
} from '../../src/rules/firings.ts'
import type { RuleContext } from '../../src/rules/host.ts'
import { UTC } from '../../src/time/zone.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'

const START = 1_700_000_000
/** Seconds between records. */
const STEP = 10
const NO_TURN = { shouldYield: () => false, yield: async () => {} }

type Files = ReadonlyMap<string, Uint8Array>

/** Writes a level that is 5 in records 3 to 5 and 10 to 12 of every 20, and a counter of two disks, of which one grows faster then. */
function written(records: number): Files {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'CET-1', pid: 1 })
  made.addMetric('made.level', { type: PM_TYPE_DOUBLE })
  made.addMetric('made.count', { type: PM_TYPE_U32, sem: PM_SEM_COUNTER, units: 'count', indom: 'disks' })
  let count = 0
  for (let n = 0; n < records; n++) {
    const isHigh = (n % 20 >= 3 && n % 20 <= 5) || (n % 20 >= 10 && n % 20 <= 12)
    count += isHigh ? 1000 : 10
    made.put('made.level', isHigh ? 5 : 1)
    made.put('made.count', count, 'sda')
    made.put('made.count', n, 'sdb')
    made.write({ sec: START + STEP * n, nsec: 0 })
  }
  made.close()
  return new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
}

/** Writes two records of a level of 2 for each of a thousand instances. */
function manyInstances(): Files {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('made.each', { type: PM_TYPE_DOUBLE, indom: 'disks' })
  for (let n = 0; n < 2; n++) {
    for (let i = 0; i < 1000; i++) made.put('made.each', 2, `disk${i}`)
    made.write({ sec: START + STEP * n, nsec: 0 })
  }
  made.close()
  return new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
}

function opened(files: Files): ReturnType<typeof openArchive> {
  return openArchive('made', {
    env: {},
    files: {
      isDirectory: (path) => path === '.' || path === '',
      list: () => [...files.keys()],
      open: (path) => bytesSource(files.get(path.replace(/^\.\//, ''))!),
    },
  })
}

const files = written(20)

/** Tries rules in the browser's way. */
function tried(text: string, query: Partial<FiringsQuery> = {}, contents = files): Promise<FiringsAnswer> {
  return new LocalArchive('made', contents).firings({ text, deltaSec: STEP, ...query })
}

test('firings are merged into spans with the first message', async () => {
  const { rules, problems, start, finish } = await tried('high = made.level > 4 -> print "level " "%v";')
  expect(problems).toEqual([])
  expect([start, finish]).toEqual([START, START + 190])
  const span = { count: 3, action: 'print', message: 'level 5' }
  expect(rules).toEqual([
    {
      name: 'high',
      line: 1,
      text: 'high = made.level > 4 -> print "level " "%v";',
      hasAction: true,
      deltaSec: STEP,
      evaluations: 20,
      count: 6,
      spanCount: 2,
      spans: [
        { from: START + 30, to: START + 50, ...span },
        { from: START + 100, to: START + 120, ...span },
      ],
    },
  ])
})

test('counters are rates, and messages name the instances', async () => {
  const { rules } = await tried('some_inst made.count > 50 count/sec -> syslog "-p" "user.info" "%i at %v";')
  expect(rules[0]!.spans.map(({ message }) => message)).toEqual(['sda at 100', 'sda at 100'])
  expect(rules[0]!.spans[0]).toMatchObject({ action: 'syslog', from: START + 30, to: START + 50 })
})

test('instances with spaces and other odd names are whole in messages and selections', async () => {
  const names = ['/mnt/my disk', 'disk', '%v', 'a "b"', "it's"]
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('made.full', { type: PM_TYPE_U32, indom: 'mounts' })
  for (let n = 0; n < 3; n++) {
    for (const [i, name] of names.entries()) made.put('made.full', i === n ? 99 : 1, name)
    made.write({ sec: START + STEP * n, nsec: 0 })
  }
  made.close()
  const odd = new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
  const { rules, problems } = await tried('some_inst made.full > 90 -> print "[%i] %v ";', {}, odd)
  expect(problems).toEqual([])
  expect(rules[0]!.spans.map(({ message }) => message)).toEqual(['[/mnt/my disk] 99 '])
  expect(rules[0]!.count).toBe(3)
  const all = await tried('some_inst made.full > 0 -> print "[%i]";', { finish: START }, odd)
  expect(all.rules[0]!.spans[0]!.message).toBe(names.map((name) => `[${name}]`).join(''))
  const one = await tried(`made.full #'/mnt/my disk' > 90 -> print "%i";`, {}, odd)
  expect(one.rules[0]!.spans.map(({ message }) => message)).toEqual(['/mnt/my disk'])
})

test('counters that decrease have no rate, or have wrapped once with PCP_COUNTER_WRAP', async () => {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('made.count', { type: PM_TYPE_U32, sem: PM_SEM_COUNTER, units: 'count' })
  for (const [n, value] of [2 ** 32 - 110, 2 ** 32 - 100, 900, 910].entries()) {
    made.put('made.count', value)
    made.write({ sec: START + STEP * n, nsec: 0 })
  }
  made.close()
  const wrapped = new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
  const text = 'made.count > 50 count/sec -> print "%v";'
  const context = await opened(wrapped)
  for (const [wraps, messages] of [
    [undefined, []],
    [false, []],
    [true, ['100']],
  ] as const) {
    const options = { name: 'made', zone: UTC, turn: NO_TURN, ...(wraps === undefined ? {} : { wraps }) }
    const { rules } = await firings(context, { text, deltaSec: STEP }, options)
    expect(
      rules[0]!.spans.map(({ message }) => message),
      `${wraps}`,
    ).toEqual(messages)
  }
  const asked = {
    query: new Query(`archive=made&rules=${encodeURIComponent(text)}`),
    signal: new AbortController().signal,
  }
  for (const [env, count] of [
    [{}, 0],
    [{ PCP_COUNTER_WRAP: '' }, 1],
  ] as const) {
    const services = { archives: new ArchiveRoots([], env) }
    const { body } = await route({ request: asked, context, services } as unknown as PageCall)
    expect((JSON.parse(String(body)) as FiringsAnswer).rules[0]!.count).toBe(count)
  }
  await context.close()
})

test('a span ends with the condition, not with the minimum time between actions', async () => {
  const { rules } = await tried('made.level > 4 -> print 25 "a" & shell 1 min "b";')
  expect(rules[0]).toMatchObject({ count: 2, spanCount: 2 })
  expect(rules[0]!.spans[0]).toMatchObject({ from: START + 30, to: START + 50, count: 1, message: 'a' })
  const long = await tried('made.level > 4 -> print 1 hour "a";')
  expect(long.rules[0]).toMatchObject({ count: 1, spanCount: 1 })
})

test('rulesets, delta and statements without an action', async () => {
  const text = `delta = 20 sec;
ruleset made.level > 4 -> print "high" otherwise -> print "low";
made.level > 4;
`
  const { rules } = await tried(text)
  expect(rules).toHaveLength(2)
  expect(rules[0]).toMatchObject({ line: 2, deltaSec: 20, evaluations: 10, count: 10, spanCount: 1 })
  expect(rules[1]).toMatchObject({ line: 3, hasAction: false, count: 0, spans: [] })
})

test('variables of time are in the zone of the host', async () => {
  // 1700000000 is 22:13:20 in UTC.
  const { rules } = await tried('$hour == 23 && made.level > 4 -> print "night";')
  expect(rules[0]!.count).toBe(6)
})

test('the window is that of the records', async () => {
  const { start, finish, rules } = await tried('made.level > 4 -> print "x";', {
    start: START + 40,
    finish: START + 1e6,
  })
  expect([start, finish]).toEqual([START + 40, START + 190])
  expect(rules[0]!.spans.map(({ from }) => from - START)).toEqual([40, 100])
})

test('mistakes are reported with line and column', async () => {
  const unknown = await tried('\n  made.nothing > 4 -> print "x";\nmade.level > 4 -> print "y";')
  expect(unknown.problems).toEqual([
    { message: expect.stringMatching(/^metric made\.nothing not in namespace/), line: 2, column: 3 },
  ])
  expect(unknown.rules.map(({ line }) => line)).toEqual([3])
  const syntax = await tried('made.level > -> print "x";')
  expect(syntax.problems).toMatchObject([{ line: 1, column: 14 }])
  expect(syntax.problems[0]!.message).toMatch(/^syntax error - near line 1/)
  const macro = await tried('made.level > $no -> print "x";')
  expect(macro.problems[0]).toMatchObject({ message: 'undefined macro name $no', line: 1 })
  const host = await tried('made.level :other > 4 -> print "x";')
  expect(host.problems[0]!.message).toMatch(/no archive of host other/)
})

test('texts, rules, evaluations, values and spans have bounds', async () => {
  const rule = 'made.level > 4 -> print "x";'
  await expect(tried(`${rule}${' '.repeat(MOST_RULE_BYTES)}`)).rejects.toThrow(/8192 bytes/)
  await expect(tried('ä'.repeat(MOST_RULE_BYTES / 2 + 1))).rejects.toThrow(/8192 bytes/)
  for (const deltaSec of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    await expect(tried(rule, { deltaSec })).rejects.toThrow(/greater than zero/)
  await expect(tried(rule, { deltaSec: 1e-6 })).rejects.toThrow(/longer delta/)
  await expect(tried(`delta = 0.00001;${rule}`)).rejects.toThrow(/longer delta/)
  await expect(tried(rule, { start: START - 20, finish: START - 10 })).rejects.toThrow(/Nothing was recorded/)
  const many = await tried(rule.repeat(MOST_RULES + 1))
  expect(many.rules).toHaveLength(MOST_RULES)
  expect(many.problems[0]!.message).toMatch(/more than 50 rules/)
  const large = await tried('all_sample (made.count @0..900000 > 4) -> print "x";')
  expect(large.problems[0]!.message).toMatch(/too many past values/)
  expect(large.rules).toEqual([])
  const several = await tried('all_sample (made.level @0..999999 > 4) -> print "x";'.repeat(10))
  expect(several.rules).toHaveLength(1)
  expect(several.problems).toHaveLength(9)
  const hosts = await tried(`made.level ${':elsewhere '.repeat(20)} @0..999999 > 1;`)
  expect(hosts.problems[0]!.message).toMatch(/too many past values/)
  const flapping = await tried(
    'high = made.level > 4 -> print "%v";'.replace('%v', 'x'.repeat(1000)),
    {},
    written(MOST_SPANS * 10 + 100),
  )
  const [first] = flapping.rules
  expect(first!.spanCount).toBeGreaterThan(MOST_SPANS)
  expect(first!.spans).toHaveLength(MOST_SPANS)
  expect(first!.spans[0]!.message).toHaveLength(300)
  expect(first!.text).toHaveLength(200)
})

test('an interval that is too short to advance is refused', async () => {
  const rule = 'made.level > 4 -> print "x";'
  const moment = { start: START + 30, finish: START + 30 }
  for (const deltaSec of [1e-10, 9e-4])
    await expect(tried(rule, { ...moment, deltaSec })).rejects.toThrow(/at least 0.001 s/)
  expect((await tried(rule, { ...moment, deltaSec: 1e-3 })).rules[0]).toMatchObject({ evaluations: 1 })
  const short = await tried(`\ndelta = 1e-10; ${rule}`, moment)
  expect(short.problems).toMatchObject([{ line: 2, column: 1, message: expect.stringMatching(/nanosecond/) }])
})

test('macros that grow exponentially or contain themselves end the text', async () => {
  const names = [...'abcdefghijklmnopqrstuvwxyz']
  const growing = names.map(
    (name, i) => `${name} = "${i === 0 ? 'x'.repeat(20) : `$${names[i - 1]}`.repeat(2)}";\n`,
  )
  const { problems, rules } = await tried(`made.level > 4 -> print "x";\n${growing.join('')}`)
  expect(rules).toHaveLength(1)
  expect(problems[0]).toMatchObject({ message: expect.stringMatching(/^macros expand to more than 1000000/) })
  expect(problems[0]!.line).toBe(17)
  const itself = await tried('a = "\\$a";\nmade.level > $a -> print "x";')
  expect(itself.problems[0]).toMatchObject({
    message: 'macro contains itself, at line 2, column 16',
    line: 2,
  })
  const empty = await tried(`e = "";\n${'$e'.repeat(4000)} made.level > 4 -> print "x";`)
  expect(empty.problems).toEqual([])
  expect(empty.rules[0]).toMatchObject({ count: 6 })
})

test('of a message for many instances only the displayed beginning is built', async () => {
  // Macros double "%v " until the message has 65,536 of them for each of 1,000 instances: hundreds of millions of characters.
  const doubled = Array.from({ length: 16 }, (_, i) => `m${i + 1} = "${`$m${i}`.repeat(2)}";`).join('')
  const text = `m0 = "%v ";${doubled} some_inst made.each > 1 -> print "$m16";`
  const { rules, problems } = await tried(text, {}, manyInstances())
  expect(problems).toEqual([])
  expect(rules[0]!.spans).toMatchObject([{ message: '2 '.repeat(150) }])
})

test('options of syslog are left out of a cut message as of a whole one', async () => {
  const { rules } = await tried(
    'some_inst made.each > 1 -> syslog "-p" "user.info" "%i ";',
    {},
    manyInstances(),
  )
  const whole = Array.from({ length: 100 }, (_, i) => `disk${i} `).join('')
  expect(rules[0]!.spans).toMatchObject([{ action: 'syslog', message: whole.slice(0, 300) }])
})

test('messages about mistakes are cut', async () => {
  const { problems } = await tried(`made.${'x'.repeat(8000)} > 1 -> print "x";`)
  expect(problems.map(({ message }) => message.length)).toEqual([300])
})

test('chains of operators have the limit of nested parentheses', async () => {
  const long = await tried(
    `made.level > 4 -> print "x";\nt="made.level"; ${Array(2000).fill('$t').join('+')} > 1 -> print "x";`,
  )
  expect(long.problems).toMatchObject([{ message: expect.stringMatching(/nested too deeply/), line: 2 }])
  expect(long.rules).toHaveLength(1)
  const fine = await tried(`t="made.level"; ${Array(400).fill('$t').join('+')} > 1 -> print "x";`)
  expect(fine.problems).toEqual([])
  const mixed = await tried(
    `${'('.repeat(250)}1${'+1)'.repeat(250)}${'+1'.repeat(400)} > made.level -> print "x";`,
  )
  expect(mixed.problems[0]!.message).toMatch(/nested too deeply/)
})

test('contexts opened for derived metrics are closed, also after an error', async () => {
  const context = await opened(files)
  await context.addDerived('made.twice', '2 * made.level')
  let balance = 0
  const counted: RuleContext = Object.create(context, {
    dup: {
      value: async () => {
        const other = await context.dup()
        await other.addDerived('made.twice', '2 * made.level')
        balance++
        return Object.create(other, {
          archive: { value: other.archive },
          fetch: { value: other.fetch.bind(other) },
          close: {
            value: async () => {
              balance--
              await other.close()
            },
          },
        })
      },
    },
    archive: { value: context.archive },
    ...Object.fromEntries(
      (['lookupNames', 'descs', 'instances', 'traverse'] as const).map((key) => [
        key,
        { value: (context[key] as () => unknown).bind(context) },
      ]),
    ),
  })
  const query = { text: 'made.twice > 8 -> print "x";', deltaSec: STEP }
  const { rules, problems } = await firings(counted, query, { name: 'made', zone: UTC, turn: NO_TURN })
  expect(problems).toEqual([])
  expect([rules[0]!.count, balance]).toEqual([6, 0])
  const late = { shouldYield: () => true, yield: () => Promise.reject(new Error('late')) }
  await expect(firings(counted, query, { name: 'made', zone: UTC, turn: late })).rejects.toThrow('late')
  expect(balance).toBe(0)
  await context.close()
})

test('ends when the turn rejects or the signal is aborted', async () => {
  const context = await opened(files)
  const query = { text: 'made.level > 4 -> print "x";', deltaSec: STEP }
  const late = { shouldYield: () => true, yield: () => Promise.reject(new Error('late')) }
  await expect(firings(context, query, { name: 'made', zone: UTC, turn: late })).rejects.toThrow('late')
  const gone = { name: 'made', zone: UTC, turn: NO_TURN, signal: AbortSignal.abort() }
  await expect(firings(context, query, gone)).rejects.toMatchObject({ code: 'ECANCELED' })
  await context.close()
})

test('pmproxy answers the same', async () => {
  const context = await opened(files)
  const text = 'high = made.level > 4 ->\n\tprint "level %v from %h";\n$hour == 23 -> alarm "x";'
  const query = new Query(
    `archive=made&delta=10&start=${START + 20}&finish=${START + 150}&rules=${encodeURIComponent(text)}`,
  )
  query.refuseControls()
  const { body } = await route({
    request: { query, signal: new AbortController().signal },
    context,
    services: { archives: new ArchiveRoots([]) },
  } as unknown as PageCall)
  const answer = await tried(text, { start: START + 20, finish: START + 150 })
  expect(JSON.parse(String(body))).toEqual(answer)
  expect(answer.rules.map(({ count }) => count)).toEqual([6, 14])
  await context.close()
})
