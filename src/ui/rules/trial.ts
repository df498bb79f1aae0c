/** The last trial of rules: its firings as marks on the charts, and its text as a file. */
import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { printableWord } from '../../base/printable.ts'
import type { FiringSpan, FiringsAnswer, RuleFirings } from '../../rules/firings.ts'
import type { Source } from '../data/source.ts'
import { type Mark, setMarks } from '../marks/marks.ts'
import { currentSource } from '../page.ts'
import type { Frame } from '../time/control.ts'
import { formatDuration } from '../time/format.ts'

/** A trial that has ended. */
export interface Trial {
  /** Source of the values; another one may get the same key. */
  readonly source: Source
  readonly text: string
  readonly deltaSec: number
  readonly answer: FiringsAnswer
}

/** The last trial. */
export const trial: Signal<Trial | undefined> = signal(undefined)

const OWNER = 'rules'

/** The trial, if it was on the current source: firings in other records do not apply to it. */
export const currentTrial: ReadonlySignal<Trial | undefined> = computed(() =>
  trial.value?.source === currentSource.value ? trial.value : undefined,
)

effect(() => setMarks(OWNER, currentTrial.value === undefined ? [] : marksOf(currentTrial.value.answer)))

/** Returns the firings as spans. */
export function marksOf({ rules }: FiringsAnswer): readonly Mark[] {
  return rules.flatMap((rule) =>
    rule.spans.map(
      ({ from, to, message }): Mark => ({
        at: from,
        ...(to > from ? { until: to } : {}),
        kind: 'rule',
        text: `${titleOf(rule)}: ${printableWord(message)}`,
      }),
    ),
  )
}

/** Returns the name that a rule was given, else its text. */
export function titleOf({ name, text }: Pick<RuleFirings, 'name' | 'text'>): string {
  return printableWord(/^expr_\d+$/.test(name) ? text : name)
}

/** Returns how often a rule fired, as a sentence. */
export function summaryOf({ count, spanCount, hasAction, evaluations }: RuleFirings): string {
  if (!hasAction) return 'Never fires: it has no action. Add one, such as -> print "message";'
  const of = `${evaluations.toLocaleString('en')} evaluations`
  if (count === 0) return `Would not have fired in ${of}`
  const times = count === 1 ? 'once' : `${count.toLocaleString('en')} times`
  const spans = spanCount === 1 ? '1 span' : `${spanCount.toLocaleString('en')} spans`
  return `Would have fired ${times} in ${spans}, of ${of}`
}

/** Returns how long a span lasted, and its firings. */
export function lengthOf({ from, to, count }: FiringSpan): string {
  const length = to > from ? formatDuration(to - from) : ''
  return [length, count > 1 ? `${count.toLocaleString('en')} ×` : ''].filter((text) => text !== '').join(', ')
}

/** Least width of the window that shows a span, in intervals of its rule. */
const LEAST_INTERVALS = 30

/** Returns a window that shows a span with some time around it. */
export function frameAround({ from, to }: FiringSpan, deltaSec: number): Frame {
  const margin = Math.max((LEAST_INTERVALS * deltaSec) / 2, to - from)
  return { from: from - margin, to: to + margin }
}

/** Returns the text as a rule file with the interval of the trial. */
export function ruleFile(text: string, deltaSec: number): string {
  return `// Rules of pmie, tried in the page of pcp-ts\ndelta = ${deltaSec} sec;\n${text.trimEnd()}\n`
}
