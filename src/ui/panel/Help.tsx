/** What keys and the pointer do. */
import { type ComponentChild, Fragment } from 'preact'

const KEYS: readonly (readonly [keys: readonly string[], text: string])[] = [
  [['space'], 'pause, play'],
  [['b'], 'play backwards'],
  [[',', '.'], 'a tenth of the span back, on'],
  [['←', '→'], 'half a span back, on'],
  [['+', '−'], 'show half, twice as much'],
  [['l'], 'the present, or the end of the archive'],
  [['m'], 'metrics'],
  [['o'], 'sources: hosts and archives, to show or to compare'],
  [['v'], 'views'],
  [['t'], 'dark, light, as the system'],
  [['?'], 'this help'],
  [['Esc'], 'close'],
]

/** The list. */
export function Help(): ComponentChild {
  return (
    <div class="help">
      <dl>
        {KEYS.map(([keys, text]) => (
          <Fragment key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </Fragment>
        ))}
      </dl>
      <p>Drag over a chart to look closer; the wheel with Ctrl or Shift zooms around the pointer.</p>
      <p>Point at a chart to read its values; all charts mark the same moment.</p>
      <p>Click a name of a legend to hide its line, double-click to see it alone.</p>
      <p>From and To take a time, or what PCP's tools take with -S and -T: -10min, @10:00.</p>
    </div>
  )
}
