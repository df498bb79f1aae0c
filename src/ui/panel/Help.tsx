/** The Help panel: keys and pointer actions. */
import { type ComponentChild, Fragment } from 'preact'

const KEYS: readonly (readonly [keys: readonly string[], text: string])[] = [
  [['space'], 'pause or play'],
  [['b'], 'play backwards'],
  [[',', '.'], 'back, forward 10 %'],
  [['←', '→'], 'back, forward 50 %'],
  [['+', '−'], 'zoom in, out'],
  [['l'], 'go live, or to the end of the archive'],
  [['g'], 'go to a time'],
  [['u', 'U'], 'undo, redo a zoom, a move or a change of the view, like Back and Forward'],
  [['1', '…', '9'], 'pages, in the order of their tabs'],
  [['m'], 'metrics'],
  [['s'], 'select a span; arrows move it, with Shift its end, Enter zooms in'],
  [['w'], 'what changed in the selected span or the shown window'],
  [['r'], 'try a rule on recorded values'],
  [['a'], 'alerts, notes and events'],
  [['n'], 'add a note on the pinned instant, that under the pointer, or the shown window'],
  [['o'], 'sources: hosts and archives to show or compare'],
  [['v'], 'views'],
  [['t'], 'theme: auto, dark, light'],
  [['?'], 'this help'],
  [['Esc'], 'close'],
]

/** Renders the panel. */
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
      <p>
        Drag across a chart to zoom in, double-click it to zoom out. Drag its time axis to pan. The wheel
        zooms around the pointer: over the time axis, or with Ctrl or Shift over the chart.
      </p>
      <p>
        Drag with Shift to select a span: what changed in it (all metrics, ranked), zoom, or save it as an
        incident.
      </p>
      <p>
        Point at a chart, tap it, or drag a finger sideways to read its values; every chart marks the same
        time. With Tab on a chart, ← → read the samples, with Shift every tenth, Home End the ends, ↑ ↓ the
        rows of a heat map; Enter pins the time, Esc ends the reading.
      </p>
      <p>Click a legend entry to hide or show its line; double-click to show it alone.</p>
      <p>
        Times: 02:45, yesterday 14:00, 2026-11-28 03:10, -10min, and the syntax of the options -S and -T.
        Whole windows: last hour, today, 03:00 to 04:00.
      </p>
    </div>
  )
}
