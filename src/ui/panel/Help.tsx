/** The Help panel: keys and pointer actions. */
import { type ComponentChild, Fragment } from 'preact'

const KEYS: readonly (readonly [keys: readonly string[], text: string])[] = [
  [['space'], 'pause or play'],
  [['b'], 'play backwards'],
  [[',', '.'], 'back, forward 10 %'],
  [['←', '→'], 'back, forward 50 %'],
  [['+', '−'], 'zoom in, out'],
  [['l'], 'go live, or to the end of the archive'],
  [['1', '9'], 'pages, in the order of their tabs'],
  [['m'], 'metrics'],
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
      <p>Drag across a chart to zoom in; Ctrl or Shift with the wheel zooms around the pointer.</p>
      <p>Point at a chart to read its values; every chart marks the same time.</p>
      <p>Click a legend entry to hide or show its line; double-click to show it alone.</p>
      <p>From and To take a date and time, or the syntax of the options -S and -T: -10min, @10:00.</p>
    </div>
  )
}
