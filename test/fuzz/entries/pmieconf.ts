/** Rules of pmieconf, and the file with changes to them. */
import { parseConfig } from '../../../src/tools/pmieconf/config-file.ts'
import { parseRuleFiles } from '../../../src/tools/pmieconf/rule-file.ts'
import { type FuzzEntry, joinParts, splitParts } from '../engine/entry.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const RULES =
  '#pmieconf-rules 1\nrule cpu.load\n\tsummary = "High load"\n\tenabled = yes\n\tpredicate = "some_host ( kernel.all.load $hosts$ > $limit$ )"\n\tversion = 1\n\thelp = "text\nof two lines";\n\nstring limit\n\tdefault = "5"\n\tmodify = no;\n\ndouble global.delta\n\tdefault = 2 min\n\thelp = "x";\n\nshell global.action enabled = no;\n'
const CONFIG =
  '// pmieconf-pmie 1 /x\n// 1 cpu.load limit = 6\n// end\n// --- START GENERATED SECTION (do not change this section) ---\ndelta = 2 min;\n// --- END GENERATED SECTION (changes below will be preserved) ---\nmine = 1;\n'

/** Entry of src/tools/pmieconf. */
export const pmieconf: FuzzEntry = {
  seeds: () => [joinParts([RULES, CONFIG].map(encode))],
  isText: true,
  run(input) {
    const [rules = '', config = ''] = splitParts(input, 2).map((part) => new TextDecoder().decode(part))
    const set = parseRuleFiles([{ name: 'rules', text: rules }])
    parseConfig(config, 'config', set)
  },
}
