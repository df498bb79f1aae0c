/** A derived metric typed in place; what is wrong with it is shown below the character. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import type { CheckAnswer } from '../data/answers.ts'
import type { Source } from '../data/source.ts'
import { rateOf } from '../view/measure.ts'
import { derivedName, type Plot } from '../view/view.ts'
import { CompletedInput } from './CompletedInput.tsx'

const PAUSE_MS = 250

interface Props {
  readonly source: Source
  /** What the field begins with. */
  readonly initial?: string
  /** What is done with it, on the button. */
  readonly action: string
  /** What is chosen beside the button. */
  readonly children?: ComponentChild
  readonly onDone: (plot: Plot) => void
}

/** Checks an expression while it is typed. */
export function ExpressionField({ source, initial = '', action, children, onDone }: Props): ComponentChild {
  const id = useId()
  const expr = useSignal(initial)
  // With its expression: an answer says nothing about what was typed since.
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
    expr.value = initial
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
        onInput={(text) => (expr.value = text)}
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

/** What a line of it is measured in. */
function unitsText({ sem, units }: Extract<CheckAnswer, { ok: true }>): string {
  if (sem === 'counter') return `drawn as change a second: ${unitsName(rateOf(units).units)}`
  return unitsName(units)
}

const unitsName = (units: string): string => (units === 'none' ? 'no units' : units)

/** What is wrong, and where; the language does not say which of its metrics is unknown. */
async function located(source: Source, text: string): Promise<CheckAnswer> {
  const answer = await source.check(text)
  if (answer.ok || answer.reason !== 'unknown-operand') return answer
  for (const { 0: name, index } of text.matchAll(/[a-z]\w*(\.\w+)+/gi)) {
    const isKnown = await source.metric(name).then(
      () => true,
      () => false,
    )
    if (!isKnown) return { ok: false, at: index, message: `There is no metric ${name}` }
  }
  return answer
}

/** The field shows so many characters. */
const SHOWN = 38

/** A caret below the character; of a long expression with the part around it, which the field may not show. */
function pointer(typed: string, at: number): string {
  const { text, before } = aroundMistake(typed, at, SHOWN)
  return `${typed.length <= SHOWN ? '' : `${text}\n`}${before}^\n`
}

/** Characters shown before a mistake. */
const BEFORE = 20

/** The part of a text that fits, and spaces for what is before the character in it. */
export function aroundMistake(
  text: string,
  at: number,
  most: number,
): { readonly text: string; readonly before: string } {
  const from = text.length <= most ? 0 : Math.max(0, Math.min(at - BEFORE, text.length - most))
  return { text: text.slice(from, from + most).replaceAll('\t', ' '), before: ' '.repeat(at - from) }
}
