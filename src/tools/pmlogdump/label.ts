/** -l and -L: the label of each archive. */
import type { Member } from '../../archive/member.ts'
import { isError } from '../../model/errors.ts'
import { type Dump, eachMember } from './dump.ts'

/** The feature bit that means nothing. */
const KNOWN_FEATURES = 0x80000000

/** Shows the labels. */
export function dumpLabel(dump: Dump): void {
  const { archive, out } = dump
  if (archive.members.length > 1)
    out.text(`Note: multi-archive context with ${archive.members.length} archives\n`)
  eachMember(dump, (member) => dumpMemberLabel(dump, member))
}

function dumpMemberLabel(
  { archive, end, form, out, stamps, wanted }: Dump,
  { label, ...member }: Member,
): void {
  const digits = label.version === 2 ? 6 : 9
  out.text(`Log Label (Log Format Version ${label.version})\n`)
  out.text(`Performance metrics from host ${form(label.hostname)}\n    commencing `)
  stamps.writeDate(out, label.start, digits)
  out.text('\n    ending     ')
  void member
  void archive
  if (isError(end)) out.text('UNKNOWN')
  else stamps.writeDate(out, end, digits)
  out.text('\n')
  if (wanted.label === 'brief') return
  out.text(`Archive timezone: ${form(label.timezone)}\n`)
  if (label.zoneinfo !== '') out.text(`Archive zoneinfo: ${form(label.zoneinfo)}\n`)
  if (label.features !== 0) {
    const unknown = (label.features & ~KNOWN_FEATURES) >>> 0
    const text = unknown === 0 ? '' : ` [unknown: ${bitsOf(unknown)}]`
    out.text(`Archive features: 0x${label.features.toString(16)}${text}\n`)
  }
  out.text(`PID for pmlogger: ${label.pid}\n`)
}

/** Numbers of the bits that are set. */
function bitsOf(word: number): string {
  return Array.from({ length: 32 }, (_, bit) => bit)
    .filter((bit) => (word & (1 << bit)) !== 0)
    .join(',')
}
