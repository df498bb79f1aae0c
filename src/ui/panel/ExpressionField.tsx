/** A derived metric typed in place; what is wrong with it is shown below the character. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { CheckAnswer } from '../data/answers.ts'
import type { Source } from '../data/source.ts'
import { derivedName, type Plot } from '../view/view.ts'

const PAUSE_MS = 250

interface Props {
  readonly source: Source
  readonly onDone: (plot: Plot) => void
}

/** Checks an expression while it is typed. */
export function ExpressionField({ source, onDone }: Props): ComponentChild {
  const expr = useSignal('')
  const checked = useSignal<CheckAnswer | undefined>(undefined)
  useEffect(() => {
    const text = expr.value.trim()
    checked.value = undefined
    if (text === '') return
    let isCurrent = true
    const timer = setTimeout(() => {
      source.check(text).then(
        (answer) => {
          if (isCurrent) checked.value = answer
        },
        (error: Error) => {
          if (isCurrent) checked.value = { ok: false, message: error.message }
        },
      )
    }, PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [source, expr.value])
  const answer = checked.value
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
          {answer.at === undefined ? answer.message : `${' '.repeat(answer.at)}^\n${answer.message}`}
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
