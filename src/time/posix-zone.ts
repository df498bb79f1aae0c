/** Zones in POSIX form: `EST5EDT,M3.2.0,M11.1.0`, `<+03>-3`. tzset(3), POSIX.1 chapter 8.3 */
import { DAY, dateOf, daysOf, isLeapYear, weekdayOf } from './calendar.ts'
import type { OffsetPeriod } from './offset.ts'

/** Start or end of daylight saving, in local time of a year. */
interface Rule {
  /** M: month, week, weekday. J: day 1 to 365 without 29 February. D: day 0 to 365. */
  readonly kind: 'M' | 'J' | 'D'
  readonly month: number
  readonly week: number
  readonly day: number
  /** Seconds after midnight, possibly negative or beyond the day. */
  readonly time: number
}

interface Season {
  readonly abbreviation: string
  /** Seconds east of UTC. */
  readonly offset: number
}

const NAME = /([A-Za-z]{3,})|<([A-Za-z0-9+-]{3,})>/y
const OFFSET = /([+-]?)(\d{1,3})(?::(\d{1,2})(?::(\d{1,2}))?)?/y
const RULE = /,(?:M(\d{1,2})\.(\d)\.(\d)|(J?)(\d{1,3}))(?:\/([+-]?)(\d{1,3})(?::(\d{1,2})(?::(\d{1,2}))?)?)?/y

/** Default rules of the C library for daylight saving without rules. */
const DEFAULT_RULES = ',M3.2.0,M11.1.0'

/** Parses a zone; undefined if the text is not in this form. */
export function posixOffsets(text: string): ((sec: number) => OffsetPeriod) | undefined {
  const reader = { text, at: 0 }
  const standardName = readName(reader)
  const standardOffset = readOffset(reader)
  if (standardName === undefined || standardOffset === undefined) return undefined
  const standard: Season = { abbreviation: standardName, offset: 0 - standardOffset }
  if (reader.at === text.length) return fixed(standard)
  const daylightName = readName(reader)
  if (daylightName === undefined) return undefined
  const hasRules = reader.at < text.length && text[reader.at] === ','
  const daylightOffset = hasRules || reader.at === text.length ? undefined : readOffset(reader)
  const daylight: Season = {
    abbreviation: daylightName,
    offset: daylightOffset === undefined ? standard.offset + 3600 : 0 - daylightOffset,
  }
  const rules = reader.at === text.length ? { text: DEFAULT_RULES, at: 0 } : reader
  const start = readRule(rules)
  const end = readRule(rules)
  if (start === undefined || end === undefined || rules.at !== rules.text.length) return undefined
  return seasonal(standard, daylight, start, end)
}

interface Reader {
  readonly text: string
  at: number
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)
  if (found === null) return undefined
  reader.at = pattern.lastIndex
  return found
}

function readName(reader: Reader): string | undefined {
  const found = take(reader, NAME)
  return found?.[1] ?? found?.[2]
}

function readOffset(reader: Reader): number | undefined {
  const found = take(reader, OFFSET)
  return found === undefined ? undefined : seconds(found[1]!, found[2]!, found[3], found[4])
}

function seconds(sign: string, hours: string, minutes = '0', secs = '0'): number {
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(secs)
  return sign === '-' ? -total : total
}

function readRule(reader: Reader): Rule | undefined {
  const found = take(reader, RULE)
  if (found === undefined) return undefined
  const time = found[7] === undefined ? 7200 : seconds(found[6]!, found[7], found[8], found[9])
  if (found[1] === undefined) {
    const kind = found[4] === 'J' ? 'J' : 'D'
    return { kind, month: 0, week: 0, day: Number(found[5]), time }
  }
  const [month, week, day] = [Number(found[1]), Number(found[2]), Number(found[3])]
  if (month < 1 || month > 12 || week < 1 || week > 5 || day > 6) return undefined
  return { kind: 'M', month, week, day, time }
}

function fixed({ abbreviation, offset }: Season): () => OffsetPeriod {
  const always: OffsetPeriod = { offset, isDst: false, abbreviation, from: -Infinity, until: Infinity }
  return () => always
}

/** Returns when a rule applies in a year, in seconds since the epoch as if local time were UTC. */
function momentOf(rule: Rule, year: number): number {
  const newYear = daysOf(year, 1, 1)
  switch (rule.kind) {
    case 'D':
      return (newYear + rule.day) * DAY + rule.time
    case 'J': {
      const leapDay = isLeapYear(year) && rule.day >= 60 ? 1 : 0
      return (newYear + rule.day - 1 + leapDay) * DAY + rule.time
    }
    case 'M': {
      const first = daysOf(year, rule.month, 1)
      const next = daysOf(year, rule.month + 1, 1)
      let day = first + ((rule.day - weekdayOf(first) + 7) % 7) + (rule.week - 1) * 7
      if (day >= next) day -= 7 // week 5 means the last week
      return day * DAY + rule.time
    }
  }
}

function seasonal(standard: Season, daylight: Season, start: Rule, end: Rule): (sec: number) => OffsetPeriod {
  return (sec) => {
    const { year } = dateOf(Math.floor((sec + standard.offset) / DAY))
    // The changes of three years surround any time in the middle one, on both hemispheres.
    const changes: { at: number; isDst: boolean }[] = []
    // An explicit list, because counting would not terminate for years so large that adding 1 has no effect.
    for (const y of [year - 1, year, year + 1]) {
      changes.push({ at: momentOf(start, y) - standard.offset, isDst: true })
      changes.push({ at: momentOf(end, y) - daylight.offset, isDst: false })
    }
    changes.sort((a, b) => a.at - b.at)
    let now = 0
    while (now + 1 < changes.length && changes[now + 1]!.at <= sec) now++
    const { at, isDst } = changes[now]!
    const until = changes[now + 1]?.at ?? at + DAY
    return { ...(isDst ? daylight : standard), isDst, from: at, until }
  }
}
