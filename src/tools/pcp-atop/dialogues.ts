/** Keys of atop's screen that ask for something to be typed: which processes, which lines. pcp-atop(1) */
import { DEFAULTS, type Focus, type LineLimits, type Settings } from './settings.ts'

/** How a key talks with the user. */
export interface Answers {
  /** Undefined when the user gives it up. */
  ask(question: string): Promise<string | undefined>
  tell(message: string): void
}

const STATES = 'RSDITtXZP'
const LIMIT_QUESTIONS: readonly (readonly [keyof LineLimits, string])[] = [
  ['cpu', 'processors'],
  ['gpu', 'graphics processors'],
  ['LVM', 'logical volumes'],
  ['MDD', 'multiple devices'],
  ['DSK', 'disks'],
  ['intf', 'interfaces'],
]
const PATTERN_KEYS: Readonly<
  Record<string, readonly [field: 'user' | 'program' | 'command', question: string]>
> = {
  U: ['user', 'Users, a pattern (nothing: all): '],
  P: ['program', 'Programs, a pattern (nothing: all): '],
  '/': ['command', 'Command lines, a pattern (nothing: all): '],
}
const RESOURCE_QUESTIONS: readonly (readonly ['volume' | 'disk' | 'interface', string])[] = [
  ['volume', 'Logical volumes, a pattern (nothing: all): '],
  ['disk', 'Disks, a pattern (nothing: all): '],
  ['interface', 'Interfaces, a pattern (nothing: all): '],
]

/** The settings after such a key; those before when the user gave it up, undefined for a key that asks nothing. */
export async function changeByDialogue(
  key: string,
  settings: Settings,
  answers: Answers,
): Promise<Settings | undefined> {
  const pattern = PATTERN_KEYS[key]
  if (pattern !== undefined) {
    const [field, question] = pattern
    return withPattern(settings, field, await answers.ask(question), answers)
  }
  switch (key) {
    case 'S': {
      let changed = settings
      for (const [field, question] of RESOURCE_QUESTIONS) {
        const answer = await answers.ask(question)
        if (answer === undefined) return settings
        changed = withPattern(changed, field, answer, answers)
      }
      return changed
    }
    case 'I':
      return withPids(
        settings,
        await answers.ask('Numbers of processes, with commas (nothing: all): '),
        answers,
      )
    case 'J': {
      const answer = await answers.ask('Container, its first 12 digits (nothing: all): ')
      if (answer === undefined) return settings
      return withFocus(settings, { container: answer === '' ? undefined : answer.slice(0, 12) })
    }
    case 'Q':
      return withStates(
        settings,
        await answers.ask(`States of ${[...STATES].join(',')} (nothing: all): `),
        answers,
      )
    case 'l':
      return withLimits(settings, answers)
    default:
      return undefined
  }
}

function withFocus(settings: Settings, change: Partial<Focus>): Settings {
  return { ...settings, focus: { ...settings.focus, ...change } }
}

type PatternField = 'user' | 'program' | 'command' | 'volume' | 'disk' | 'interface'

function withPattern(
  settings: Settings,
  field: PatternField,
  text: string | undefined,
  answers: Answers,
): Settings {
  if (text === undefined) return settings
  try {
    return withFocus(settings, { [field]: text === '' ? undefined : new RegExp(text) })
  } catch {
    answers.tell(`"${text}" is no regular expression`)
    return settings
  }
}

function withPids(settings: Settings, text: string | undefined, answers: Answers): Settings {
  if (text === undefined) return settings
  const words = text.split(',').map((word) => word.trim())
  if (text.trim() === '') return withFocus(settings, { pids: [] })
  const wrong = words.find((word) => !/^\d+$/.test(word))
  if (wrong === undefined) return withFocus(settings, { pids: words.map(Number) })
  answers.tell(`"${wrong}" is no number of a process`)
  return settings
}

function withStates(settings: Settings, text: string | undefined, answers: Answers): Settings {
  if (text === undefined) return settings
  const states = text.replace(/[\s,]/g, '')
  const wrong = [...states].find((state) => !STATES.includes(state))
  if (wrong === undefined) return withFocus(settings, { states })
  answers.tell(`"${wrong}" is no state`)
  return settings
}

async function withLimits(settings: Settings, answers: Answers): Promise<Settings> {
  let { maxLines } = settings
  for (const [kind, name] of LIMIT_QUESTIONS) {
    const answer = await answers.ask(`Lines of ${name} at most (now ${maxLines[kind]}): `)
    if (answer === undefined) return settings
    if (answer === '') continue
    if (!/^\d+$/.test(answer)) {
      answers.tell(`"${answer}" is no number of lines`)
      return settings
    }
    maxLines = { ...maxLines, [kind]: Math.min(Number(answer), DEFAULTS.maxLines[kind]) }
  }
  return { ...settings, maxLines }
}
