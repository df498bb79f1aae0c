/** Rules of pmlogrewrite, over the metadata of an archive. */
import { Archive } from '../../../src/archive/archive.ts'
import { InputContents } from '../../../src/tools/pmlogrewrite/known.ts'
import { parseRules } from '../../../src/tools/pmlogrewrite/parse.ts'
import { noRules } from '../../../src/tools/pmlogrewrite/rules.ts'
import { memoryFiles } from '../../archive/build.ts'
import { sampleArchive } from '../../archive/sample-archive.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

const known = new InputContents(Archive.open('a', memoryFiles(sampleArchive(3, 3))), 3)

/** Entry of src/tools/pmlogrewrite. */
export const pmlogrewrite: FuzzEntry = textEntry({
  seeds: () => [
    'global { hostname -> "other" tz -> "UTC" time -> +1:02:03.5 }\n',
    'indom 0.5 { indom -> 0.6 inst 0 -> 7 iname "sdb" -> "vdb" inst 1 -> delete }\n',
    'metric disk.read { pmid -> 1.2.3 name -> disk.other type -> U64 sem -> counter units -> 1,-1,0,KBYTE,SEC,0 rescale indom -> 0.7 output max }\n',
    'metric 0.0.4 { delete }\nmetric big { indom -> NULL output inst 0 value -> 5 }\n',
    'text metric disk.read one-line { text -> "new" }\ntext indom 0.5 all { delete }\ntext metric * { metric -> 0.0.2 }\n',
    'label item 0.0.1 "hostname" { new "a" "b" label -> "x" value -> "1" }\nlabel context "*" { delete }\nlabel instances 0.5 { delete }\n',
    '# comment\nglobal { host -> duplicate }\nmetric 1.*.3 { pmid -> 2.*.* type if 32 -> 64 units if 0,0,0,0,0,0 -> 0,0,1,0,0,ONE }\n',
  ],
  run: (text) => parseRules(text, known, noRules(), () => undefined),
})
