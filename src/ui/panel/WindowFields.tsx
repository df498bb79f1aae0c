/** The window as text: its two ends, or one field that takes any time or window. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild, TargetedKeyboardEvent } from 'preact'
import { useEffect } from 'preact/hooks'
import { type LazyPart, loadLazyPart } from '../lazy.tsx'
import { currentSource } from '../page.ts'
import { time } from '../time/control.ts'
import { formatTime } from '../time/format.ts'
import type { ReadWindow, TypedWindow } from '../time/read-window.ts'
import { showWindow, windowBase } from '../time/window-base.ts'
import { phone } from './narrow.ts'

const HINT = 'A time or a window: 02:45, yesterday 14:00, -10min, last hour, today, 03:00 to 04:00'

interface Typing<T> {
  /** Undefined while nothing is being edited: fields follow the charts. */
  readonly typed: Signal<T | undefined>
  readonly mistake: Signal<string>
  readonly forget: () => void
  /** Reads the text and shows the window, or a mistake. */
  readonly go: (event: Event) => Promise<void>
}

function useTyping<T>(read: (parts: LazyPart, typed: T) => ReadWindow): Typing<T> {
  const typed = useSignal<T | undefined>(undefined)
  const mistake = useSignal('')
  const forget = (): void => {
    typed.value = undefined
    mistake.value = ''
  }
  useEffect(forget, [currentSource.value])
  const go = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (String(typed.value ?? '').trim() === '') return forget()
    try {
      showWindow(read(await loadLazyPart(), typed.value!))
      forget()
    } catch (error) {
      mistake.value = error instanceof Error ? error.message : String(error)
    }
  }
  return { typed, mistake, forget, go }
}

interface FieldsProps {
  readonly typing: Typing<unknown>
  readonly children: ComponentChild
}

function Fields({ typing: { typed, mistake, forget, go }, children }: FieldsProps): ComponentChild {
  const key = (event: TargetedKeyboardEvent<HTMLFormElement>): void => {
    if (event.key !== 'Escape' || typed.value === undefined) return
    event.stopPropagation()
    forget()
  }
  return (
    <form class="frame" onSubmit={go} onKeyDown={key}>
      {children}
      {mistake.value !== '' && (
        <pre class="mistake" role="alert">
          {mistake.value}
        </pre>
      )}
    </form>
  )
}

/** Renders From and To. From also takes a whole window. */
export function WindowEnds(): ComponentChild {
  const typing = useTyping<TypedWindow>(({ isRange, readRange, readWindow, withAccepted }, typed) => {
    if (typed.from !== undefined && isRange(typed.from)) return readRange(typed.from, windowBase())
    try {
      return readWindow(typed, windowBase())
    } catch (error) {
      throw withAccepted(error)
    }
  })
  const { typed } = typing
  const { from, to } = time.frame.value
  const zone = time.zone.value
  const edit = (change: TypedWindow): void => {
    typed.value = { ...typed.value, ...change }
  }
  return (
    <Fields typing={typing}>
      <input
        aria-label="From"
        title={`Start: as for the option -S. ${HINT}`}
        value={typed.value?.from ?? formatTime(from, zone)}
        onInput={({ currentTarget }) => edit({ from: currentTarget.value })}
      />
      <span aria-hidden="true">–</span>
      <input
        aria-label="To"
        title="End: a time, now, or the syntax of the option -T"
        value={typed.value?.to ?? (time.mode.value === 'live' ? 'now' : formatTime(to, zone))}
        onInput={({ currentTarget }) => edit({ to: currentTarget.value })}
      />
      {typed.value !== undefined && <button type="submit">Apply</button>}
    </Fields>
  )
}

const useRange = (isStart = false): Typing<string> =>
  useTyping<string>(({ readRange }, text) => readRange(text, windowBase(), isStart))

/** Renders one short field that takes any time or window, beside From and To. */
export function GoToField(): ComponentChild {
  const typing = useRange()
  return (
    <Fields typing={typing}>
      <input
        class="go"
        data-go
        aria-label="Go to"
        placeholder="Go to …"
        title={HINT}
        value={typing.typed.value ?? ''}
        onInput={({ currentTarget }) => (typing.typed.value = currentTarget.value || undefined)}
      />
    </Fields>
  )
}

/** Renders one field that shows the window and takes any other, for narrow screens. */
export function WindowField(): ComponentChild {
  const typing = useRange(phone.value)
  const { from, to } = time.frame.value
  const zone = time.zone.value
  return (
    <Fields typing={typing}>
      <input
        data-go
        aria-label="Window"
        title={HINT}
        enterkeyhint="go"
        value={typing.typed.value ?? windowText(from, to, time.mode.value === 'live', zone)}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onInput={({ currentTarget }) => (typing.typed.value = currentTarget.value)}
      />
    </Fields>
  )
}

/**
 * Formats a window in few characters: times of today and of one day without the date, and on a phone the start alone, beside which is the span.
 * `readRange` reads both; the start alone as that of the same span.
 */
function windowText(from: number, to: number, isLive: boolean, zone: string): string {
  const [start, end, now] = [from, to, time.now()].map((at) => formatTime(at, zone))
  const isToday = start!.slice(0, 10) === now!.slice(0, 10)
  const isOneDay = start!.slice(0, 10) === end!.slice(0, 10)
  const short = (text: string, isShort: boolean): string => (isShort ? text.slice(11) : text.slice(0, 16))
  const first = short(start!, isToday)
  if (phone.value && !(isToday && isLive)) return first
  return `${first} to ${isLive ? 'now' : short(end!, isOneDay)}`
}
