/**
 * pmlogdump, also known as pmdumplog: prints the contents of an archive. pmlogdump(1)
 *
 * Output is as in PCP 6.0.3, except that descriptors, instance domains, labels and help texts are sorted, and several archives are
 * dumped one after the other, as in 7.2. docs/explanation/differences.md
 */
import { ByteText } from '../../base/byte-text.ts'
import { isError } from '../../model/errors.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { FOREVER } from '../../time/arithmetic.ts'
import { openArchive } from '../lib/archive-input.ts'
import { handleEarlyExit, usageText } from '../lib/options.ts'
import { singleLine } from '../lib/print.ts'
import { loadNames } from '../lib/source.ts'
import { parseStandard } from '../lib/standard.ts'
import type { Tool } from '../lib/tool.ts'
import { type Dump, drain, TimestampFormatter } from './dump.ts'
import { dumpIndex } from './index-section.ts'
import { dumpDescs, dumpIndoms, dumpLabel, dumpLabelSets, dumpStoredIndoms, dumpTexts } from './metadata.ts'
import { dumpOptions, OPTIONS } from './options.ts'
import { dumpRawFile } from './raw.ts'
import { dumpValues } from './values.ts'

/** Dumps an archive. Exits with status 1 if a metric or record is unavailable. */
export const tool: Tool = {
  name: 'pmlogdump',
  summary: 'Show the contents of an archive',
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { areOperandsArchives: true })
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const wanted = dumpOptions(parsed)
    const files = archiveFiles()
    if (wanted.rawFile !== undefined) return dumpRawFile(wanted.rawFile, files, io)
    const [name, ...metrics] = parsed.operands
    if (name === undefined) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const { namespace } = parsed.standard
    const own = namespace === undefined ? undefined : loadNames(namespace, io)
    const { archive, end, window, zone } = openArchive(name, parsed.standard, files, io)
    try {
      const dump: Dump = {
        io,
        wanted,
        archive,
        files,
        names: own ?? archive.metadata.names,
        zone,
        stamps: new TimestampFormatter(zone, archive.start, wanted.stampDetail),
        start: window.start,
        finish: isError(end) ? FOREVER : window.finish,
        end,
        form: singleLine(io.stdout),
        out: new ByteText(512 * 1024),
      }
      return await dumpAll(dump, metrics)
    } finally {
      archive.close()
    }
  },
}

async function dumpAll(dump: Dump, metrics: readonly string[]): Promise<number> {
  const { wanted } = dump
  try {
    if (wanted.label !== undefined) dumpLabel(dump)
    if (wanted.descs) dumpDescs(dump)
    if (wanted.labels) dumpLabelSets(dump)
    if (wanted.texts) dumpTexts(dump)
    if (wanted.storedIndoms) dumpStoredIndoms(dump)
    if (wanted.indoms) dumpIndoms(dump)
    if (wanted.index) dumpIndex(dump)
    if (wanted.values) return await dumpValues(dump, metrics)
    return 0
  } finally {
    await drain(dump, true)
  }
}
