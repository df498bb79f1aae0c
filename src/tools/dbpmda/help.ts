/** Help texts of dbpmda's commands. */

/** A command with a help text. */
export type Topic =
  | 'attr'
  | 'children'
  | 'close'
  | 'debug'
  | 'desc'
  | 'fetch'
  | 'getdesc'
  | 'getiname'
  | 'instance'
  | 'label'
  | 'name'
  | 'namespace'
  | 'open'
  | 'pmid'
  | 'profile'
  | 'quit'
  | 'status'
  | 'store'
  | 'text'
  | 'timer'
  | 'traverse'
  | 'wait'
  | 'watch'

interface Help {
  /** Syntax of the command. */
  readonly forms: readonly string[]
  readonly text: string
}

/** Commands in the order of the list. */
const HELP: Readonly<Record<Topic, Help>> = {
  attr: {
    forms: ['attr name [value]', 'attr attr# [value]'],
    text: `Tells the agent something of the client that asks: who it is, or which container
it looks into. Agents that asked for this may answer each client differently.
The value stands in quotes.`,
  },
  children: {
    forms: ['children metric-name'],
    text: `Lists the names one level below a name, and which of them are metrics. Agents
answer for names that come and go; other names stand in the name space.`,
  },
  close: {
    forms: ['close'],
    text: `Ends the connection with the agent, or forgets an agent in this process. Another
one can be opened then.`,
  },
  debug: {
    forms: ['debug all | none', 'debug [-]flag [ [-]flag ... ] (- prefix to clear)'],
    text: `Switches diagnostics on or, with a dash, off: by name, as pmdbg(1) lists them, or
as one of the old numbers. status shows which are on.`,
  },
  desc: {
    forms: ['desc metric'],
    text: `Shows the descriptor of a metric, which is given by name or as a number of the
form N, N.N or N.N.N.`,
  },
  fetch: {
    forms: ['fetch metric [ metric ... ]'],
    text: `Fetches values and shows everything that the agent returned. Without getdesc the
types are not known, and words are shown in each form that they can have.`,
  },
  getdesc: {
    forms: ['getdesc on | off'],
    text: 'With on, each fetch first requests the descriptors, so that values are shown by type.',
  },
  getiname: {
    forms: ['getiname on | off'],
    text: `With on, each fetch asks for the names of the instances as well, which are ???
otherwise. That needs descriptors, so getdesc is on as well.`,
  },
  instance: {
    forms: ['instance indom# [ number | name | "name" ]'],
    text: `Lists an instance domain, or the name of one number, or the number of one name.`,
  },
  label: {
    forms: [
      'label context',
      'label domain',
      'label indom indom#',
      'label cluster cluster#',
      'label item metric',
      'label instances indom#',
    ],
    text: 'Shows the labels that the agent has at one level.',
  },
  name: {
    forms: ['name pmid#'],
    text: `Asks the agent for the names of a number of the form N.N.N, for example 29.0.1004.
Agents answer for names that come and go.`,
  },
  namespace: {
    forms: ['namespace fname'],
    text: `Takes names of metrics from this file from now on. When it cannot be read, the
names stay as they were.`,
  },
  open: {
    forms: [
      'open dso dsoname init_routine [ domain# ]',
      'open pipe execname [ arg ... ]',
      'open socket unix sockname',
      'open socket inet port#|service',
      'open socket ipv6 port#|service',
    ],
    text: `Opens an agent. With dso that is one in this process: a JavaScript module and the
name of what it exports, or the path and entry of a shared object for which an
agent of this package stands in. With pipe it is a program that is started here
and spoken to over its standard input and output; with socket one that listens.
The words are those of a line in pmcd.conf.`,
  },
  pmid: {
    forms: ['pmid metric-name'],
    text: 'Requests the PMID of a metric from the agent. Agents know only dynamic names.',
  },
  profile: {
    forms: ['profile indom# [ all | none ]', 'profile indom# [ add | delete ] number'],
    text: `Chooses which instances of a domain are fetched: all, none, or one more or less
than before.`,
  },
  quit: { forms: ['quit'], text: 'Closes the agent, and ends dbpmda.' },
  status: {
    forms: ['status'],
    text: 'Shows the open agent, the current settings, and the instance profile.',
  },
  store: {
    forms: ['store metric "value"'],
    text: `Stores a value, which stands in quotes, into all instances that the profile has.
The descriptor and the present values are asked for first.`,
  },
  text: {
    forms: ['text metric', 'text indom indom#'],
    text: `Shows the help texts of a metric or of an instance domain: the one line in
brackets, then the full text.`,
  },
  timer: {
    forms: ['timer on | off'],
    text: 'With on, shows how long the agent took to answer each request.',
  },
  traverse: {
    forms: ['traverse metric-name'],
    text: `Lists all metrics below a name, as the agent knows them. Agents answer for names
that come and go.`,
  },
  wait: { forms: ['wait seconds'], text: 'Waits for this number of seconds.' },
  watch: {
    forms: ['watch logfilename'],
    text: `Opens a window of its own (xterm) that follows a file as it grows. It stays until
you close it.`,
  },
}

/** Returns the topic with this name. */
export function topicOf(name: string): Topic | undefined {
  return Object.hasOwn(HELP, name) ? (name as Topic) : undefined
}

/** Returns the syntax of a command, one form per line. */
export function usageOf(topic: Topic): string {
  return HELP[topic].forms.map((form) => `${form}\n`).join('')
}

/** Returns the output of `help`: for one command, or the syntax of all. */
export function helpOf(topic: Topic | undefined): string {
  if (topic !== undefined) return `\n${usageOf(topic)}\n${HELP[topic].text}\n\n`
  const topics = Object.keys(HELP) as Topic[]
  return `help [ command ]\n\n${topics.map(usageOf).join('')}\n`
}
