/** What keys and the pointer do. */
import type { ComponentChild } from 'preact'

const KEYS: readonly (readonly [string, string])[] = [
  ['space', 'pause, play'],
  ['b', 'play backwards'],
  [', and .', 'a tenth of the span back, on'],
  ['← and →', 'half a span back, on'],
  ['+ and −', 'show half, twice as much'],
  ['l', 'the present, or the end of the archive'],
  ['m', 'metrics'],
  ['o', 'sources: hosts and archives, to show or to compare'],
  ['v', 'views'],
  ['t', 'dark, light, as the system'],
  ['?', 'this help'],
  ['Esc', 'close'],
]

/** The list. */
export function Help(): ComponentChild {
  return (
    <div class="help">
      <dl>
        {KEYS.map(([key, text]) => (
          <>
            <dt key={key}>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
      <p>Drag over a chart to look closer; the wheel with Ctrl or Shift zooms around the pointer.</p>
      <p>Click a name of a legend to hide its line, double-click to see it alone.</p>
      <p>From and To take a time, or what PCP's tools take with -S and -T: -10min, @10:00.</p>
    </div>
  )
}
