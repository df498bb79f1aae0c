/** Messages between pages and the clocks that programs follow. docs/reference/pmproxy.md */
import { toSeconds } from '../../base/timestamp.ts'
import { TIME_ARCHIVE, TIME_BACKWARD, TIME_FORWARD, TIME_HOST } from '../../wire/time-control.ts'
import type { Clock, ClockAction } from './clock.ts'
import type { TimeControlServer } from './server.ts'

/** Start of a message about time. */
export const TIME_MESSAGE = '{"time":'

/** Connects one page to the time control. */
export class PageTime {
  readonly #control: TimeControlServer
  readonly #send: (message: string, sent: () => void) => void
  #unlisten: (() => void) | undefined
  #lastId = 0
  /** Sources with a message in flight, and the message to send next; slow pages miss steps. */
  readonly #underWay = new Map<Clock['source'], string | undefined>()

  /** `sent` is called when the message has left this process. */
  constructor(control: TimeControlServer, send: (message: string, sent: () => void) => void) {
    this.#control = control
    this.#send = send
  }

  /** Handles a message of the page; false if it is invalid. */
  receive(text: string): boolean {
    let message: unknown
    try {
      message = (JSON.parse(text) as { time: unknown }).time
    } catch {
      return false
    }
    if (typeof message !== 'object' || message === null) return false
    const fields = message as Readonly<Record<string, unknown>>
    if (fields['do'] === 'watch') {
      this.#unlisten ??= this.#control.listen((clock, followers) =>
        this.#tell(clock.source, this.#text(clock, followers)),
      )
      return true
    }
    const action = actionOf(fields)
    if (action === undefined) return false
    if (typeof fields['id'] === 'number') this.#lastId = fields['id']
    this.#control.act(fields['source'] === 'archive' ? TIME_ARCHIVE : TIME_HOST, action)
    return true
  }

  /** Disconnects the page. */
  leave(): void {
    this.#unlisten?.()
    this.#unlisten = undefined
  }

  #tell(source: Clock['source'], text: string): void {
    if (this.#underWay.has(source)) {
      this.#underWay.set(source, text)
      return
    }
    this.#underWay.set(source, undefined)
    this.#send(text, () => {
      const next = this.#underWay.get(source)
      this.#underWay.delete(source)
      if (next !== undefined && this.#unlisten !== undefined) this.#tell(source, next)
    })
  }

  #text({ source, state, position, delta, speed }: Clock, followers: number): string {
    return JSON.stringify({
      type: 'time',
      port: this.#control.port,
      source: source === TIME_ARCHIVE ? 'archive' : 'host',
      state: state === TIME_FORWARD ? 'forward' : state === TIME_BACKWARD ? 'backward' : 'stop',
      position: toSeconds(position),
      interval: toSeconds(delta),
      speed,
      followers,
      after: this.#lastId,
    })
  }
}

function actionOf(fields: Readonly<Record<string, unknown>>): ClockAction | undefined {
  const number = (name: string): number | undefined => {
    const value = fields[name]
    return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 1e11 ? value : undefined
  }
  const what = fields['do']
  switch (what) {
    case 'play':
    case 'reverse':
    case 'stop':
    case 'drag':
      return { do: what }
    case 'step':
      return { do: what, direction: number('direction') === -1 ? -1 : 1 }
    case 'seek': {
      const position = number('position')
      return position === undefined ? undefined : { do: what, position }
    }
    case 'interval': {
      const seconds = number('seconds')
      return seconds === undefined || seconds < 0.001 ? undefined : { do: what, seconds }
    }
    case 'speed': {
      const speed = number('speed')
      return speed === undefined || speed <= 0 ? undefined : { do: what, speed }
    }
    case 'zone': {
      const { name } = fields
      return typeof name === 'string' && /^[\w/+:,.<>-]{1,100}$/.test(name)
        ? { do: what, name, label: name }
        : undefined
    }
    default:
      return undefined
  }
}
