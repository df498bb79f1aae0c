/** A strip that shows all that is recorded of the current source, and the shown window in it. */
import { type Signal, signal, useSignalEffect } from '@preact/signals'
import type { ComponentChild, TargetedKeyboardEvent, TargetedPointerEvent } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { Source } from '../data/source.ts'
import { hasModifier } from '../keyboard.ts'
import { groupMarks, marks } from '../marks/marks.ts'
import { archives, config, currentSource, refreshArchives, view } from '../page.ts'
import { type Frame, time } from '../time/control.ts'
import { formatDuration, formatTime } from '../time/format.ts'
import { showWindow } from '../time/window-base.ts'
import { dragged, type Grip, keyStep } from './drag.ts'
import { pathsOf, type RecordedLine, recordedLine, recordedQuery, spanOfHistory } from './recorded.ts'

/** Units of the drawing, which is stretched to the width of the page. */
const SIZE = [1000, 30] as const
/** A growing archive is read again after this share of it, but not more often than this. */
const [REREAD_SHARE, REREAD_SEC] = [0.01, 60]
/** An end this close to the present follows it. */
const NEAR_NOW_PIXELS = 3

interface Loaded {
  readonly source: Source
  readonly line: RecordedLine | undefined
  /** By the clock of the host. */
  readonly readAt: number
}

const loaded: Signal<Loaded | undefined> = signal(undefined)
let reading: Source | undefined

/** Reads the line of a source, unless it is known or being read. Sources that cannot be read have no line. */
async function load(source: Source): Promise<void> {
  if (reading === source || source.range === undefined) return
  const known = loaded.peek()
  const now = time.now()
  if (known?.source === source) {
    const { line, readAt } = known
    const width = line === undefined ? 0 : line.to - line.from
    if (source.span !== undefined || now - readAt < Math.max(REREAD_SEC, REREAD_SHARE * width)) return
  }
  reading = source
  const first = view.peek().charts[0]?.plots[0]
  const line = await spanOf(source)
    .then(async (span) => {
      if (span === undefined) return undefined
      // Reading all of it over the network would cost too much: the strip shows the span only.
      if (source.isRemote === true)
        return { ...span, label: 'Archive', times: [], values: [], gaps: [], reboots: [] }
      return recordedLine(await source.range!(recordedQuery(span, first)), span, first)
    })
    .catch(() => undefined) // charts report errors of this source
  if (reading === source) reading = undefined
  if (currentSource.peek() === source) loaded.value = { source, line, readAt: now }
}

async function spanOf({ span }: Source): Promise<Frame | undefined> {
  if (span !== undefined) return { from: span.start, to: span.end }
  const history = config.peek()?.history
  if (history == null) return undefined
  await refreshArchives()
  return spanOfHistory(archives.peek(), history)
}

/** Renders the strip, empty until it is read. */
export function Minimap(): ComponentChild {
  useSignalEffect(() => {
    time.frame.value // a live window moves every second
    if (currentSource.value !== undefined) void load(currentSource.value)
  })
  const { source, line } = loaded.value ?? {}
  if (line === undefined || source !== currentSource.value) return null
  return <Strip line={line} isUnread={source?.isRemote === true} />
}

interface StripProps {
  readonly line: RecordedLine
  /** Are the records that the line would need not read? */
  readonly isUnread: boolean
}

