/** The time control: one for all charts. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { askForRest } from '../later.tsx'
import { complain, every, leader, shown, shownKey } from '../page.ts'
import { SPEEDS, time, WIDTHS } from '../time/control.ts'
import type { TypedWindow } from '../time/read-window.ts'
import { isZone, momentText, spanText } from '../time/words.ts'
import { Icon, type IconName } from './Icon.tsx'

const INTERVALS: readonly number[] = [0.5, 1, 2, 5, 10, 30, 60]
const ZONES: readonly string[] = ['', 'UTC']

/** Buttons, widths, speed, zone, and the two ends as text. */
export function TimeBar(): ComponentChild {
  const mode = time.mode.value
  const isRecorded = shown.value?.span !== undefined
  return (
    <div class="timebar" role="toolbar" aria-label="Time">
      <span class="group">
        <Key label="Back by a tenth (,)" icon="back" onClick={() => time.step(-1)} />
        <Key
          label="Play backwards (b)"
          icon="backwards"
          isOn={mode === 'backward'}
          onClick={() => time.play('backward')}
        />
        {mode === 'paused' ? (
          <Key label="Play (space)" icon="play" onClick={() => time.play('forward')} />
        ) : (
          <Key label="Pause (space)" icon="pause" onClick={() => time.pause()} />
        )}
        <Key label="On by a tenth (.)" icon="on" onClick={() => time.step(1)} />
        <button
          type="button"
          class={`live${mode === 'live' ? ' on' : ''}`}
          aria-pressed={mode === 'live'}
          onClick={() => time.goLive()}
        >
          {isRecorded ? 'End' : 'Live'}
        </button>
      </span>
      <Frame />
      <span class="group">
        <Key label="Show half as much (+)" icon="plus" onClick={() => time.zoom(0.5, 0.5)} />
        <label>
          <span class="label">Span</span>
          <select
            value={String(time.width.value)}
            onChange={({ currentTarget }) => time.zoom(Number(currentTarget.value) / time.width.value)}
          >
            {[...new Set([...WIDTHS, time.width.value])]
              .sort((a, b) => a - b)
              .map((seconds) => (
                <option key={seconds} value={String(seconds)}>
                  {spanText(seconds)}
                </option>
              ))}
          </select>
        </label>
        <Key label="Show twice as much (-)" icon="minus" onClick={() => time.zoom(2, 0.5)} />
      </span>
      <label title="Speed">
        <span class="label">Speed</span>
        <select
          value={String(time.speed.value)}
          onChange={({ currentTarget }) => (time.speed.value = Number(currentTarget.value))}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={String(speed)}>
              {speed} ×
            </option>
          ))}
        </select>
      </label>
      {!isRecorded && (
        <label title="Every">
          <span class="label">Every</span>
          <select
            value={String(every.value)}
            onChange={({ currentTarget }) => (every.value = Number(currentTarget.value))}
          >
            {INTERVALS.map((seconds) => (
              <option key={seconds} value={String(seconds)}>
                {seconds} s
              </option>
            ))}
          </select>
        </label>
      )}
      <ZoneChoice />
      <Followers />
    </div>
  )
}

/** Who follows this page's time; how to, while nobody does. */
function Followers(): ComponentChild {
  const port = leader.port.value
  if (port === undefined) return null
  const count = leader.followers.value[shown.value?.span === undefined ? 'host' : 'archive']
  return (
    <span
      class="light"
      title={`pmval -g, pmstat -g and PCP's tools with -p ${port} follow the time of this page`}
    >
      {count === 0 ? '' : count === 1 ? '1 program follows' : `${count} programs follow`}
    </span>
  )
}

interface KeyProps {
  readonly label: string
  readonly icon: IconName
  readonly isOn?: boolean
  readonly onClick: () => void
}

function Key({ label, icon, isOn, onClick }: KeyProps): ComponentChild {
  return (
    <button
      type="button"
      class={`key${isOn ? ' on' : ''}`}
      aria-label={label}
      aria-pressed={isOn}
      title={label}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  )
}

/** The ends of what is shown; typed in, they take what PCP's tools take with -S and -T. */
function Frame(): ComponentChild {
  const frame = time.frame.value
  const zone = time.zone.value
  const isLive = time.mode.value === 'live'
  // The side that is not typed in continues to show what the charts show.
  const typed = useSignal<TypedWindow | undefined>(undefined)
  const mistake = useSignal('')
  const forget = (): void => {
    typed.value = undefined
    mistake.value = ''
  }
  useEffect(forget, [shownKey.value])
  const go = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (typed.value === undefined) return
    try {
      const { readWindow } = await askForRest()
      const base = { frame, isLive, bounds: time.bounds.value, now: time.now(), zone }
      const wanted = readWindow(typed.value, base)
      if (wanted.isLive) time.showLatest(wanted.to - wanted.from)
      else time.show(wanted.from, wanted.to)
      forget()
    } catch (error) {
      mistake.value = error instanceof Error ? error.message : String(error)
    }
  }
  const edit = (change: TypedWindow): void => {
    typed.value = { ...typed.value, ...change }
  }
  return (
    <form
      class="frame"
      onSubmit={go}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || typed.value === undefined) return
        event.stopPropagation()
        forget()
      }}
    >
      <input
        aria-label="From"
        title="A time, or as for -S: -10min, @10:00"
        value={typed.value?.from ?? momentText(frame.from, zone)}
        onInput={({ currentTarget }) => edit({ from: currentTarget.value })}
      />
      <span aria-hidden="true">–</span>
      <input
        aria-label="To"
        title="A time, now, or as for -T"
        value={typed.value?.to ?? (isLive ? 'now' : momentText(frame.to, zone))}
        onInput={({ currentTarget }) => edit({ to: currentTarget.value })}
      />
      {typed.value !== undefined && <button type="submit">Show</button>}
      {mistake.value !== '' && (
        <pre class="mistake" role="alert">
          {mistake.value}
        </pre>
      )}
    </form>
  )
}

function ZoneChoice(): ComponentChild {
  const choose = (name: string): void => {
    if (name !== 'other') time.zone.value = name
    else {
      const wanted = prompt('Name of a time zone, as Australia/Melbourne')?.trim()
      if (wanted === undefined || wanted === '') return
      if (isZone(wanted)) time.zone.value = wanted
      else complain(`Unknown time zone: ${wanted}`)
    }
  }
  const zone = time.zone.value
  return (
    <label title="Zone">
      <span class="label">Zone</span>
      <select value={zone} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {[...new Set([...ZONES, zone])].map((name) => (
          <option key={name} value={name}>
            {name === '' ? 'mine' : name}
          </option>
        ))}
        <option value="other">another …</option>
      </select>
    </label>
  )
}
