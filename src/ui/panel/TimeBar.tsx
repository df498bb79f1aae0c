/** The time control of all charts. */
import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { isSelecting } from '../chart/selected-span.ts'
import { currentSource, intervalSec, leader, showError, showNotice } from '../page.ts'
import { SPEEDS, time } from '../time/control.ts'
import { isZone } from '../time/format.ts'
import { Icon, type IconName } from './Icon.tsx'
import { narrow } from './narrow.ts'
import { SpanChoice } from './SpanChoice.tsx'
import { GoToField, WindowEnds, WindowField } from './WindowFields.tsx'

const INTERVALS: readonly number[] = [0.5, 1, 2, 5, 10, 30, 60]
const ZONES: readonly string[] = ['', 'UTC']

/** Are the less frequent controls open on a narrow screen? */
const isOpen = signal(false)

/** Renders buttons, span, speed, time zone, and the ends of the window as text. Controls of playback appear when time is not live. */
export function TimeBar(): ComponentChild {
  const mode = time.mode.value
  const isRecorded = currentSource.value?.span !== undefined
  const isNarrow = narrow.value
  const hasMore = !isNarrow || isOpen.value
  const hasPlayback = mode !== 'live' && hasMore
  return (
    <div class="timebar" role="toolbar" aria-label="Time">
      <span class="group">
        {hasPlayback && <Key label="Back 10 % (,)" icon="back" onClick={() => time.step(-1)} />}
        {hasPlayback && (
          <Key
            label="Play backwards (b)"
            icon="backwards"
            isOn={mode === 'backward'}
            onClick={() => time.play('backward')}
          />
        )}
        {mode === 'paused' ? (
          <Key label="Play (space)" icon="play" onClick={() => time.play('forward')} />
        ) : (
          <Key label="Pause (space)" icon="pause" onClick={() => time.pause()} />
        )}
        {hasPlayback && <Key label="Forward 10 % (.)" icon="on" onClick={() => time.step(1)} />}
        <button
          type="button"
          class={`live${mode === 'live' ? ' on' : ''}`}
          aria-pressed={mode === 'live'}
          onClick={() => time.goLive()}
        >
          {isRecorded ? 'End' : 'Live'}
        </button>
      </span>
      {isNarrow ? <WindowField /> : <WindowEnds />}
      {!isNarrow && <GoToField />}
      <span class="group">
        {hasMore && <Key label="Zoom in (+)" icon="plus" onClick={() => time.zoom(0.5, 0.5)} />}
        <SpanChoice />
        {hasMore && <Key label="Zoom out (-)" icon="minus" onClick={() => time.zoom(2, 0.5)} />}
        {isNarrow && (
          <Key
            label="More time controls"
            icon="more"
            isOn={isOpen.value}
            onClick={() => (isOpen.value = !isOpen.value)}
          />
        )}
      </span>
      {isNarrow && isOpen.value && (
        <Key
          label="Select a span"
          icon="span"
          isOn={isSelecting.value}
          onClick={() => {
            isSelecting.value = !isSelecting.value
            if (isSelecting.value) showNotice('Drag across a chart')
          }}
        />
      )}
      {hasPlayback && <SpeedChoice />}
      {!isRecorded && hasMore && !hasPlayback && <IntervalChoice />}
      {hasMore && <ZoneChoice />}
      <Followers />
    </div>
  )
}

function SpeedChoice(): ComponentChild {
  return (
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
  )
}

function IntervalChoice(): ComponentChild {
  return (
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
  )
}

/** Shows how many programs follow the page's time. */
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
