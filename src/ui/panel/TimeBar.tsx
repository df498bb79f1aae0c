/** The time control of all charts. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { loadLazyPart } from '../lazy.tsx'
import { currentKey, currentSource, intervalSec, leader, showError } from '../page.ts'
import { SPEEDS, time, WIDTHS } from '../time/control.ts'
import { formatDuration, formatTime, isZone } from '../time/format.ts'
import type { TypedWindow } from '../time/read-window.ts'
import { Icon, type IconName } from './Icon.tsx'

const INTERVALS: readonly number[] = [0.5, 1, 2, 5, 10, 30, 60]
const ZONES: readonly string[] = ['', 'UTC']

/** Renders buttons, span, speed, time zone, and the two ends of the window as text. */
export function TimeBar(): ComponentChild {
  const mode = time.mode.value
  const isRecorded = currentSource.value?.span !== undefined
  return (
    <div class="timebar" role="toolbar" aria-label="Time">
      <span class="group">
        <Key label="Back 10 % (,)" icon="back" onClick={() => time.step(-1)} />
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
        <Key label="Forward 10 % (.)" icon="on" onClick={() => time.step(1)} />
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
        <Key label="Zoom in (+)" icon="plus" onClick={() => time.zoom(0.5, 0.5)} />
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
                  {formatDuration(seconds)}
                </option>
              ))}
          </select>
        </label>
        <Key label="Zoom out (-)" icon="minus" onClick={() => time.zoom(2, 0.5)} />
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
        <label title="Sampling interval">
          <span class="label">Interval</span>
          <select
            value={String(intervalSec.value)}
            onChange={({ currentTarget }) => (intervalSec.value = Number(currentTarget.value))}
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

/** Shows how many programs follow the page's time; the tooltip explains how to. */
function Followers(): ComponentChild {
  const port = leader.port.value
  if (port === undefined) return null
  const count = leader.followers.value[currentSource.value?.span === undefined ? 'host' : 'archive']
  return (
    <span
      class="light"
      title={`pmval -g, pmstat -g and PCP tools run with -p ${port} follow the time of this page`}
    >
      {count === 0 ? '' : count === 1 ? '1 program following' : `${count} programs following`}
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

/** The ends of the window as text inputs, with the syntax of the options -S and -T. */
function Frame(): ComponentChild {
  const frame = time.frame.value
  const zone = time.zone.value
  const isLive = time.mode.value === 'live'
  // The end that is not being edited continues to follow the charts.
  const typed = useSignal<TypedWindow | undefined>(undefined)
  const mistake = useSignal('')
  const forget = (): void => {
    typed.value = undefined
    mistake.value = ''
  }
  useEffect(forget, [currentKey.value])
  const go = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (typed.value === undefined) return
    try {
      const { readWindow } = await loadLazyPart()
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
        title="Start: a time, or -10min or @10:00 as for the option -S"
        value={typed.value?.from ?? formatTime(frame.from, zone)}
        onInput={({ currentTarget }) => edit({ from: currentTarget.value })}
      />
      <span aria-hidden="true">–</span>
      <input
        aria-label="To"
        title="End: a time, now, or the syntax of the option -T"
        value={typed.value?.to ?? (isLive ? 'now' : formatTime(frame.to, zone))}
        onInput={({ currentTarget }) => edit({ to: currentTarget.value })}
      />
      {typed.value !== undefined && <button type="submit">Apply</button>}
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
      const wanted = prompt('Time zone, e.g. Australia/Melbourne')?.trim()
      if (wanted === undefined || wanted === '') return
      if (isZone(wanted)) time.zone.value = wanted
      else showError(`Unknown time zone: ${wanted}`)
    }
  }
  const zone = time.zone.value
  return (
    <label title="Time zone">
      <span class="label">Zone</span>
      <select value={zone} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {[...new Set([...ZONES, zone])].map((name) => (
          <option key={name} value={name}>
            {name === '' ? 'Local' : name}
          </option>
        ))}
        <option value="other">Other …</option>
      </select>
    </label>
  )
}
