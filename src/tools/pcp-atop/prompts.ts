/** Keys of atop's screen that prompt for input: selections of processes and lines. pcp-atop(1) */
import { DEFAULTS, type Focus, type LineLimits, type Settings } from './settings.ts'

/** Prompts the user and shows messages. */
export interface Prompt {
  /** Resolves to undefined if the user cancels. */
  readLine(question: string): Promise<string | undefined>
  showMessage(message: string): void
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
  U: ['user', 'Pattern for users (empty: all): '],
  P: ['program', 'Pattern for programs (empty: all): '],
  '/': ['command', 'Pattern for command lines (empty: all): '],
}
const RESOURCE_QUESTIONS: readonly (readonly ['volume' | 'disk' | 'interface', string])[] = [
  ['volume', 'Pattern for logical volumes (empty: all): '],
  ['disk', 'Pattern for disks (empty: all): '],
  ['interface', 'Pattern for interfaces (empty: all): '],
]

/** Returns the changed settings, or unchanged ones if the user cancelled; undefined if the key does not prompt. */
export async function changeByDialogue(
  key: string,
  settings: Settings,
  answers: Prompt,
): Promise<Settings | undefined> {
  const pattern = PATTERN_KEYS[key]
  if (pattern !== undefined) {
    const [field, question] = pattern
    return withPattern(settings, field, await answers.readLine(question), answers)
  }
  switch (key) {
    case 'S': {
      let changed = settings
      for (const [field, question] of RESOURCE_QUESTIONS) {
        const answer = await answers.readLine(question)
        if (answer === undefined) return settings
        changed = withPattern(changed, field, answer, answers)
      }
      return changed
    }
    case 'I':
      return withPids(settings, await answers.readLine('PIDs, separated by commas (empty: all): '), answers)
    case 'J': {
      const answer = await answers.readLine('First 12 digits of the container (empty: all): ')
      if (answer === undefined) return settings
      return withFocus(settings, { container: answer === '' ? undefined : answer.slice(0, 12) })
    }
    case 'Q':
      return withStates(
        settings,
        await answers.readLine(`States of ${[...STATES].join(',')} (empty: all): `),
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
  answers: Prompt,
): Settings {
  if (text === undefined) return settings
  try {
    return withFocus(settings, { [field]: text === '' ? undefined : new RegExp(text) })
  } catch {
    answers.showMessage(`"${text}" is not a regular expression`)
    return settings
  }
}

function withPids(settings: Settings, text: string | undefined, answers: Prompt): Settings {
  if (text === undefined) return settings
  const words = text.split(',').map((word) => word.trim())
  if (text.trim() === '') return withFocus(settings, { pids: [] })
  const wrong = words.find((word) => !/^\d+$/.test(word))
  if (wrong === undefined) return withFocus(settings, { pids: words.map(Number) })
  answers.showMessage(`"${wrong}" is not a PID`)
  return settings
}

function withStates(settings: Settings, text: string | undefined, answers: Prompt): Settings {
  if (text === undefined) return settings
  const states = text.replace(/[\s,]/g, '')
  const wrong = [...states].find((state) => !STATES.includes(state))
  if (wrong === undefined) return withFocus(settings, { states })
  answers.showMessage(`"${wrong}" is not a process state`)
  return settings
}

async function withLimits(settings: Settings, answers: Prompt): Promise<Settings> {
  let { maxLines } = settings
  for (const [kind, name] of LIMIT_QUESTIONS) {
    const answer = await answers.readLine(`Maximum lines of ${name} (now ${maxLines[kind]}): `)
    if (answer === undefined) return settings
    if (answer === '') continue
    if (!/^\d+$/.test(answer)) {
      answers.showMessage(`"${answer}" is not a number of lines`)
      return settings
    }
    maxLines = { ...maxLines, [kind]: Math.min(Number(answer), DEFAULTS.maxLines[kind]) }
  }
  return { ...settings, maxLines }
}