function Strip({ line, isUnread }: StripProps): ComponentChild {
  const frame = time.frame.value
  const zone = time.zone.value
  const isHost = time.bounds.value.end === undefined
  const bounds = { from: line.from, to: isHost ? Math.max(line.to, time.now()) : line.to }
  const box = useRef<HTMLDivElement>(null)
  const paths = useMemo(() => pathsOf(line, SIZE), [line])
  const share = (at: number): number =>
    Math.min(1, Math.max(0, (at - bounds.from) / (bounds.to - bounds.from || 1)))
  const percent = (at: number): string => `${100 * share(at)}%`
  const x = (at: number): number => SIZE[0] * share(at)
  const drawn = share(line.to)

  const move = (window: Frame): void => {
    const pixel = (bounds.to - bounds.from) / (box.current?.clientWidth || 1)
    const isLive = isHost && window.to >= time.now() - NEAR_NOW_PIXELS * pixel
    showWindow({ ...window, isLive })
  }
  const press = (event: TargetedPointerEvent<HTMLDivElement>): void => {
    if (event.button !== 0) return
    const { left, width } = box.current!.getBoundingClientRect()
    const grip = (event.target as HTMLElement).dataset['grip'] as Grip | undefined
    const secondsPerPixel = (bounds.to - bounds.from) / width
    let start = time.frame.peek()
    if (grip === undefined) {
      const at = bounds.from + (event.clientX - left) * secondsPerPixel
      start = dragged(start, 'window', at - (start.from + start.to) / 2, bounds)
      move(start)
    }
    const target = event.currentTarget
    target.setPointerCapture(event.pointerId)
    const drag = ({ clientX }: PointerEvent): void =>
      move(dragged(start, grip ?? 'window', (clientX - event.clientX) * secondsPerPixel, bounds))
    const stop = (): void => {
      target.removeEventListener('pointermove', drag)
      target.removeEventListener('lostpointercapture', stop)
    }
    target.addEventListener('pointermove', drag)
    target.addEventListener('lostpointercapture', stop)
  }
  const key = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const grip = event.currentTarget.dataset['grip'] as Grip
    const step = keyStep(event.key, event.shiftKey, frame, bounds)
    if (step === undefined || hasModifier(event)) return
    event.preventDefault()
    event.stopPropagation() // the page pans by half a window
    move(dragged(frame, grip, step, bounds))
  }
  const grip = (which: Grip, label: string, now: number, text: string): ComponentChild => (
    <div
      class={`grip-${which}`}
      data-grip={which}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={Math.round(bounds.from)}
      aria-valuemax={Math.round(bounds.to)}
      aria-valuenow={Math.round(Math.min(bounds.to, Math.max(bounds.from, now)))}
      aria-valuetext={text}
      onKeyDown={key}
    />
  )
  const isElsewhere = frame.to <= bounds.from || frame.from >= bounds.to
  const [from, to] = [formatTime(frame.from, zone), formatTime(frame.to, zone)]
  // The line has the gaps and reboots of all that is recorded.
  const others = marks.value.filter(({ kind }) => isUnread || (kind !== 'gap' && kind !== 'reboot'))
  const title = `${line.label}: recorded from ${formatTime(line.from, zone)}, ${formatDuration(line.to - line.from)}${marksText(line, others.length)}`
  return (
    <div class="minimap" ref={box} onPointerDown={press} title={title}>
      <svg viewBox={`0 0 ${SIZE[0]} ${SIZE[1]}`} preserveAspectRatio="none" aria-hidden="true">
        <g transform={`scale(${drawn} 1)`}>
          <path class="minimap-area" d={paths.area} />
          <path class="minimap-line" d={paths.line} />
        </g>
        {line.gaps.map((gap) => (
          <rect
            key={gap.from}
            class="minimap-gap"
            x={x(gap.from)}
            width={Math.max(1, x(gap.to) - x(gap.from))}
            height={SIZE[1]}
          />
        ))}
        {line.reboots.map((at) => (
          <rect key={at} class="minimap-reboot" x={x(at)} width="2" height={SIZE[1]} />
        ))}
      </svg>
      <div class="minimap-marks" aria-hidden="true">
        {groupMarks(others, bounds, box.current?.clientWidth ?? SIZE[0]).map(({ at, until = at, kind }) => (
          <i
            key={at}
            class={`mark-${kind}`}
            style={{ left: percent(at), width: `${100 * (share(until) - share(at))}%` }}
          />
        ))}
      </div>
      {/* Its grips stay at the edge: they have the focus of a keyboard that moves the window. */}
      <div
        class={`minimap-window ${isElsewhere ? 'elsewhere' : ''}`}
        style={{ left: percent(frame.from), width: `${100 * (share(frame.to) - share(frame.from))}%` }}
      >
        {grip('window', 'Shown window', frame.to, `${from} to ${to}`)}
        {grip('start', 'Start of the window', frame.from, from)}
        {grip('end', 'End of the window', frame.to, to)}
      </div>
      <span class="minimap-from">
        {formatTime(line.from, zone).slice(0, 16)}
        {isElsewhere && ': the window is not in the record'}
      </span>
    </div>
  )
}

/** Counts the marks, for the tooltip. */
function marksText({ gaps, reboots }: RecordedLine, others: number): string {
  const parts = [
    ...(gaps.length === 0 ? [] : [gaps.length === 1 ? '1 gap' : `${gaps.length} gaps`]),
    ...(reboots.length === 0 ? [] : [reboots.length === 1 ? '1 reboot' : `${reboots.length} reboots`]),
    ...(others === 0 ? [] : [others === 1 ? '1 mark' : `${others} marks`]),
  ]
  return parts.length === 0 ? '' : `, with ${parts.join(' and ')}`
}
