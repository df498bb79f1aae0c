/** A derived metric typed in place; what is wrong with it is shown below the character. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { CheckAnswer } from '../data/answers.ts'
import type { Source } from '../data/source.ts'
import { derivedName, type Plot } from '../view/view.ts'
import { aroundMistake } from './caret.ts'

const PAUSE_MS = 250

interface Props {
  readonly source: Source
  readonly onDone: (plot: Plot) => void
}

/** Checks an expression while it is typed. */
export function ExpressionField({ source, onDone }: Props): ComponentChild {
  const expr = useSignal('')
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
    expr.value = ''
  }
  return (
    <form class="expression" onSubmit={draw}>
      <label>
        <span class="label">Expression</span>
        <input
          class="code"
          spellcheck={false}
          autocomplete="off"
          placeholder="rate(disk.all.read) + rate(disk.all.write)"
          aria-invalid={answer?.ok === false}
          value={expr.value}
          onInput={({ currentTarget }) => (expr.value = currentTarget.value)}
        />
      </label>
      {answer?.ok === false && (
        <pre class="mistake" role="alert">
          {answer.at !== undefined && pointer(expr.value.trim(), answer.at)}
          <span class="said">{answer.message}</span>
        </pre>
      )}
      {answer?.ok === true && (
        <p class="actions">
          <small>
            {answer.type}, {answer.sem}, {answer.units === 'none' ? 'no units' : answer.units}
          </small>
          <button type="submit" class="primary">
            Draw
          </button>
        </p>
      )}
    </form>
  )
}

/** What is wrong, and where; the language does not say which of its metrics is unknown. */
async function located(source: Source, text: string): Promise<CheckAnswer> {
  const answer = await source.check(text)
  if (answer.ok || !/^Unknown operand/.test(answer.message)) return answer
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
