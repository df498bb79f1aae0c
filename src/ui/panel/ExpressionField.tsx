/** A form for derived metrics, with errors shown below the offending character. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import type { CheckAnswer } from '../data/responses.ts'
import type { Source } from '../data/source.ts'
import { keepDraft, readDraft } from '../drafts.ts'
import { rateOf } from '../view/measure.ts'
import { derivedName, type Plot } from '../view/view.ts'
import { CompletedInput } from './CompletedInput.tsx'

const PAUSE_MS = 250

interface Props {
  readonly source: Source
  /** Initial text. */
  readonly initial?: string
  /** Text of the button. */
  readonly action: string
  /** Shown beside the button. */
  readonly children?: ComponentChild
  readonly onDone: (plot: Plot) => void
}

/** Renders the form and checks the expression while it is typed. */
export function ExpressionField({ source, initial = '', action, children, onDone }: Props): ComponentChild {
  const id = useId()
  // A new expression survives a reload of the page.
  const isNew = initial === ''
  const expr = useSignal(isNew ? readDraft('expression') : initial)
  const edit = (text: string): void => {
    expr.value = text
    if (isNew) keepDraft('expression', text)
  }
  // With its expression, because the text may have changed before the answer arrives.
  const checked = useSignal<{ readonly text: string; readonly answer: CheckAnswer } | undefined>(undefined)
  useEffect(() => {
    const text = expr.value.trim()
    if (text === '') return
    let isCurrent = true
    const timer = setTimeout(() => {
      located(source, text).then(
        (answer) => {
          if (isCurrent) checked.value = { text, answer }
        },
        (error: Error) => {
          if (isCurrent) checked.value = { text, answer: { ok: false, message: error.message } }
        },
      )
    }, PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [source, expr.value])
  const answer = checked.value?.text === expr.value.trim() ? checked.value.answer : undefined
  const draw = (event: Event): void => {
    event.preventDefault()
    const text = expr.value.trim()
    if (answer?.ok !== true) return
    onDone({ metric: derivedName(text), expr: text })
    edit(initial)
  }
  return (
    <form class="expression" onSubmit={draw}>
      <label class="label" for={id}>
        Expression
      </label>
      <CompletedInput
        id={id}
        source={source}
        value={expr.value}
        isWrong={answer?.ok === false}
        onInput={edit}
      />
      {answer?.ok === false && (
        <pre class="mistake" role="alert">
          {answer.at !== undefined && pointer(expr.value.trim(), answer.at)}
          <span class="said">{answer.message}</span>
        </pre>
      )}
      {answer?.ok === true && (
        <p class="actions">
          <small>
            {answer.type}, {answer.sem}, {unitsText(answer)}
          </small>
          {children}
          <button type="submit" class="primary">
            {action}
          </button>
        </p>
      )}
    </form>
  )
}

/** Describes the units of a line of this metric. */
function unitsText({ sem, units }: Extract<CheckAnswer, { ok: true }>): string {
  if (sem === 'counter') return `charted as a rate: ${unitsName(rateOf(units).units)}`
  return unitsName(units)
}

const unitsName = (units: string): string => (units === 'none' ? 'no units' : units)

/** Checks an expression. The server does not report which operand is unknown, so this looks each metric up. */
async function located(source: Source, text: string): Promise<CheckAnswer> {
  const answer = await source.check(text)
  if (answer.ok || answer.reason !== 'unknown-operand') return answer
  for (const { 0: name, index } of text.matchAll(/[a-z]\w*(\.\w+)+/gi)) {
    const isKnown = await source.metric(name).then(
      () => true,
      () => false,
    )
    if (!isKnown) return { ok: false, at: index, message: `Unknown metric ${name}` }
  }
  return answer
}

/** Width of the field in characters. */
const SHOWN = 38

/** Returns a caret below the character; for a long expression also the part around it, which the field may not show. */
function pointer(typed: string, at: number): string {
  const { text, before } = excerptAt(typed, at, SHOWN)
  return `${typed.length <= SHOWN ? '' : `${text}\n`}${before}^\n`
}

/** Characters shown before the mistake. */
const BEFORE = 20

/** Returns the part of a text that fits, and as many spaces as it has characters before `at`. */
export function excerptAt(
  text: string,
  at: number,
  most: number,
): { readonly text: string; readonly before: string } {
  const from = text.length <= most ? 0 : Math.max(0, Math.min(at - BEFORE, text.length - most))
  return { text: text.slice(from, from + most).replaceAll('\t', ' '), before: ' '.repeat(at - from) }
}
