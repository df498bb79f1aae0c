/** An input for expressions or rules with completion of the word before the caret. */
import { useSignal } from '@preact/signals'
import type { ComponentChild, Ref, TargetedInputEvent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type Completion, completed, completions, type Names, wordBefore } from '../view/complete.ts'

const PAUSE_MS = 120

interface Props {
  /** Element id, for the label. */
  readonly id: string
  readonly source: Names
  readonly value: string
  readonly isWrong: boolean
  readonly onInput: (value: string) => void
  readonly placeholder?: string
  /** Functions to offer; default: those of derived metrics. */
  readonly functions?: readonly string[]
  /** Height of an input with several lines; default: one line. */
  readonly lines?: number
}

type Field = HTMLInputElement | HTMLTextAreaElement

/** Renders the input. Arrow keys select, Enter or Tab accepts, Escape closes the list. */
export function CompletedInput(props: Props): ComponentChild {
  const { id, source, value, isWrong, onInput, functions, lines } = props
  const input = useRef<Field>(null)
  const offered = useSignal<readonly Completion[]>([])
  const chosen = useSignal(-1)
  /** The word before the caret and the caret; undefined if there is nothing to complete. */
  const typed = useSignal<{ readonly word: string; readonly caret: number } | undefined>(undefined)
  const close = (): void => {
    typed.value = undefined
    offered.value = []
  }
  useEffect(() => {
    const at = typed.value
    if (at === undefined) return
    let isCurrent = true
    const timer = setTimeout(() => {
      completions(source, at.word, functions).then(
        (found) => {
          if (!isCurrent) return
          offered.value = found
          chosen.value = -1
        },
        () => {}, // errors of the source are shown elsewhere
      )
    }, PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [source, typed.value])
  const change = (text: string, caret: number): void => {
    const word = wordBefore(text, caret)
    if (word === undefined) close()
    else typed.value = { word, caret }
    onInput(text)
  }
  const take = (completion: Completion): void => {
    const field = input.current!
    const { word, caret } = typed.peek()!
    const next = completed(field.value, caret, word, completion)
    field.value = next.text
    field.setSelectionRange(next.caret, next.caret)
    field.focus()
    close()
    change(next.text, next.caret)
  }
  const press = (event: KeyboardEvent): void => {
    const { length } = offered.value
    if (length === 0) return
    const which = offered.value[chosen.value]
    if (event.key === 'ArrowDown') chosen.value = (chosen.value + 1) % length
    else if (event.key === 'ArrowUp') chosen.value = (chosen.value <= 0 ? length : chosen.value) - 1
    else if (event.key === 'Escape') close()
    else if ((event.key === 'Enter' || event.key === 'Tab') && which !== undefined) take(which)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const isOpen = offered.value.length > 0
  const optionId = (i: number): string => `${id}-${i}`
  const shared = {
    id,
    class: 'code',
    'aria-autocomplete': 'list',
    'aria-controls': `${id}-list`,
    ...(isOpen && chosen.value >= 0 ? { 'aria-activedescendant': optionId(chosen.value) } : {}),
    'aria-invalid': isWrong,
    spellcheck: false,
    autocomplete: 'off',
    placeholder: props.placeholder ?? 'rate(disk.all.read) + rate(disk.all.write)',
    value,
    onInput: ({ currentTarget }: TargetedInputEvent<Field>) =>
      change(currentTarget.value, currentTarget.selectionStart ?? currentTarget.value.length),
    onKeyDown: press,
    onBlur: close,
  } as const
  return (
    <span class="completed">
      {lines === undefined ? (
        <input {...shared} ref={input as Ref<HTMLInputElement>} role="combobox" aria-expanded={isOpen} />
      ) : (
        <textarea {...shared} ref={input as Ref<HTMLTextAreaElement>} rows={lines} />
      )}
      <div id={`${id}-list`} class="offered" role="listbox" aria-label="Completions" hidden={!isOpen}>
        {offered.value.map((completion, i) => (
          <div
            key={`${completion.kind} ${completion.text}`}
            id={optionId(i)}
            role="option"
            tabIndex={-1}
            aria-selected={i === chosen.value}
            // Before the input loses the focus.
            onPointerDown={(event) => {
              event.preventDefault()
              take(completion)
            }}
          >
            {completion.text}
            {{ metric: '', node: '.', function: '(' }[completion.kind]}
          </div>
        ))}
      </div>
    </span>
  )
}
