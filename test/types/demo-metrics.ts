/**
 * The metrics of in, as they are on testhost.
 * Made by pmgenmap --typescript: change the map and regenerate this file.
 */

// What the demo agent has

export const demo = {
  'demo.one': { pmid: 1048576000, type: '32', sem: 'instant', hasInstances: false, units: '' },
  'demo.big': { pmid: 1048576001, type: 'u64', sem: 'instant', hasInstances: false, units: 'byte' },
  // with instances
  'demo.bin': { pmid: 1048576008, type: '32', sem: 'instant', hasInstances: true, units: '' },
  'demo.text': { pmid: 1048576003, type: 'string', sem: 'instant', hasInstances: false, units: '' },
  'demo.count': { pmid: 1048576006, type: 'u64', sem: 'counter', hasInstances: false, units: 'count' },
  'demo.busy': { pmid: 1048576007, type: 'u32', sem: 'counter', hasInstances: false, units: 'millisec' },
  'demo.events': { pmid: 1048576009, type: 'event', sem: 'instant', hasInstances: false, units: '' },
} as const

export const ONE = 'demo.one'
export const BIG = 'demo.big'
export const BIN = 'demo.bin'
export const TEXT = 'demo.text'
export const COUNT = 'demo.count'
export const BUSY = 'demo.busy'
export const EVENTS = 'demo.events'
export const UNO = 'demo.one'
