/** What a collector tells about its work while it works: -D, PCP_DEBUG, pmcd.control.debug. pmdbg(1) */

import { clearDebug, setDebug, traceTo } from '../model/debug.ts'

/** Diagnostics of the collector itself; all names are those of its agents as well. */
export type Topic =
  | 'access'
  | 'appl0'
  | 'appl1'
  | 'attr'
  | 'auth'
  | 'config'
  | 'context'
  | 'fetch'
  | 'indom'
  | 'labels'
  | 'pdu'
  | 'pmns'
  | 'profile'

/** One boolean a diagnostic: `if (debug.fetch) debug.say('fetch', ...)` costs a field read while it is off. */
export class Debug implements Record<Topic, boolean> {
  /** Who is let in, and why not. */
  access = false
  /** The life of agents. */
  appl0 = false
  /** Rounds in which agents are started, replaced and given their part of the name space. */
  appl1 = false
  /** What agents are told about clients. */
  attr = false
  /** How clients prove who they are. */
  auth = false
  /** Settings and configuration files. */
  config = false
  /** Clients and their contexts that come and go. */
  context = false
  /** Metrics asked for and what came of them. */
  fetch = false
  /** Questions about instance domains. */
  indom = false
  /** Labels and their files. */
  labels = false
  /** Every PDU, with its words. */
  pdu = false
  /** Questions about names, and the name space file. */
  pmns = false
  /** Profiles that clients send. */
  profile = false
  readonly #write: (line: string) => void
  #names: ReadonlySet<string> = new Set()

  /** `write` takes a line of the log. */
  constructor(names: ReadonlySet<string>, write: (line: string) => void) {
    this.#write = write
    this.names = names
  }

  /** Every name that is on, also those without lines here. */
  get names(): ReadonlySet<string> {
    return this.#names
  }

  set names(names: ReadonlySet<string>) {
    this.#share(names)
    this.#names = names
    this.access = names.has('access')
    this.appl0 = names.has('appl0')
    this.appl1 = names.has('appl1')
    this.attr = names.has('attr')
    this.auth = names.has('auth')
    this.config = names.has('config')
    this.context = names.has('context')
    this.fetch = names.has('fetch')
    this.indom = names.has('indom')
    this.labels = names.has('labels')
    this.pdu = names.has('pdu')
    this.pmns = names.has('pmns')
    this.profile = names.has('profile')
  }

  /** Switches what agents in this process and its threads look at: `isDebug` of pcp-ts/pmda. Their lines go to the same log. */
  #share(names: ReadonlySet<string>): void {
    const switched = (from: ReadonlySet<string>, to: ReadonlySet<string>): string =>
      [...from].filter((name) => !to.has(name)).join(',')
    if (names.size > 0) traceTo(this.#write)
    setDebug(switched(names, this.#names))
    clearDebug(switched(this.#names, names))
  }

  /** Writes a line about one of them, and below it `block` as it is. Clients choose parts of `text`: it stays one line. */
  say(topic: Topic, text: string, block?: string): void {
    const line = `${topic}: ${text.replace(/\p{Cc}/gu, escaped)}`
    this.#write(block === undefined ? line : `${line}\n${block}`)
  }
}

function escaped(control: string): string {
  return `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`
}
